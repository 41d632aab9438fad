"""docs/operate.md: the table of a healthy host says what the records of the run say that the page names."""

import json
import re
from pathlib import Path

import pytest

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
    """Whether a value with a unit, such as '4.51 ms', is this one in SI, rounded to the digits that the text shows."""
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
