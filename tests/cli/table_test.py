"""The table of a run: regimes, rates with units, one remark a row."""

import json
import re

import pytest
from command_line import OK, interrupted_copy, records, ridgebench

RATE = re.compile(r"\d[\d.]* [MGTP](FLOP|B)/s$")


def cells(line: str) -> list[str]:
    """Columns are two blanks apart, or more."""
    return re.split(r" {2,}", line.strip())


def table_of(folder) -> list[dict[str, str]]:
    """Return what `run` prints of a finished run, by the positions of its headers."""
    result = ridgebench("run", "--resume", folder)
    assert result.returncode == OK, result.stderr
    _, text = result.stdout.split("\n\n", 1)  # after the findings
    header, *rows = [line for line in text.splitlines() if not line.startswith(("CONTROL", "skipped"))]
    starts = [match.start() for match in re.finditer(r"\S+", header)]
    names = header.split()
    assert names[:6] == ["operation", "technique", "format", "shape", "regime", "time"]
    assert names[-2:] == ["limit", "remark"] or names[-1] == "limit"
    return [dict(zip(names[:5], (row[start:].split()[0] for start in starts[:5]))) | {"line": row} for row in rows]


@pytest.fixture(name="table", scope="module")
def table_fixture(finished):
    """Return the rows of the finished run."""
    return table_of(finished)


def test_every_measured_row_has_its_regime(table, finished):
    shown = sorted((row["operation"], row["technique"], row["format"], row["regime"]) for row in table)
    expected = [record for record in records(finished) if record["role"] != "control"]
    assert shown == sorted((r["op"], r["technique"], r["format"], r["regime"]) for r in expected)


def test_times_and_rates_have_units(table, finished):
    for row in table:
        parts = cells(row["line"])
        assert any(re.fullmatch(r"\d[\d.]* (ns|us|ms|s)", part) for part in parts), row["line"]
        assert any(RATE.fullmatch(part) for part in parts), row["line"]
        numbers = [part for part in parts if RATE.fullmatch(part)]
        assert all(1 <= float(number.split()[0]) <= 1000 for number in numbers), row["line"]


def test_columns_without_a_text_are_left_out(finished):
    header = ridgebench("run", "--resume", finished).stdout.splitlines()
    assert not any("MFU" in line.split() for line in header), "a host has no data sheet"


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        (["storage_format", "drift", "bimodal"], "drift"),
        (["served_by_cache", "few_samples"], "few_samples"),
        (["storage_format", "a_new_flag"], "a_new_flag"),
    ],
)
def test_a_row_shows_the_one_flag_that_matters(flags, shown, finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 5)
    rows = records(folder)
    rows[2]["flags"] = flags
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ridgebench("run", "--resume", folder).stdout.splitlines()
    [line] = [line for line in lines if line.split()[:3] == [rows[2]["op"], rows[2]["technique"], rows[2]["format"]]]
    assert cells(line)[-1] == shown
    assert records(folder)[2]["flags"] == flags, "the record keeps all"


def test_run_prints_the_table_of_show_by_raised_roofs(tmp_path):
    done = ridgebench("run", "--device", "sim:row=0.05,seed=1", "--op", "relu,gelu", "--technique", "streaming,exp2_polynomial",
                      "--format", "fp32", "--budget", "5", "--out", tmp_path / "run")  # fmt: skip
    rows = {record["op"]: record for record in records(tmp_path / "run") if record["role"] == "kernel"}
    assert "above_roof" in rows["relu"]["flags"] and rows["relu"]["fraction_of_measured_roof"] > 1.03
    lines = [line for line in done.stdout.splitlines() if line.startswith(("relu ", "gelu "))]
    assert lines == [line for line in ridgebench("show", tmp_path / "run").stdout.splitlines() if line.startswith(("relu ", "gelu "))]
    share = int(next(re.search(r"(\d+) %", line) for line in lines if line.startswith("gelu "))[1])
    assert share < 100 * rows["gelu"]["fraction_of_measured_roof"] - 2
