"""A row of a new run against the values of a baseline: judged by a prediction bound, or described where they are few."""

import math
from typing import Optional

import numpy as np

from ridgebench.base.units import counted
from ridgebench.data.power_states import differ
from ridgebench.data.doubts import cached, only_by_caches
from ridgebench.data.records import BROKEN, Row
from ridgebench.judge import gate
from ridgebench.judge.limits import Limits, first
from ridgebench.judge.report import DESCRIBED, FAILED, MISSING, NOT_COMPARABLE, Comparison, with_words
from ridgebench.judge.stored_runs import verdict_on

from . import baseline_store as store
from .known_bits import Differing

# Beyond the slowest value of a few. GPUs of one model differ by 8 % on average, and by up to 22 %, in work that power
# limits (Sinha et al., SC22, arXiv 2208.11035).
FLOOR = 0.10


def reach_of(logs: np.ndarray) -> float:
    """Half the width of the prediction interval for one new log time; the smallest change that it can see."""
    return gate.t_quantile(1 - gate.ALPHA, len(logs) - 1) * float(logs.std(ddof=1)) * math.sqrt(1 + 1 / len(logs))


def judge_row(name: str, past: np.ndarray, seconds: float, preset: gate.Preset) -> Comparison:
    """The prediction bound for one new run after len(past) earlier ones."""
    logs, count = np.log(past), len(past)
    change, reach = math.log(seconds) - float(logs.mean()), reach_of(logs)
    tolerance, margin = math.log1p(preset.tolerance), math.log1p(preset.margin)
    row = Comparison(
        name, gate.UNDECIDED, change=gate.as_share(change), low=gate.as_share(change - reach),
        high=gate.as_share(change + reach), beyond_noise=abs(change) > reach, pairs=count,
        spread=float(logs.std(ddof=1)), smallest_change=gate.as_share(reach), candidate_s=seconds,
        baseline_s=float(np.exp(logs.mean())),
    )
    if change - reach > tolerance:
        row.verdict = gate.WORSE
    elif change + reach < -tolerance:
        row.verdict = gate.BETTER
    elif change + reach < margin:
        row.verdict = gate.SAME
    else:
        row.reason = f"{counted(count, 'run')} of the baseline cannot decide; more runs would, or runs that differ less"
    return row


def _describe_row(name: str, past: np.ndarray, seconds: float, floor: float) -> Comparison:
    """The change against the median of too few values, and whether the row is beyond the floor."""
    middle, slowest, count = float(np.median(past)), float(past.max()), len(past)
    row = Comparison(name, DESCRIBED, change=seconds / middle - 1, pairs=count, baseline_s=middle, candidate_s=seconds,
                     smallest_change=slowest * (1 + floor) / middle - 1)
    values = f"the slowest of {count} values" if count > 1 else "the only value"
    if seconds > slowest * (1 + floor):
        row.verdict, row.beyond_noise = gate.WORSE, True
        row.reason = f"more than {100 * floor:g} % slower than {values}"
    else:
        row.reason = f"at most {100 * floor:g} % slower than {values}"
    return row


def _compare_row(id_: str, past: np.ndarray, row: Optional[Row], limits: Limits) -> Comparison:
    if row is None or row.status != "ok":
        verdict = verdict_on(row) if row and row.status in BROKEN else MISSING
        return Comparison(id_, verdict, f"{row.status}: {row.reason}" if row else "the run has no such row")
    if not len(past):
        return Comparison(id_, NOT_COMPARABLE, only_by_caches("the run" if cached(row) else "the baseline"))
    rule = first(limits.tolerances, id_)
    if len(past) < store.FEWEST_RUNS:
        return _describe_row(id_, past, row.time_median_s, rule.tolerance if rule else FLOOR)
    preset = limits.of(id_)
    compared = judge_row(id_, past, row.time_median_s, preset)
    if rule:
        compared.tolerance, compared.margin = preset.tolerance, preset.margin
    return compared


def states_of(past: store.Baseline, name: str, state: Optional[str]) -> str:
    """The power states of a row and of the entries that it is compared with, if they differ; empty if they agree."""
    return differ([state, *(entry.power_state for entry in past.independent(name, state))])


def compare_with(past: store.Baseline, name: str, end: str, row: Optional[Row], limits: Limits) -> Comparison:
    """A row of the run against the entries of its power state; of several states, the reason says so."""
    state, by_caches = (row.power_state, cached(row)) if row else (None, None)
    compared = _compare_row(name + end, past.sample(name, state, by_caches), row, limits)
    compared.reason = with_words(compared.reason, states_of(past, name, state))
    return compared


def with_bits(compared: Comparison, found: Optional[Differing]) -> Comparison:
    """FAILED where the bits of a row are wrong; where no vote decides, only the reason says that they differ."""
    if found is not None:
        compared.reason = with_words(found.text, compared.reason or "")
        compared.verdict = FAILED if found.wrong else compared.verdict
    return compared
