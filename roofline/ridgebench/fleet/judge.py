"""The verdict of each GPU of a fleet.

GPUs that differ from the fleet in a key that must agree: whether that is news, and how far their rates are from the fleet's.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, Iterable, Optional

import numpy as np

from ridgebench.base.command_line import OK
from ridgebench.base.units import and_more
from ridgebench.data.doubts import only_by_caches
from ridgebench.data.power_states import differ
from ridgebench.data.records import BROKEN

from . import peers
from .bits import INPUTS, PROGRAM, Bits, vote
from .gpu import DONE, DUPLICATE, FAILED, STALE, Fleet, Gpu
from .matrix import (
    KEYS, SHEET_FLOOR, Column, Group, Matrix, Scored, alike, below_floor, judged_groups, line_of, make_matrix, of_whole_node, places,
    score,
)  # fmt: skip
from .model_baselines import ModelBaselines, judge_by_baseline, require_comparable
from .soaks import Soak, add_soaks
from .states import (
    FAIL, FAST, FINE, INFO, NOT_COMPARABLE, SLOW, STATES, WARN, WRONG, Mark, Verdict, becomes, code_of, judge_conditions,
    next_step,
)  # fmt: skip

_LEAST_SHARE = 0.1  # of all GPUs: the GPUs of another model that are as many are a part of the site, and no slip
_MOST_KEYS = 3  # that a text names
_MODEL = "model"


def _model_of(group: Group) -> str:
    return str(group.key[KEYS.index(_MODEL)])


def _reference_of(group: Group, groups: list[Group]) -> Group:
    """The largest group of the same model, with which a group is compared."""
    return next(other for other in groups if _model_of(other) == _model_of(group))


def _is_odd(group: Group, groups: list[Group]) -> bool:
    """True if the keys of a group are news: eight GPUs that agree with each other may all be set wrongly.

    The largest group of a model is none if it has a tenth of all GPUs, and is large enough to be judged by itself.
    """
    if group is groups[0]:
        return False
    total = sum(len(other.members) for other in groups)
    own_fleet = _reference_of(group, groups) is group and len(group.members) >= _LEAST_SHARE * total
    return not own_fleet or group.columns is None


def _below_fleet(group: Group, groups: list[Group], columns: list[Column]) -> Optional[tuple[float, str]]:
    """The largest loss of the group's medians against the fleet's, as a share with its text; None if none is slow."""
    reference = _reference_of(group, groups)
    if reference is group or group.columns is None or reference.columns is None:
        return None
    ratio = alike(group.columns.median, group.by_caches, reference) / reference.columns.median
    low = np.flatnonzero(ratio < 1 - peers.FLOOR)
    if not len(low):
        return None
    worst = int(low[np.argmin(ratio[low])])
    more = and_more(len(low) - 1, "in ")
    unit = " per clock" if columns[worst].per_clock else ""
    loss = 1 - float(ratio[worst])
    return loss, f"{100 * loss:.1f} % below the fleet's median{unit} in {columns[worst].name}{more}"


def _differs_text(group: Group) -> str:
    more = and_more(len(group.differs) - _MOST_KEYS)
    return "; ".join(group.differs[:_MOST_KEYS]) + more


def _oddity(group: Group, groups: list[Group], columns: list[Column]) -> Optional[tuple[str, str]]:
    """Severity and reason for the GPUs of a group whose keys are news; None for others."""
    if not _is_odd(group, groups):
        return None
    loss = _below_fleet(group, groups, columns)
    severity = FAIL if loss and loss[0] > peers.FAIL else WARN
    return severity, "; ".join(filter(None, (_differs_text(group), loss[1] if loss else "")))


@dataclass(frozen=True)
class Assessment:
    """The judged fleet; verdicts and lines of arrays are in the order of fleet.gpus."""

    fleet: Fleet
    matrix: Matrix
    groups: list[Group]
    scored: Scored
    verdicts: list[Verdict]
    expected: peers.Expected
    soaks: list[Soak] = field(default_factory=list)
    only_soaked: list[Soak] = field(default_factory=list)  # soaks of GPUs without rows

    @property
    def columns(self) -> list[Column]:
        return self.matrix.columns

    @property
    def code(self) -> int:
        return max([*map(code_of, self.verdicts), *(soak.code for soak in self.soaks)], default=OK)


def _state_of_files(gpu: Gpu) -> tuple[str, str]:
    """The state that needs no peers, DONE where there is none, and its reason."""
    bad = {status: FAILED if status == "failed" else WRONG for status in BROKEN}
    found = sorted((bad[r.status], row, r.reason or r.status) for (_, row), r in gpu.readings.items() if r.status in bad)
    wrong = [one for one in found if one[0] == WRONG]
    if gpu.state in (DUPLICATE, STALE) or not (wrong or (found and gpu.state == DONE)):
        return gpu.state, gpu.reason or ""
    state, row, reason = (wrong or found)[0]
    rows = {row for _, row, _ in wrong or found}
    return state, f"{row}{and_more(len(rows) - 1)}: {reason}"


def _marks_of(index: int, scored: Scored, where: np.ndarray) -> list[Mark]:
    """The marks of a GPU in these columns, the lowest first."""
    ordered = where[np.argsort(scored.ratio[index, where], kind="stable")]
    return [_mark_of(index, scored, column) for column in ordered.tolist()]


def _mark_of(index: int, scored: Scored, column: int) -> Mark:
    return Mark(column, *(float(part[index, column]) for part in (scored.ratio, scored.z, scored.sheet)))


def _slow_before(gpu: Gpu, group: Group, promised: np.ndarray, matrix: Matrix, of_node: set[int]) -> dict[int, int]:
    """The columns in which an earlier attempt was slow, with the number of that attempt."""
    found: dict[int, int] = {}
    where, attempt = places(matrix.columns), gpu.earlier
    while attempt is not None:
        rates_, values, cached = line_of(attempt, where)
        ratio = alike(values, cached, group) / group.columns.median
        low = (ratio < group.columns.cut) | below_floor(rates_ / promised, matrix)
        for column in of_node:
            low[column] |= ratio[column] < 1 - peers.FLOOR
        found |= {column: attempt.attempt for column in np.flatnonzero(low).tolist()}
        attempt = attempt.earlier
    return found


def _below(mark: Mark, columns: list[Column]) -> str:
    if np.isnan(mark.ratio) or mark.ratio >= 1 - peers.FLOOR:
        return f"{100 * mark.sheet:.0f} % of the data sheet in {columns[mark.column].name}"
    unit = " per clock" if columns[mark.column].per_clock else ""
    return f"{100 * (1 - mark.ratio):.1f} % below the median{unit} in {columns[mark.column].name}"


def _judge_slow(verdict: Verdict, before: dict[int, int], columns: list[Column]) -> None:
    """Fills the verdict of a GPU that is slow in verdict.slow."""
    worst, seen = verdict.slow[0], [mark for mark in verdict.slow if mark.column in before]
    verdict.state, verdict.confirmed = SLOW, bool(seen)
    low = 1 - worst.ratio > peers.FAIL or any(mark.sheet < SHEET_FLOOR for mark in verdict.slow)
    verdict.severity = FAIL if low else WARN
    more = and_more(len(verdict.slow) - 1, "in ")
    if seen:
        how = f"confirmed: attempt {before[seen[0].column]} said so too"
    elif verdict.gpu.earlier is not None:
        how = "not confirmed: the attempt before was not slow in these rows"
    else:
        how = "measured once"
    whole = ", as its whole node is" if verdict.of_node else ""
    verdict.reason = f"{_below(worst, columns)}{more}{whole}; {how}"


def _judge_done(verdict: Verdict, index: int, matrix: Matrix, groups: list[Group], scored: Scored) -> None:
    """Fills the verdict of a GPU that has finished, by its peers."""
    group, columns = groups[scored.group_of[index]], matrix.columns
    odd = _oddity(group, groups, columns)
    if group.columns is None:
        becomes(verdict, NOT_COMPARABLE, *odd)
        return
    known = np.flatnonzero(~np.isnan(scored.ratio[index]))
    verdict.worst = _mark_of(index, scored, int(known[np.argmin(scored.ratio[index, known])])) if len(known) else None
    effects = [effect for effect in scored.effects if index in effect.members]
    of_node = {column for effect in effects for column in effect.columns}
    slow = set(np.flatnonzero(scored.slow[index]).tolist()) | of_node
    before = _slow_before(verdict.gpu, group, scored.promised[scored.group_of[index]], matrix, of_node)
    if slow:
        verdict.slow = _marks_of(index, scored, np.array(sorted(slow)))
        verdict.of_node = any(of_whole_node(scored, groups, effect, index) for effect in effects)
        _judge_slow(verdict, before, columns)
    elif scored.fast[index].any():
        best = _marks_of(index, scored, np.flatnonzero(scored.fast[index]))[-1]
        verdict.state, verdict.severity = FAST, WARN if best.ratio > 1 + peers.FAIL else INFO
        verdict.reason = f"{100 * (best.ratio - 1):.1f} % above the median in {columns[best.column].name}"
    if before and not slow:
        column, attempt = next(iter(before.items()))
        verdict.notes.append(f"flagged once, not confirmed: attempt {attempt} was slow in {columns[column].name}")
    apart = np.flatnonzero((matrix.cached[index] != group.by_caches) & ~np.isnan(matrix.values[index]))
    if len(apart):
        why = only_by_caches("this GPU" if matrix.cached[index, apart[0]] else "its peers")
        verdict.notes.append(f"not compared in {columns[apart[0]].name}{and_more(len(apart) - 1, 'in ')}: {why}")
    few = np.isnan(group.columns.cut[known]).all()
    if few and verdict.worst is not None and verdict.worst.ratio < 1 - peers.FAIL:
        verdict.notes.append(f"differs: {_below(verdict.worst, columns)} of {len(group.members)} GPUs, too few for a verdict")
        verdict.severity = WARN
    if odd and verdict.state == SLOW:  # among those that share its keys, too
        verdict.notes.append(odd[1])
    elif odd:
        becomes(verdict, NOT_COMPARABLE, *odd)


def _lacking(values: np.ndarray, measured: Optional[np.ndarray]) -> np.ndarray:
    """The columns in which a GPU has no value and its peers have one. measured: which those are; None without peers."""
    return np.array([], int) if measured is None else np.flatnonzero(np.isnan(values) & measured)


def _common_heat(matrix: Matrix, usable: list[int]) -> set[str]:
    """The events that most GPUs have; they say nothing of one of them."""
    counts: dict[str, int] = {}
    for events in matrix.heat.values():
        for event in events:
            counts[event] = counts.get(event, 0) + 1
    return {event for event, count in counts.items() if 2 * count > len(usable)}


def _power_states(verdict: Verdict, gpus: list[Gpu], matrix: Matrix, members: np.ndarray) -> str:
    """That a slow GPU met the power limit in its lowest row and most of its peers did not, or the reverse; else empty."""
    column = matrix.columns[verdict.slow[0].column] if verdict.slow else None
    if column is None or column.per_clock:
        return ""
    key = (column.pass_, column.row)
    states = Counter(gpus[index].readings[key].power_state for index in members if key in gpus[index].readings)
    own, usual = verdict.gpu.readings[key].power_state, max(states, key=states.__getitem__, default=None)
    return f"{column.name}: {differ(states.elements())}" if own and usual and own != usual else ""


def assess(fleet: Fleet, command: str = "ridgebench", baselines: Optional[ModelBaselines] = None,
           soaks: Optional[list[Soak]] = None) -> Assessment:  # fmt: skip
    """Judges the fleet. command: how the next commands begin; baselines: baselines of models. Raises CommandError."""
    if baselines is not None:
        require_comparable(baselines, fleet.gpus)
    gpus = fleet.gpus
    states = [_state_of_files(gpu) for gpu in gpus]
    usable = [index for index, (state, _) in enumerate(states) if state == DONE]
    matrix = make_matrix(gpus, usable)
    groups = judged_groups(gpus, matrix, usable)
    scored = score(gpus, matrix, groups)
    common = _common_heat(matrix, usable)
    measured = [~np.isnan(matrix.values[group.members]).all(axis=0) for group in groups]
    verdicts = []
    for index, (state, reason) in enumerate(states):
        verdict = Verdict(gpus[index], FINE if state == DONE else state, INFO, reason)
        if state == DONE:
            _judge_done(verdict, index, matrix, groups, scored)
        else:
            verdict.severity = STATES[state][1]
        if baselines is not None:
            judge_by_baseline(verdict, baselines)
        of = scored.group_of[index]
        absent = _lacking(matrix.values[index], measured[of] if of >= 0 else None)
        judge_conditions(verdict, scored.sheet[index], absent, matrix.columns)
        events = [event for event in matrix.heat.get(index, ()) if event not in common]
        if events:
            verdict.notes.append(f"heat or hardware lowered the clock: {', '.join(events)}")
            verdict.severity = WARN if verdict.severity == INFO else verdict.severity
        if of >= 0 and (power := _power_states(verdict, gpus, matrix, groups[of].members)):
            verdict.reason = f"{verdict.reason}; {power}" if verdict.reason else power
        verdicts.append(verdict)
    _judge_bits(verdicts, usable)
    only_soaked = add_soaks(verdicts, soaks or [])
    for index, verdict in enumerate(verdicts):
        of = scored.group_of[index]
        verdict.next = next_step(verdict, fleet, groups[of].differs if of >= 0 else (), command)
    own = _expected(groups, scored)
    return Assessment(fleet, matrix, groups, scored, verdicts, own, soaks or [], only_soaked)


def _comparable_bits(gpus: list[Gpu], usable: list[int]) -> Iterable[dict[str, dict[int, Bits]]]:
    """The bits by row and GPU, of each set of GPUs of one model and driver branch that ran one program on the same inputs."""
    sets: dict[Any, dict[str, dict[int, Bits]]] = defaultdict(lambda: defaultdict(dict))
    for index in usable:
        gpu = gpus[index]
        same = (gpu.model, *(gpu.versions.get(key) for key in PROGRAM), *(gpu.facts.get(key) for key in INPUTS))
        for (pass_, row), reading in gpu.readings.items():
            if reading.bits is not None:
                sets[same][f"{row} ({pass_})"][index] = reading.bits
    return sets.values()


def _judge_bits(verdicts: list[Verdict], usable: list[int]) -> None:
    """WRONG for a GPU that most others outvote, and a note where no vote decides."""
    gpus = [verdict.gpu for verdict in verdicts]

    def name_of(index: int) -> str:
        return f"{gpus[index].node} GPU {gpus[index].index}"

    for rows in _comparable_bits(gpus, usable):
        for odd in vote(rows, name_of):
            verdict = verdicts[odd.gpu]
            if odd.wrong:
                becomes(verdict, WRONG, FAIL, odd.text)
                if odd.silent and len(gpus) > 1:
                    verdict.notes.append("its bits have no vote on other GPUs: its multiprocessors are outvoted")
            else:
                verdict.notes.append(odd.text)
                verdict.severity = FAIL if verdict.severity == FAIL else WARN


def _expected(groups: list[Group], scored: Scored) -> peers.Expected:
    comparisons = int((~np.isnan(scored.z)).sum())
    if not groups:
        return peers.Expected(0, float("nan"), 0.0, {}, float("nan"))
    own = peers.expected(groups[0].columns, comparisons)
    others = [peers.judged_only(group.columns) for group in groups[1:] if group.columns is not None]
    return own._replace(false_flags=own.false_flags + sum(float(peers.false_flags(columns).sum()) for columns in others))
