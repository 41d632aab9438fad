"""How often the outlier rule is wrong: what a report expects of itself, and how often it finds a slow GPU."""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from . import outlier, pooling

_POINTS = (np.arange(200) + 0.5) / 200  # quantiles over which the spread that few GPUs show is averaged
SLOWER = (0.05, 0.1)
_MEDIAN_VARIANCE = np.pi / 2  # of the median of n normal numbers, times n and over their own


class _Row(NamedTuple):
    """A row of healthy GPUs: their number, their spread, and what the rule knows besides (outlier.Columns)."""

    count: int
    spread: float
    pooled: float
    weight: float
    limit: float


@cache
def _chi(freedom: float) -> np.ndarray:
    """Quantiles of the spread that GPUs show over that which they have."""
    return np.sqrt(stats.chi2.ppf(_POINTS, freedom) / freedom)


def chance(row: _Row, slower: float) -> float:
    """The chance that the row finds a GPU that is slower by this share, there and in the rows of its pool.

    The spread that `count` GPUs show is about chi distributed. The slow GPU widens it: the MAD is then a higher quantile
    of the other GPUs. And it lowers the median, from which the rule measures.
    """
    if row.spread == 0:
        return float(slower > outlier.FLOOR)
    n, freedom = row.count, float(pooling.freedom_of(row.count))
    widened = special.ndtri((1 + 0.5 * n / (n - 1)) / 2) / outlier.NORMAL
    own = widened * row.spread * _chi(freedom)
    spread = np.maximum(own, pooling.drawn(own, freedom, widened * row.pooled, row.weight))
    cut = np.maximum(outlier.FLOOR, row.limit / pooling.factor_of(np.array([n]))[0] * spread)
    median = 1 + row.spread * special.ndtri((n / 2 - 1) / (n - 1))
    scatter = row.spread * np.sqrt((1 - slower) ** 2 + _MEDIAN_VARIANCE / n)
    return float(special.ndtr(((1 - cut) * median - (1 - slower)) / scatter).mean())


class Expected(NamedTuple):
    """Error rates of a report, if its fleet is healthy and scatters as it does."""

    comparisons: int
    spread: float  # of the median column
    false_flags: float  # in the whole report
    found: dict[float, float]  # slower by this share: the chance that a row finds it
    least_found: float  # the share by which a GPU must be slower to be found with 90 % in a row


def judged_only(columns: outlier.Columns) -> outlier.Columns:
    judged = ~np.isnan(columns.cut)
    return outlier.Columns(*(np.asarray(part)[judged] for part in columns))


def _likely_spread(columns: outlier.Columns) -> np.ndarray:
    """The unbiased spread of each judged column, drawn towards that of its pool."""
    own = pooling.factor_of(columns.count) * columns.own
    return pooling.drawn(own, pooling.freedom_of(columns.count), columns.pooled, columns.weight)


def false_flags(columns: outlier.Columns) -> np.ndarray:
    """How many GPUs each of these judged columns flags by chance, if the rows are as unlike as they may be."""
    spread, freedom = _likely_spread(columns), pooling.freedom_of(columns.count) + columns.least_weight
    with np.errstate(divide="ignore"):
        return columns.count * special.stdtr(freedom, (columns.cut - 1) / spread)  # the distribution function of t


def median_row(columns: outlier.Columns) -> _Row:
    """The error rates of these judged columns."""
    parts = (_likely_spread(columns), columns.pooled, columns.weight, columns.limit)
    return _Row(int(np.median(columns.count)), *(float(np.median(part)) for part in parts))


def expected(columns: outlier.Columns, comparisons: int) -> Expected:
    judged = judged_only(columns)
    if not len(judged.count):
        return Expected(0, float("nan"), 0.0, {}, float("nan"))
    row = median_row(judged)
    found = {slower: chance(row, slower) for slower in SLOWER}
    steps = [step / 200 for step in range(1, 200)]
    least_found = next((s for s in steps if chance(row, s) >= 0.9), 1.0)
    return Expected(comparisons, row.spread, float(false_flags(judged).sum()), found, least_found)
