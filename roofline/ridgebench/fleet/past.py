"""Each GPU of a fleet against the baseline of its model: what peers cannot show, because all of them may be slow."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional

from ridgebench.base.command_line import INCOMPARABLE, CommandError
from ridgebench.base.text import short
from ridgebench.base.units import counted
from ridgebench.data.power_states import DIFFER
from ridgebench.judge import gate
from ridgebench.judge.comparable import against
from ridgebench.judge.limits import Limits, limits_for
from ridgebench.judge.past.baseline_rows import compare_with, states_of
from ridgebench.judge.past.baseline_store import BUILDS, FEWEST_RUNS, Baseline, read_baseline
from ridgebench.judge.report import Comparison, with_words

from .gpu import DONE, Gpu, Reading
from .matrix import KEYS, PASSES, unfrozen
from .results_folder import facts_of
from .states import FAIL, SLOW, Verdict, becomes

class _Measured(NamedTuple):
    """A reading as compare_row() takes a row."""

    status: str
    reason: Optional[str]
    time_median_s: Optional[float]
    power_state: Optional[str]


@dataclass(frozen=True)
class Past:
    """A baseline of a model, with the facts that a GPU must share."""

    baseline: Baseline
    limits: Limits
    facts: Mapping[str, Any]

    def differs(self, gpu: Gpu) -> str:
        """The first key that forbids to compare; empty if none does."""
        keys = (key for key in KEYS if key not in BUILDS and gpu.facts.get(key) != self.facts.get(key))
        key = next(keys, None)
        if key is None:
            return ""
        here, there = unfrozen(gpu.facts.get(key)), unfrozen(self.facts.get(key))
        return f"{short(against(key, here, there))} of the baseline"


def read_past(path: Path) -> Past:
    """Raises CommandError for what is not a baseline of a model of GPUs."""
    baseline = read_baseline(path)
    if not baseline.of_model:
        raise CommandError(f"{path}: the baseline of one machine; allowed: one of a model, which `baseline promote --model` makes")
    return Past(baseline, limits_for(path, None, "standard"), facts_of(baseline.environment, baseline.environment["devices"][0]))


def _compared_rows(past: Past, readings: Mapping[tuple[str, str], Reading]) -> list[Comparison]:
    """The rows of the baseline that the GPU measured alone, each against the machines of its power state."""
    return [
        compare_with(past.baseline, row, "", _Measured(one.status, one.reason, one.seconds, one.power_state), past.limits)
        for (pass_, row), one in readings.items()
        if pass_ == PASSES[0] and row in past.baseline.rows and one.status == "ok"
    ]


def _how(row: Comparison) -> Optional[str]:
    """How the baseline says that a row is slower."""
    return with_words(f"surely, by {row.pairs} machines" if row.pairs >= FEWEST_RUNS else None, row.reason or "")


def _of_other_state(past: Past, readings: Mapping[tuple[str, str], Reading], row: str) -> bool:
    """True if a compared row has another power state than its entries of the baseline."""
    return bool(states_of(past.baseline, row, readings[PASSES[0], row].power_state))


def judge_past(verdict: Verdict, past: Past) -> None:
    """SLOW and confirmed where rows are slower than the baseline; a note where the GPU cannot be compared with it."""
    if verdict.gpu.state != DONE:
        return
    if differs := past.differs(verdict.gpu):
        verdict.notes.append(f"not compared with the baseline: {differs}")
        return
    rows = _compared_rows(past, verdict.gpu.readings)
    slower = sorted((row for row in rows if row.verdict == gate.WORSE), key=lambda row: (row.change, row.id), reverse=True)
    if slower:
        more = f", and {counted(len(slower) - 1, 'more row')}" if len(slower) > 1 else ""
        worst = slower[0]
        becomes(verdict, SLOW, FAIL, f"{100 * worst.change:.1f} % slower than the baseline in {worst.id} ({_how(worst)}){more}")
        verdict.confirmed = verdict.confirmed or verdict.state == SLOW
    elif other := [row.id for row in rows if _of_other_state(past, verdict.gpu.readings, row.id)]:
        verdict.notes.append(f"against the baseline {DIFFER} in {counted(len(other), 'row')}, {other[0]} among them")


def require_comparable(past: Past, gpus: list[Gpu]) -> None:
    """Raises CommandError where no GPU can be compared with the baseline."""
    done = [past.differs(gpu) for gpu in gpus if gpu.state == DONE]
    if done and all(done):
        raise CommandError(f"NOT_COMPARABLE: {past.baseline.path}: {done[0]}", INCOMPARABLE)
