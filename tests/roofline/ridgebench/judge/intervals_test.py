"""Intervals follow from the samples: the program computed those of published runs, and a narrower one is refused."""

import json

import numpy as np
import pytest
from golden import ROOT, read_records
from ridgebench.base.command_line import CommandError
from ridgebench.judge import consistent
from ridgebench.judge.intervals import intervals
from synthetic_session import RECORD, retimed, write_run

PUBLISHED = sorted(path.parent for path in ROOT.glob("results/*/*/records.jsonl"))
SAMPLES = [float(time) for time in np.random.default_rng(3).normal(1e-3, 1e-5, 40)]


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_published_runs_have_the_intervals_of_their_samples(folder):
    run = consistent.load(folder)
    assert sum(row.status == "ok" for row in run.rows) > 50


def test_the_samples_of_some_are_correlated():
    """So that the test above tries medians of blocks, whose interval is another one than that of the samples."""
    blocked = 0
    for row in (row for folder in PUBLISHED for row in read_records(folder) if row["status"] == "ok"):
        ordered, count = sorted(row["samples_s"]), len(row["samples_s"])
        rank = max(1, int((count + 1 - 1.959964 * np.sqrt(count)) / 2))
        own = np.array((ordered[rank - 1], ordered[count - rank]))
        blocked += count >= 18 and not np.allclose(next(intervals(np.array(row["samples_s"]), 0.0)), own, rtol=1e-9, atol=0)
    assert blocked > 10


@pytest.mark.parametrize("tick", [None, 1e-6])
def test_a_narrow_interval_within_the_samples_is_refused(tmp_path, tick):
    one = retimed(RECORD | {"tick_s": tick, "launches_per_sample": 1}, SAMPLES)
    assert consistent.load(write_run(tmp_path / "sound", [one], {})).rows[0].time_ci_low_s == one["time_ci_low_s"]
    middle, low, high = (one[f"time_{key}_s"] for key in ("median", "ci_low", "ci_high"))
    assert min(SAMPLES) < low < middle < high < max(SAMPLES)
    for change in ({"time_ci_low_s": (low + middle) / 2}, {"time_ci_high_s": (high + middle) / 2}, {"time_ci_high_s": max(SAMPLES)}):
        with pytest.raises(CommandError, match="time_ci_low_s and time_ci_high_s are .* but the samples give"):
            consistent.load(write_run(tmp_path / "narrow", [one | change], {}))


def test_one_sample_is_its_own_interval():
    assert list(intervals(np.array([2.0]), 0.5))[0] == (1.75, 2.25)
    assert list(intervals(np.array([1.0, 2.0, 4.0]), 0.0))[0] == (1.0, 4.0)
    assert json.loads(json.dumps(list(intervals(np.array([1.0] * 40), 0.0)))) == [[1.0, 1.0]] * 3
