"""From the runs of a session to verdicts."""

import math
from dataclasses import dataclass
from typing import Optional

import numpy as np

from roofline.plot.records import ResultsError

from . import gate
from .comparable import differences
from .report import NOT_COMPARABLE, Cycles, Report, Row, incomparable
from .runs import Run, Table, load, log_ratio_of_neighbours
from .session import ARMS, PROCESS, Session, progress
from .stored import why_not

Pair = tuple[Run, Run]  # baseline, candidate


@dataclass(frozen=True)
class Series:
    """One row over the pairs that measured it; of times and clocks, one column per arm."""

    seconds: np.ndarray  # medians
    clock_hz: np.ndarray
    bounds: set[Optional[str]]
    partial: bool  # it leaves a part of the device idle
    causes: tuple[list[str], list[str]]  # from outside, by arm
    log_ratios: np.ndarray

    @property
    def log_cycle_ratios(self) -> Optional[np.ndarray]:
        clocks = np.log(self.clock_hz[:, 1] / self.clock_hz[:, 0])
        return None if np.isnan(clocks).any() else self.log_ratios + clocks


def load_pair(session: Session, pair: int) -> Pair:
    in_turns = session.turns != PROCESS
    return tuple(load(session.run_folder(pair, arm), in_turns) for arm in ARMS)


def log_ratio(places: list[tuple[Table, int]]) -> float:
    """Of one pair: of its medians or, where both took turns, of neighbouring turns."""
    (baseline, i), (candidate, j) = places
    if not (baseline.turns and candidate.turns):
        return math.log(candidate.times[j, 0] / baseline.times[i, 0])
    return log_ratio_of_neighbours(baseline.turns[i], candidate.turns[j])


def load_pairs(session: Session) -> list[Pair]:
    return [load_pair(session, pair) for pair in range(1, session.pairs + 1)]


def all_differences(pairs: list[Pair], allowed: list[str]) -> tuple[list[str], list[str]]:
    """Between the arms, and from pair to pair: a driver may be renewed in mid session."""
    hard, soft = [], []
    first = pairs[0][0].environment
    for pair in pairs:
        here, there = (run.environment for run in pair)
        # Fewer rows, at the second look, have a smaller budget.
        for one, other in ((here, there), (first | {"budget_s": here.get("budget_s")}, here)):
            found = differences(one, other, allowed)
            hard += found[0]
            soft += found[1]
    return list(dict.fromkeys(hard)), list(dict.fromkeys(soft))


def series_of(name: str, pairs: list[Pair], index: list[tuple[dict, dict]]) -> Series:
    """Only pairs that hold the row: undecided ones alone are measured at the second look."""
    held = [(p, at) for p, at in zip(pairs, index) if name in at[0] and name in at[1]]
    places = [[(run.table, at[name]) for run, at in zip(p, ats)] for p, ats in held]
    causes = tuple([c for row in places if (c := row[arm][0].cause[row[arm][1]])] for arm in (0, 1))
    return Series(
        np.array([[table.times[i, 0] for table, i in row] for row in places]),
        np.array([[table.clock_hz[i] for table, i in row] for row in places]),
        {table.bound[i] for row in places for table, i in row},
        any(table.partial[i] for row in places for table, i in row),
        causes,
        np.array([log_ratio(row) for row in places]),
    )


def struck(causes: tuple[list[str], list[str]]) -> Optional[str]:
    """A cause from outside that hit the processes of one arm only."""
    if bool(causes[0]) == bool(causes[1]):
        return None
    arm = 0 if causes[0] else 1
    return f"{causes[arm][0]} struck the {ARMS[arm]} in {len(causes[arm])} runs, the other in none"


