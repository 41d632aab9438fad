"""Makes verdicts of the runs of a session."""

import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Optional

import numpy as np

from ridgebench.base.files import ResultsError
from ridgebench.base.units import counted
from ridgebench.data.each_once import require_once
from ridgebench.data.records import Row

from . import gate
from .code_rows import with_code
from .conditions import with_conditions
from .limits import Limits
from .power_states import with_word
from .report import NEW, NOT_COMPARABLE, Comparison, Cycles, Report, incomparable
from .session import ARMS, Pair, Session
from .stored_runs import why_not

# Clock events that come from outside: the kernel itself causes a power cap, but not heat.
EXTERNAL_EVENTS = {"hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown"}


def _log_ratio_of_neighbours(before: np.ndarray, after: np.ndarray) -> float:
    """The median log ratio of the turns that two processes took next to each other: first with first and so on.

    What slows a host for longer than a turn slows both neighbours, and their ratio is spared.
    """
    common = min(len(before), len(after))
    return float(np.median(np.log(after[:common]) - np.log(before[:common])))


def _log_ratio(baseline: Row, candidate: Row) -> float:
    """The changes of one pair: of its medians or, if the processes took turns, of neighbouring turns."""
    if baseline.turns is None or candidate.turns is None:
        return math.log(candidate.time_median_s) - math.log(baseline.time_median_s)
    return _log_ratio_of_neighbours(baseline.turns, candidate.turns)


def external_cause(row: Row) -> Optional[str]:
    """Causes other than the kernel that slowed the device while the row ran."""
    events = EXTERNAL_EVENTS.intersection(row.telemetry.get("clock_events") or ())
    if events:
        return ", ".join(sorted(events))
    if "cpu_throttled" in row.flags:
        return "a spent CPU quota"
    return "another process on the device" if row.telemetry.get("other_processes") else None


@dataclass(frozen=True)
class _Series:
    """One row over the pairs that measured it."""

    pairs: list[tuple[Row, Row]]
    log_ratios: np.ndarray

    @property
    def log_cycle_ratios(self) -> Optional[np.ndarray]:
        """Log ratios of cycles; None unless every process knew its clock."""
        clocks = [(one.clock_hz, other.clock_hz) for one, other in self.pairs]
        if not all(one and other for one, other in clocks):
            return None
        return self.log_ratios + np.log([other / one for one, other in clocks])

    def any(self, holds: Any) -> bool:
        return any(holds(row) for pair in self.pairs for row in pair)

    def struck(self) -> Optional[str]:
        """A cause from outside that struck the processes of one arm only."""
        causes = [[c for pair in self.pairs if (c := external_cause(pair[arm]))] for arm in (0, 1)]
        if bool(causes[0]) == bool(causes[1]):
            return None
        arm = 0 if causes[0] else 1
        return f"{causes[arm][0]} struck the {ARMS[arm]} in {counted(len(causes[arm]), 'run')}, the other in none"


def _all_differences(session: Session, pairs: list[Pair], allowed: list[str]) -> tuple[list[str], list[str]]:
    """Hard and soft differences between the arms, and from pair to pair: a driver may be renewed in mid session."""
    hard, soft = [], []
    first = pairs[0][0].environment
    for pair in pairs:
        here, there = (run.environment for run in pair)
        # The second look measures fewer rows in a smaller budget.
        for one, other in ((here, there), (first | {"budget_s": here.get("budget_s")}, here)):
            found = session.differences(one, other, allowed)
            hard += found[0]
            soft += found[1]
    return list(dict.fromkeys(hard)), list(dict.fromkeys(soft))


def _series_of(name: str, pairs: list[Pair]) -> _Series:
    """The pairs that hold the row: the second look measures only undecided rows."""
    held = [tuple(run.by_id[name] for run in pair) for pair in pairs if all(name in run.by_id for run in pair)]
    return _Series(held, np.array([_log_ratio(*rows) for rows in held]))


def _measured(name: str, series: _Series, preset: gate.Preset) -> Comparison:
    """Everything but the verdict; of a single pair there is no spread."""
    ratios = series.log_ratios
    medians = np.median([[row.time_median_s for row in pair] for pair in series.pairs], axis=0)
    row = Comparison(
        name, gate.UNDECIDED, change=gate.as_share(np.median(ratios)), pairs=len(ratios),
        baseline_s=float(medians[0]), candidate_s=float(medians[1]),
    )
    if len(ratios) < 2:
        return row
    value = gate.estimate(ratios)
    low, high = map(gate.as_share, gate.bounds(value, 0.025))
    row.change, row.low, row.high = gate.as_share(value.location), low, high
    row.beyond_noise, row.spread = bool(low > 0 or high < 0), float(value.spread)
    row.smallest_change = gate.smallest_change(row.spread, len(ratios), preset)
    if len(ratios) >= min(preset.spending):
        row.chance = float(gate.chance(ratios, preset))
    return row


