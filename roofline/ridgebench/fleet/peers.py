"""The rule that says which GPU is slow among its peers, and how often it is wrong. A rate has a line per GPU and a column per row.

A GPU is slow in a row if its rate is more than FLOOR below the median of the peers and its modified z score

    z = 0.6745 (x - median) / MAD        (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993)

is below the negative limit. The limit is theirs, 3.5, or larger: a report compares each GPU in many rows, and the limit
grows so that at most _FALSE_REPORTS of the reports of a healthy fleet flag a GPU. The MAD of few GPUs is sometimes far too
small by chance. Therefore it is drawn towards that of the other rows where it is smaller, and the limit is a quantile of
Student's t. docs/error_rates.md has the rates that come out.

Drawn towards other rows: the moderated variance of Smyth, Linear models and empirical Bayes methods for assessing
differential expression in microarray experiments (2004), section 4. It takes the variances of rows as drawn from one
distribution. Where rows scatter alike, each counts as all of them together. Where they do not, each counts nearly alone, with
few degrees of freedom, and the limit of Student's t for them is large.
"""

from functools import cache
from typing import NamedTuple, Optional

import numpy as np
from scipy import special, stats

from ridgebench.data.outlier_rule import FAIL, FEWEST, FLOOR, LEAST_Z, NORMAL

_MAD_EFFICIENCY = 0.367  # of the MAD against the standard deviation, for normal numbers (Croux and Rousseeuw 1992)
# Croux and Rousseeuw, Time-efficient algorithms for two highly robust estimators of scale (1992), section 4: by what
# the MAD of n normal numbers is too small on average.
_SMALL_SAMPLE = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}
_FEWEST_ROWS = 3  # fewer do not say whether they scatter alike
_LEAST_SHARE = 0.1  # of the median spread: a row that scatters less says no more about the others than one with this share
# By how many standard deviations, as of normal numbers, the variance of the spreads' logarithms may be too small by chance.
# It is smaller still in one of 25 simulated reports of eight GPUs, and in fewer reports of more GPUs.
_DEVIATIONS = 1.7
_WEIGHTS = np.geomspace(1e4, 0.1, 500)  # degrees of freedom; more are not told from the first
_OF_WEIGHTS = special.polygamma(1, _WEIGHTS / 2)  # the variance of the logarithm of such a variance


class _Pool(NamedTuple):
    """Statistics of the other rows. spread: of a typical row, 0 if unknown; weight: its degrees of freedom.

    least_weight: the weight if the rows are less alike than they happen to look.
    """

    spread: float
    weight: float
    least_weight: float