def measured(name: str, series: Series) -> Row:
    """Everything but the verdict."""
    ratios = series.log_ratios
    value = gate.estimate(ratios)
    low, high = np.expm1(gate.bounds(value, 0.025))
    medians = np.median(series.seconds, axis=0)
    spread = float(value.spread)
    return Row(
        name, gate.UNDECIDED, change=float(np.expm1(value.location)), low=float(low),
        high=float(high), beyond_noise=bool(low > 0 or high < 0), pairs=len(ratios), spread=spread,
        smallest_change=gate.smallest_change(spread, len(ratios)), baseline_s=float(medians[0]),
        candidate_s=float(medians[1]),
    )


def judged(name: str, series: Series, preset: gate.Preset) -> Row:
    row = measured(name, series)
    cycles = series.log_cycle_ratios
    if cycles is not None:
        change = float(np.expm1(gate.estimate(cycles).location))
        row.cycles = Cycles(str(gate.judge(cycles, preset)), change)
    row.verdict = str(gate.judge(series.log_ratios, preset))
    if row.verdict == gate.NOT_GATED:
        row.reason = f"the spread of {100 * row.spread:.1f} % exceeds 2 %"
    if "launch" in series.bounds:
        row.verdict, row.reason = gate.NOT_GATED, "bound by its launch"
    if series.partial:
        row.verdict, row.reason = gate.NOT_GATED, "less than one wave of thread blocks"
    if (cause := struck(series.causes)) is not None:
        row.verdict, row.reason = NOT_COMPARABLE, cause
    return row


def broken_row(name: str, pairs: list[Pair], index: list[tuple[dict, dict]]) -> Optional[Row]:
    """The row of an id that some process did not time; later pairs may leave decided ids out."""
    for pair, at in zip(pairs, index):
        ids = [positions.get(name) for positions in at]
        if pair is not pairs[0] and ids == [None, None]:
            continue
        row = why_not(name, [(run.table, i) for run, i in zip(pair, ids)])
        if row is not None:
            return row
    return None


def adjust_for_number(rows: list[Row], series: dict[str, Series], preset: gate.Preset) -> None:
    timed = [row for row in rows if row.id in series]
    if timed:
        values = [gate.estimate(series[row.id].log_ratios) for row in timed]
        adjusted = gate.holm(np.array([float(gate.probability(v, preset)) for v in values]))
        for row, p in zip(timed, adjusted):
            row.p_adjusted = float(p)


def first_differences(session: Session, allowed: list[str]) -> list[str]:
    """What forbids the comparison, as far as the first pair shows: no need to measure the rest."""
    return all_differences([load_pair(session, 1)], allowed)[0]


def judge(session: Session, preset_name: str, allowed: list[str]) -> Report:
    preset = gate.PRESETS[preset_name]
    if session.pairs < 2:
        raise ResultsError(f"{session.folder} holds {session.pairs} pairs; allowed: 2 or more")
    pairs = load_pairs(session)
    index = [tuple(run.table.index() for run in pair) for pair in pairs]
    names = list(dict.fromkeys(name for at in index for side in at for name in side))
    sides = (session.binaries["baseline"], session.binaries["candidate"])
    hard, soft = all_differences(pairs, allowed)
    if hard:
        return incomparable("interleaved", sides, names, hard)
    rows, series = [], {}
    for name in names:
        row = broken_row(name, pairs, index)
        if row is None:
            series[name] = series_of(name, pairs, index)
            row = judged(name, series[name], preset)
        rows.append(row)
    adjust_for_number(rows, series, preset)
    return Report("interleaved", *sides, rows, preset_name, soft)


def measure(session: Session, preset_name: str, allowed: list[str]) -> Report:
    """Looks after each number of pairs; only rows that are undecided are measured on."""
    undecided: Optional[list[str]] = None
    for pairs in gate.LOOKS:
        session.extend(pairs, undecided, progress(pairs))
        report = judge(session, preset_name, allowed)
        undecided = [row.id for row in report.rows if row.verdict == gate.UNDECIDED]
        if not undecided:
            break
    return report
