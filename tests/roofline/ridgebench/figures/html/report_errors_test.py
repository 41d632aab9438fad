"""Bad input of a report: one line on stderr, exit code 2, and no file."""

import os

import pytest
from golden import read_records, write_records

from ridgebench.__main__ import main


def fails(capfd, *words) -> str:
    assert main(["report", *map(str, words)]) == 2
    output = capfd.readouterr()
    assert output.out == "" and output.err.count("\n") == 1 and output.err.startswith("report: ")
    assert len(output.err) < 1000
    return output.err


def test_a_missing_directory(tmp_path, results, capfd):
    assert "nowhere: not found; allowed: a results directory" in fails(capfd, tmp_path / "nowhere")
    assert "nowhere: not found" in fails(capfd, results, tmp_path / "nowhere")
    assert "named twice; allowed: each results directory once" in fails(capfd, results, f"{results}/.")
    assert "RESULTS_DIR" in fails(capfd)
    assert not (results / "report.html").exists()


def test_no_rows_and_a_torn_record(results, capfd):
    path = results / "records.jsonl"
    whole = path.read_text()
    path.write_text("")
    assert "records.jsonl: no finished record" in fails(capfd, results)
    path.write_text(whole.replace("\n", "\n{\n", 1))
    assert "records.jsonl:2: not JSON" in fails(capfd, results)
    path.write_text(whole + whole.splitlines()[0][:50])  # as a killed run leaves it
    assert main(["report", str(results)]) == 0
    assert "unfinished last line of records.jsonl" in (results / "report.html").read_text()


def test_a_number_that_no_axis_can_hold(results, capfd):
    records = read_records(results)
    row = next(r for r in records if r["status"] == "ok" and r["flops_per_s"])
    row |= {"flops": 1e90, "flops_per_s": 1e90 / row["time_median_s"]}
    write_records(results, records)
    assert "flops is 1e+90" in fails(capfd, results)


def test_rows_without_a_verified_one_still_make_a_page(results):
    records = read_records(results)
    write_records(results, [r for r in records if r["role"] == "kernel" and r["status"] != "ok"])
    assert main(["report", str(results)]) == 0
    assert "No verified row to draw" in (results / "report.html").read_text()


def test_an_unknown_device_and_points_that_are_none(results, tmp_path, capfd):
    assert "no data sheet 'h300'" in fails(capfd, results, "--on", "h300")
    assert "not found" in fails(capfd, results, "--points", tmp_path / "nowhere")
    assert "no point of another tool" in fails(capfd, results, "--points", results)
    assert main(["report", str(results), "--on", str(results)]) == 0


@pytest.mark.parametrize("name", ["", ".", "/dev/full", "nowhere/report.html", "x" * 300])
def test_a_file_that_cannot_be_written(results, tmp_path, capfd, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert (name or ".")[:40] in fails(capfd, results, "-o", name)
    assert not [path for path in os.listdir(tmp_path) if path.endswith(".tmp")]
