"""Processes that took turns are compared turn by turn."""

import json

import numpy as np
import pytest
from ridgebench.judge.gate_cli import main
from synthetic_session import log_ratios, retimed, write_session


def judge(folder, tmp_path) -> tuple[int, dict]:
    path = tmp_path / "report.json"
    code = main(["--session", str(folder), "--json", str(path)])
    return code, json.loads(path.read_text())["rows"][0]


def restless(arm, pair, records, _environment):
    """A machine whose speed swings from turn to turn, in step for both processes.

    The baseline stops earlier: the medians are those of different turns.
    """
    machine = np.exp(np.random.default_rng(pair).normal(0, 0.3, 30))
    for record in records:
        kept = machine[: 18 if arm == "baseline" else 30]
        record.update(retimed(record, (record["time_median_s"] * kept).tolist()))


@pytest.mark.parametrize(("change", "verdict"), [(0, "SAME"), (0.02, "WORSE"), (-0.02, "BETTER")])
def test_what_slows_both_neighbours_is_spared(change, verdict, tmp_path):
    ratios = log_ratios(change, pairs=40)
    in_turns = write_session(tmp_path / "turns", ratios, restless, turns="batch")
    code, row = judge(in_turns, tmp_path)
    assert (code, row["verdict"]) == (4 if verdict == "WORSE" else 0, verdict)
    assert row["change"] == pytest.approx(change, abs=0.003)
    apart = write_session(tmp_path / "apart", ratios, restless)
    assert judge(apart, tmp_path)[1]["spread"] > 5 * row["spread"]


def test_a_batch_of_many_samples_counts_by_its_median(tmp_path):
    def glitches(arm, pair, records, environment):
        """In some samples of each batch; one process cuts its batches into fewer of them."""
        restless(arm, pair, records, environment)
        for record in records:
            count = 3 if arm == "baseline" else 5
            factors = np.where(np.arange(count) == 1, 3.0, 1.0)
            samples = np.outer(record["samples_s"], factors).ravel().tolist()
            record.update(retimed(record, samples, samples_per_batch=count))

    folder = write_session(tmp_path / "session", log_ratios(0.02, pairs=40), glitches, turns="batch")
    code, row = judge(folder, tmp_path)
    assert (code, row["verdict"]) == (4, "WORSE")
    assert row["change"] == pytest.approx(0.02, abs=0.003)


def test_a_turn_may_be_a_part_of_a_batch(tmp_path):
    def cut(arm, pair, records, environment):
        """Batches of at most two samples; one process has more of them in a batch than the other."""
        restless(arm, pair, records, environment)
        environment["samples_per_turn"] = 2
        sizes = [1, 2, 2] if arm == "baseline" else [1, 2]
        for record in records:
            turns = record["samples_s"]
            samples = np.repeat(turns, sizes * (len(turns) // len(sizes))).tolist()
            record.update(retimed(record, samples, samples_per_batch=sum(sizes)))

    folder = write_session(tmp_path / "session", log_ratios(0.02, pairs=40), cut, turns="samples")
    code, row = judge(folder, tmp_path)
    assert (code, row["verdict"]) == (4, "WORSE")
    assert row["change"] == pytest.approx(0.02, abs=0.003)


@pytest.mark.parametrize("value", [0, 2.5, "x", None])
def test_a_turn_of_no_such_length(value, tmp_path, capsys):
    def edit(_arm, _pair, _records, environment):
        environment["samples_per_turn"] = value

    folder = write_session(tmp_path / "session", log_ratios(0), edit, turns="samples")
    assert main(["--session", str(folder)]) == 2
    assert "01-baseline/environment.json:1: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [("samples_s", samples) for samples in (None, [], [1e-3, 0], [1e-3, "x"], [True, -1])]
    + [("samples_per_batch", count) for count in (0, 2, 2.5, "x", None, True)],
)
def test_samples_and_batches_that_no_run_writes(key, value, tmp_path, capsys):
    def edit(arm, pair, records, _environment):
        if (arm, pair) == ("candidate", 3):
            records[0][key] = value

    folder = write_session(tmp_path / "session", log_ratios(0), edit, turns="batch")
    assert main(["--session", str(folder)]) == 2
    assert "03-candidate/records.jsonl:1: " in capsys.readouterr().err
