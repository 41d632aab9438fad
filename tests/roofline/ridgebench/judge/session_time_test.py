"""How long a process of a session may take."""

import pytest
from ridgebench.judge.gate_cli import main
from ridgebench.judge.ridgebench_session import PROCESS, SAMPLES, RidgebenchSession
from synthetic_session import UNTIMED, log_ratios, record, write_run, write_session

ROWS = [
    ("a", "ceiling", "ok"), ("b", "kernel", "ok"), ("c", "kernel", "ok"), ("d", "kernel", "skipped")
]


@pytest.fixture
def session(tmp_path):
    rows = []
    for name, role, status in ROWS:
        rows.append(record(name, 1e-3, role=role, saturates="memory" if role == "ceiling" else None))
        if status == "skipped":
            rows[-1] |= {"status": status, "reason": "not here"} | UNTIMED
    write_run(tmp_path / "reference", rows, {"duration_s": 6.0})
    return RidgebenchSession(tmp_path, {"baseline": ["a"], "candidate": ["b"]}, turns=SAMPLES)


def test_each_row_has_a_second_more_than_in_the_unscored_run(session):
    assert session.time_for(None) == ["--budget", "6.0"]  # 6 s for three rows, two of them kernels
    assert session.time_for(["c"]) == ["--budget", "3.0"]


@pytest.mark.parametrize("given", [["--budget", "7"], ["--budget=7"]])
def test_a_budget_that_was_given_stays(given, session):
    session.commands["candidate"] += given
    assert session.time_for(None) == []


def test_whole_processes_in_turn_have_their_profiles_time(session):
    session.turns = PROCESS
    assert session.time_for(None) == []


@pytest.mark.parametrize(("of", "noted"), [("both arms", False), ("one arm", True)])
def test_only_arms_must_agree_on_a_budget(of, noted, tmp_path, capsys):
    def shorter(arm, pair, records, environment):
        less = pair > 20 and (of == "both arms" or arm == "baseline")
        environment["budget_s"] = 5.0 if less else 9.0

    folder = write_session(tmp_path / "session", log_ratios(0, pairs=40), edit=shorter)
    assert main(["--session", str(folder)]) == 0
    assert ("budget_s" in capsys.readouterr().out) == noted
