"""Verdicts name what may falsify all rows of a side; a session in a file system without locks is named."""

import errno
import fcntl

import pytest
from baseline_command import call
from power_states_test import call_compare, state_of
from ridgebench.judge.conditions import word
from stored_session_test import report
from synthetic_session import log_ratios, record, write_run, write_session

BUSY = {"code": "busy", "text": "other programs run: the load average is 9.0 on 2 threads"}
GOVERNOR = {"code": "governor", "text": "the governor of a processor is powersave: the clock rises late"}


def conditions(*found: dict) -> dict:
    return {"conditions": list(found)}


def test_a_word_counts_the_runs_of_each_side():
    assert word({"baseline": [{}, conditions()], "candidate": [{"conditions": None}]}) == ""
    sides = {"baseline": [conditions(BUSY), conditions()], "candidate": [conditions(BUSY, GOVERNOR)]}
    assert word(sides) == "conditions: baseline busy in 1 of 2 runs, candidate busy, candidate governor"


def test_two_stored_runs_say_so(tmp_path, capsys):
    rows = [record("relu/a@cpu", 1e-3)]
    told = [{"run_id": f"run-{number}"} for number in range(2)]
    quiet, busy = write_run(tmp_path / "a", rows, told[0]), write_run(tmp_path / "b", rows, told[1] | conditions(BUSY))
    assert call_compare(quiet, busy) in (0, 5)
    assert "conditions: candidate busy" in capsys.readouterr().out


def test_a_verdict_of_the_gate_says_so(tmp_path):
    def edit(arm, pair, _records, environment):
        environment.update(conditions(*[BUSY] * (arm == "candidate" and pair <= 3)))

    code, told = report(write_session(tmp_path / "session", log_ratios(0.05, pairs=20), edit), tmp_path)
    assert (code, told["rows"][0]["verdict"]) == (4, "WORSE"), "a busy machine is not an excuse"
    assert told["rows"][0]["reason"] == "conditions: candidate busy in 3 of 20 runs"


def test_a_check_against_a_baseline_says_so(tmp_path, capsys):
    runs = [state_of(tmp_path, number, "capped", 1e-3 * (1 + 1e-3 * (number % 5))) for number in range(1, 12)]
    assert call("promote", *runs, "--into", tmp_path / "stored") == 0
    (path,) = (tmp_path / "stored").rglob("*.jsonl")
    told = {"run_id": "run-99", "started": "2026-01-31T00:00:00Z"} | conditions(GOVERNOR)
    now = write_run(tmp_path / "now", [record("relu/a@cpu", 1e-3, power_state="capped")], told)
    capsys.readouterr()
    call("check", path, now)
    assert "conditions: run governor" in capsys.readouterr().out


def test_conditions_that_are_not_a_list_of_codes_are_refused(tmp_path, capsys):
    for wrong in ("busy", [{"code": 3, "text": ""}], [{"code": "\x1b[31m", "text": ""}]):
        folder = write_run(tmp_path / "run", [record("relu/a@cpu", 1e-3)], {"conditions": wrong})
        assert call_compare(folder, folder) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("locks", [True, False])
def test_a_session_without_locks_is_named(locks, tmp_path, monkeypatch, capsys):
    from ridgebench.judge.gate_cli import main

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    if not locks:
        monkeypatch.setattr(fcntl, "flock", refuse)
    said = "printf 'name,value\\nsort,1\\n'"
    main(["--reader", "csv", "--pairs", "5", "--out", str(tmp_path / "session"), "--baseline", said, "--candidate", said])
    assert ("has no locks: no other comparison is kept out of it" in capsys.readouterr().err) == (not locks)
