"""Ctrl-C, SIGTERM, a lost terminal, kill -9 and a full disk: every finished row is kept, --resume does the rest."""

import random
import resource
import signal
import time
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import (
    BINARY,
    OK,
    SMALL,
    UNDECIDED,
    environment,
    finish,
    ids,
    interrupted_copy,
    one_line,
    read_environment,
    ridgebench,
    run,
    schema,
    start,
    strict_json,
    wait_for_rows,
    wait_until,
)
from fault_log import rows_lost, tell_fault

# Every row takes a tenth of a second, so a signal after three rows interrupts the run.
SLOW = ("--device", "sim", "--filter", "(relu|dot)/naive")
KILLS = 100
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU]
RECORD = schema("record")


def whole_lines(folder) -> list[str]:
    """Return the complete lines of records.jsonl, each of which must be a valid record."""
    path = folder / "records.jsonl"
    *lines, _ = path.read_text().split("\n") if path.exists() else [""]
    for line in lines:
        assert list(RECORD.iter_errors(strict_json(line))) == []
    return lines


def resume_and_check(folder, expected: list[str]) -> None:
    """Check that --resume keeps the finished rows, adds the missing rows and leaves a sound run."""
    kept = whole_lines(folder)
    result = ridgebench("run", "--resume", folder)
    assert (result.returncode, result.stderr) == (OK, f"results: {folder}\n")
    assert whole_lines(folder)[: len(kept)] == kept
    assert ids(folder) == expected
    assert read_environment(folder)["interrupted"] is False
    sound = ridgebench("verify", folder)
    assert (sound.returncode, sound.stderr) == (OK, "")


@pytest.mark.parametrize("which", ENDING, ids=lambda which: which.name)
def test_a_signal_keeps_the_finished_rows(which, tmp_path):
    folder = tmp_path / "results"
    *planned, _ = ridgebench("run", "--dry-run", *SLOW).stdout.splitlines()
    process = start("run", "--out", folder, *SLOW)
    wait_for_rows(process, folder, 3)
    before = whole_lines(folder)
    process.send_signal(which)
    result = finish(process)
    lost = rows_lost(before, whole_lines(folder))
    tell_fault(which.name, "sent in mid run", 1, lost, {result.returncode})
    assert "--resume" in one_line(result, UNDECIDED)
    assert "dram_" in result.stdout, "what was measured is shown"
    assert 3 <= len(whole_lines(folder)) < len(planned)
    assert read_environment(folder)["interrupted"] is True
    assert read_environment(folder)["ended"] is None
    resume_and_check(folder, [line.split()[0] for line in planned])


def test_an_interrupted_run_writes_its_junit(tmp_path):
    """CI systems read the file of a job that a time limit ended: what was not measured is skipped, with the reason."""
    folder, junit = tmp_path / "results", tmp_path / "junit.xml"
    *planned, _ = ridgebench("run", "--dry-run", *SLOW).stdout.splitlines()
    process = start("run", "--out", folder, "--junit", junit, *SLOW)
    wait_for_rows(process, folder, 3)
    assert not junit.exists(), "a run that was killed leaves no empty file"
    process.send_signal(signal.SIGTERM)
    assert finish(process).returncode == UNDECIDED
    cases = ElementTree.parse(junit).getroot().findall("testcase")
    assert [case.attrib["name"] for case in cases] == [line.split()[0] for line in planned]
    skipped = [case.find("skipped").attrib["message"] for case in cases if case.find("skipped") is not None]
    assert len(cases) - len(skipped) == len(whole_lines(folder))
    assert set(skipped) == {"not measured: the run ended early"}
    assert ridgebench("run", "--resume", folder, "--junit", junit).returncode == OK
    assert ElementTree.parse(junit).find(".//skipped") is None


def test_a_signal_sent_twice_at_once_is_one(tmp_path):
    """`timeout` signals its program and then the group; a later signal ends the run at once."""
    folder = tmp_path / "results"
    process = start("run", "--out", folder, *SLOW)
    wait_for_rows(process, folder, 1)
    for _ in range(3):
        process.send_signal(signal.SIGTERM)
    assert "--resume" in one_line(finish(process), UNDECIDED)


def test_a_run_under_nohup_outlives_its_terminal(tmp_path):
    folder = tmp_path / "results"
    process = start("run", "--out", folder, *SMALL, preexec_fn=partial(signal.signal, signal.SIGHUP, signal.SIG_IGN))
    wait_for_rows(process, folder, 1)
    process.send_signal(signal.SIGHUP)
    assert finish(process).returncode == OK


