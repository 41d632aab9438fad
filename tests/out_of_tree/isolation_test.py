"""Own kernels run in a process of their own: what they do to its clock, its checker or its memory changes no verdict."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from cheats_file import compiled, measured
from command_line import OK, ROW_FAILED, UNDECIDED, environment, one_line, read_environment, records, ridgebench, start, wait_until


@pytest.fixture(scope="module", name="cheats")
def cheats_fixture(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("objects"))


def test_an_honest_kernel_is_believed(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "nothing", code=OK)
    row = rows["twice/own"]
    assert (row["status"], row["isolated"], row["loaded_from"]) == ("ok", True, "libcheats.so")
    assert row["time_median_s"] > 0
    done = ridgebench("verify", tmp_path / "results")
    assert done.returncode == OK, done.stderr


_TRIES = 8  # other programs of a busy machine may hide a claim: what they took is subtracted from what the measuring process saw,
# and may make an honest claim look small


def test_a_kernel_whose_clock_is_slow_is_suspect(cheats, tmp_path):
    for number in range(_TRIES):
        results = tmp_path / f"results{number}"
        _, rows = measured(cheats, results, "clock", code=None)
        row = rows["twice/own"]
        if row["status"] == "suspect":
            break
    assert row["status"] == "suspect" and row["time_median_s"] is None
    assert row["reason"].startswith("the kernel's process claims ") and " for what took " in row["reason"]
    done = ridgebench("verify", results)
    assert "twice" not in done.stderr, "the record holds what the verdict follows from"


def test_a_patched_checker_changes_no_verdict(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "checker", "--op", "relu", "--technique", "minus", "--format", "fp32",
                       "--shape", "n:64k", "--budget", "0.5")  # fmt: skip
    assert rows["relu/minus"]["status"] == "wrong"
    assert "differs from the reference" in rows["relu/minus"]["reason"]


def test_a_launch_cannot_change_the_reference(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "reference")
    assert rows["twice/own"]["status"] == "wrong"


def test_work_after_the_launch_returned_does_not_count(cheats, tmp_path):
    _, rows = measured(cheats, tmp_path / "results", "thread")
    assert rows["twice/own"]["status"] == "wrong"


def duel(cheats: Path, out: Path, does: str, *arguments: str):
    return ridgebench("duel", *arguments, "--op", "twice", "--format", "fp32", "--shape", "n:1e6", "--seconds", "1",
                      "--device", "cpu", f"--load={cheats}", "--out", out, env=environment(DOES=does))  # fmt: skip


def only_duel(folder: Path) -> dict:
    (line,) = (folder / "duels.jsonl").read_text().splitlines()
    return json.loads(line)


def first_duel(cheats: Path, folder: Path, does: str, codes: tuple[int, ...], *arguments: str):
    """The first of several duels with one of these exit codes, and its folder."""
    for number in range(_TRIES):
        results = folder / f"{does}{number}"
        done = duel(cheats, results, does, "own", "own", *arguments)
        if done.returncode in codes:
            break
    assert done.returncode in codes, done.stdout + done.stderr
    return done, results


def test_a_duel_doubts_the_same_claims(cheats, tmp_path):
    first_duel(cheats, tmp_path, "nothing", (OK, UNDECIDED))
    _, results = first_duel(cheats, tmp_path, "clock", (ROW_FAILED,))
    row = only_duel(results)
    assert row["status"] == "suspect" and "own: the kernel's process claims " in row["reason"]


def test_a_doubted_duel_of_one_process_has_no_ratio(cheats, tmp_path):
    done, results = first_duel(cheats, tmp_path, "clock", (ROW_FAILED,), "--processes", "1")
    assert done.stdout.splitlines()[1].split()[-1] == "suspect", done.stdout
    row = only_duel(results)
    assert row["status"] == "suspect" and row["reason"].startswith("own: the kernel's process claims ")
    assert [row[key] for key in ("short", "long", "verdict", "decided_by")] == [None] * 4
    assert [row[side]["time_s"] for side in ("first", "second")] == [None, None]
    verified = ridgebench("verify", results)
    assert verified.returncode == OK, verified.stderr


@pytest.mark.parametrize(
    ("does", "reason", "crashed"),
    [
        ("crash", "crashed: SIGSEGV, a wrong address", True),
        ("exit", "crashed: a call of exit", True),
        ("throw in a thread", "crashed: SIGABRT, an abort or an uncaught exception", True),
        ("input", "crashed: SIGSEGV, a wrong address", True),
        ("close", "crashed: ", True),
        ("forge", "crashed: an answer that belongs to another command", True),
        ("throw", "no luck", False),
    ],
)
def test_a_fault_costs_its_row_and_no_other(does, reason, crashed, cheats, tmp_path):
    done, rows = measured(cheats, tmp_path / "results", does, "--filter", "^(twice|other)/", "--budget", "0.5", device="sim")
    failed = rows["twice/own"]
    assert failed["status"] == "failed" and failed["reason"].startswith(reason)
    assert (f"ridgebench: {failed['id']} {reason}" in done.stderr) == crashed
    assert ("the other rows are kept and measured" in done.stderr) == crashed
    assert rows["other/honest"]["status"] == "ok"
    assert "resumed" not in read_environment(tmp_path / "results"), "the run was not started again"


SPOILT = ["folder", "mask", "locale", "signals", "rounding", "limits"] + ["flushing"] * (os.uname().machine == "x86_64")


@pytest.mark.parametrize("what", SPOILT)
def test_what_a_kernel_does_to_its_process_reaches_no_other_row(what, cheats, tmp_path):
    """`other` finds the process of its kernels as it is where `twice` does nothing, whichever comes first."""
    found = {}
    for does in ("nothing", what):
        log, out = tmp_path / f"found-{does}", tmp_path / does
        done = ridgebench("run", "--device", "sim", f"--load={cheats}", "--filter", "^(twice|other)/", "--budget", "0.5",
                          "--out", out, cwd=tmp_path, env=environment(DOES=does, FOUND=str(log)))  # fmt: skip
        rows = {row["op"]: row for row in records(out) if row["role"] == "kernel"}
        assert rows["other"]["status"] == "ok", done.stderr
        assert list(rows) == ["twice", "other"], "the seed puts the hostile kernel first"
        found[does] = log.read_text()
        sound = ridgebench("verify", out)
        assert sound.returncode == OK, sound.stderr
    assert found[what] == found["nothing"]


def kernels_process(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def has_ended(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


def looping(cheats: Path, tmp_path: Path) -> tuple[subprocess.Popen, int]:
    """A run and the process whose kernel does not return."""
    pid = tmp_path / "process"
    os.environ.update(DOES="loop", PROCESS=str(pid))
    try:
        process = start("run", "--device", "sim", f"--load={cheats}", "--filter", "^(twice|other)/", "--budget", "0.5",
                        "--out", tmp_path / "results")  # fmt: skip
    finally:
        del os.environ["DOES"], os.environ["PROCESS"]
    return process, kernels_process(pid)


def test_a_signal_costs_the_row(cheats, tmp_path):
    process, kernels = looping(cheats, tmp_path)
    os.kill(kernels, signal.SIGKILL)
    process.communicate()
    assert process.returncode == ROW_FAILED
    rows = {row["op"]: row for row in records(tmp_path / "results") if row["role"] == "kernel"}
    assert rows["twice"]["reason"] == "crashed: signal 9, Killed"
    assert rows["other"]["status"] == "ok"


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_the_process_of_the_kernels_ends_with_the_run(which, cheats, tmp_path):
    process, kernels = looping(cheats, tmp_path)
    if which != signal.SIGKILL:
        os.kill(kernels, which)  # Ctrl-C reaches both, and that process leaves it to the other one
    wait_until(lambda: process.send_signal(which) or process.poll() is not None)  # a later one ends the run at once
    process.communicate()
    assert process.returncode == -which
    wait_until(lambda: has_ended(kernels))


def test_a_process_that_a_kernel_forked_ends_with_it(cheats, tmp_path):
    pid = tmp_path / "process"
    _, rows = measured(cheats, tmp_path / "results", "fork", code=None, PROCESS=str(pid))
    assert rows["twice/own"]["status"] in ("ok", "suspect"), rows["twice/own"]["reason"]
    forked = kernels_process(pid)
    wait_until(lambda: has_ended(forked))


def test_the_measuring_process_never_loads_the_file(cheats, tmp_path):
    log = tmp_path / "loads"
    done = ridgebench("run", "--device", "sim", f"--load={cheats}", "--filter", "^other/", "--budget", "0.5",
                      "--out", tmp_path / "results", env=environment(DOES="nothing", LOADS=str(log)))  # fmt: skip
    assert done.returncode == OK, done.stderr
    loads = log.read_bytes().splitlines()
    assert len(loads) == 2, "one process computes the functions, the other one launches"
    assert all(load.split(b"\0")[1] == b"serve-kernels" for load in loads)


def test_the_command_is_for_processes_of_the_program(cheats):
    assert "is for processes that `run` and `duel` start" in one_line(ridgebench("serve-kernels", cheats, cheats), 2)