def freedom_of(count: np.ndarray) -> np.ndarray:
    """Degrees of freedom of the spread that the MAD of this number of GPUs shows.

    The MAD of an even number is the mean of two deviations, and therefore has those of one GPU more. The log-variance of
    simulated MADs of 8 to 64 normal numbers agrees with this within 3 %.
    """
    return _MAD_EFFICIENCY * (2 * (np.maximum(count, 1) // 2) + 1)


def factor_of(count: np.ndarray) -> np.ndarray:
    """By what the MAD of this number of GPUs is multiplied so that its square is not too small on average."""
    half = freedom_of(count) / 2
    mean = np.exp(special.gammaln(half + 0.5) - special.gammaln(half)) / half**0.5  # of chi over its root mean square
    return mean * np.array([_SMALL_SAMPLE.get(n, n / (n - 0.8)) if n > 1 else 1.0 for n in np.asarray(count).tolist()])


def pool_of(spreads: np.ndarray, freedom: np.ndarray) -> _Pool:
    """spreads: standard deviations of the rows, unbiased; those that are 0 or NaN are left out."""
    known = spreads > 0
    spreads, half = spreads[known], freedom[known] / 2
    if len(spreads) < _FEWEST_ROWS:
        return _Pool(0.0, 0.0, 0.0)
    spreads = np.maximum(spreads, _LEAST_SHARE * np.median(spreads))
    logs = 2 * np.log(spreads) - special.digamma(half) + np.log(half)
    by_chance = special.zeta(2, half).mean()  # the trigamma function
    lucky = max(0.0, 1 - _DEVIATIONS * (2 / (len(logs) - 1)) ** 0.5)
    weight, least = np.interp(logs.var(ddof=1) - np.array([1, lucky]) * by_chance, _OF_WEIGHTS, _WEIGHTS).tolist()
    typical = np.exp(logs.mean() + special.digamma(weight / 2) - np.log(weight / 2))
    return _Pool(float(typical**0.5), weight, least)


def _drawn(spread: np.ndarray, freedom: np.ndarray, pooled: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The spread of each row, drawn towards the pooled one by the weight of that."""
    return np.sqrt((freedom * spread**2 + weight * pooled**2) / (freedom + weight))


_FALSE_REPORTS = 0.01  # share of the reports of a healthy fleet that flag a GPU, for which the limit is chosen
_SWEEPS = 4  # of the median polish; it converges in two or three


def z_limit(count: np.ndarray, comparisons: int, freedom: np.ndarray) -> np.ndarray:
    """The limit of -z in columns of `count` GPUs whose spread has `freedom` degrees of freedom.

    Each of the report's comparisons has Bonferroni's share of _FALSE_REPORTS.
    """
    different, where = np.unique(freedom, return_inverse=True)  # the quantile takes long
    limit = stats.t.isf(_FALSE_REPORTS / max(comparisons, 1), different)[where]
    return np.maximum(LEAST_Z, factor_of(count) * limit)


class Columns(NamedTuple):
    """Each column of the peers: their number, median, spread (standard deviation over median), and what is slow."""

    count: np.ndarray
    median: np.ndarray
    own: np.ndarray  # the spread of this column, as its MAD shows it; NaN with fewer than FEWEST
    spread: np.ndarray  # that or, where it is larger, that drawn towards the pool's
    pooled: np.ndarray  # the spread of its pool, unbiased; 0 if unknown
    weight: np.ndarray  # degrees of freedom of the pool
    least_weight: np.ndarray  # those if the rows are less alike than they look
    limit: np.ndarray  # of -z
    cut: np.ndarray  # the share of the median below which a GPU is slow; NaN if nothing is judged


class Scores(NamedTuple):
    """One value for each GPU and column; NaN if the GPU has no value or the column is not judged."""

    ratio: np.ndarray  # value over median
    z: np.ndarray
    slow: np.ndarray
    fast: np.ndarray


def nan_median(values: np.ndarray, axis: int) -> np.ndarray:
    """The median without NaN; NaN if there is nothing else."""
    if not np.isnan(values).any() and values.shape[axis]:
        return np.median(values, axis)
    ordered = np.sort(values, axis=axis)  # NaN is last
    count = np.sum(~np.isnan(values), axis=axis, keepdims=True)
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    high = np.minimum(high, values.shape[axis] - 1)
    return ((np.take_along_axis(ordered, low, axis) + np.take_along_axis(ordered, high, axis)) / 2).squeeze(axis)


def columns_of(values: np.ndarray, pools: Optional[np.ndarray] = None, comparisons: int = 0) -> Columns:
    """Statistics of the peers for each column.

    values: [GPU, column], larger is better, NaN if there is none. pools: a number for each column; columns of one
    pool draw each other's spread, by default all. comparisons: of the whole report, by default those of these values.
    """
    count = np.sum(~np.isnan(values), axis=0)
    median = nan_median(values, 0)
    enough = count >= FEWEST
    mad = nan_median(np.abs(values - median), 0)
    own = np.where(enough, mad / NORMAL / median, np.nan)
    factor, freedom = factor_of(count), freedom_of(count)
    pools = np.zeros(own.shape, int) if pools is None else pools
    found = np.zeros((3, *own.shape))
    for pool in np.unique(pools):
        found[:, pools == pool] = np.array(pool_of((factor * own)[pools == pool], freedom[pools == pool]))[:, None]
    spread = np.fmax(own, _drawn(factor * own, freedom, *found[:2]) / factor)
    limit = z_limit(count, comparisons or int(count[enough].sum()), freedom + found[1])
    cut = np.where(enough, 1 - np.maximum(FLOOR, limit * spread), np.nan)
    return Columns(count, median, own, spread, *found, limit, cut)


def scores(values: np.ndarray, columns: Columns) -> Scores:
    """Each value against the peers of its column."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = values / columns.median
        z = np.where(np.isnan(columns.cut), np.nan, (ratio - 1) / columns.spread)
        z = np.where((ratio == 1) & ~np.isnan(columns.cut), 0.0, z)  # also where all are equal
        return Scores(ratio, z, ratio < columns.cut, ratio > 2 - columns.cut)


def median_polish(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tukey's median polish of [column, node, slot] into effects of nodes and slots, and what is left.

    table: ratios to the median of all; NaN if there is none. Returns node effects [column, node], slot effects
    [column, slot] and residuals [column, node, slot], as differences from 1.
    """
    rest = table - 1.0
    nodes, slots = np.zeros(rest.shape[:2]), np.zeros((rest.shape[0], rest.shape[2]))
    for _ in range(_SWEEPS):
        change = np.nan_to_num(nan_median(rest, 2))
        nodes, rest = nodes + change, rest - change[:, :, None]
        change = np.nan_to_num(nan_median(rest, 1))
        slots, rest = slots + change, rest - change[:, None, :]
    return nodes, slots, rest


_POINTS = (np.arange(200) + 0.5) / 200  # quantiles over which the spread that few GPUs show is averaged
SLOWER = (0.05, 0.1)
_MEDIAN_VARIANCE = np.pi / 2  # of the median of n normal numbers, times n and over their own


class _Row(NamedTuple):
    """A row of healthy GPUs: their number, their spread, and further facts for the rule (Columns)."""

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
        return float(slower > FLOOR)
    n, freedom = row.count, float(freedom_of(row.count))
    widened = special.ndtri((1 + 0.5 * n / (n - 1)) / 2) / NORMAL
    own = widened * row.spread * _chi(freedom)
    spread = np.maximum(own, _drawn(own, freedom, widened * row.pooled, row.weight))
    cut = np.maximum(FLOOR, row.limit / factor_of(np.array([n]))[0] * spread)
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


def judged_only(columns: Columns) -> Columns:
    judged = ~np.isnan(columns.cut)
    return Columns(*(np.asarray(part)[judged] for part in columns))


def _likely_spread(columns: Columns) -> np.ndarray:
    """The unbiased spread of each judged column, drawn towards that of its pool."""
    own = factor_of(columns.count) * columns.own
    return _drawn(own, freedom_of(columns.count), columns.pooled, columns.weight)


def false_flags(columns: Columns) -> np.ndarray:
    """How many GPUs each of these judged columns flags by chance, if the rows are as unlike as they may be."""
    spread, freedom = _likely_spread(columns), freedom_of(columns.count) + columns.least_weight
    with np.errstate(divide="ignore"):
        return columns.count * special.stdtr(freedom, (columns.cut - 1) / spread)  # the distribution function of t


def median_row(columns: Columns) -> _Row:
    """The error rates of these judged columns."""
    parts = (_likely_spread(columns), columns.pooled, columns.weight, columns.limit)
    return _Row(int(np.median(columns.count)), *(float(np.median(part)) for part in parts))


def expected(columns: Columns, comparisons: int) -> Expected:
    judged = judged_only(columns)
    if not len(judged.count):
        return Expected(0, float("nan"), 0.0, {}, float("nan"))
    row = median_row(judged)
    found = {slower: chance(row, slower) for slower in SLOWER}
    steps = [step / 200 for step in range(1, 200)]
    least_found = next((s for s in steps if chance(row, s) >= 0.9), 1.0)
    return Expected(comparisons, row.spread, float(false_flags(judged).sum()), found, least_found)
