"""A control that moved: `run` records it, `verify` checks it, and table and figures read it."""

import json
import shutil

import pytest
from command_line import OK, ROW_FAILED, interrupted_copy, read_environment, records, ridgebench, schema

# The ceiling of arithmetic is measured in a slow moment, as in docs/operate.md.
MOVED = "sim:row=0.1,noise=0.002,gap=1e-9,seed=3"
CHOSEN = ("--op", "relu,matmul", "--technique", "streaming,packed", "--format", "fp32")


@pytest.fixture(name="moved", scope="module")
def moved_fixture(tmp_path_factory):
    """Return a finished run whose control of arithmetic moved."""
    folder = tmp_path_factory.mktemp("moved") / "run"
    result = ridgebench("run", "--device", MOVED, *CHOSEN, "--budget", "4", "--out", folder)
    assert result.returncode == OK, result.stderr
    return folder


def test_the_run_records_what_moved_and_which_rows_that_puts_in_doubt(moved):
    described = read_environment(moved)
    assert list(schema("environment").iter_errors(described)) == []
    (matmul,) = [row for row in records(moved) if row["op"] == "matmul"]
    ceiling = matmul["roof"]["compute_ceiling"]
    assert matmul["bound"] == "compute" and described["doubted"][matmul["id"]] == [ceiling]
    (control,) = [one for one in described["controls"] if one["ceiling"] == ceiling]
    first, again = ([row for row in records(moved) if row["id"] == control[key]] for key in ("ceiling", "control"))
    change = first[0]["time_median_s"] / again[0]["time_median_s"] - 1
    assert control["change"] == pytest.approx(change, rel=1e-12) and control["moved"] and not control["earlier"]
    assert ridgebench("verify", moved).returncode == OK


def test_verify_finds_a_doubt_that_was_taken_out(moved, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(moved, folder)
    described = read_environment(folder)
    described["doubted"] = {}
    (folder / "environment.json").write_text(json.dumps(described))
    (folder / "SHA256SUMS").unlink()
    result = ridgebench("verify", folder)
    assert result.returncode == ROW_FAILED and "doubted is not what the rows say" in result.stderr


def test_a_run_that_did_not_end_records_nothing_and_a_resumed_one_decides_from_all_rows(moved, tmp_path):
    folder = tmp_path / "run"
    interrupted_copy(moved, folder, len(records(moved)) - 1)
    described = read_environment(folder) | {"controls": None, "doubted": None, "ended": None, "interrupted": True}
    (folder / "environment.json").write_text(json.dumps(described))
    assert "interrupted run" in ridgebench("plot", "--terminal", folder, "--width", "100").stdout
    assert ridgebench("run", "--resume", folder).returncode == OK
    resumed = read_environment(folder)
    assert len(resumed["controls"]) == len(read_environment(moved)["controls"])
    assert ridgebench("verify", folder).returncode == OK


def test_rows_by_the_ceilings_of_a_run_that_moved_are_in_doubt_too(moved, tmp_path):
    folder = tmp_path / "run"
    result = ridgebench("run", "--device", "sim", *CHOSEN, "--ceilings", moved, "--out", folder)
    assert "in the run of the ceilings" in result.stdout
    described = read_environment(folder)
    (matmul,) = [row for row in records(folder) if row["op"] == "matmul"]
    assert matmul["roof"]["compute_ceiling"] in described["doubted"][matmul["id"]]
    assert {one["earlier"] for one in described["controls"] if one["moved"]} == {True}
    assert "~" in ridgebench("plot", "--terminal", folder, "--width", "100").stdout
    assert ridgebench("verify", folder).returncode == OK
