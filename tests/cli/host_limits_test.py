"""What the environment takes from a host, or from a library, is said and recorded."""

import subprocess

import pytest
from command_line import BINARY, OK, ROW_FAILED, environment, read_environment, records, run

FEW = ("--filter", "^relu/(naive|onednn)/(fp32|bf16)/", "--budget", "0.5")


@pytest.mark.parametrize("threads", ["0", "abc", "64000"])
def test_a_number_of_threads_that_is_not_honoured_is_said_and_recorded(threads, tmp_path):
    folder = tmp_path / "results"
    result = run(folder, "--device", "sim", *FEW, env=environment(OMP_NUM_THREADS=threads))
    assert result.returncode == OK, result.stderr
    note = next(line for line in result.stderr.splitlines() if line.startswith("note: OMP_NUM"))
    device = read_environment(folder)["devices"][0]
    assert note.startswith(f"note: OMP_NUM_THREADS={threads} ")
    assert f"the run uses {device['threads']} thread" in note
    assert note.removeprefix("note: ") in device["notes"]


def test_a_number_of_threads_that_is_honoured_needs_no_note(tmp_path):
    folder = tmp_path / "results"
    result = run(folder, "--device", "sim", *FEW, env=environment(OMP_NUM_THREADS="1"))
    assert "OMP_NUM_THREADS" not in result.stderr
    assert read_environment(folder)["devices"][0]["threads"] == 1


def test_a_library_that_is_held_back_flags_its_rows_and_explains_what_it_lacks(tmp_path):
    folder = tmp_path / "results"
    result = run(folder, "--device", "sim", *FEW, env=environment(ONEDNN_MAX_CPU_ISA="SSE41"))
    assert result.returncode == OK, result.stderr
    rows = [row for row in records(folder) if row["role"] == "kernel"]
    if not any(row["technique"] == "onednn" for row in rows if row["status"] == "ok"):
        pytest.skip("built without oneDNN")
    for row in rows:
        library = row["technique"] == "onednn"
        assert ("library_held_back" in row["flags"]) is library, row["id"]
        assert row["held_back_by"] == ("ONEDNN_MAX_CPU_ISA=SSE41" if library else None)
    assert "note: ONEDNN_MAX_CPU_ISA=SSE41 keeps a library from its best" in result.stderr
    assert read_environment(folder)["environment_variables"]["ONEDNN_MAX_CPU_ISA"] == "SSE41"
    refused = [row["reason"] for row in rows if row["status"] == "skipped" and row["technique"] == "onednn"]
    assert all("oneDNN" in reason and "descriptor" not in reason for reason in refused)
    assert all("ONEDNN_MAX_CPU_ISA=SSE41" in reason for reason in refused if "on this processor" in reason)


def test_threads_have_stacks_under_a_low_limit(tmp_path):
    """The limit is also the size of new threads' stacks, unless the program enlarges them."""
    command = [BINARY, "run", "--out", tmp_path / "results", "--device", "sim", *FEW]
    shell = ["bash", "-c", 'ulimit -s 1024; exec "$@"', "bash", *map(str, command)]
    result = subprocess.run(shell, capture_output=True, text=True, check=False, env=environment())
    assert result.returncode == OK, result.stderr


def test_too_few_files_for_a_pipe_is_a_limit_of_the_host():
    shell = ["bash", "-c", 'ulimit -n 4; exec "$@"', "bash", str(BINARY), "doctor"]
    result = subprocess.run(shell, capture_output=True, text=True, check=False, env=environment(), stdin=subprocess.DEVNULL)
    assert result.returncode == ROW_FAILED
    assert result.stderr == "ridgebench: too many files are open; allowed: a larger limit (ulimit -n)\n"
