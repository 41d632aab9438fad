"""Times of two power states are never compared or averaged without a word."""

import json

import pytest
from baseline_command import call
from ridgebench.judge.past import baseline_store
from ridgebench.data.power_states import differ
from side_by_side_test import describe
from stored_session_test import report
from synthetic_session import log_ratios, record, write_run, write_session

NAME = "relu/a@cpu"


def state_of(folder, number: int, state: str, seconds: float):
    told = {"run_id": f"run-{number}", "started": f"2026-01-{number:02}T00:00:00Z"}
    return write_run(folder / f"run{number}", [record(NAME, seconds, power_state=state)], told)


def test_only_known_states_differ():
    assert differ(["capped", None, "capped"]) == "" == differ([None, None])
    assert differ(["capped", "mixed", "capped"]) == "power states differ: capped 2, mixed 1"


def test_two_stored_runs_say_so(tmp_path, capsys):
    pair = [state_of(tmp_path, 1, "full_clock", 1e-3), state_of(tmp_path, 2, "capped", 1.1e-3)]
    assert call_compare(*pair) in (0, 5)
    shown = capsys.readouterr().out
    assert "power states differ: capped 1, full_clock 1" in shown
    assert "power states differ" in describe(*pair, capsys)[1]


def call_compare(*folders) -> int:
    from ridgebench.judge.compare_cli import main

    return main([str(folder) for folder in folders])


@pytest.mark.parametrize("mixed", [True, False])
def test_a_verdict_of_the_gate_says_so(mixed, tmp_path):
    def edit(arm, pair, records, environment):
        for row in records:
            row["power_state"] = "full_clock" if mixed and arm == "candidate" and pair > 5 else "capped"

    folder = write_session(tmp_path / "session", log_ratios(0.05), edit)
    code, told = report(folder, tmp_path)
    (row,) = told["rows"]
    assert (code, row["verdict"]) == (4, "WORSE"), "a clock is not an excuse"
    assert row["reason"] == ("power states differ: capped 25, full_clock 15" if mixed else None)


def promoted(tmp_path, states: list[str], seconds: dict[str, float]):
    runs = [state_of(tmp_path, n, state, seconds[state] * (1 + 1e-3 * (n % 5))) for n, state in enumerate(states, 1)]
    assert call("promote", *runs, "--into", tmp_path / "stored") == 0
    (path,) = (tmp_path / "stored").rglob("*.jsonl")
    return path


def test_a_baseline_is_taken_from_the_runs_of_one_state(tmp_path, capsys):
    seconds = {"full_clock": 1e-3, "capped": 1.3e-3}
    path = promoted(tmp_path, ["full_clock", "capped"] * 12, seconds)
    assert {json.loads(line)["power_state"] for line in path.read_text().splitlines()} == set(seconds)
    past = baseline_store.read_baseline(path)
    assert len(past.sample(NAME)) == 24 and len(past.sample(NAME, "capped")) == 12
    capsys.readouterr()
    assert call("check", path, state_of(tmp_path, 25, "capped", 1.3e-3)) == 0, "not slower than capped runs were"
    assert "power states differ" not in capsys.readouterr().out
    assert call("check", path, state_of(tmp_path, 26, "full_clock", 1.3e-3)) == 4


def test_too_few_runs_of_a_state_are_joined_with_the_others_and_a_word(tmp_path, capsys):
    path = promoted(tmp_path, ["full_clock"] * 10 + ["capped"] * 2, {"full_clock": 1e-3, "capped": 1.001e-3})
    capsys.readouterr()
    call("check", path, state_of(tmp_path, 25, "capped", 1e-3))
    assert "power states differ: capped 3, full_clock 10" in capsys.readouterr().out


def test_lines_of_an_older_baseline_have_no_state(tmp_path):
    path = promoted(tmp_path, ["capped"] * 10, {"capped": 1e-3})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in one.items() if k != "power_state"}) + "\n" for one in lines))
    assert len(baseline_store.read_baseline(path).sample(NAME, "capped")) == 10


def test_drift_names_the_rows_of_two_states(tmp_path, capsys):
    runs = [state_of(tmp_path, n, "capped" if n > 6 else "full_clock", 1e-3) for n in range(1, 13)]
    assert call("drift", *runs) == 0
    assert f"{NAME}: power states differ: capped 6, full_clock 6" in capsys.readouterr().out
