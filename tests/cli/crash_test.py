"""A kernel that takes its process down costs its row: a new process measures the others."""

import signal

import pytest
from command_line import (
    ROW_FAILED,
    environment,
    ids,
    read_environment,
    records,
    ridgebench,
    schema,
    strict_json,
)
from fault_log import tell_fault

CHOSEN = ("--device", "sim", "--filter", "relu/(naive|crashing)/fp32", "--budget", "0.5")
CAUSES = {
    "SIGSEGV": "SIGSEGV",
    "SIGFPE": "SIGFPE",
    "SIGILL": "SIGILL",
    "abort": "SIGABRT",
    "thread": "SIGABRT",  # an exception that a thread does not catch
    "all threads": "SIGSEGV",
    "stack": "SIGSEGV",  # an overflow
    "exit": "a call of exit",
    "_exit": "a call of exit",
    "quick_exit": "a call of exit",
}


def crashing(how: str, *arguments):
    return ridgebench(*arguments, env=environment(RIDGEBENCH_TEST_CRASH=how))


def planned(how: str) -> list[str]:
    *lines, _ = crashing(how, "run", *CHOSEN, "--dry-run").stdout.splitlines()
    return [line.split()[0] for line in lines]


@pytest.mark.parametrize("how", CAUSES)
def test_a_crash_costs_one_row(how, tmp_path):
    folder, report = tmp_path / "results", tmp_path / "report.json"
    result = crashing(how, "run", *CHOSEN, "--out", folder, f"--benchmark_out={report}")
    assert result.returncode == ROW_FAILED, result.stderr
    assert ids(folder) == planned(how), "in the order of the plan, each once"
    (failed,) = [row for row in records(folder) if row["status"] != "ok"]
    assert (failed["technique"], failed["status"]) == ("crashing", "failed")
    assert CAUSES[how] in failed["reason"]
    assert list(schema("record").iter_errors(failed)) == []
    assert f"ridgebench: {failed['id']} crashed: {CAUSES[how]}" in result.stderr
    assert "the other rows are kept and measured" in result.stderr
    assert read_environment(folder)["interrupted"] is False
    assert len(read_environment(folder)["resumed"]) == 1
    told = [row["name"] for row in strict_json(report.read_text())["benchmarks"]]
    assert told == ids(folder), "rows from before the crash too"
    assert result.stdout.count("crashing") >= 1
    tell_fault(
        "crashing kernel",
        "SIGSEGV, SIGFPE, SIGILL, an abort, an uncaught exception, a stack that overflows, a call of exit: the run goes on",
        1,
        len(planned(how)) - len(ids(folder)),
        {result.returncode},
        part=how,
    )


def test_a_run_goes_on_in_its_folder_where_the_kernel_left_it(tmp_path):
    """The kernel changed the current folder and the mask of new files before it crashed, and the names are relative."""
    variables = environment(RIDGEBENCH_TEST_CRASH="elsewhere")
    done = ridgebench("run", *CHOSEN, "--out", "results", "--junit", "junit.xml", cwd=tmp_path, env=variables)
    assert done.returncode == ROW_FAILED, done.stderr
    assert ids(tmp_path / "results") == planned("elsewhere")
    written = [tmp_path / "junit.xml", *(tmp_path / "results").iterdir()]
    assert len(written) == 6 and all(path.stat().st_mode & 0o400 for path in written)


def test_a_run_with_a_crash_can_be_resumed_and_verified(tmp_path):
    folder = tmp_path / "results"
    crashing("SIGSEGV", "run", *CHOSEN, "--out", folder)
    lines = (folder / "records.jsonl").read_text()
    resumed = crashing("SIGSEGV", "run", "--resume", folder)
    assert (resumed.returncode, resumed.stderr) == (ROW_FAILED, f"results: {folder}\n")
    assert (folder / "records.jsonl").read_text() == lines, "the row is not tried again"
    assert ridgebench("verify", folder).stderr.count("crashing") <= 1


def test_without_restart_the_signal_ends_the_run_and_resume_does_the_rest(tmp_path):
    folder = tmp_path / "results"
    result = crashing("SIGSEGV", "run", *CHOSEN, "--no-restart", "--out", folder)
    assert result.returncode == -signal.SIGSEGV
    assert records(folder)[-1]["status"] == "failed"
    assert "crashed: SIGSEGV" in result.stderr
    assert crashing("SIGSEGV", "run", "--resume", folder).returncode == ROW_FAILED
    assert ids(folder) == planned("SIGSEGV")
