"""The outlier rule: its numbers, what it flags, and whether its stated error rates are true."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from ridgebench.fleet.judging import outlier, rates
from ridgebench.fleet.judging.scoring import SHEET_FLOOR

ROOT = Path(__file__).resolve().parents[2]


def healthy(size: int = 16, columns: int = 6, spread: float = 0.005, seed: int = 1) -> np.ndarray:
    return 1 + np.random.default_rng(seed).normal(0, spread, (size, columns))


def judge(values: np.ndarray, **more) -> tuple[outlier.Columns, outlier.Scores]:
    columns = outlier.columns_of(values, **more)
    return columns, outlier.scores(values, columns)


def test_z_is_that_of_iglewicz_and_hoaglin():
    values = np.array([[9.0], [10], [11], [12], [13], [14], [15], [16], [5]])
    columns, found = judge(values)
    mad = np.median(np.abs(values - 12))
    assert columns.median[0] == 12 and found.z[-1, 0] == pytest.approx(0.6745 * (5 - 12) / mad)
    assert outlier.LEAST_Z == 3.5 and outlier.FLOOR == 0.03 and outlier.FAIL == 0.06 and outlier.FEWEST == 8


def test_a_slow_gpu_is_flagged_in_its_row_alone():
    values = healthy()
    values[3, 2] *= 0.94
    _, found = judge(values)
    assert np.argwhere(found.slow).tolist() == [[3, 2]] and not found.fast.any()
    assert found.ratio[3, 2] == pytest.approx(0.94, abs=0.01) and found.z[3, 2] < -outlier.LEAST_Z


def test_a_fast_gpu_is_no_slow_one():
    values = healthy()
    values[5, 0] *= 1.08
    _, found = judge(values)
    assert np.argwhere(found.fast).tolist() == [[5, 0]] and not found.slow.any()


def test_less_than_the_floor_is_never_slow():
    values = healthy(spread=0.0005)
    values[0] *= 0.972  # 50 standard deviations
    _, found = judge(values)
    assert (found.z[0] < -20).all() and not found.slow.any()


def test_without_any_spread_the_floor_decides():
    values = np.ones((10, 2))
    values[4, 0] = 0.96
    _, found = judge(values)
    assert np.argwhere(found.slow).tolist() == [[4, 0]] and np.isneginf(found.z[4, 0]) and (found.z[:, 1] == 0).all()


def test_a_wide_row_needs_more_than_the_floor():
    values = healthy(spread=0.02)
    values[2, 1] = 0.95
    columns, found = judge(values)
    assert columns.cut[1] < 0.93 and not found.slow.any()


def test_fewer_than_eight_gpus_have_no_z():
    values = healthy(7)
    values[0] *= 0.5
    columns, found = judge(values)
    assert np.isnan(columns.cut).all() and np.isnan(found.z).all() and not found.slow.any()
    assert found.ratio[0] == pytest.approx(0.5, abs=0.02)


def test_a_value_that_is_missing_is_not_judged():
    values = healthy(12)
    values[:5, 0] = np.nan  # seven are left
    values[3, 1] = np.nan
    columns, found = judge(values)
    assert columns.count.tolist()[:2] == [7, 11] and np.isnan(columns.cut[0])
    assert np.isnan(found.z[3, 1]) and not found.slow[3, 1] and not np.isnan(found.z[4, 1])


def test_a_spread_that_is_small_by_chance_counts_as_the_median_one():
    values = healthy(8, 9, spread=0.02)
    values[:, 0] = 1 + np.array([0, 0, 0, 0, 1e-5, -1e-5, 0.002, -0.035])
    columns, found = judge(values)
    assert columns.own[0] < 0.001 < 0.005 < columns.spread[0]
    assert not found.slow[7, 0]
    apart = outlier.columns_of(values, pools=np.array([1] + [0] * 8))
    assert outlier.scores(values, apart).slow[7, 0]


def test_the_limit_grows_with_the_comparisons():
    limits = [outlier.z_limit(64, comparisons) for comparisons in (1, 64, 64 * 24, 64 * 240)]
    assert limits[0] == outlier.LEAST_Z and limits == sorted(limits) and limits[-1] == pytest.approx(4.96, abs=0.1)
    assert outlier.z_limit(8, 192) > outlier.z_limit(1000, 192)


def test_a_median_leaves_nan_out():
    values = np.array([[3.0, np.nan, np.nan], [1, np.nan, 4], [2, np.nan, 6], [9, np.nan, np.nan]])
    assert outlier.nan_median(values, 0)[[0, 2]].tolist() == [2.5, 5] and np.isnan(outlier.nan_median(values, 0)[1])
    assert outlier.nan_median(np.array([[1.0, 5, 2]]), 1).tolist() == [2]


def test_the_median_polish_separates_nodes_and_slots():
    random = np.random.default_rng(1)
    table = 1 + random.normal(0, 0.002, (3, 6, 8))
    table[:, 2, :] -= 0.05
    table[1, :, 7] -= 0.03
    table[0, 4, 1] -= 0.1
    table[0, 5, 0] = np.nan
    nodes, slots, rest = outlier.median_polish(table)
    assert nodes[:, 2] == pytest.approx([-0.05] * 3, abs=0.004) and np.abs(np.delete(nodes, 2, 1)).max() < 0.004
    assert slots[1, 7] == pytest.approx(-0.03, abs=0.004) and np.abs(np.delete(slots, 7, 1)).max() < 0.004
    assert rest[0, 4, 1] == pytest.approx(-0.1, abs=0.01) and np.isnan(rest[0, 5, 0])


@pytest.mark.parametrize(("size", "spread", "most"), [(8, 0.01, 0.06), (64, 0.01, 0.03), (64, 0.005, 0.0)])
def test_the_stated_false_flags_are_those_of_simulated_reports(size, spread, most):
    """The report must not promise less than what happens; 400 reports leave a few tenths of a percent to chance."""
    found = rates.simulated(size, spread, fleets=400, seed=7)
    assert found.reports <= most and found.flags <= found.stated + 3 * math.sqrt(max(found.stated, 0.003) / 400)
    assert found.stated < 0.1 and found.confirmed <= found.reports


def test_the_stated_chance_of_finding_is_that_of_simulated_reports():
    """A single report estimates the spread of its fleet; the mean of several shows whether its formula is right."""
    found = rates.simulated(64, 0.01, fleets=400, seed=3)
    fleets = [healthy(64, rates.ROWS * rates.PASSES, 0.01, seed) for seed in range(30)]
    stated = [rates.expected(outlier.columns_of(values), values.size).found for values in fleets]
    for slower in rates.SLOWER:
        assert np.mean([one[slower] for one in stated]) == pytest.approx(found.slow_once[slower], abs=0.1)
        assert found.slow_in_all[slower] >= found.slow_once[slower]
    assert found.slow_in_all[0.05] > 0.99 and found.slow_once[0.1] > 0.99


def test_at_two_percent_a_row_misses_what_is_five_percent_slow():
    found = rates.simulated(64, 0.02, fleets=100, seed=3)
    assert found.slow_once[0.05] < 0.1 and found.reports < 0.05


def test_rows_that_scatter_more_raise_what_the_report_expects():
    values = healthy(8, 24, 0.01)
    alike = rates.expected(outlier.columns_of(values), values.size)
    values[:, :8] = 1 + 4 * (values[:, :8] - 1)
    mixed = rates.expected(outlier.columns_of(values), values.size)
    assert mixed.false_flags > 2 * alike.false_flags


def test_without_judged_columns_nothing_is_expected():
    own = rates.expected(outlier.columns_of(healthy(4)), 0)
    assert own.comparisons == 0 and own.false_flags == 0 and own.found == {} and math.isnan(own.spread)


def test_the_floor_of_the_data_sheet_is_below_every_published_ceiling():
    """Ceilings that saturate an engine of an H100 or H200 reach at least this share of the data sheet (mfu)."""
    shares = []
    for path in sorted((ROOT / "results").glob("nvidia-*/*/records.jsonl")):
        for record in map(json.loads, path.read_text("utf-8").splitlines()):
            is_peak = record["op"] in ("fma_peak", "tensor_peak", "wgmma_peak") and record["format"] != "tf32x3"
            if is_peak and record["status"] == "ok" and record["mfu"]:
                shares.append(record["mfu"])
    assert len(shares) > 10 and min(shares) > SHEET_FLOOR
