"""Error rates of gates with more looks than compare had, and sessions of hundreds of pairs without their processes."""

import json

import numpy as np
import pytest
from gate_bench import verdicts
from ridgebench.judge import gate
from ridgebench.judge.limits import Limits

PAIRS = 300
ROWS = [f"BM_Copy/{n}" for n in range(4)]


@pytest.mark.parametrize(
    ("pairs", "looks"),
    [(40, (10, 20, 40)), (5, (5,)), (10, (10,)), (11, (10, 11)), (PAIRS, (10, 20, 40, 80, 160, 300))],
)
def test_looks_double_up_to_the_last_pair(pairs, looks):
    preset = Limits(pairs=pairs).of_most
    assert preset.looks == looks
    assert preset.alpha * len(looks) == pytest.approx(gate.ALPHA)


@pytest.mark.parametrize("pairs", [10, 80, PAIRS])
def test_more_looks_spend_no_more_risk(pairs):
    """On the tolerance itself, the worst case for a false alarm; and a loss of 3 % is found."""
    preset = Limits(pairs=pairs).of_most
    noise = np.random.default_rng(pairs).normal(0, 0.004 * np.sqrt(2), (6000, pairs))
    found = gate.judge(noise + np.log1p(0.005), preset)
    assert (found == gate.WORSE).mean() <= 2 * gate.ALPHA, "the standard error is 40 %"
    assert (gate.judge(noise, preset) == gate.WORSE).sum() == 0
    assert (gate.judge(noise + np.log1p(0.03), preset) == gate.WORSE).mean() > 0.99


def write_pairs(folder, change: float, noise: float) -> None:
    """A session of Google Benchmark's files, as its processes leave them."""
    folder.mkdir()
    random = np.random.default_rng(1)
    for pair in range(1, PAIRS + 1):
        for arm, factor in (("baseline", 1.0), ("candidate", 1.0 + change)):
            times = factor * np.exp(random.normal(0, noise, len(ROWS)))
            entries = [{"name": name, "real_time": float(t), "time_unit": "us"} for name, t in zip(ROWS, times)]
            (folder / f"{pair:02}-{arm}.stdout").write_text(json.dumps({"benchmarks": entries}))
            (folder / f"{pair:02}-{arm}.stderr").touch()
    told = {"schema": "ridgebench.session/3", "reader": "gbench", "baseline": ["old"], "candidate": ["new"]}
    told |= {"filter": None, "pairs": PAIRS, "most_pairs": PAIRS, "seconds": 1.0, "timeout": 60}
    told |= {"metric_name": None, "better": None, "statistic": None}
    (folder / "session.json").write_text(json.dumps(told))


@pytest.mark.parametrize(("change", "code", "verdict"), [(0, 0, "SAME"), (0.03, 4, "WORSE")])
def test_three_hundred_pairs_of_noisy_processes(change, code, verdict, bench):
    write_pairs(bench.out, change, noise=0.03)
    found, report = bench.call("--session", bench.out, "--json", bench.folder / "report.json")
    assert (found, set(verdicts(report).values())) == (code, {verdict})
    assert {row["pairs"] for row in report["rows"]} == {PAIRS}
