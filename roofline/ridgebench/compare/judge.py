"""Makes verdicts of the runs of a session."""

import math
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ridgebench.records import ResultsError, Row, Run, load_run

from . import gate
from .comparable import differences
from .report import NOT_COMPARABLE, Comparison, Cycles, Report, incomparable
from .session import ARMS, PROCESS, Session, progress
from .stored import why_not

Pair = tuple[Run, Run]  # baseline, candidate
# Clock events that come from outside: the kernel itself causes a power cap, but not heat.
EXTERNAL_EVENTS = {"hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown"}


def turns_of(record: dict, environment: dict) -> np.ndarray:
    """Median of each turn's samples, in the order in which they were taken.

    A turn is a batch or, where that has more than samples_per_turn samples, one of its parts of even length.
    """
    longest, count = environment.get("samples_per_turn"), record.get("samples_per_batch", 1)
    if len(record["samples_s"]) % count != 0:
        raise ValueError("samples_s does not hold whole batches of samples_per_batch")
    batches = np.array(record["samples_s"], dtype=float).reshape(-1, count)
    parts = 1 if longest is None else -(-count // longest)
    ends = [i * count // parts for i in range(parts + 1)]
    turns = [np.median(batches[:, i:j], axis=1) for i, j in zip(ends, ends[1:])]
    return np.column_stack(turns).ravel()


def log_ratio_of_neighbours(before: np.ndarray, after: np.ndarray) -> float:
    """The median log ratio of the turns that two processes took next to each other: first with first and so on.

    What slows a host for longer than a turn slows both neighbours, and their ratio is spared.
    """
    common = min(len(before), len(after))
    return float(np.median(np.log(after[:common] / before[:common])))


def log_ratio(baseline: Row, candidate: Row) -> float:
    """Of one pair: of its medians or, where the processes took turns, of neighbouring turns."""
    if baseline.turns is None or candidate.turns is None:
        return math.log(candidate.time_median_s / baseline.time_median_s)
    return log_ratio_of_neighbours(baseline.turns, candidate.turns)


def external_cause(telemetry: dict[str, Any]) -> Optional[str]:
    """What slowed the device while the row ran, other than the kernel."""
    events = EXTERNAL_EVENTS.intersection(telemetry.get("clock_events") or ())
    if events:
        return ", ".join(sorted(events))
    return "another process on the device" if telemetry.get("other_processes") else None


@dataclass(frozen=True)
class Series:
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
        causes = [[c for pair in self.pairs if (c := external_cause(pair[arm].telemetry))] for arm in (0, 1)]
        if bool(causes[0]) == bool(causes[1]):
            return None
        arm = 0 if causes[0] else 1
        return f"{causes[arm][0]} struck the {ARMS[arm]} in {len(causes[arm])} runs, the other in none"


def load_pair(session: Session, pair: int) -> Pair:
    turns = None if session.turns == PROCESS else turns_of
    return tuple(load_run(session.run_folder(pair, arm), turns) for arm in ARMS)


def all_differences(pairs: list[Pair], allowed: list[str]) -> tuple[list[str], list[str]]:
    """Hard and soft differences between the arms, and from pair to pair: a driver may be renewed in mid session."""
    hard, soft = [], []
    first = pairs[0][0].environment
    for pair in pairs:
        here, there = (run.environment for run in pair)
        # The second look measures fewer rows in a smaller budget.
        for one, other in ((here, there), (first | {"budget_s": here.get("budget_s")}, here)):
            found = differences(one, other, allowed)
            hard += found[0]
            soft += found[1]
    return list(dict.fromkeys(hard)), list(dict.fromkeys(soft))


def series_of(name: str, pairs: list[Pair]) -> Series:
    """The pairs that hold the row: the second look measures undecided rows alone."""
    held = [tuple(run.by_id[name] for run in pair) for pair in pairs if all(name in run.by_id for run in pair)]
    return Series(held, np.array([log_ratio(*rows) for rows in held]))


def measured(name: str, series: Series) -> Comparison:
    """Everything but the verdict."""
    ratios = series.log_ratios
    value = gate.estimate(ratios)
    low, high = np.expm1(gate.bounds(value, 0.025))
    medians = np.median([[row.time_median_s for row in pair] for pair in series.pairs], axis=0)
    spread = float(value.spread)
    return Comparison(
        name, gate.UNDECIDED, change=float(np.expm1(value.location)), low=float(low),
        high=float(high), beyond_noise=bool(low > 0 or high < 0), pairs=len(ratios), spread=spread,
        smallest_change=gate.smallest_change(spread, len(ratios)), baseline_s=float(medians[0]),
        candidate_s=float(medians[1]),
    )


def judged(name: str, series: Series, preset: gate.Preset) -> Comparison:
    """The verdict of the gate, unless something forbids one."""
    row = measured(name, series)
    cycles = series.log_cycle_ratios
    if cycles is not None:
        change = float(np.expm1(gate.estimate(cycles).location))
        row.cycles = Cycles(str(gate.judge(cycles, preset)), change)
    row.verdict = str(gate.judge(series.log_ratios, preset))
    if row.verdict == gate.NOT_GATED:
        row.reason = f"the spread of {100 * row.spread:.1f} % exceeds 2 %"
    if series.any(lambda one: one.bound == "launch"):
        row.verdict, row.reason = gate.NOT_GATED, "bound by its launch"
    if series.any(lambda one: "below_one_wave" in one.flags):
        row.verdict, row.reason = gate.NOT_GATED, "less than one wave of thread blocks"
    if (cause := series.struck()) is not None:
        row.verdict, row.reason = NOT_COMPARABLE, cause
    return row


def broken_row(name: str, pairs: list[Pair]) -> Optional[Comparison]:
    """The verdict on a row that some process did not time; later pairs may leave decided rows out."""
    for pair in pairs:
        rows = [run.by_id.get(name) for run in pair]
        if pair is not pairs[0] and rows == [None, None]:
            continue
        if (broken := why_not(name, *rows)) is not None:
            return broken
    return None


def adjust_for_number(rows: list[Comparison], series: dict[str, Series], preset: gate.Preset) -> None:
    """Sets p_adjusted of the rows that have a series."""
    timed = [row for row in rows if row.id in series]
    if timed:
        values = [gate.estimate(series[row.id].log_ratios) for row in timed]
        adjusted = gate.holm(np.array([float(gate.probability(v, preset)) for v in values]))
        for row, p in zip(timed, adjusted):
            row.p_adjusted = float(p)


def first_differences(session: Session, allowed: list[str]) -> list[str]:
    """What forbids the comparison, as far as the first pair shows."""
    return all_differences([load_pair(session, 1)], allowed)[0]


def judge(session: Session, preset_name: str, allowed: list[str]) -> Report:
    """The report on the pairs that the session has so far."""
    preset = gate.PRESETS[preset_name]
    if session.pairs < 2:
        raise ResultsError(f"{session.folder} holds {session.pairs} pairs; allowed: 2 or more")
    pairs = [load_pair(session, pair) for pair in range(1, session.pairs + 1)]
    names = list(dict.fromkeys(name for pair in pairs for run in pair for name in run.by_id))
    sides = (session.binaries["baseline"], session.binaries["candidate"])
    hard, soft = all_differences(pairs, allowed)
    if hard:
        return incomparable("interleaved", sides, names, hard)
    rows, series = [], {}
    for name in names:
        row = broken_row(name, pairs)
        if row is None:
            series[name] = series_of(name, pairs)
            row = judged(name, series[name], preset)
        rows.append(row)
    adjust_for_number(rows, series, preset)
    return Report("interleaved", *sides, rows, preset_name, soft)


def measure(session: Session, preset_name: str, allowed: list[str]) -> Report:
    """Measures up to each look of the gate; rows that are undecided are measured on."""
    undecided: Optional[list[str]] = None
    for pairs in gate.LOOKS:
        session.extend(pairs, undecided, progress(pairs))
        report = judge(session, preset_name, allowed)
        undecided = [row.id for row in report.rows if row.verdict == gate.UNDECIDED]
        if not undecided:
            break
    return report
