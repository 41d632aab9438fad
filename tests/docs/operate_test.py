"""docs/operate.md: the table of a healthy host says what the records of the run say that the page names.

The table of a disturbed run is what the simulated device prints.
"""

import json
import re
from pathlib import Path

import pytest
from command_line import records, ridgebench

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operate.md").read_text("utf-8")
(FOLDER, TABLE) = re.search(r"run\]\(\.\./(\S+)\)\):\n\n```\n(.*?)```", PAGE, re.DOTALL).groups()
RECORDS = [json.loads(line) for line in (ROOT / FOLDER / "records.jsonl").read_text("utf-8").splitlines()]
ROWS = [re.split(r" {2,}", line) for line in TABLE.splitlines()[1:] if not line.startswith("skipped")]
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6} | {f"{p}{u}": s for p, s in (("M", 1e6), ("G", 1e9), ("T", 1e12)) for u in ("FLOP/s", "B/s")}


def shape_text(shape: dict) -> str:
    return "/".join(f"{name}:{size}" for name, size in shape.items())


def record_of(row: list[str]) -> dict:
    kept = [r for r in RECORDS if [r["op"], r["technique"], r["format"], shape_text(r["shape"]), r["regime"]] == row[:5]]
    return next(r for r in kept if r["role"] != "control")


def within_its_digits(text: str, value: float) -> bool:
    """True if a value with a unit, such as '4.51 ms', is this one in SI, rounded to the digits that the text shows."""
    number, unit = text.split()
    decimals = len(number.partition(".")[2])
    step = 10.0**-decimals if decimals or not number.endswith("0") else 10.0 ** (len(number) - len(number.rstrip("0")))
    return abs(float(number) - value / UNITS[unit]) <= step * 0.51


def test_the_table_has_ceilings_and_three_operations():
    assert {row[0] for row in ROWS} >= {"dram_copy", "fma_peak", "relu", "dot", "matmul"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "/".join(row[:4]))
def test_a_row_is_that_of_its_record(row):
    record = record_of(row)
    shown = [cell for cell in row[5:] if cell.split()[-1] in UNITS]
    rates = [record["flops_per_s"], record["bytes_per_s"]]
    assert all(map(within_its_digits, shown, [record["time_median_s"], *(rate for rate in rates if rate)]))
    assert record["bound"] in row


def marks(line: str) -> list[str]:
    """The words of a line that no sample decides: not its times and rates."""
    return [word for word in line.split() if not re.fullmatch(r"[-+]?[\d.]+", word)]


def test_a_ceiling_that_was_measured_in_a_slow_moment_looks_as_shown(tmp_path):
    shown = re.search(r"```\n(CONTROL MOVED.*?)```", PAGE, re.DOTALL)[1].splitlines()
    device = "sim:row=0.1,noise=0.002,gap=1e-9,seed=3"
    chosen = ("--op", "relu,matmul", "--technique", "streaming,packed", "--format", "fp32", "--budget", "4")
    result = ridgebench("run", "--device", device, *chosen, "--out", tmp_path / "run")
    printed = list(map(marks, result.stdout.splitlines()))
    assert result.returncode == 0
    assert [line for line in shown if marks(line) not in printed] == []
    assert "is 27 % faster than the ceiling" in shown[1] and shown[1] in result.stdout.splitlines()
    (row,) = [record for record in records(tmp_path / "run") if record["op"] == "matmul"]
    assert row["second_look"]["flops_per_s"] > row["flops_per_s"] / 1.1 and len(row["second_look"]["times_s"]) == 3
