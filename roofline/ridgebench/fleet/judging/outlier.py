"""The rule that says which GPU is slow among its peers: one array of rates, a line for each GPU, a column for each row.

A GPU is slow in a row if its rate is more than FLOOR below the median of the peers and its modified z score

    z = 0.6745 (x - median) / MAD        (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993)

is below the negative limit. The limit is theirs, 3.5, or larger: a report compares each GPU in many rows, and the limit
grows so that FALSE_REPORTS of the reports of a healthy fleet flag a GPU, as long as rows scatter alike. The MAD of few
GPUs is sometimes far too small by chance. Therefore it counts at least as the median MAD of all rows does.
docs/error_rates.md has the rates that come out.
"""

from typing import NamedTuple, Optional

import numpy as np
from scipy import stats

LEAST_Z = 3.5  # Iglewicz and Hoaglin's limit
NORMAL = 0.6745  # MAD over standard deviation of a normal distribution
FLOOR = 0.03  # below the median by less is no defect
FAIL = 0.06  # below the median by more fails
FEWEST = 8  # comparable GPUs; fewer have no z
FALSE_REPORTS = 0.01  # share of the reports of a healthy fleet that flag a GPU, for which the limit is chosen
SWEEPS = 4  # of the median polish; it converges in two or three

# Croux and Rousseeuw, Time-efficient algorithms for two highly robust estimators of scale (1992), section 4: by what
# the MAD of n normal numbers is too small on average.
SMALL_SAMPLE = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}


def small_sample(count: int) -> float:
    return SMALL_SAMPLE.get(count, count / (count - 0.8)) if count > 1 else 1.0


def z_limit(count: int, comparisons: int) -> float:
    """The limit of -z for `count` GPUs in a report of so many comparisons, each of which has Bonferroni's share."""
    return max(LEAST_Z, small_sample(count) * float(stats.norm.isf(FALSE_REPORTS / max(comparisons, 1))))


class Columns(NamedTuple):
    """Each column of the peers: their number, median, spread (standard deviation over median), and what is slow."""

    count: np.ndarray
    median: np.ndarray
    own: np.ndarray  # the spread of this column; NaN with fewer than FEWEST
    spread: np.ndarray  # that or, where it is larger, the median of all columns of its pool
    limit: np.ndarray  # of -z
    cut: np.ndarray  # the share of the median below which a GPU is slow; NaN where nothing is judged


class Scores(NamedTuple):
    """One value for each GPU and column; NaN where the GPU has no value or the column is not judged."""

    ratio: np.ndarray  # value over median
    z: np.ndarray
    slow: np.ndarray
    fast: np.ndarray


def nan_median(values: np.ndarray, axis: int) -> np.ndarray:
    """The median without NaN; NaN where there is nothing else."""
    if not np.isnan(values).any() and values.shape[axis]:
        return np.median(values, axis)
    ordered = np.sort(values, axis=axis)  # NaN is last
    count = np.sum(~np.isnan(values), axis=axis, keepdims=True)
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    high = np.minimum(high, values.shape[axis] - 1)
    return ((np.take_along_axis(ordered, low, axis) + np.take_along_axis(ordered, high, axis)) / 2).squeeze(axis)


def pooled_spread(own: np.ndarray, pools: Optional[np.ndarray]) -> np.ndarray:
    """The median spread of the columns of each pool, at each of its columns; 0 where none is known."""
    found = np.zeros(own.shape)
    pools = np.zeros(own.shape, int) if pools is None else pools
    for pool in np.unique(pools):
        known = own[(pools == pool) & ~np.isnan(own)]
        found[pools == pool] = np.median(known) if len(known) else 0.0
    return found


def columns_of(values: np.ndarray, pools: Optional[np.ndarray] = None, comparisons: int = 0) -> Columns:
    """What the peers say of each column.

    values: [GPU, column], larger is better, NaN where there is none. pools: a number for each column; columns of one
    pool share a spread, by default all. comparisons: of the whole report, by default those of these values.
    """
    count = np.sum(~np.isnan(values), axis=0)
    median = nan_median(values, 0)
    enough = count >= FEWEST
    mad = nan_median(np.abs(values - median), 0)
    own = np.where(enough, mad / NORMAL / median, np.nan)
    spread = np.fmax(own, pooled_spread(own, pools))
    comparisons = comparisons or int(count[enough].sum())
    limits = {n: z_limit(n, comparisons) for n in set(count.tolist())}
    limit = np.array([limits[n] for n in count.tolist()]) if len(count) else np.zeros(0)
    cut = np.where(enough, 1 - np.maximum(FLOOR, limit * spread), np.nan)
    return Columns(count, median, own, spread, limit, cut)


def scores(values: np.ndarray, columns: Columns) -> Scores:
    """How each value stands against the peers of its column."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = values / columns.median
        z = np.where(np.isnan(columns.cut), np.nan, (ratio - 1) / columns.spread)
        z = np.where((ratio == 1) & ~np.isnan(columns.cut), 0.0, z)  # also where all are equal
        return Scores(ratio, z, ratio < columns.cut, ratio > 2 - columns.cut)


def median_polish(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tukey's median polish of [column, node, slot] into effects of nodes and slots, and what is left.

    table: ratios to the median of all; NaN where there is none. Returns node effects [column, node], slot effects
    [column, slot] and residuals [column, node, slot], as differences from 1.
    """
    rest = table - 1.0
    nodes, slots = np.zeros(rest.shape[:2]), np.zeros((rest.shape[0], rest.shape[2]))
    for _ in range(SWEEPS):
        change = np.nan_to_num(nan_median(rest, 2))
        nodes, rest = nodes + change, rest - change[:, :, None]
        change = np.nan_to_num(nan_median(rest, 1))
        slots, rest = slots + change, rest - change[:, None, :]
    return nodes, slots, rest
