"""How often the outlier rule is wrong: what a report expects of itself, and the simulated table of docs/error_rates.md."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from ridgebench.result_tables import captioned, lines

from . import outlier

MAD_EFFICIENCY = 0.367  # of the MAD against the standard deviation, for normal numbers (Croux and Rousseeuw 1992)
POINTS = (np.arange(200) + 0.5) / 200  # quantiles over which the spread that few GPUs show is averaged

FLEETS = 2_000  # simulated reports of each line
SIZES = (8, 64, 512)
SPREADS = (0.005, 0.01, 0.02)
SLOWER = (0.05, 0.1)
ROWS = 12  # rows in two passes, as the quick suite has
PASSES = 2


def chances(count: int, spread: float, pooled: float, limit: float, slower: float) -> float:
    """The chance that a GPU is flagged in one row that is `slower` (share) than the median of its healthy peers.

    count: peers. spread: of the row; pooled: the least that the rule assumes of it. The spread that `count` GPUs show is
    about chi distributed, with MAD_EFFICIENCY x count degrees of freedom. A slow GPU widens it: the MAD is then a higher
    quantile of the other GPUs.
    """
    if spread == 0:
        return float(slower > outlier.FLOOR)
    freedom = MAD_EFFICIENCY * count
    chi = np.sqrt(stats.chi2.ppf(POINTS, freedom))
    shown = spread / outlier.small_sample(count) * chi / chi.mean()
    widened = stats.norm.ppf((1 + 0.5 * count / (count - 1)) / 2) / outlier.NORMAL if slower else 1.0
    cut = np.maximum(outlier.FLOOR, limit * widened * np.maximum(shown, pooled))
    return float(stats.norm.cdf((slower - cut) / spread / (1 - slower)).mean())


class Expected(NamedTuple):
    """What a report expects of itself, if its fleet is healthy and scatters as it does."""

    comparisons: int
    spread: float  # of the median column
    false_flags: float  # in the whole report
    found: dict[float, float]  # slower by this share in one row: the chance that this row finds it
    least_found: float  # the share by which a GPU must be slower to be found with 90 % in a row


def likely_spread(columns: outlier.Columns) -> np.ndarray:
    """The spread of each judged column: its own, drawn towards that of its pool where few GPUs show it.

    The weight of the pool is that of three degrees of freedom.
    """
    freedom = MAD_EFFICIENCY * columns.count
    unbiased = np.array([outlier.small_sample(int(count)) for count in columns.count])
    pooled = np.fmin(columns.spread, np.nanmedian(columns.own)) if len(columns.own) else columns.spread
    return unbiased * np.sqrt((freedom * columns.own**2 + 3 * pooled**2) / (freedom + 3))


def expected(columns: outlier.Columns, comparisons: int) -> Expected:
    judged = ~np.isnan(columns.cut)
    parts = outlier.Columns(*(np.asarray(part)[judged] for part in columns))
    if not judged.any():
        return Expected(0, float("nan"), 0.0, {}, float("nan"))
    spreads = likely_spread(parts)
    least = np.fmin(parts.spread, np.median(parts.own))
    flags = sum(
        int(n) * chances(int(n), s, p, limit, 0.0) for n, s, p, limit in zip(parts.count, spreads, least, parts.limit)
    )
    count, limit, spread = int(np.median(parts.count)), float(np.median(parts.limit)), float(np.median(spreads))
    pooled = float(np.median(least))
    found = {slower: chances(count, spread, pooled, limit, slower) for slower in SLOWER}
    steps = [step / 200 for step in range(1, 200)]
    least_found = next((s for s in steps if chances(count, spread, pooled, limit, s) >= 0.9), 1.0)
    return Expected(comparisons, spread, float(flags), found, least_found)


class Simulated(NamedTuple):
    reports: float  # share of the reports with a false flag
    flags: float  # false flags of a report, mean
    confirmed: float  # share of the reports with a false flag that a second attempt confirms
    slow_once: dict[float, float]  # of a GPU that is slower in all rows: share of reports whose first row finds it
    slow_in_all: dict[float, float]  # share of reports in which any row does
    stated: float  # what the reports themselves expect, mean of false flags


def simulated(size: int, spread: float, fleets: int = FLEETS, seed: int = 1) -> Simulated:
    """Fleets of normally distributed rates; half of the variance is the GPU's and the same in both passes of a row.

    What a slow GPU does to the report is counted in the same draws: the first GPU is slowed afterwards.
    """
    random = np.random.default_rng(seed)
    comparisons = size * ROWS * PASSES
    flags, reports, confirmed, stated = 0, 0, 0, 0.0
    once, everywhere = dict.fromkeys(SLOWER, 0), dict.fromkeys(SLOWER, 0)
    for fleet in range(fleets):
        own = 1 + random.normal(0, spread * 0.5**0.5, (size, ROWS, 1))
        values, again = (
            (own + random.normal(0, spread * 0.5**0.5, (size, ROWS, PASSES))).reshape(size, -1) for _ in range(2)
        )
        columns = outlier.columns_of(values)
        slow = outlier.scores(values, columns).slow
        flags, reports = flags + int(slow.any(axis=1).sum()), reports + bool(slow.any())
        confirmed += bool(slow.any() and (slow & outlier.scores(again, columns).slow).any())
        if fleet % 20 == 0:
            stated += expected(columns, comparisons).false_flags * 20 / fleets
        for slower in SLOWER:
            changed = values.copy()
            changed[0] *= 1 - slower
            found = outlier.scores(changed, outlier.columns_of(changed)).slow[0]
            everywhere[slower] += bool(found.any())
            once[slower] += bool(found[0])
    shares = ({slower: number / fleets for slower, number in counted.items()} for counted in (once, everywhere))
    return Simulated(reports / fleets, flags / fleets, confirmed / fleets, *shares, stated)


def simulated_table() -> str:
    """The table of docs/error_rates.md."""
    header = ["GPUs", "they scatter by", "reports with a false flag", "with a confirmed one", "flags that the report expects"]
    header += [f"{100 * s:g} % slow: found by {where}" for s in SLOWER for where in ("one row", "any row")]
    cells = []
    for size in SIZES:
        for spread in SPREADS:
            found = simulated(size, spread)
            line = [str(size), f"{100 * spread:g} %", f"{100 * found.reports:.2f} %"]
            line += [f"{100 * found.confirmed:.2f} %", f"{found.stated:.3f}"]
            for slower in SLOWER:
                line += [f"{100 * found.slow_once[slower]:.1f} %", f"{100 * found.slow_in_all[slower]:.1f} %"]
            cells.append(line)
    return captioned(
        lines(header, cells),
        f"Each line stands for {FLEETS:,} simulated reports of {ROWS} rows in {PASSES} passes, with normally distributed rates.",
        "Half of the variance is the GPU's own and returns in a second attempt.",
        "In the last four columns one GPU of each fleet is slow in all rows.",
    )