@pytest.mark.parametrize("which", ENDING, ids=lambda which: which.name)
def test_a_command_says_that_it_was_interrupted(which, tmp_path):
    """`doctor` waits for a Python that never answers."""
    python, began = tmp_path / "python", tmp_path / "began"
    python.write_text(f"#!/bin/sh\necho $$ >{began}\nexec sleep 1000\n")
    python.chmod(0o755)
    process = start("doctor", env=environment(RIDGEBENCH_PYTHON=str(python)))
    child = wait_until(lambda: began.exists() and began.read_text().endswith("\n") and int(began.read_text()), process)
    process.send_signal(which)
    result = finish(process)
    assert (result.returncode, result.stdout, result.stderr) == (UNDECIDED, "", "ridgebench: interrupted\n")
    wait_until(lambda: not Path(f"/proc/{child}/cmdline").exists() or not Path(f"/proc/{child}/cmdline").read_bytes())


def test_kill_9_at_random_instants_loses_no_finished_row(finished, tmp_path):
    # Each kill hits a new or a resumed run, so the instants spread over the start and all rows.
    instants = random.Random(2)
    expected = ids(finished)
    killed = lost = 0
    for number in range(1000):
        folder = tmp_path / str(number)
        started = False
        while killed < KILLS and len(whole_lines(folder)) < len(expected):
            before = whole_lines(folder)
            resume = ["--resume", folder] if started else ["--out", folder, *SMALL]
            process = start("run", *resume)
            time.sleep(instants.uniform(0, 0.3))
            process.kill()
            killed += finish(process).returncode == -signal.SIGKILL
            lost += rows_lost(before, whole_lines(folder))
            assert whole_lines(folder)[: len(before)] == before
            started = (folder / "environment.json").exists()
        if started:
            resume_and_check(folder, expected)
        if killed == KILLS:
            how = "at random instants of new and resumed runs"
            tell_fault("kill -9", how, killed, lost, {-signal.SIGKILL})
            return
    pytest.fail("the runs end before they can be killed")


def test_a_run_killed_before_it_wrote_anything_can_be_started_again(finished, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "records.jsonl").touch()
    assert run(folder).returncode == OK
    assert ids(folder) == ids(finished)


@pytest.mark.parametrize("torn", ["{", '{"schema":"ridgebench.record/1"', "\x00\x00"])
def test_a_torn_last_line_is_dropped(torn, finished, tmp_path):
    folder = tmp_path / "results"
    kept = interrupted_copy(finished, folder, 4)
    (folder / "records.jsonl").write_text("".join(kept) + torn)
    resume_and_check(folder, ids(finished))
    lost = rows_lost([line.rstrip("\n") for line in kept], whole_lines(folder))
    how = "a last line that was cut, then --resume"
    tell_fault("torn record", how, 1, lost, {OK}, part=repr(torn))


def test_resuming_a_finished_run_measures_nothing(finished, tmp_path):
    folder = tmp_path / "results"
    assert run(folder).returncode == OK
    lines = whole_lines(folder)
    resume_and_check(folder, ids(finished))
    assert whole_lines(folder) == lines
    document = strict_json((folder / "benchmark.json").read_text())
    assert [row["name"] for row in document["benchmarks"]] == ids(folder)


@pytest.mark.parametrize("share", [0, 0.001, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_full_disk_keeps_the_finished_rows(share, finished, tmp_path):
    folder = tmp_path / "results"
    loaded = 1024 if b"libomp.so" in Path(BINARY).read_bytes() else 0  # bytes that clang's OpenMP writes before the program begins
    limit = max(loaded, int(share * (finished / "records.jsonl").stat().st_size))

    def fill_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    result = run(folder, preexec_fn=fill_disk)
    line = one_line(result, UNDECIDED)
    assert "cannot write" in line and str(folder) in line and "File too large" in line
    kept = whole_lines(folder)
    assert (folder / "records.jsonl").stat().st_size <= limit
    assert (folder / "records.jsonl").read_text() == "".join(f"{line}\n" for line in kept)
    assert not list(folder.glob("*.tmp"))
    if share >= 0.3:
        assert kept
    if (folder / "environment.json").exists():
        resume_and_check(folder, ids(finished))
    else:
        assert run(folder).returncode == OK, "the folder can be used again"
    how = "a limit on the size of files, at 0 to 90 % of the records"
    lost = rows_lost(kept, whole_lines(folder))
    tell_fault("full disk", how, 1, lost, {result.returncode}, part=str(share))
