"""Several runs side by side: their names, the cases that changed, and what a title may say of them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.text import capital, clean
from ridgebench.base.units import enumerate_words
from ridgebench.data.records import Row, Run, commit_of, date_of
from ridgebench.data.view import OPERATIONS, ORDER, View, ordered

from .finding import best
from .page import fits, power_states

_MOST = 4  # runs that one figure can hold: a hue for each
LETTERS = "ABCD"
_SLOW = 0.5  # a run below this share of a rate is said to be slower
_ALL = "all"  # devices
LIMITS = (("memory", "memory"), ("compute", "arithmetic"))  # of a row's bound
_Speeds = dict[tuple[str, str, str], float]  # by operation, format and bound


@dataclass(frozen=True)
class OneRun:
    """A run in a figure of several."""

    view: View
    name: str
    letter: str

    @cached_property
    def speeds(self) -> _Speeds:
        """The best verified rate of each operation in each format: bytes/s where memory limits, else FLOP/s.

        None of a run that did not end: no title may rest on it.
        """
        found: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.view.points:
            if not row.naive and row.bound in dict(LIMITS) and self.view.may_head(row):
                found.setdefault((row.op, row.format, row.bound), []).append(row)
        tops = {key: best(rows, _rate) for key, rows in found.items()}
        return {key: _rate(row) for key, row in tops.items() if row}


def _rate(row: Row) -> Optional[float]:
    return row.bytes_per_s if row.bound == "memory" else row.flops_per_s


def devices_of(run: Run, chosen: Optional[str]) -> list[Optional[str]]:
    """The devices to draw: all that have rows, or the chosen one."""
    return sorted({row.device for row in run.rows}) if chosen == _ALL else [chosen]


def names(views: list[View], folders: list[Path]) -> list[str]:
    """A name for each run: the device, with date and commit where devices repeat, and the folder where those do."""
    models = [view.device["model"] or view.device["name"] for view in views]
    runs = [f"{model}, {date_of(view.environment)} {(view.environment['commit'] or '')[:7]}".rstrip(" ,")
            for model, view in zip(models, views)]
    places = [f"{run} ({clean(folder.resolve().name)}, {view.device['name']})" for run, folder, view in zip(runs, folders, views)]
    return [
        model if models.count(model) == 1 else run if runs.count(run) == 1 else place
        for model, run, place in zip(models, runs, places)
    ]


def make_runs(views: list[View], folders: list[Path]) -> list[OneRun]:
    """Raises ResultsError for more runs than a figure has marks."""
    if len(views) > _MOST:
        raise ResultsError(f"{len(views)} runs or devices in one figure; allowed: up to {_MOST}")
    return [OneRun(*one) for one in zip(views, names(views, folders), LETTERS)]


def formats(runs: list[OneRun]) -> list[str]:
    """The formats that at least two of the runs have; those of all runs where they share none."""
    found = [set(run.view.formats) for run in runs]
    shared = {name for own in found for name in own if sum(name in other for other in found) > 1}
    return ordered(shared or set().union(*found), ORDER)


def operations(runs: list[OneRun]) -> list[str]:
    return ordered({op for run in runs for op in run.view.operations}, OPERATIONS)


def changed(before: Row, after: Row) -> bool:
    """True if the change of time is larger than either interval, and the two intervals do not meet."""
    change = abs(after.time_median_s - before.time_median_s)
    widths = [row.time_ci_high_s - row.time_ci_low_s for row in (before, after)]
    apart = before.time_ci_high_s < after.time_ci_low_s or after.time_ci_high_s < before.time_ci_low_s
    return apart and change > max(widths)


def changes(before: list[Row], after: list[Row]) -> list[tuple[Row, Row]]:
    """The same cases of two runs whose times changed."""
    known = {row.case: row for row in before}
    pairs = [(known[row.case], row) for row in after if row.case in known]
    return [pair for pair in pairs if changed(*pair)]


def span(values: list[float]) -> str:
    texts = [f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in (min(values), max(values))]
    return " to ".join(dict.fromkeys(texts))


def _against(first: OneRun, other: OneRun, bound: str) -> list[float]:
    """How many times as fast as the first run another one is, for each operation and format that both have."""
    shared = [key for key in first.speeds if key[2] == bound and key in other.speeds]
    return [other.speeds[key] / first.speeds[key] for key in shared]


def _ratios(first: OneRun, other: OneRun) -> list[list[float]]:
    """How many times as fast another run is than the first one under each of LIMITS; empty if no row is common."""
    return [_against(first, other, bound) for bound, _ in LIMITS]


def _pair_title(first: str, other: str, found: list[list[float]]) -> str:
    (most, limit), *rest = [(span(values), limit) for values, (_, limit) in zip(found, LIMITS) if values]
    more = "".join(f" and {text} times where {limit} limits" for text, limit in rest)
    return f"{other} is {most} times as fast as {first} where {limit} limits{more} (best verified rows)"


def _speed(values: list[float]) -> str:
    """'1.2 to 1.5 times as fast', '68 to 140 times slower'."""
    slow = max(values) < _SLOW
    return f"{span([1 / value for value in values])} times slower" if slow else f"{span(values)} times as fast"


def _many_title(first: str, others: list[tuple[str, list[list[float]]]]) -> str:
    """'Where memory limits, B is 1.2 times as fast as A and C 68 times slower; where arithmetic limits, ...'"""
    clauses = []
    for index, (_, limit) in enumerate(LIMITS):
        known = [(name, found[index]) for name, found in others if found[index]]
        parts = [f"{name} is {_speed(values)}" for name, values in known]
        if parts:
            clauses.append(f"where {limit} limits, {enumerate_words(parts)}")
    return capital("; ".join(clauses)) + f" (best verified rows, against {first})"


def title(runs: list[OneRun]) -> str:
    """The speed of every run over the first one, by the best verified row of each operation and format."""
    first, others = runs[0], [(run, found) for run in runs[1:] if any(found := _ratios(runs[0], run))]
    unfinished = [run.letter for run in runs if run.view.why_unfinished]
    if unfinished and not others:
        return f"No claim: run {enumerate_words(unfinished)} did not end"
    if not others:
        return f"{len(runs)} runs, and no operation in a format that the first one shares with another"
    for name in (lambda run: run.name, lambda run: run.letter):
        if len(runs) == 2:
            whole = _pair_title(name(first), name(others[0][0]), others[0][1])
        else:
            whole = _many_title(name(first), [(name(run), found) for run, found in others])
        if fits(whole):
            break
    return whole


def provenance(runs: list[OneRun]) -> str:
    """The rows that the power limit slowed down, the commits of the runs, and their fills where one of them is not the default."""
    states = "; ".join(f"{run.letter} {text}" for run in runs if (text := power_states(run.view)))
    commits = [f"{run.letter} {commit_of(run.view.environment, 12)}" for run in runs]
    fills = {run.letter: run.view.environment.get("fill") or "unknown" for run in runs}
    told = f", fill {', '.join(f'{letter} {fill}' for letter, fill in fills.items())}" if set(fills.values()) != {"normal"} else ""
    return f"{states}{' · ' * bool(states)}ridgebench, commits {', '.join(commits)}{told}"
