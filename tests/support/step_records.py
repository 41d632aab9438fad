"""What the tests of `ridgebench step` share: its record, copies of it with another number, and roofs to judge it by."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from command_line import OK, ridgebench, schema, strict_json

_STEP = schema("step")


def step_of(folder: Path) -> dict:
    """The line of step.jsonl, which must obey the schema and hold its keys and no other."""
    (line,) = (folder / "step.jsonl").read_text().splitlines()
    step = strict_json(line)
    assert list(_STEP.iter_errors(step)) == []
    assert list(step) == list(_STEP.schema["properties"])
    return step


def measure_ceilings(folder: Path) -> None:
    """Runs the ceilings that judge the steps of the tests. With --ceilings, a step takes a twentieth of the time."""
    rows = "^(dram_(copy|read|write|triad)|fma_peak)/[a-z]*/fp32/.*/steady"
    done = ridgebench("run", "--device", "cpu", "--profile", "quick", "--filter", rows, "--budget", "1", "--out", folder)
    assert done.returncode == OK, done.stderr


def edited(folder: Path, copy: Path, edit: Callable[[dict], None]) -> Path:
    """A copy of the folder whose step a function has changed."""
    shutil.copytree(folder, copy)
    step = strict_json((folder / "step.jsonl").read_text())
    edit(step)
    (copy / "step.jsonl").write_text(json.dumps(step, separators=(",", ":")) + "\n")
    return copy


def changed_copy(folder: Path, copy: Path, key: str) -> Path:
    """A copy of the folder in which a number is twice as large."""
    return edited(folder, copy, lambda step: step.update({key: 2 * step[key]}))


def without_predictions(step: dict) -> None:
    """Leaves out what records of older programs lack."""
    for moment in step["timeline"]:
        del moment["predicted_bytes"]


def rounded(count: int) -> int:
    """Bytes of a tensor in the arena."""
    return -(-count // 256) * 256
