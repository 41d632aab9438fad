"""Drift over many runs: trends, changes of level, and what else changed at that time."""

import sys

import numpy as np
import pytest
from baseline_command import call
from baseline_test import make_run
from golden import GOLDEN, read_environment
from ridgebench.judge.past import change_points


def test_a_drift_is_distinguished_from_noise(tmp_path, capsys):
    runs = [make_run(tmp_path, n, 1 + 0.003 * n, spread=0.002) for n in range(1, 21)]
    steady = [make_run(tmp_path, 100 + n) for n in range(1, 21)]
    assert call("drift", *runs) == 0
    assert "2 rows, 2 drift" in capsys.readouterr().out
    assert call("drift", *steady) == 0
    assert "2 rows, 0 drift" in capsys.readouterr().out


def test_a_change_of_the_software_is_reported_with_the_drift(tmp_path, capsys):
    runs = [make_run(tmp_path, n, method_version=1 + (n > 5)) for n in range(1, 11)]
    assert call("drift", *runs) == 0
    assert "changed: 2026-01-07T00:00:00Z: method_version: 1 against 2" in capsys.readouterr().out


def needs_ruptures():
    pytest.importorskip("ruptures", reason="ruptures is not installed: no change of level is looked for")


def history(folder, factors, **told):
    """A run a day, slower by these factors; told: keys of the environment by name, as functions of the run's number."""
    return [
        make_run(folder, n, factor, 0.002, **{key: value(n) for key, value in told.items()})
        for n, factor in enumerate(factors, 1)
    ]


def test_a_step_is_named_with_its_day_its_size_and_what_changed_then(tmp_path, capsys):
    needs_ruptures()
    runs = history(tmp_path, [1.0] * 12 + [1.05] * 8, version=lambda n: "0.1" if n < 13 else "0.2")
    assert call("drift", *runs) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "12 + 8" in line]
    assert len(lines) == 2, "both rows"
    for line in lines:
        assert 4.5 < float(line.split()[0]) < 5.5
        assert "2026-01-14T00:00:00Z" in line and line.endswith("version: 0.1 against 0.2")


def test_a_step_between_two_hosts_names_the_host(tmp_path, capsys):
    needs_ruptures()
    host = read_environment(GOLDEN)["host"]
    runs = history(tmp_path, [1.0] * 10 + [1.08] * 10, host=lambda n: host | {"hostname_hash": "first" if n < 11 else "second"})
    assert call("drift", *runs) == 0
    shown = capsys.readouterr().out
    assert "nothing that the runs record" not in shown and shown.count("host.hostname_hash: first against second") == 3


def test_runs_of_one_moment_have_no_trend(tmp_path, capsys):
    assert call("drift", *(make_run(tmp_path, n, started="2026-01-01T00:00:00Z") for n in range(1, 7))) == 0
    shown = capsys.readouterr().out
    assert "nan" not in shown and "2 rows, 0 drift" in shown


def test_a_step_without_a_cause_says_so_and_steady_rows_have_none(tmp_path, capsys):
    needs_ruptures()
    assert call("drift", *history(tmp_path / "step", [1.0] * 10 + [0.96] * 10)) == 0
    assert capsys.readouterr().out.count("nothing that the runs record") == 2
    assert call("drift", *history(tmp_path / "steady", [1.0] * 20)) == 0
    assert "no level changed" in capsys.readouterr().out


def test_a_trend_is_no_step(tmp_path, capsys):
    needs_ruptures()
    assert call("drift", *history(tmp_path, np.linspace(1, 1.06, 20))) == 0
    output = capsys.readouterr().out
    assert "2 drift" in output and "no level changed" in output


def test_one_odd_run_is_no_level():
    needs_ruptures()
    times = np.exp(np.random.default_rng(3).normal(0, 0.002, 20))
    times[[7, 13]] *= 1.3
    assert change_points.steps(np.arange(20.0), times, 0.001, 0.01) == []


@pytest.mark.parametrize("count", [10, 30])
def test_steady_noise_seldom_has_a_step(count):
    """0.001 is promised for each row; 3000 rows of normal noise have 3 on average, and 12 with a probability of 7e-5."""
    needs_ruptures()
    random, days = np.random.default_rng(1), np.arange(float(count))
    found = [change_points.steps(days, np.exp(random.normal(0, 0.03, count)), 0.001, 0.01) for _ in range(3000)]
    assert sum(map(bool, found)) < 12


def test_without_the_library_the_command_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ruptures", None)
    assert call("drift", *history(tmp_path, [1.0] * 6)) == 0
    output = capsys.readouterr().out
    assert "2 rows, 0 drift" in output and "`pip install ruptures`" in output


def test_firmware_and_kernel_are_watched(tmp_path, capsys):
    golden = read_environment(GOLDEN)

    def host(n):
        return golden["host"] | {"kernel": "6.1" if n < 4 else "6.2"}

    def devices(n):
        return [golden["devices"][0] | {"vbios": "96.1" if n < 5 else "96.2"}]

    assert call("drift", *history(tmp_path, [1.0] * 6, host=host, devices=devices)) == 0
    output = capsys.readouterr().out
    assert "changed: 2026-01-05T00:00:00Z: host.kernel: 6.1 against 6.2" in output
    assert "changed: 2026-01-06T00:00:00Z: vbios: 96.1 against 96.2" in output
