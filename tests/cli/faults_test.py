"""Faults without a file of their own: hangs, stray writes, no memory, no folder, hostile names."""

import json
import os
import re
import resource
import subprocess
from functools import partial
from pathlib import Path

import pytest
from command_line import (
    OK,
    ROW_FAILED,
    SMALL,
    USAGE,
    environment,
    ids,
    interrupted_copy,
    one_line,
    read_environment,
    records,
    refused,
    ridgebench,
    run,
)
from fault_log import rows_lost, tell_fault

TESTS = Path(os.environ["RIDGEBENCH_BUILD"]) / "tests" / "ridgebench_tests"


def lines(folder) -> list[str]:
    return (folder / "records.jsonl").read_text().splitlines()


def test_a_kernel_that_hangs_is_ended_with_its_name(finished, tmp_path):
    # The watchdog waits for at least a minute.
    folder = tmp_path / "results"
    before = [line.rstrip("\n") for line in interrupted_copy(finished, folder, 5)]
    stored = read_environment(folder) | {"device": "sim:hang=3"}
    (folder / "environment.json").write_text(json.dumps(stored))
    result = ridgebench("run", "--resume", folder)
    hung = ids(finished)[5]
    assert f"{hung} hung" in one_line(result, ROW_FAILED)
    how = "a launch of the simulated device never returns: the watchdog ends the process"
    tell_fault("hanging kernel", how, 1, rows_lost(before, lines(folder)), {result.returncode})
    assert lines(folder)[:-1] == before
    assert (records(folder)[-1]["id"], records(folder)[-1]["status"]) == (hung, "failed")


def test_a_kernel_that_writes_out_of_bounds_is_wrong():
    # Only kernels of the C++ tests write out of bounds.
    name = "Measure.AWriteOutsideTheOutputIsWrong:Measure.OneFailingRowLeavesTheNextOneAlone"
    result = subprocess.run(
        [TESTS, f"--gtest_filter={name}"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0 and "[  PASSED  ] 2 tests" in result.stdout
    how = "a kernel writes just before and just behind its output: the row is wrong"
    tell_fault("write out of bounds", how, 2, 0, {ROW_FAILED})


def limit_memory(bytes_: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))


def asked_and_free(row: dict) -> tuple[int, int]:
    """The bytes that a row's reason names."""
    asked, free = re.search(r"needs (\d+) .*, (\d+) bytes are free", row["reason"]).groups()
    return int(asked), int(free)


def test_a_host_without_memory_skips_rows_and_says_how_much_they_need(tmp_path):
    # The row's shape is given, because the ceilings and the default shapes grow with the caches of the machine.
    chosen = ("--device", "cpu", "--op", "dot", "--technique", "accumulators", "--format", "fp32", "--shape", f"n:{1 << 25}", "--budget", "1")
    start = {"env": environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")}
    enough_to_start = 300 << 20
    if ridgebench("info", preexec_fn=lambda: limit_memory(enough_to_start), **start).returncode != OK:
        pytest.skip("this build needs more address space to start: sanitizers do")

    def dot_below(limit: int) -> tuple[dict, int]:
        """The row of a run whose address space has this size, and the exit code."""
        folder = tmp_path / str(limit)
        result = run(folder, *chosen, preexec_fn=partial(limit_memory, limit), **start)
        rows = records(folder)
        assert {row["status"] for row in rows} <= {"ok", "skipped"}
        for row in rows:
            if row["status"] == "skipped":
                asked, free = asked_and_free(row)
                assert free < asked and free < limit
        (dot,) = [row for row in rows if row["op"] == "dot"]
        return dot, result.returncode

    def asked_below(limit: int) -> int:
        """The bytes that the skipped row needs, as its reason says."""
        dot, code = dot_below(limit)
        assert (dot["status"], code) == ("skipped", ROW_FAILED)
        return asked_and_free(dot)[0]

    asked = asked_below(enough_to_start)
    assert asked_below(asked) == asked, "the program itself needs some of the bytes"
    assert dot_below(3 * asked)[0]["status"] == "ok"
    how = "a limit on the address space: rows are skipped with the bytes asked and free"
    tell_fault("out of host memory", how, 2, 0, {ROW_FAILED})


def test_a_results_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    codes = set()
    for folder in (tmp_path / "file" / "results", Path("/proc/ridgebench/results")):
        result = run(folder, *SMALL)
        refused(result, f"cannot write results to {folder}")
        codes.add(result.returncode)
    tell_fault("unwritable results folder", "below a file, and in /proc", 2, 0, codes)


HOSTILE = ["line\nbreak", "\x1b[31mred\x07", "</td><script>", "%s%n{}", "rtl \u202e", "x" * 5000]


def test_hostile_names_in_records_reach_no_terminal(finished, tmp_path):
    codes = set()
    for number, name in enumerate(HOSTILE):
        folder = tmp_path / str(number)
        interrupted_copy(finished, folder, 5)
        rows = records(folder)
        rows[2] |= {"id": name, "technique": name}
        (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = ridgebench("verify", folder)
        codes.add(result.returncode)
        assert all(line.isprintable() for line in result.stderr.splitlines())
        assert "\x1b" not in result.stdout + result.stderr
    assert codes <= {USAGE, ROW_FAILED}
    how = "control characters, markup and formats as names: `verify` prints them on their line"
    tell_fault("hostile names", how, len(HOSTILE), 0, codes)
