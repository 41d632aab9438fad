"""FLOPs and bytes of the operations that ridgebench knows, which the binary computes: they are defined there alone."""

import json
import shutil
import subprocess
from functools import cache
from typing import Any

from ridgebench import command_line
from ridgebench.importers.point import Point, bad
from ridgebench.records import shape_text
from ridgebench.view import OPERATIONS

ANY_SHEET = "h100-sxm"  # flops and bytes do not depend on the device
SECONDS = 30.0


@cache
def binary() -> str:
    """The binary that started this process, else that of the checkout, else that of PATH; empty without one."""
    built = command_line.ROOT / "build" / "ridgebench"
    return command_line.BINARY or (str(built) if built.exists() else shutil.which("ridgebench") or "")


@cache
def predict(operation: str, shape: str, format_: str) -> Any:
    """The answer of `ridgebench predict`, or its error as a text."""
    words = [binary(), "predict", operation, shape, "--format", format_, "--on", ANY_SHEET, "--json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS, errors="replace")
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"cannot ask {binary() or 'the binary ridgebench'} for the FLOPs of {operation}: {error}"


def complete(point: Point) -> None:
    """Adds FLOPs and bytes that follow from operation, shape and format. Raises ResultsError."""
    missing = [key for key in ("flops", "bytes") if getattr(point, key) is None]
    if not missing or point.operation not in OPERATIONS or not point.shape:
        return
    answer = predict(point.operation, shape_text(point.shape), str(point.format))
    if not isinstance(answer, dict):
        raise bad(point.origin, f"{point.name[:200]}: {answer}")
    for key in missing:
        setattr(point, key, float(answer[key]))
    if "layout" in answer["shape"]:
        point.shape = dict(answer["shape"])
