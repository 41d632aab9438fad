"""The interval of a row's median by its samples, as harness/base/statistics.cpp computes it and its header explains it.

A comparison reads folders that other versions wrote, and works without the program.
"""

from typing import Iterator

import numpy as np

_FEWEST = 6  # blocks that an interval needs, kMinIntervalSamples
_DIGITS = 1e-9  # of a correlation, which another order of sums rounds otherwise


def _correlation(values: np.ndarray) -> float:
    """Lag-1 autocorrelation of the values, clamped to their p10 and p90."""
    low, high = np.quantile(values, (0.1, 0.9))
    if low == high:
        return 0.0
    centred = np.clip(values, low, high)
    centred -= (centred / len(centred)).sum()  # the sum of times of 1e308 s is too large
    with np.errstate(over="ignore", invalid="ignore"):
        return float(centred[1:] @ centred[:-1] / (centred @ centred))


def _interval(samples: np.ndarray, margin: float) -> tuple[float, float]:
    def correlated(values: np.ndarray) -> bool:
        return not _correlation(values) <= min(0.1, 1 / np.sqrt(len(values))) + margin  # true for what is not a number

    length, blocks = 1, samples
    while correlated(blocks) and len(samples) // (3 * length) >= _FEWEST:
        length *= 3
        blocks = np.median(samples[len(samples) % length :].reshape(-1, length), axis=1)
    count, median = len(blocks), float(np.median(samples))
    rank = 1 if correlated(blocks) else max(1, int((count + 1 - 1.959964 * np.sqrt(count)) / 2))
    blocks = np.sort(blocks)
    return min(median, float(blocks[rank - 1])), max(median, float(blocks[count - rank]))


def intervals(samples: np.ndarray, tick_s: float) -> Iterator[tuple[float, float]]:
    """The interval of one sample or more (s), and that for a correlation at its limit, which may be rounded to either side.

    `tick_s`: the resolution of a sample.
    """
    for margin in (0.0, _DIGITS, -_DIGITS):
        low, high = _interval(samples, margin)
        yield max(0.0, low - tick_s / 2), high + tick_s / 2
