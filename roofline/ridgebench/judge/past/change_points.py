"""When the level of a row changed over many runs: PELT proposes places, and a test confirms them.

PELT (Killick et al. 2012) is the one of the library `ruptures`, with squared error as its cost.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

_SHORTEST = 3  # runs on each side: one odd run is not a level
_PENALTY = 2.0  # of a place, in variances x log n: BIC of a mean and a place. The test below decides.
_LEAST_NOISE = 1e-4  # of a log time
HINT = "without ruptures only trends are shown; `pip install ruptures` adds when a level changed"


@dataclass(frozen=True)
class _Step:
    """A level that begins at run `at` of a series; change: of time, as a share, from the level before."""

    at: int
    change: float
    before: int  # runs of the level before, and of this one
    after: int


def available() -> bool:
    try:
        import ruptures  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _noise_of(logs: np.ndarray) -> float:
    """Standard deviation by the median absolute difference of neighbours, which a few steps do not move."""
    differences = np.abs(np.diff(logs))
    return max(1.4826 * float(np.median(differences)) / np.sqrt(2), _LEAST_NOISE)


def _proposed(logs: np.ndarray) -> list[int]:
    """Bounds of segments, 0 and len(logs) included."""
    import ruptures

    found = ruptures.KernelCPD(kernel="linear", min_size=_SHORTEST).fit(logs[:, None])
    return [0, *found.predict(pen=_PENALTY * _noise_of(logs) ** 2 * np.log(len(logs)))]


def _unlikely(before: np.ndarray, after: np.ndarray) -> float:
    """p of no change, by Student's t with a common variance."""
    if np.ptp(before) == np.ptp(after) == 0:
        return float(before[0] == after[0])
    return float(stats.ttest_ind(before, after).pvalue)


def _straight(logs: np.ndarray, days: np.ndarray, bounds: list[int]) -> bool:
    """True if a line explains the times as well as the levels do, by BIC: that is a trend and no step."""
    count = len(logs)
    levels = sum(float(np.square(logs[a:b] - logs[a:b].mean()).sum()) for a, b in zip(bounds, bounds[1:]))
    line = float(np.square(logs - np.polyval(np.polyfit(days, logs, 1), days)).sum())
    least = count * _LEAST_NOISE**2
    steps = len(bounds) - 2
    return count * np.log((line + least) / (levels + least)) < (2 * steps - 1) * np.log(count)


def steps(days: np.ndarray, times: np.ndarray, largest_p: float, smallest: float) -> list[_Step]:
    """The changes of level that are sure (p < largest_p over all places at once) and larger than `smallest`."""
    logs = np.log(times)
    if len(logs) < 2 * _SHORTEST:
        return []
    bounds = _proposed(logs)
    while len(bounds) > 2:
        inner = range(1, len(bounds) - 1)
        sides = [(logs[bounds[i - 1]:bounds[i]], logs[bounds[i]:bounds[i + 1]]) for i in inner]
        p_values = [_unlikely(*pair) for pair in sides]
        changes = [float(np.expm1(after.mean() - before.mean())) for before, after in sides]
        weak = [p * len(logs) >= largest_p or abs(c) <= smallest for p, c in zip(p_values, changes)]
        if not any(weak):
            break
        worst = max((p, i) for p, i, w in zip(p_values, inner, weak) if w)[1]
        del bounds[worst]
    if len(bounds) == 2 or _straight(logs, days, bounds):
        return []
    return [_Step(b, c, b - a, e - b) for a, b, e, c in zip(bounds, bounds[1:], bounds[2:], changes)]
