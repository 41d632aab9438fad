"""A device may be absent, get lost or report impossible times: exit codes and kept rows."""

import json

import pytest
from command_line import (
    DEVICE_LOST,
    ROW_FAILED,
    SMALL,
    ids,
    interrupted_copy,
    one_line,
    read_environment,
    records,
    refused,
    ridgebench,
    run,
    schema,
)
from fault_log import tell_fault


def set_device(folder, device: str) -> None:
    environment = read_environment(folder)
    environment["device"] = device
    (folder / "environment.json").write_text(json.dumps(environment))


@pytest.mark.parametrize("command", ["run", "list"])
def test_a_gpu_that_is_not_there(command, tmp_path):
    # Machines with GPUs have no index 99 either.
    result = ridgebench(command, "--device", "cuda:99", cwd=tmp_path)
    refused(result, "cuda:99", "absent", "allowed: ", code=DEVICE_LOST)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("batch", [1, 40, 2000])
def test_a_device_lost_in_mid_run(batch, tmp_path):
    folder = tmp_path / "results"
    result = run(folder, "--device", f"sim:lose={batch}", *SMALL[2:])
    assert "lost" in one_line(result, DEVICE_LOST)
    *finished, lost = records(folder)
    # Rows finish in the order of the plan, so all rows of the plan before the lost one are finished.
    dry = ridgebench("run", *SMALL, "--dry-run").stdout
    planned = [line.split()[0] for line in dry.splitlines()]
    missing = len(set(planned[: planned.index(lost["id"])]) - {r["id"] for r in finished})
    how = "the simulated device is lost in mid run"
    tell_fault("device lost", how, 1, missing, {result.returncode}, part=str(batch))
    assert (lost["status"], lost["samples_s"]) == ("failed", [])
    assert "lost" in lost["reason"]
    assert all(record["status"] == "ok" for record in finished)
    assert not any(error for r in [*finished, lost] for error in schema("record").iter_errors(r))
    assert read_environment(folder)["interrupted"] is True


@pytest.mark.parametrize("rows", [1, 7])
def test_rows_finished_before_the_loss_are_kept(rows, finished, tmp_path):
    folder = tmp_path / "results"
    kept = interrupted_copy(finished, folder, rows)
    set_device(folder, "sim:lose=1")
    assert "lost" in one_line(ridgebench("run", "--resume", folder), DEVICE_LOST)
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    assert lines[:-1] == kept
    assert json.loads(lines[-1])["status"] == "failed"
    assert ids(folder) == ids(finished)[: rows + 1]


def test_the_rest_can_be_measured_when_the_device_is_back(finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 5)
    set_device(folder, "sim:lose=1")
    assert ridgebench("run", "--resume", folder).returncode == DEVICE_LOST
    set_device(folder, "sim")
    result = ridgebench("run", "--resume", folder)
    assert result.returncode == ROW_FAILED, "the lost row stays failed"
    assert ids(folder) == ids(finished)
    assert [r["status"] for r in records(folder)].count("failed") == 1


def test_a_rate_beyond_physics_is_invalid_and_has_no_number(tmp_path):
    folder = tmp_path / "results"
    impossible = "sim:sheet=h100-sxm,bandwidth=1e14,gap=0,process=0,noise=0.001"
    result = run(folder, "--device", impossible, *SMALL[2:])
    assert result.returncode == ROW_FAILED
    invalid = [record for record in records(folder) if record["status"] == "invalid"]
    assert {record["op"] for record in invalid} >= {"relu", "dot"}
    for record in invalid:
        assert "miscounted" in record["reason"]
        assert record["bytes_per_s"] is None and record["time_median_s"] is None
    assert "invalid" in result.stdout


def test_rows_that_do_not_fit_are_skipped_with_bytes_asked_and_free(tmp_path):
    folder = tmp_path / "results"
    result = run(folder, "--device", "sim:memory=200000", *SMALL[2:])
    assert result.returncode == ROW_FAILED
    assert "ridgebench: no row of dram_copy fits into the memory: needs" in result.stderr
    found = ridgebench("verify", folder)
    assert found.returncode == ROW_FAILED
    assert "no row of dram_copy fits into the memory" in found.stderr
    skipped = [record for record in records(folder) if record["status"] == "skipped"]
    assert skipped
    how = "the simulated device has less than the rows need: they are skipped"
    tell_fault("out of device memory", how, 1, 0, {result.returncode})
    for record in skipped:
        assert "needs" in record["reason"] and "bytes are free" in record["reason"]
        assert record["bytes_per_s"] is None