def _why_undecided(row: Comparison, series: _Series, preset: gate.Preset) -> str:
    """The cause that hides the answer, and a remedy."""
    if row.pairs < (first := min(preset.spending)):
        return f"{counted(row.pairs, 'pair')}; the first look takes {first}"
    value = gate.estimate(series.log_ratios)
    needed, spread = gate.pairs_to_decide(value, preset), gate.largest_spread(value, preset)
    given_up = row.pairs < preset.looks[-1] and row.chance < gate.LEAST_CHANCE
    return (
        f"{f'given up after {row.pairs} pairs: ' if given_up else ''}a pair's spread of {100 * row.spread:.1f} % "
        f"hides the answer; about {needed:.0f} pairs, or a spread below {100 * spread:.1f} %, would decide"
    )


def _judged(name: str, series: _Series, preset: gate.Preset) -> Comparison:
    """The verdict of the gate, unless something forbids one."""
    row = _measured(name, series, preset)
    cycles = series.log_cycle_ratios
    if cycles is not None and len(cycles) > 1:
        change = gate.as_share(gate.estimate(cycles).location)
        row.cycles = Cycles(str(gate.judge(cycles, preset)), change)
    row.verdict = str(gate.judge(series.log_ratios, preset))
    if row.verdict == gate.UNDECIDED:
        row.reason = _why_undecided(row, series, preset)
    else:
        row.chance = None
    if series.any(lambda one: one.bound == "launch"):
        row.verdict, row.reason = gate.NOT_GATED, "bound by its launch"
    if series.any(lambda one: "below_one_wave" in one.flags):
        row.verdict, row.reason = gate.NOT_GATED, "less than one wave of thread blocks"
    if (cause := series.struck()) is not None:
        row.verdict, row.reason = NOT_COMPARABLE, cause
    row.reason = with_word(row.reason, chain.from_iterable(series.pairs))
    return row


def of_pairs(name: str, pairs: list[tuple[Any, Any]], preset: gate.Preset) -> Comparison:
    """The verdict on a row that all pairs of processes timed."""
    return _judged(name, _Series(pairs, np.array([_log_ratio(*rows) for rows in pairs])), preset)


def _broken_row(name: str, pairs: list[Pair]) -> Optional[Comparison]:
    """The verdict on a row that some process did not time; later pairs may leave decided rows out."""
    known = any(name in baseline.by_id and baseline.by_id[name].status == "ok" for baseline, _ in pairs)
    for number, pair in enumerate(pairs, 1):
        rows = [run.by_id.get(name) for run in pair]
        if rows == [None, None]:
            continue
        if (broken := why_not(name, *rows)) is not None:
            if broken.verdict == NEW and known:  # in other pairs the baseline has it: the candidate lost nothing
                broken.verdict = gate.UNDECIDED
            if len(pairs) > 1:
                broken.reason = f"pair {number}: {broken.reason}"
            return broken
    return None


def _adjust_for_number(rows: list[Comparison], series: dict[str, _Series], limits: Limits) -> None:
    """Sets p_adjusted of the rows that have a series."""
    timed = [row for row in rows if row.id in series and row.pairs > 1]
    if timed:
        values = [(gate.estimate(series[row.id].log_ratios), limits.of(row.id)) for row in timed]
        adjusted = gate.holm(np.array([float(gate.probability(*value)) for value in values]))
        for row, p in zip(timed, adjusted):
            row.p_adjusted = float(p)


def first_differences(session: Session, allowed: list[str]) -> list[str]:
    """Reasons against the comparison, as far as the first pair shows them."""
    return _all_differences(session, [session.load_pair(1)], allowed)[0]


def judge(session: Session, limits: Limits, allowed: list[str]) -> Report:
    """The report on the pairs that the session has so far. Raises ResultsError for a process that counts twice."""
    if session.pairs == 0 and not session.same:
        raise ResultsError(f"{session.folder} holds 0 pairs; allowed: 1 or more")
    pairs = [session.load_pair(pair) for pair in range(1, session.pairs + 1)]
    require_once(chain.from_iterable(pairs))
    same = set(session.same)
    names = [name for name in dict.fromkeys(name for pair in pairs for run in pair for name in run.by_id)
             if name not in same or _broken_row(name, pairs)]
    hard, soft = _all_differences(session, pairs, allowed) if pairs else ([], [])
    if hard:
        return incomparable("interleaved", session.sides, names, hard)
    limits = replace(limits, ends=tuple(session.ends))
    rows, series = [], {}
    for name in names:
        row = _broken_row(name, pairs)
        if row is None:
            series[name] = _series_of(name, pairs)
            preset = limits.of(name)
            row = _judged(name, series[name], preset)
            if preset != limits.of_most:
                row.tolerance, row.margin = preset.tolerance, preset.margin
            session.state_values(row)
        rows.append(row)
    _adjust_for_number(rows, series, limits)
    looks, metric = tuple(limits.of_most.spending), session.metric
    report = Report("interleaved", *session.sides, rows, limits.preset, soft, looks=looks, metric=metric)
    report = with_conditions(report, {arm: [pair[i].environment for pair in pairs] for i, arm in enumerate(ARMS)})
    return with_code(report, session)
