"""Processes that fail, hang or lose rows under the gate: what is said, what is kept, how it goes on."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import wait_until
from gate_bench import ROWS, verdicts
from golden import ROOT
from made_up_benchmark import processes


@pytest.mark.parametrize(
    ("mishap", "said"),
    [(3, "ended with code 3: it broke"), (139, "ended with code 139 (SIGSEGV)"), ("silence", "printed no result"),
     ("hang", "did not end within 8 s (--timeout)")],
)
def test_a_process_that_fails_keeps_finished_pairs_and_is_resumed(mishap, said, bench, capsys):
    first, second = bench.program("a"), bench.program("b", mishaps={2: mishap})
    code, report = bench.gate(first, second, "--timeout", "8")
    line = capsys.readouterr().err.splitlines()[-1]
    assert (code, report) == (6, {}) and line.startswith(f"gate: the candidate of pair 3 ({second}) ") and said in line and "\x1b" not in line
    assert json.loads((bench.out / "session.json").read_text())["pairs"] == 2
    code, report = bench.call("--resume", bench.out, "--json", bench.folder / "report.json")
    assert (code, set(verdicts(report).values())) == (0, {"SAME"})
    assert processes(second) == 11, "the pair that failed, and it again"


def test_the_first_process_that_fails_is_no_pair(bench, capsys):
    bench.gate(bench.program("a", mishaps={0: 3}), bench.program("b"))
    assert "the baseline, in the first process, which is not scored, (" in capsys.readouterr().err


def test_a_row_that_the_baseline_loses_in_one_pair_decides_nothing_and_is_not_measured_on(bench):
    code, report = bench.gate(bench.program("a", mishaps={3: "lose"}), bench.program("b"))
    assert (code, set(verdicts(report).values())) == (3, {"UNDECIDED"})
    assert report["rows"][0]["reason"] == "pair 3: the baseline has no such row" and json.loads((bench.out / "session.json").read_text())["pairs"] < 40


def test_a_row_that_the_candidate_loses_is_missing(bench):
    rows = dict(list(ROWS.items())[:1])
    code, report = bench.gate(bench.program("a"), bench.program("b", rows=rows))
    assert (code, verdicts(report)) == (4, {"BM_Sort/1": "SAME", "BM_Sort/2": "MISSING"})
    late = bench.words(bench.program("c"), bench.program("d", mishaps={4: "lose"}), "--out", bench.folder / "late")
    assert bench.call(*late)[0] == 4


def test_a_gate_that_was_killed_is_resumed_by_the_same_command(bench):
    first, second = bench.program("a"), bench.program("b")
    words = bench.words(first, second, "--resume")
    variables = os.environ | {"PYTHONPATH": str(ROOT / "roofline")}
    command = [sys.executable, "-m", "ridgebench", "gate", *words]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=variables) as process:
        wait_until((bench.out / "04-baseline").exists, process)
        process.send_signal(signal.SIGKILL)
    kept = (bench.out / "02-candidate" / "output").read_bytes()
    code, report = bench.call(*words)
    assert (code, report["rows"][0]["pairs"]) == (0, 10)
    assert (bench.out / "02-candidate" / "output").read_bytes() == kept


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interruption_ends_the_process_that_runs(number, bench):
    first = bench.program("a", mishaps={0: "hang"})
    variables = os.environ | {"PYTHONPATH": str(ROOT / "roofline")}
    words = [sys.executable, "-m", "ridgebench", "gate", *bench.words(first, first)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=variables) as process:
        wait_until(lambda: processes(first) > 0, process)
        process.send_signal(number)
        _, stderr = process.communicate()
    assert process.returncode == 3 and stderr == "gate: interrupted; finished pairs are kept, --resume DIR adds more\n"
    assert not running(first)


def test_an_interruption_while_a_process_starts_ends_it(bench, monkeypatch):
    first, second = bench.program("a", mishaps={0: "hang"}), bench.program("b")

    class Interrupted(subprocess.Popen):
        def __init__(self, *words, **how):
            super().__init__(*words, **how)
            signal.raise_signal(signal.SIGINT)  # the caller does not know its child yet

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    assert bench.gate(first, second)[0] == 3
    assert not running(first)


def running(program: Path) -> list[Path]:
    """The processes whose command line names a program."""
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(program) in words_of(path)]


def words_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # it has ended
        return ""


def test_a_resumed_session_gets_the_time_limit_that_is_stated(bench, capsys):
    assert bench.gate(bench.program("a"), bench.program("b", mishaps={2: 3, 3: "hang"}))[0] == 6
    assert bench.call("--resume", bench.out, "--timeout", "2")[0] == 6
    assert "did not end within 2 s (--timeout)" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json", "--md", "--junit", "--history"])
def test_a_full_disk_is_named(option, bench, capsys):
    for change, code in ((0, 3), (0.1, 4)):  # the larger one
        sides = [bench.program(f"{arm}{code}", change=change * (arm == "b")) for arm in "ab"]
        assert bench.gate(*sides, option, "/dev/full", "--out", bench.folder / f"session{code}")[0] == code
        shown = capsys.readouterr()
        assert shown.err.splitlines()[-1] == "gate: /dev/full: No space left on device"
        assert "BM_Sort/1" in shown.out, "the table"


def test_a_session_of_other_commands_is_not_resumed(bench, capsys):
    first, second = bench.program("a"), bench.program("b")
    assert bench.gate(first, second)[0] == 0
    assert bench.gate(second, first, "--resume")[0] == 2
    assert "is a session of other commands; allowed: " in capsys.readouterr().err
    assert bench.gate(first, second, "--resume", "--metric", "cpu_time")[0] == 2
    assert "is a session of other metric; allowed: real_time" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [{"reader": "other"}, {"metric_name": 3}, {"timeout": "x"}, {"baseline": []}, {"pairs": -1}, {"seconds": None},
     {"filter": []}, {"statistic": "x"}, {"better": "x"}, {"most_pairs": 3}],
)
def test_a_session_that_was_spoilt_is_refused(change, bench, capsys):
    assert bench.gate(bench.program("a"), bench.program("b", mishaps={0: 1}))[0] == 6
    path = bench.out / "session.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    capsys.readouterr()
    for option in ("--session", "--resume"):
        assert bench.call(option, bench.out)[0] == 2
        shown = capsys.readouterr().err
        assert shown.startswith(f"gate: {path}: not a session") and shown.count("\n") == 1
