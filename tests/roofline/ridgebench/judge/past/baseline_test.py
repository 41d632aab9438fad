"""Baselines: promoted by command, compared by key, honest about what they see; drift of runs."""

import json

import numpy as np
import pytest
from baseline_command import call
from ridgebench.judge.gate import PRESETS
from ridgebench.judge.past import baseline_rows, baseline_store
from synthetic_session import record, write_run

ROWS = ("dot/a@cpu", "dot/b@cpu")


def make_run(folder, number: int, factor: float = 1.0, spread: float = 0.003, **environment):
    noise = np.exp(np.random.default_rng(number).normal(0, spread, len(ROWS)))
    records = [record(name, 1e-3 * factor * float(n)) for name, n in zip(ROWS, noise)]
    started = f"2026-01-{1 + number % 28:02}T00:00:00Z"
    told = {"run_id": f"run{number}", "started": started} | environment
    return write_run(folder / f"run{number}", records, told)


@pytest.fixture(name="runs")
def runs_fixture(tmp_path):
    return [make_run(tmp_path, number) for number in range(1, 13)]


@pytest.fixture(name="stored")
def stored_fixture(runs, tmp_path):
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    return path


def test_a_baseline_lies_under_model_software_machine_and_method(stored, tmp_path):
    parts = stored.relative_to(tmp_path / "into").parts
    assert parts[1:] == ("host", "00000000", "1.jsonl")
    assert len(stored.read_text().splitlines()) == 12 * len(ROWS)
    assert all(len(runs) == 12 for runs in baseline_store.read_rows(stored).values())


def test_fewer_than_ten_runs_found_no_baseline_but_extend_one(runs, stored, tmp_path, capsys):
    assert call("promote", *runs[:9], "--into", tmp_path / "other") == 2
    assert "a baseline needs 10" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
    assert call("promote", make_run(tmp_path, 50), "--into", tmp_path / "into") == 0
    assert len(stored.read_text().splitlines()) == 13 * len(ROWS)


def test_a_run_counts_once(runs, stored, tmp_path, capsys):
    before = stored.read_text()
    assert call("promote", runs[3], "--into", tmp_path / "into") == 2
    assert "run4 is in the baseline already" in capsys.readouterr().err
    assert call("promote", *[runs[0]] * 10, "--into", tmp_path / "other") == 2
    assert stored.read_text() == before


def test_runs_of_another_kind_are_refused_by_their_key(stored, tmp_path, capsys):
    other = make_run(tmp_path, 60, fill="zeros")
    before = stored.read_text()
    assert call("promote", other, "--into", tmp_path / "into") == 5
    assert "NOT_COMPARABLE" in (error := capsys.readouterr().err) and "fill: " in error
    assert stored.read_text() == before
    assert call("check", stored, other) == 5
    assert call("check", stored, other, "--allow-mismatch", "fill") == 0


@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (1.05, 4), (0.95, 0)])
def test_a_machine_that_lost_five_per_cent_is_found(factor, code, stored, tmp_path, capsys):
    path = tmp_path / "report.json"
    assert call("check", stored, make_run(tmp_path, 70, factor), "--json", path) == code
    told = json.loads(path.read_text())
    verdicts = {row["verdict"] for row in told["rows"]}
    assert verdicts == {1.0: {"SAME"}, 1.05: {"WORSE"}, 0.95: {"BETTER"}}[factor]
    assert told["kind"] == "baseline"
    assert all(0.005 < row["smallest_change"] < 0.03 for row in told["rows"])
    assert "detectable" in capsys.readouterr().out, "the change that it detects is always printed"


def test_what_a_noisy_baseline_cannot_see_is_undecided(tmp_path):
    runs = [make_run(tmp_path, number, spread=0.03) for number in range(1, 11)]
    assert call("promote", *runs, "--into", tmp_path / "into") == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    assert call("check", path, make_run(tmp_path, 80)) == 3


def test_a_row_that_the_run_lacks_is_missing(stored, tmp_path):
    run = make_run(tmp_path, 90)
    lines = (run / "records.jsonl").read_text().splitlines(keepends=True)
    (run / "records.jsonl").write_text(lines[0])
    assert call("check", stored, run) == 4


def test_the_bound_is_wrong_as_rarely_as_it_promises():
    random = np.random.default_rng(1)
    past, new = random.normal(0, 0.01, (20_000, 10)), random.normal(0.005, 0.01, 20_000)
    rows = [
        baseline_rows.judge_row("x", np.exp(p), float(np.exp(n)), PRESETS["standard"])
        for p, n in zip(past, new)
    ]
    share = sum(row.verdict == "WORSE" for row in rows) / len(rows)
    assert share == pytest.approx(0.001, abs=0.0007)


@pytest.mark.parametrize("text", ["", "{\n", "[]\n", '{"schema": "ridgebench.baseline/1"}\n'])
def test_a_baseline_that_is_none(text, stored, runs, capsys):
    stored.write_text(text)
    assert call("check", stored, runs[0]) == 2
    assert capsys.readouterr().err.startswith(f"baseline: {stored}:")


@pytest.mark.parametrize("seconds", [1e308, 5e-324])
def test_a_time_at_the_end_of_double_precision_is_no_internal_error(seconds, stored, runs, tmp_path):
    lines = stored.read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"time_median_s": seconds})
    stored.write_text("\n".join(lines) + "\n")
    assert call("check", stored, runs[0], "--json", tmp_path / "report.json") == 3
    json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "arguments",
    [[], ["promote"], ["check", "x"], ["drift", "nowhere"], ["frobnicate"], ["check", "x", "y"]],
)
def test_usage(arguments, capsys):
    assert call(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err.count("\n") == 1
