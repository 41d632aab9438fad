"""Sessions of programs whose rows are made up: what is measured on, what ends early, what a fault leaves."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
import weakref

import pytest
from golden import ROOT
from made_up_binary import make_binary, processes, times
from ridgebench.judge import gate
from ridgebench.judge import gate_cli
from ridgebench.judge.measure import OutOfTime, limited_to, progress
from synthetic_session import UNTIMED

QUIET = 0.002
ROW, OTHER = "relu/a@cpu", "relu/b@cpu"


class Bench:
    """Two programs and a comparison of them."""

    def __init__(self, folder) -> None:
        self.folder, self.out = folder, folder / "session"

    def binary(self, arm: str, rows=None, edit=None):
        seed = 1 if arm == "a" else 2
        return make_binary(self.folder / arm, rows or {ROW: times(1e-3, QUIET, seed)}, edit)

    def compare(self, *arguments) -> tuple[int, dict]:
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        try:
            code = gate_cli.main(["--json", str(path), *map(str, arguments)])
        except SystemExit as stop:
            code = stop.code
        return code, json.loads(path.read_text()) if path.exists() else {}

    def both(self, first, second, *arguments) -> tuple[int, dict]:
        return self.compare(*commands(first, second), "--out", self.out, "--turns", "process", *arguments)


def commands(first, second) -> list[str]:
    return ["--reader", "ridgebench", "--baseline", f"{first} run", "--candidate", f"{second} run"]


@pytest.fixture(name="bench")
def bench_fixture(tmp_path):
    return Bench(tmp_path)


def verdicts(report: dict) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in report["rows"]}


def failed(reason: str):
    def edit(process: int, record: dict) -> None:
        if record["id"] == ROW:
            record.update(UNTIMED, status="failed", reason=reason)

    return edit


def test_rows_that_are_clear_end_at_the_first_look(bench):
    slow = bench.binary("b", {ROW: times(1.05e-3, QUIET, 2)})
    first = bench.binary("a")
    code, report = bench.both(first, slow)
    assert (code, verdicts(report)) == (4, {ROW: "WORSE"})
    assert (processes(first), processes(slow)) == (1 + gate.LOOKS[0], gate.LOOKS[0])


def test_undecided_rows_are_measured_on_and_only_they(bench):
    rows = {ROW: times(1e-3, QUIET, 1), OTHER: times(1e-3, 0.006, 1)}
    slower = {ROW: times(1e-3, QUIET, 2), OTHER: times(1.0125e-3, 0.006, 3)}
    first, second = bench.binary("a", rows), bench.binary("b", slower)
    code, report = bench.both(first, second)
    assert {row["id"]: row["pairs"] for row in report["rows"]} == {ROW: 10, OTHER: 20}
    assert OTHER in (late := (bench.out / "11-baseline" / "records.jsonl").read_text()) and ROW not in late


def test_a_row_that_failed_ends_with_the_first_pair(bench, capsys):
    first, second = bench.binary("a"), bench.binary("b", edit=failed("signal 11 (SIGSEGV)"))
    code, report = bench.both(first, second)
    assert (code, verdicts(report)) == (6, {ROW: "FAILED"})
    assert report["rows"][0]["reason"] == "failed in the candidate: signal 11 (SIGSEGV)"
    assert (processes(first), processes(second)) == (2, 1)
    assert "FAILED" in capsys.readouterr().out
    assert bench.compare("--session", bench.out)[0] == 6, "the session can be judged again"


def test_a_row_that_failed_does_not_keep_others_from_a_verdict(bench):
    rows = {name: times(1e-3, QUIET) for name in (ROW, OTHER)}
    first, second = bench.binary("a", rows), bench.binary("b", rows, failed("threw"))
    code, report = bench.both(first, second)
    assert (code, verdicts(report)) == (6, {ROW: "FAILED", OTHER: "SAME"})
    assert ROW not in (bench.out / "02-candidate" / "records.jsonl").read_text()


def test_a_row_that_failed_in_the_baseline_names_it(bench):
    code, report = bench.both(bench.binary("a", edit=failed("signal 6 (SIGABRT)")), bench.binary("b"))
    assert (code, verdicts(report)) == (3, {ROW: "NOT_GATED"}), "nothing was judged"
    assert report["rows"][0]["reason"] == "failed in the baseline: signal 6 (SIGABRT)"


def test_rows_that_are_not_gated_end_with_the_first_pair(bench):
    def launch(_process: int, record: dict) -> None:
        record["bound"] = "launch"

    first = bench.binary("a", edit=launch)
    code, report = bench.both(first, bench.binary("b", edit=launch))
    assert (code, verdicts(report)) == (3, {ROW: "NOT_GATED"})
    assert processes(first) == 2


@pytest.mark.parametrize(("late", "code", "verdict"), [(3, 0, "SAME"), (99, 5, "NOT_COMPARABLE")])
def test_heat_that_struck_one_arm_first_does_not_end_the_row(late, code, verdict, bench):
    def hot(process: int, record: dict) -> None:
        record["telemetry"] = {"clock_events": ["hw_thermal_slowdown"]}

    first = bench.binary("a", edit=lambda process, record: hot(process, record) if process == late else None)
    second = bench.binary("b", edit=lambda process, record: hot(process, record) if process == 0 else None)
    found, report = bench.both(first, second)
    assert (found, verdicts(report)) == (code, {ROW: verdict})
    assert processes(second) == gate.LOOKS[0]


def test_hopeless_rows_are_given_up_and_pass_nothing(bench, capsys):
    names = [f"relu/{letter}@cpu" for letter in "abcd"]
    rows = [{name: times(1e-3, 0.6, 10 * arm + i) for i, name in enumerate(names)} for arm in (1, 2)]
    first = bench.binary("a", rows[0])
    code, report = bench.both(first, bench.binary("b", rows[1]))
    assert code == 3 and set(verdicts(report).values()) == {"UNDECIDED"}
    assert processes(first) < 1 + gate.LOOKS[-1]
    given_up = [row["reason"] for row in report["rows"] if row["pairs"] < gate.LOOKS[-1]]
    assert given_up and all(re.match(r"given up after \d+ pairs: a pair's spread of ", text) for text in given_up)
    assert "UNDECIDED is not a pass" in capsys.readouterr().out


@pytest.mark.parametrize("turns", ["process", "samples"])
def test_a_removed_technique_that_is_all_the_filter_matches_is_missing(turns, bench):
    first, second = bench.binary("a"), bench.binary("b", {OTHER: times()})
    code, report = bench.both(first, second, "--filter", "relu/a", "--turns", turns)
    assert (code, verdicts(report)) == (4, {ROW: "MISSING"})
    assert report["rows"][0]["reason"] == "the candidate has no row that the filter matches"


def test_a_new_technique_fails_nothing(bench):
    rows = {name: times(1e-3, QUIET) for name in (ROW, OTHER)}
    code, report = bench.both(bench.binary("a"), bench.binary("b", rows))
    assert (code, verdicts(report)) == (0, {ROW: "SAME", OTHER: "NEW"})


def test_the_time_is_said_before_the_pairs_with_the_load_under_which_it_holds(bench, capsys, monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (1.25, 3.0, 4.0))
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1})
    bench.both(bench.binary("a"), bench.binary("b"))
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "gate: 1 row, 10 to 40 pairs: about 10 minutes to 40 minutes while the load stays at 1.2 on 2 processors; --minutes N bounds it"
    assert said[1:] == [f"gate: session: {bench.out}"]


def test_words_that_the_candidate_refuses_are_refused_before_the_baseline_is_measured(bench, capsys):
    script = bench.folder / "script"
    script.write_text("#!/bin/sh\n[ \"$2\" = --help ] && exit\necho \"ridgebench: unknown argument '--frob'; help lists them\" >&2\nexit 2\n")
    script.chmod(0o755)
    assert bench.both(bench.binary("a"), script)[0] == 2
    assert capsys.readouterr().err == f"gate: the candidate ({script}): unknown argument '--frob'; help lists them\n"
    assert not list((bench.folder / "a" / "count").iterdir()) and not bench.out.exists()


def hangs(from_process: int):
    def edit(process: int, record: dict) -> None:
        if process >= from_process:
            record["status"] = "hangs"

    return edit


def test_minutes_end_the_measuring_and_keep_what_is_finished(bench, capsys):
    first, second = bench.binary("a"), bench.binary("b", edit=hangs(2))
    started = time.monotonic()
    code, report = bench.both(first, second, "--minutes", "0.05")
    assert time.monotonic() - started >= 3
    assert (code, verdicts(report)) == (3, {ROW: "UNDECIDED"})
    shown = capsys.readouterr()
    assert re.search(r"--minutes 0\.05 ended the measuring after [12] pairs?; --resume ", shown.out), "the third one hangs"
    said = shown.err.splitlines()[0]
    assert said.endswith("--minutes 0.05 ends it perhaps before 5 pairs: too early for a verdict")
    (bench.folder / "b" / "calls.json").write_text((bench.folder / "a" / "calls.json").read_text())
    code, report = bench.compare("--resume", bench.out)
    assert (code, verdicts(report)) == (0, {ROW: "SAME"})


def test_minutes_may_end_before_the_first_pair(bench, capsys):
    code, report = bench.both(bench.binary("a", edit=hangs(0)), bench.binary("b"), "--minutes", "0.02")
    assert (code, report) == (3, {})
    assert "--minutes 0.02 ended the measuring after 0 pairs" in capsys.readouterr().err


def test_a_process_that_dies_names_the_binary_and_the_row_before(bench, capsys):
    def edit(process: int, record: dict) -> None:
        if (process, record["id"]) == (3, OTHER):
            record["status"] = "dies"

    rows = {name: times(1e-3, QUIET) for name in (ROW, OTHER)}
    first, second = bench.binary("a", rows), bench.binary("b", rows, edit)
    code, _ = bench.both(first, second)
    line = capsys.readouterr().err.splitlines()[-1]
    assert code == 6
    assert line.startswith(f"gate: the candidate of pair 4 ({second}) was ended by SIGSEGV after 1 finished row")
    assert f"the last of them {ROW}; what it wrote is in {bench.out}/04-candidate" in line
    assert json.loads((bench.out / "session.json").read_text())["pairs"] == 3, "finished pairs stay"


def test_a_script_that_hides_the_signal(bench, capsys):
    script = bench.folder / "script"
    script.write_text(f"#!/bin/sh\n{bench.binary('b', edit=lambda _, record: record.update(status='dies'))} \"$@\"\n")
    script.chmod(0o755)
    code, _ = bench.both(bench.binary("a"), script)
    assert code == 6
    assert f"the candidate of pair 1 ({script}) was ended by SIGSEGV before a row was finished" in capsys.readouterr().err


def test_a_process_that_does_not_heed_the_end_is_killed(bench, monkeypatch):
    monkeypatch.setattr("ridgebench.base.children.PATIENCE_S", 0.1)
    script = bench.folder / "deaf"
    script.write_text("#!/bin/sh\ncase $2 in --help|--dry-run) exit;; esac\ntrap '' TERM\nwhile :; do sleep 1; done\n")
    script.chmod(0o755)
    assert bench.both(script, script, "--minutes", "0.01")[0] == 3


@pytest.mark.parametrize("kind", ["missing", "a folder", "no program", "not executable"])
@pytest.mark.parametrize("arm", [0, 1])
def test_a_binary_that_cannot_be_started_is_noticed_first(kind, arm, bench, capsys):
    bad = bench.folder / "bad"
    if kind == "a folder":
        bad.mkdir()
    elif kind != "missing":
        bad.write_text("\x7fELF no program")
        bad.chmod(0o755 if kind == "no program" else 0o644)
    good = bench.binary("a")
    both = (bad, good) if arm == 0 else (good, bad)
    code, _ = bench.compare(*commands(*both), "--out", bench.out)
    error = capsys.readouterr().err
    assert code == 2 and error.count("\n") == 1
    assert f"cannot run {bad}: " in error and "allowed: an executable file" in error
    assert processes(good) == 0 and not bench.out.exists()


def test_a_session_goes_on_where_nobody_reads_its_progress(bench):
    both = [*commands(bench.binary("a"), bench.binary("b")), "--turns", "process"]
    report = bench.folder / "report.json"
    words = [sys.executable, "-m", "ridgebench", "gate", *both, "--out", bench.out, "--json", report]
    read, write = os.pipe()
    os.close(read)
    variables = os.environ | {"PYTHONPATH": str(ROOT / "roofline")}
    done = subprocess.run(list(map(str, words)), stderr=write, stdout=subprocess.PIPE, env=variables, check=False)
    os.close(write)
    assert done.returncode == 0 and b"1 row: 1 SAME" in done.stdout
    assert verdicts(json.loads(report.read_text())) == {ROW: "SAME"}


def test_one_session_one_comparison(bench, capsys):
    first, second = bench.binary("a"), bench.binary("b")
    assert bench.both(first, second)[0] == 0
    assert bench.both(first, second)[0] == 2
    assert f"{bench.out} exists; allowed: a new folder, or --resume {bench.out}" in capsys.readouterr().err
    with (bench.out / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert bench.compare("--resume", bench.out)[0] == 2
    assert "another comparison measures into this session" in capsys.readouterr().err


def test_default_names_of_one_second_do_not_collide(bench, monkeypatch):
    monkeypatch.chdir(bench.folder)
    monkeypatch.setattr(time, "strftime", lambda *_: "gate-now")
    first, second = bench.binary("a"), bench.binary("b")
    for _ in range(2):
        assert bench.compare(*commands(first, second), "--turns", "process")[0] == 0
    assert {path.name for path in (bench.folder / "results" / "local").iterdir()} == {"gate-now", "gate-now-2"}


def shown(terminal: str, columns: int, monkeypatch, capsys) -> str:
    """What the progress of 40 pairs of a minute each prints."""
    clock = iter(range(0, 10_000, 60))
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal != "")
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    show = progress(40)
    for done in range(4):
        show(done)
    return capsys.readouterr().err


@pytest.mark.parametrize("columns", [1, 12, 300])
def test_progress_fits_a_terminal(columns, monkeypatch, capsys):
    text = shown("xterm", columns, monkeypatch, capsys)
    assert "\n" not in text and "\x1b" not in text
    assert all(len(line) < max(columns, 2) for line in text.split("\r"))
    assert "3/40 pairs, about" in text or columns < 300


@pytest.mark.parametrize("terminal", ["", "dumb"])
def test_progress_elsewhere_is_plain_lines(terminal, monkeypatch, capsys):
    text = shown(terminal, 80, monkeypatch, capsys)
    assert text.splitlines()[-1].startswith("gate: 3/40 pairs, about ") and "\r" not in text


def test_the_end_of_the_time_within_a_callback_comes_again():
    class Owner:
        pass

    owner = Owner()
    reference = weakref.ref(owner, lambda _: signal.raise_signal(signal.SIGALRM))
    with pytest.raises(OutOfTime), limited_to(60.0):
        del owner  # Python drops an exception of the callback
        assert reference() is None
        while True:
            signal.pause()
