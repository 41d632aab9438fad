"""The content of a report: runs with their rows judged by their own roofs, and roofs to lay over them."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.text import clean, cut
from ridgebench.data.data_sheets import find_sheet, sheet_if_known
from ridgebench.data.each_once import each_once
from ridgebench.data.records import Row, Run, load_run
from ridgebench.data.view import OPERATIONS, ORDER, View, make_view, ordered
from ridgebench.figures.page.drawable import drawable, with_points
from ridgebench.figures.page.roofs import Roofs, measured_roofs, roofs_of, sheet_roofs
from ridgebench.figures.page.runs import names
from ridgebench.figures.page.sweeps import sweeps
from ridgebench.figures.scene.roofline import placed

from . import marks

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_RUNS = len(_LETTERS)
_MANY_FLOPS = 1e14  # per second


@dataclass(frozen=True)
class ShownRun:
    """The rows of one device in one results directory."""

    letter: str
    name: str
    folder: str
    view: View

    @cached_property
    def rows(self) -> list[Row]:
        """The verified kernel rows of every regime, then those of other tools."""
        verified = [row for row in self.view.selected if row.drawable]
        return sorted(verified, key=_table_order) + sorted(self.view.external, key=_table_order)


@dataclass(frozen=True)
class Source:
    """Roofs of one origin. run: the index of the run that has them as its own; None for those of --on."""

    title: str
    short: str  # names its memory's line
    roofs: Roofs
    measured: bool
    run: Optional[int] = None


@dataclass(frozen=True)
class Content:
    runs: list[ShownRun]
    sources: list[Source]

    @cached_property
    def rows(self) -> list[tuple[int, Row]]:
        """Every row of the table with the index of its run."""
        return [(index, row) for index, run in enumerate(self.runs) for row in run.rows]

    @cached_property
    def formats(self) -> list[str]:
        found = {row.format for _, row in self.rows}
        found |= {name for source in self.sources for roof in source.roofs.compute for name in roof.formats}
        return ordered(found, ORDER)

    @cached_property
    def operations(self) -> list[str]:
        return ordered({row.op for _, row in self.rows}, OPERATIONS)

    @cached_property
    def sweeps(self) -> list[list[int]]:
        """The indexes of the rows of each sweep of a run, the smallest first."""
        found: dict[tuple[int, str], dict[str, int]] = {}
        for index, (run, row) in enumerate(self.rows):
            if placed(row):
                found.setdefault((run, row.regime), {})[row.id] = index
        return [[known[row.id] for row in sweep.rows] for known in found.values()
                for sweep in sweeps([self.rows[index][1] for index in known.values()])]

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of implementation that the rows have."""
        found = {marks.kind(row) for _, row in self.rows}
        return [kind for kind in marks.FILLS if kind in found]

    @cached_property
    def regimes(self) -> list[str]:
        """The regimes of the rows; a report opens with the first one, because regimes are never mixed."""
        found = {row.regime for _, row in self.rows}
        return sorted(found, key=lambda regime: (regime != "steady", regime))

    @cached_property
    def unit(self) -> tuple[str, float]:
        """TFLOP/s where any run is of a GPU, or where a roof would have six digits of GFLOP/s."""
        fast = any(roof.value >= _MANY_FLOPS for source in self.sources for roof in source.roofs.compute)
        return ("TFLOP/s", 1e12) if fast else max((run.view.unit for run in self.runs), key=lambda unit: unit[1])


def _rank(name: str, known: tuple[str, ...]) -> tuple[int, str]:
    """Known names in the lecture's order, then the others."""
    return (known.index(name) if name in known else len(known), name)


def _table_order(row: Row) -> tuple:
    return (*_rank(row.op, OPERATIONS), *_rank(row.format, ORDER), -(row.flops_per_s or 0), row.id)


def load(folder: Path) -> Run:
    """A run with short texts whose rows have the number of their samples in `turns`. Raises ResultsError."""
    run = drawable(load_run(folder, turns_of=lambda record, environment: len(record["samples_s"])))
    rows = [replace(row, id=cut(row.id), shape=cut(row.shape), flags=cut(row.flags)) for row in run.rows]
    return replace(run, rows=rows)


def _views(run: Run, points: list[Path]) -> list[View]:
    """One view for each measured device, with its own data sheet; other tools' points belong to the first."""
    measured = {row.device for row in run.rows}
    devices = [device["name"] for device in run.environment["devices"] if device["name"] in measured]
    found = [make_view(run, name) for name in devices]
    found[0] = with_points(found[0], points)
    return [_with_own_sheet(view) for view in found]


def _with_own_sheet(view: View) -> View:
    name = view.environment["roof"] or view.device["data_sheet"]
    sheet = sheet_if_known(name) if name else None
    return view.with_sheets(sheet) if sheet else view


def _all_measured_roofs(view: View) -> Roofs:
    """The roofs of all formats, and those that only a view of one format has: a third of tf32's for tf32x3."""
    return replace(measured_roofs(view), compute=roofs_of(view, [*view.formats, None]).compute)


def _own_sources(index: int, run: ShownRun) -> list[Source]:
    """The measured roofs of a run and those of its device's data sheet."""
    letter = run.letter
    found = [Source(f"{letter}: {run.name}", letter, _all_measured_roofs(run.view), True, index)]
    for sheet in run.view.sheets:
        roofs = sheet_roofs(run.view, sheet)
        found.append(Source(f"{letter}: {sheet.title} data sheet", f"{letter}, data sheet", roofs, False, index))
    return found


def _overlay(name: str, runs: list[ShownRun]) -> list[Source]:
    """The roofs of --on: a data sheet's by the formats of the runs, or those that a results directory measured."""
    if os.path.isdir(name):
        found = [(view, view.device["model"] or view.device["name"]) for view in _views(load(Path(name)), [])]
        return [Source(f"{model} ({clean(name)})", str(model), _all_measured_roofs(view), True) for view, model in found]
    sheet = find_sheet(name)
    formats = {found for run in runs for found in run.view.formats}
    drawn = replace(runs[0].view, rows=[row for run in runs for row in run.view.rows])
    roofs = sheet_roofs(drawn, sheet)
    missing = " (no peak of these formats)" if formats.isdisjoint(sheet.peaks) else ""
    return [Source(f"{sheet.title} data sheet{missing}", sheet.name, roofs, False)]


def gather(folders: list[Path], devices: list[str], points: list[Path]) -> Content:
    """Reads everything that the report shows. Raises ResultsError."""
    runs = each_once(folders, load)
    beside = {runs[0].folder: points}  # points of other tools belong to the first run
    found = [(view, run.folder) for run in runs for view in _views(run, beside.get(run.folder, []))]
    if len(found) > _MOST_RUNS:
        raise ResultsError(f"{len(found)} runs or devices; allowed: up to {_MOST_RUNS}")
    every, places = map(list, zip(*found))
    named = zip(_LETTERS, names(every, places), places, every)
    runs = [ShownRun(letter, str(clean(name)), str(clean(str(folder))), view) for letter, name, folder, view in named]
    sources = [source for index, run in enumerate(runs) for source in _own_sources(index, run)]
    sources += [source for name in dict.fromkeys(devices) for source in _overlay(name, runs)]
    return Content(runs, sources)
