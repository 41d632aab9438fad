"""Imported results in the commands of the binary: `verify` accepts them, and `run --resume` does not. And `run --junit`."""

import json
import xml.etree.ElementTree
from pathlib import Path

import pytest
from command_line import OK, ROOT, ROW_FAILED, SMALL, ids, refused, ridgebench, run

FILES = ROOT / "tests" / "data" / "imports"


@pytest.fixture(name="imported")
def imported_fixture(tmp_path: Path) -> Path:
    words = ("gbench", FILES / "gbench_repetitions.json", "--map", FILES / "points_gbench.toml", "-o", tmp_path / "x")
    done = ridgebench("import", *words)
    assert done.returncode == OK and done.stdout.startswith("4 points in "), done.stderr
    return tmp_path / "x"


def test_they_are_sound_and_unverified(imported):
    done = ridgebench("verify", imported)
    assert (done.returncode, done.stderr) == (OK, "")
    assert done.stdout.endswith(": sound; 4 external rows, unverified\n")


def test_what_does_not_follow_is_found(imported):
    path = imported / "records.jsonl"
    lines = path.read_text().splitlines()
    record = json.loads(lines[0])
    record["flops_per_s"] *= 2
    path.write_text("\n".join([json.dumps(record), *lines[1:]]) + "\n")
    done = ridgebench("verify", imported)
    assert done.returncode == ROW_FAILED and "flops_per_s is" in done.stderr and "checksum differs" in done.stderr


@pytest.mark.parametrize(("change", "message"), [
    ({"status": "ok"}, "time_ci_low_s is null"), ({"origin": "hand"}, 'origin is "hand"'), ({"time_median_s": None}, "time_median_s is null"),
])  # fmt: skip
def test_external_and_unverified_belong_together(imported, change, message):
    path = imported / "records.jsonl"
    record = json.loads(path.read_text().splitlines()[0]) | change
    path.write_text(json.dumps(record) + "\n")
    done = ridgebench("verify", imported)
    assert done.returncode == ROW_FAILED and message in done.stderr and "checksum differs" in done.stderr


def test_they_are_no_run_and_have_no_roof(imported):
    refused(ridgebench("run", "--resume", imported), "imported results")
    refused(ridgebench("predict", "relu", "n:64", "--format", "bf16", "--on", imported), "no ceiling with status ok")


def test_junit_has_a_test_case_per_row(tmp_path):
    assert run(tmp_path / "out", *SMALL, "--junit", tmp_path / "x.xml").returncode == OK
    suite = xml.etree.ElementTree.parse(tmp_path / "x.xml").getroot()
    assert [case.get("name") for case in suite.iter("testcase")] == ids(tmp_path / "out")
    assert suite.get("failures") == "0" and int(suite.get("tests")) == len(ids(tmp_path / "out"))


def test_junit_that_cannot_be_written_is_found_before_the_run(tmp_path):
    refused(run(tmp_path / "out", *SMALL, "--junit", tmp_path / "absent" / "x.xml"), "--junit: cannot write")
    assert not (tmp_path / "out").exists()
