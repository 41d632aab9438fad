"""docs/conventions.md: the formulas of its table are those of the program, at sizes that differ."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RIDGEBENCH", str(ROOT / "build" / "ridgebench"))
PAGE = (ROOT / "docs" / "conventions.md").read_text("utf-8")
ROW = re.compile(r"^\| \[(\w+)\]\(\w+\.md\)[^|]*\| ([^|]+?) \| ([^|]+?) \|", re.MULTILINE)
FORMULAS = {op: (flops, moved) for op, flops, moved in ROW.findall(PAGE)}
SIZES = {"m": 96, "n": 112, "k": 80}
DIMENSIONS = {"relu": "n", "gelu": "n", "dot": "n", "matvec": "mn", "matmul": "mnk", "matmul_gelu": "mnk"}


def value(formula: str, sizes: dict[str, int]) -> int:
    """The value of a formula such as `s(mk + kn) + omn`, in which letters that touch are multiplied."""
    return eval(re.sub(r"(?<=[\w)])(?=[a-z(])", "*", formula), {"__builtins__": {}}, sizes)  # noqa: S307: the page is ours


def test_the_table_has_every_operation():
    assert FORMULAS.keys() == DIMENSIONS.keys()
    assert value("s(mk + kn) + 2omn", {"s": 1, "o": 2, "m": 3, "n": 4, "k": 5}) == 3 * 5 + 5 * 4 + 2 * 2 * 3 * 4


@pytest.mark.parametrize("name, width, output", [("fp32", 4, 4), ("bf16", 2, 2), ("fp8", 1, 2)])
@pytest.mark.parametrize("op", DIMENSIONS)
def test_the_program_counts_as_the_page_does(op, name, width, output):
    if not Path(PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built")
    shape = "/".join(f"{dimension}:{SIZES[dimension]}" for dimension in DIMENSIONS[op])
    done = subprocess.run([PROGRAM, "predict", op, shape, "--format", name, "--on", "h100-sxm", "--json"], capture_output=True, check=True)
    counted = json.loads(done.stdout)
    flops, moved = (value(formula, SIZES | {"s": width, "o": output}) for formula in FORMULAS[op])
    assert (counted["flops"], counted["bytes"]) == (flops, moved)
