"""Each GPU of a fleet against the baseline of its model: what peers cannot show, because all of them may be slow."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional

from ridgebench.command_line import INCOMPARABLE, CommandError
from ridgebench.compare import gate
from ridgebench.compare.baseline import limits_for
from ridgebench.compare.baseline_rows import compare_row
from ridgebench.compare.baseline_store import BUILDS, Baseline, read_baseline
from ridgebench.compare.comparable import against
from ridgebench.compare.limits import Limits
from ridgebench.texts import short
from ridgebench.units import counted

from ..gpu import DONE, Gpu, Reading
from ..results_folder import facts_of
from .conditions import becomes
from .matrix import KEYS, PASSES, unfrozen
from .states import FAIL, SLOW, Verdict


class Measured(NamedTuple):
    """A reading as compare_row() takes a row."""

    status: str
    reason: Optional[str]
    time_median_s: Optional[float]


@dataclass(frozen=True)
class Past:
    """A baseline of a model, with the facts that a GPU must share."""

    baseline: Baseline
    limits: Limits
    facts: Mapping[str, Any]

    def differs(self, gpu: Gpu) -> str:
        """The first key that forbids to compare; empty where none does."""
        keys = (key for key in KEYS if key not in BUILDS and gpu.facts.get(key) != self.facts.get(key))
        key = next(keys, None)
        if key is None:
            return ""
        here, there = unfrozen(gpu.facts.get(key)), unfrozen(self.facts.get(key))
        return f"{short(against(key, here, there))} of the baseline"


def read_past(path: Path) -> Past:
    """Raises CommandError for what is no baseline of a model of GPUs."""
    baseline = read_baseline(path)
    if not baseline.of_model:
        raise CommandError(f"{path}: the baseline of one machine; allowed: one of a model, which `baseline promote --model` makes")
    return Past(baseline, limits_for(path, None, "standard"), facts_of(baseline.environment, baseline.environment["devices"][0]))


def slower(past: Past, readings: Mapping[tuple[str, str], Reading]) -> list[tuple[float, str, str]]:
    """The rows that are surely slower than the baseline: by what share, the row, and how the baseline says so."""
    found = []
    for (pass_, row), one in readings.items():
        if pass_ != PASSES[0] or row not in past.baseline.rows or one.status != "ok":
            continue
        told = compare_row(row, past.baseline.sample(row), Measured(one.status, one.reason, one.seconds), past.limits)
        if told.verdict == gate.WORSE:
            found.append((told.change, row, told.reason or f"surely, by {told.pairs} machines"))
    return sorted(found, reverse=True)


def judge_past(verdict: Verdict, past: Past) -> None:
    """SLOW and confirmed where rows are slower than the baseline; a note where the GPU cannot be compared with it."""
    if verdict.gpu.state != DONE:
        return
    if differs := past.differs(verdict.gpu):
        verdict.notes.append(f"not compared with the baseline: {differs}")
        return
    if found := slower(past, verdict.gpu.readings):
        change, row, how = found[0]
        more = f", and {counted(len(found) - 1, 'more row')}" if len(found) > 1 else ""
        becomes(verdict, SLOW, FAIL, f"{100 * change:.1f} % slower than the baseline in {row} ({how}){more}")
        verdict.confirmed = verdict.confirmed or verdict.state == SLOW


def require_comparable(past: Past, gpus: list[Gpu]) -> None:
    """Raises CommandError where no GPU can be compared with the baseline."""
    done = [past.differs(gpu) for gpu in gpus if gpu.state == DONE]
    if done and all(done):
        raise CommandError(f"NOT_COMPARABLE: {past.baseline.path}: {done[0]}", INCOMPARABLE)
