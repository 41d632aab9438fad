"""The rule that says which GPU is slow among its peers: one array of rates, a line for each GPU, a column for each row.

A GPU is slow in a row if its rate is more than FLOOR below the median of the peers and its modified z score

    z = 0.6745 (x - median) / MAD        (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993)

is below the negative limit. The limit is theirs, 3.5, or larger: a report compares each GPU in many rows, and the limit
grows so that at most _FALSE_REPORTS of the reports of a healthy fleet flag a GPU. The MAD of few GPUs is sometimes far too
small by chance. Therefore it is drawn towards that of the other rows where it is smaller (pooling.py), and the limit is
a quantile of Student's t. docs/error_rates.md has the rates that come out.
"""

from typing import NamedTuple, Optional

import numpy as np
from scipy import stats

from ridgebench.data.outlier_rule import FAIL, FEWEST, FLOOR, LEAST_Z, NORMAL  # noqa: F401  FAIL is for the judge

from . import pooling

_FALSE_REPORTS = 0.01  # share of the reports of a healthy fleet that flag a GPU, for which the limit is chosen
_SWEEPS = 4  # of the median polish; it converges in two or three


def z_limit(count: np.ndarray, comparisons: int, freedom: np.ndarray) -> np.ndarray:
    """The limit of -z in columns of `count` GPUs whose spread has `freedom` degrees of freedom.

    Each of the report's comparisons has Bonferroni's share of _FALSE_REPORTS.
    """
    different, where = np.unique(freedom, return_inverse=True)  # the quantile takes long
    limit = stats.t.isf(_FALSE_REPORTS / max(comparisons, 1), different)[where]
    return np.maximum(LEAST_Z, pooling.factor_of(count) * limit)


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
    factor, freedom = pooling.factor_of(count), pooling.freedom_of(count)
    pools = np.zeros(own.shape, int) if pools is None else pools
    found = np.zeros((3, *own.shape))
    for pool in np.unique(pools):
        found[:, pools == pool] = np.array(pooling.pool_of((factor * own)[pools == pool], freedom[pools == pool]))[:, None]
    spread = np.fmax(own, pooling.drawn(factor * own, freedom, *found[:2]) / factor)
    limit = z_limit(count, comparisons or int(count[enough].sum()), freedom + found[1])
    cut = np.where(enough, 1 - np.maximum(FLOOR, limit * spread), np.nan)
    return Columns(count, median, own, spread, *found, limit, cut)


def scores(values: np.ndarray, columns: Columns) -> Scores:
    """How each value stands against the peers of its column."""
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
