"""The statistics of the gate: pure functions on log ratios, one per pair of processes.

A log ratio is ln(candidate's median time / baseline's). The last axis of every array is the pairs;
axes before it are rows or, in a simulation, experiments. Location and error are those of the
20 % trimmed mean, Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61
(1974), here for one sample of differences: a process that a neighbour disturbed costs no verdict.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

TRIM = 0.2
# Probability, for one row over all looks, of calling WORSE a change that lies on the tolerance.
ALPHA = 0.001
LOOKS = (20, 40)  # pairs after which the gate looks; each look spends an equal part of ALPHA
LARGEST_SPREAD = 0.02  # of the log ratio; a row that surely exceeds it is never gated

WORSE, BETTER, SAME, UNDECIDED, NOT_GATED = "WORSE", "BETTER", "SAME", "UNDECIDED", "NOT_GATED"


@dataclass(frozen=True)
class Preset:
    """Limits of a change, as shares: up to `tolerance` is accepted; `margin` must not be missed."""

    tolerance: float
    margin: float


PRESETS = {"standard": Preset(0.005, 0.02), "tight": Preset(0.0025, 0.01)}


@dataclass(frozen=True)
class Estimate:
    """Trimmed mean of the log ratios, its standard error, degrees of freedom; spread of a pair."""

    location: np.ndarray
    error: np.ndarray
    freedom: int
    spread: np.ndarray


def estimate(log_ratios: np.ndarray) -> Estimate:
    """The estimate of at least five pairs; of fewer, trimming leaves too little."""
    ordered = np.sort(log_ratios, axis=-1)
    pairs = ordered.shape[-1]
    cut = int(TRIM * pairs)
    kept = pairs - 2 * cut
    winsorised = np.clip(ordered, ordered[..., cut, None], ordered[..., pairs - cut - 1, None])
    squares = winsorised.var(axis=-1) * pairs
    error = np.sqrt(squares / (kept * (kept - 1)))
    location = ordered[..., cut : pairs - cut].mean(axis=-1)
    return Estimate(location, error, kept - 1, error * np.sqrt(pairs))


def bounds(value: Estimate, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds, each wrong with probability alpha; together they are an interval."""
    reach = stats.t.ppf(1 - alpha, value.freedom) * value.error
    return value.location - reach, value.location + reach


def probability(value: Estimate, preset: Preset) -> np.ndarray:
    """The p-value of "no slower than the tolerance"."""
    distance = value.location - np.log1p(preset.tolerance)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(value.error > 0, distance / value.error, np.sign(distance) * np.inf)
    return stats.t.sf(np.nan_to_num(score, nan=0.0, posinf=np.inf, neginf=-np.inf), value.freedom)


def noisy(value: Estimate) -> np.ndarray:
    """Whether the spread exceeds the limit with 95 % confidence: chance alone must not excuse a slow row."""
    doubt = np.sqrt(stats.chi2.ppf(0.95, value.freedom) / value.freedom)
    return value.spread > LARGEST_SPREAD * doubt


def look(log_ratios: np.ndarray, preset: Preset) -> np.ndarray:
    """The verdict of one look at every row; rows that are too noisy are measured until the last look."""
    value = estimate(log_ratios)
    low, high = bounds(value, ALPHA / len(LOOKS))
    last = log_ratios.shape[-1] >= LOOKS[-1]
    tolerance, margin = np.log1p(preset.tolerance), np.log1p(preset.margin)
    cases = [
        (noisy(value), NOT_GATED if last else UNDECIDED),
        (low > tolerance, WORSE),
        (high < -tolerance, BETTER),
        (high < margin, SAME),
    ]
    return np.select([c for c, _ in cases], [v for _, v in cases], UNDECIDED)


def judge(log_ratios: np.ndarray, preset: Preset) -> np.ndarray:
    """The verdicts after all looks that the pairs allow; a row that was decided stays decided."""
    verdicts = np.full(log_ratios.shape[:-1], UNDECIDED)
    for pairs in (n for n in LOOKS if n <= log_ratios.shape[-1]):
        verdicts = np.where(verdicts == UNDECIDED, look(log_ratios[..., :pairs], preset), verdicts)
    return verdicts


def holm(probabilities: np.ndarray) -> np.ndarray:
    """p-values adjusted for the number of rows (Holm, Scandinavian J. of Statistics 6, 1979)."""
    count = len(probabilities)
    order = np.argsort(probabilities)
    stepped = np.maximum.accumulate((count - np.arange(count)) * probabilities[order])
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def smallest_change(spread: float, pairs: int) -> float:
    """The change beyond the tolerance, as a share, that this number of pairs finds in three cases of four.

    By the noncentral t with power 0.8; simulated, trimming makes it 0.75 (tests/roofline/ridgebench/compare).
    """
    freedom = pairs - 2 * int(TRIM * pairs) - 1
    least = stats.t.ppf(1 - ALPHA / len(LOOKS), freedom)
    reach = optimize.brentq(lambda d: stats.nct.sf(least, freedom, d) - 0.8, least / 3, 3 * least)
    return float(np.expm1(reach * spread / np.sqrt(pairs)))


def most_failures(failures: int, tries: int, confidence: float = 0.95) -> float:
    """The one-sided upper bound of a rate (Clopper and Pearson, Biometrika 26, 1934)."""
    if failures >= tries:
        return 1.0
    return float(stats.beta.ppf(confidence, failures + 1, tries - failures))
