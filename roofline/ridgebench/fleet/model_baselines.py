"""Each GPU of a fleet against the baseline of its model: what peers cannot show, because all of them may be slow."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional

from ridgebench.base.command_line import INCOMPARABLE, CommandError
from ridgebench.base.text import short
from ridgebench.base.units import and_more, counted
from ridgebench.data.doubts import CACHED
from ridgebench.data.power_states import DIFFER
from ridgebench.judge import gate
from ridgebench.judge.comparable import against
from ridgebench.judge.limits import Limits, limits_for
from ridgebench.judge.past.baseline_rows import compare_with, states_of
from ridgebench.judge.past.baseline_store import BUILDS, FEWEST_RUNS, OF_MODEL, Baseline, environment_path, read_baseline
from ridgebench.judge.past.known_bits import KnownBits, differing, program_of
from ridgebench.judge.report import NOT_COMPARABLE, Comparison, with_words

from .bits import INPUTS
from .gpu import DONE, Gpu, Reading
from .matrix import KEYS, PASSES, unfrozen
from .results_folder import facts_of
from .states import FAIL, SLOW, WARN, WRONG, Verdict, becomes


class _Measured(NamedTuple):
    """A reading as compare_row() takes a row."""

    status: str
    reason: Optional[str]
    time_median_s: Optional[float]
    power_state: Optional[str]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class _ModelBaseline:
    """A baseline of a model, with the facts that a GPU must share."""

    baseline: Baseline
    limits: Limits
    facts: Mapping[str, Any]

    def has_inputs_of(self, gpu: Gpu) -> bool:
        """True if a GPU must compute the same bits."""
        return all(gpu.facts.get(key) == self.facts.get(key) for key in ("model", *INPUTS))

    def differs(self, gpu: Gpu) -> str:
        """The first key that forbids to compare; empty if none does."""
        keys = (key for key in KEYS if key not in BUILDS and gpu.facts.get(key) != self.facts.get(key))
        key = next(keys, None)
        if key is None:
            return ""
        here, there = unfrozen(gpu.facts.get(key)), unfrozen(self.facts.get(key))
        return f"{short(against(key, here, there))} of the baseline"


@dataclass(frozen=True)
class ModelBaselines:
    """Baselines of models: that of a file, or those below a folder."""

    path: Path
    every: tuple[_ModelBaseline, ...]

    def of(self, gpu: Gpu) -> _ModelBaseline:
        """The baseline that a GPU can be compared with, or the one that is closest to it."""

        def distance(past: _ModelBaseline) -> tuple[bool, ...]:
            return bool(past.differs(gpu)), not past.has_inputs_of(gpu), past.facts.get("model") != gpu.facts.get("model")

        return min(self.every, key=distance)


def read_baselines(path: Path) -> ModelBaselines:
    """Raises CommandError for what is not a baseline of a model of GPUs, and for a folder without one."""
    if not path.is_dir():
        return ModelBaselines(path, (_read_model_baseline(path),))
    found = tuple(_read_model_baseline(one) for one in sorted(path.rglob(f"{OF_MODEL}/*.jsonl")) if environment_path(one).exists())
    if not found:
        raise CommandError(f"{path}: no baseline of a model in it; allowed: a folder in which `baseline promote --model` made one")
    return ModelBaselines(path, found)


def _read_model_baseline(path: Path) -> _ModelBaseline:
    baseline = read_baseline(path)
    if not baseline.of_model:
        raise CommandError(f"{path}: the baseline of one machine; allowed: one of a model, which `baseline promote --model` makes")
    return _ModelBaseline(baseline, limits_for(path, None, "standard"), facts_of(baseline.environment, baseline.environment["devices"][0]))


def _measured(one: Reading) -> _Measured:
    return _Measured(one.status, one.reason, one.seconds, one.power_state, (CACHED,) if one.cached else ())


def _compared_rows(past: _ModelBaseline, readings: Mapping[tuple[str, str], Reading]) -> list[Comparison]:
    """The rows of the baseline that the GPU measured alone, each against the machines of its power state."""
    return [
        compare_with(past.baseline, row, "", _measured(one), past.limits)
        for (pass_, row), one in readings.items()
        if pass_ == PASSES[0] and row in past.baseline.rows and one.status == "ok"
    ]


def _how(row: Comparison) -> Optional[str]:
    """How the baseline says that a row is slower."""
    return with_words(f"surely, by {row.pairs} machines" if row.pairs >= FEWEST_RUNS else None, row.reason or "")


def _of_other_state(past: _ModelBaseline, readings: Mapping[tuple[str, str], Reading], row: str) -> bool:
    """True if a compared row has another power state than its entries of the baseline."""
    return bool(states_of(past.baseline, row, readings[PASSES[0], row].power_state))


def _judge_bits(verdict: Verdict, past: _ModelBaseline) -> None:
    """WRONG where most machines of the baseline have other bits, and a note where no vote decides."""
    gpu = verdict.gpu
    if not past.has_inputs_of(gpu):
        return
    found = []
    for (pass_, row), one in sorted(gpu.readings.items()):
        if one.bits is not None and row in past.baseline.rows:
            bits = KnownBits(one.bits.fingerprint, one.bits.choice, program_of(gpu.versions))
            if odd := differing(past.baseline.bits(row), gpu.uuid_hash or "", bits):
                found.append(odd._replace(text=f"{odd.text} in {row} ({pass_})"))
    if not found:
        return
    worst = min(found, key=lambda odd: not odd.wrong)
    text = worst.text + and_more(len(found) - 1, "in ")
    if worst.wrong:
        becomes(verdict, WRONG, FAIL, text)
    else:
        verdict.notes.append(text)
        verdict.severity = FAIL if verdict.severity == FAIL else WARN


def judge_by_baseline(verdict: Verdict, baselines: ModelBaselines) -> None:
    """SLOW and confirmed where rows are slower than the baseline, WRONG where bits differ; a note where a GPU cannot be compared."""
    if verdict.gpu.state != DONE:
        return
    past = baselines.of(verdict.gpu)
    _judge_bits(verdict, past)
    if differs := past.differs(verdict.gpu):
        verdict.notes.append(f"not compared with the baseline: {differs}")
        return
    rows = _compared_rows(past, verdict.gpu.readings)
    if apart := [row for row in rows if row.verdict == NOT_COMPARABLE]:
        others = and_more(len(apart) - 1, "in ")
        verdict.notes.append(f"not compared with the baseline in {apart[0].id}{others}: {apart[0].reason}")
    slower = sorted((row for row in rows if row.verdict == gate.WORSE), key=lambda row: (row.change, row.id), reverse=True)
    if slower:
        more = f", and {counted(len(slower) - 1, 'more row')}" if len(slower) > 1 else ""
        worst = slower[0]
        becomes(verdict, SLOW, FAIL, f"{100 * worst.change:.1f} % slower than the baseline in {worst.id} ({_how(worst)}){more}")
        verdict.confirmed = verdict.confirmed or verdict.state == SLOW
    elif other := [row.id for row in rows if _of_other_state(past, verdict.gpu.readings, row.id)]:
        verdict.notes.append(f"against the baseline {DIFFER} in {counted(len(other), 'row')}, {other[0]} among them")


def require_comparable(baselines: ModelBaselines, gpus: list[Gpu]) -> None:
    """Raises CommandError where no GPU can be compared with a baseline."""
    done = [baselines.of(gpu).differs(gpu) for gpu in gpus if gpu.state == DONE]
    if done and all(done):
        raise CommandError(f"NOT_COMPARABLE: {baselines.path}: {done[0]}", INCOMPARABLE)
