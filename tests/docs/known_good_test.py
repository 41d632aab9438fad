"""docs/operate/known_good.md: what the page shows is what the commands print."""

import re

import numpy as np
import pytest
from command_line import ROOT, ridgebench
from golden import GOLDEN, read_environment
from operate_test import marks
from ridgebench.judge.past import baseline
from synthetic_session import record, write_run

PAGE = (ROOT / "docs" / "operate" / "known_good.md").read_text("utf-8")
JUDGED, DESCRIBED = re.findall(r"```\n(verdict .*?)```", PAGE, re.DOTALL)
DRIFT = re.search(r"```\n(  row .*?)```", PAGE, re.DOTALL)[1]
PUBLISHED, PROMOTED = re.search(r"^\$ build/ridgebench (baseline promote --model \S+)\n(.*)$", PAGE, re.MULTILINE).groups()
ROWS = "^(dram_copy|fma_peak)/|^(relu/streaming|matmul/packed)/fp32/"
SLOWER = "sim:seed=30,row=0.0005,bandwidth=91e9"


def words(line: str) -> list[str]:
    """The marks of a line, without the elements of `fma_peak`, which follow from the host's processors."""
    return marks(re.sub(r"n:\d+/iterations", "n:N/iterations", line))


@pytest.fixture(name="baselines", scope="module")
def baselines_fixture(tmp_path_factory):
    """The baselines of ten runs of the simulated device and, of its model, of one run."""
    folder = tmp_path_factory.mktemp("baselines")
    runs = [folder / str(seed) for seed in range(1, 11)]
    for seed, run in enumerate(runs, 1):
        done = ridgebench("run", "--device", f"sim:seed={seed},row=0.0005", "--filter", ROWS, "--budget", "1", "--out", run)
        assert done.returncode == 0, done.stderr
    assert ridgebench("baseline", "promote", *runs, "--into", folder / "machine").returncode == 0
    assert ridgebench("baseline", "promote", "--model", runs[0], "--into", folder / "model").returncode == 0
    return [path for name in ("machine", "model") for path in (folder / name).rglob("*.jsonl")]


@pytest.mark.parametrize(("which", "shown", "code"), [(0, JUDGED, 4), (1, DESCRIBED, 0)])
def test_a_check_of_a_device_that_lost_bandwidth_looks_as_shown(which, shown, code, baselines, tmp_path):
    done = ridgebench("baseline", "check", baselines[which], "--run", "--device", SLOWER, "--budget", "1", "--out", tmp_path / "run")
    assert done.returncode == code, done.stderr
    printed = list(map(words, done.stdout.splitlines()))
    assert [line for line in shown.splitlines() if words(line) not in printed] == []
    assert words(shown.splitlines()[-1]) in printed


def test_the_drift_of_the_made_up_history_is_printed_as_shown(tmp_path, capsys):
    pytest.importorskip("ruptures", reason="ruptures is not installed: no change of level is looked for")
    host, runs = read_environment(GOLDEN)["host"], []
    for day in range(1, 21):
        noise, late = np.exp(np.random.default_rng(day).normal(0, 0.002, 2)), day > 12
        times = (12.5e-6 * float(noise[0]) * (1.06 if late else 1), 4e-4 * float(noise[1]))
        names = ("dram_copy/streaming/fp32/n:131072/steady@cpu", "fma_peak/registers/fp32/n:49152/steady@cpu")
        told = {"run_id": str(day), "started": f"2026-03-{day:02}T04:17:00Z"}
        told["host"] = host | {"kernel": f"6.1.0-3{9 if late else 8}"}
        runs.append(str(write_run(tmp_path / str(day), list(map(record, names, times)), told)))
    assert baseline.main(["drift", *runs]) == 0
    assert DRIFT.strip() in capsys.readouterr().out


def test_the_baseline_of_a_published_run_says_what_is_shown(tmp_path):
    done = ridgebench(*PUBLISHED.split(), "--into", tmp_path, cwd=ROOT)
    assert done.stdout == f"{PROMOTED}\n".replace("results/baselines", str(tmp_path))
