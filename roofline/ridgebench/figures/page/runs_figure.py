"""Several runs in one picture: a panel for each format, a hue for each run, every point under the roof of its run."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from math import sqrt
from typing import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.base.files import ResultsError
from ridgebench.base.units import digits
from ridgebench.data.records import Row, date_of
from ridgebench.data.view import View
from ridgebench.figures.scene import roofline as scene
from ridgebench.figures.scene.axes import Limits

from . import dumbbells, labels
from .canvas import Canvas
from .key import STEP, draw_lines, draw_shapes
from .multiples import panel_groups, panels_note, with_headroom
from .page import LINE, MARGIN, WIDTH, Group, draw_groups, new_page, results_not_ok, row_groups, write_foot_of_runs, write_head
from .panel_labels import label_flat
from .points import draw_on
from .roof_drawing import MEASURED, SHEETS, Pen, draw_roofs, label_diagonal, label_ridges
from .roofs import Roofs, measured_roofs, memory_names, roofs_of, sheet_roofs
from .runs import OneRun, changes, formats, operations, provenance, title
from .runs_table import draw_fastest, draw_rates, run_theme
from .style import NORMAL, SMALL, OneHue, Theme
from .tiles import column_width, make_tiles

_MOST_REASONS = 12  # lines of rows that are not drawn
_TABLE_LEFT = 9.2  # inches: the table of one format
_SIZES = {True: 42.0, False: 26.0}  # area of a marker in a figure of one panel, of several
_NOTE = "Points show steady rows of the technique of each operation that is fastest in any run, and of its fastest library"
_ARROW = "An arrow joins the same case of a run and of the next one where the time changed by more than both intervals"


def _pen_of(theme: OneHue) -> Pen:
    return Pen(theme, MEASURED[0], theme.dash(""))


@dataclass(frozen=True)
class _Part:
    """Content of a panel for one run: the rows of its formats, and the roofs above them."""

    run: OneRun
    rows: list[Row]
    roofs: Roofs
    theme: OneHue


def _top_roofs(view: View, names: list[str]) -> Roofs:
    """The fastest memory and the highest flat roof of a view in these formats."""
    roofs = roofs_of(view, names)
    return Roofs(roofs.memory[:1], [], roofs.compute[:1])


def _points_of(run: OneRun, names: list[str]) -> list[Row]:
    return [row for row in filter(scene.placed, run.view.points) if row.format in names and not row.naive]


def _techniques(runs: list[OneRun], names: list[str]) -> set[tuple[str, str]]:
    """Operation and technique of the fastest kernel and the fastest library of each operation in any run."""
    found = set()
    for rows in (_points_of(run, names) for run in runs):
        for kind in {(row.op, row.origin) for row in rows}:
            top = max((row for row in rows if (row.op, row.origin) == kind), key=lambda row: row.flops_per_s)
            found.add((top.op, top.technique))
    return found


def _parts_of(runs: list[OneRun], names: list[str], theme: Theme) -> list[_Part]:
    """The runs that have rows in a panel's formats."""
    wanted = _techniques(runs, names)
    found = []
    for run in runs:
        rows = [row for row in _points_of(run, names) if (row.op, row.technique) in wanted]
        if rows:
            found.append(_Part(run, rows, _top_roofs(run.view, names), run_theme(theme, run)))
    return found


def _limits(panels: list[list[_Part]], sheets: list[Roofs], scale: float) -> tuple[Limits, Limits]:
    """Limits (log10) that hold the points, roofs and ridges of all panels, and the roofs of data sheets."""
    parts = [part for panel in panels for part in panel]
    points, roofs = (scene.place_of(row) for part in parts for row in part.rows), [*(part.roofs for part in parts), *sheets]
    return scene.limits(points, map(scene.lines, roofs), scene.REFERENCE, scale)


def _draw_arrows(canvas: Canvas, before: list[Row], after: list[Row], theme: Theme, size: float) -> None:
    """Draws an arrow from each case to the same case of the next run, where it changed: between the points, and below them."""
    edge = sqrt(size) / 2 + 0.5  # points from the centre of a marker to where an arrow begins or ends
    style = {"arrowstyle": "-|>,head_width=0.14,head_length=0.28", "color": theme.ink, "linewidth": 0.8,
             "shrinkA": edge, "shrinkB": edge}
    for one, other in changes(before, after):
        ends = [(row.intensity_flop_per_byte, row.flops_per_s / canvas.scale) for row in (other, one)]
        canvas.axes.annotate("", *ends, arrowprops=style, zorder=4.8)


def _draw_panel(canvas: Canvas, parts: list[_Part], shapes: list[str], alone: bool) -> None:
    """Draws roofs, points and ridges of all runs; a panel that is alone names its roofs, too."""
    for part in parts:
        draw_on(canvas, part.rows, shapes, part.theme, _SIZES[alone])
        draw_roofs(canvas, part.roofs, _pen_of(part.theme), ridges=True)
    for part in parts:
        label_ridges(canvas, part.roofs, _pen_of(part.theme))
    for part in parts if alone else []:
        pen, roofs = _pen_of(part.theme), part.roofs
        if roofs.memory:
            label_diagonal(canvas, roofs.memory[0], roofs, pen, memory_names(roofs))
        if roofs.compute:
            label_flat(canvas, roofs.compute, pen, None)


def _draw_sheets(canvas: Canvas, view: View, names: list[str], theme: Theme) -> None:
    """Draws the roofs of data sheets, which are of none of the runs, in grey."""
    grey = OneHue(**{**asdict(theme), "colour": theme.muted})
    for sheet, dash in zip(view.sheets, SHEETS * len(view.sheets)):
        roofs = sheet_roofs(view.only(names[0]), sheet)
        if roofs.compute:
            draw_roofs(canvas, roofs, Pen(grey, *dash), ridges=False)


def _draw_head(page: Axes, canvas: Canvas, name: str, parts: list[_Part], room: float) -> None:
    """Names the format of a panel and, within `room` (inches), the highest roof of each run above it."""
    page.text(canvas.left, canvas.top + 0.31, name, size=NORMAL, weight="bold", va="center")
    x = canvas.left
    for part in parts:
        text = f"{part.run.letter} {digits(part.roofs.compute[0].value / canvas.scale)}" if part.roofs.compute else ""
        if x + labels.width(text, SMALL) > canvas.left + room:
            return
        page.text(x, canvas.top + 0.13, text, size=SMALL, color=part.theme.text(None), va="center")
        x += labels.width(text, SMALL) + 0.13


def _run_text(run: OneRun) -> str:
    """'A NVIDIA H100, 2026-11-22: DRAM read 3.19 TB/s'"""
    date = date_of(run.view.environment)
    name = run.name if date in run.name else f"{run.name}, {date}"
    roofs = measured_roofs(run.view)
    return f"{run.letter} {name}" + (f": {memory_names(roofs)[1]}" if roofs.memory else "")


def _undrawn_of(runs: list[OneRun]) -> list[Group]:
    """The wrong, suspect, invalid and failed rows of every run."""
    groups = [(run, group) for run in runs for group in row_groups(results_not_ok(run.view))]
    return [replace(group, head=f"{run.letter} {group.head}") for run, group in groups]


def _draw_top(page: Axes, runs: list[OneRun], note: str, theme: Theme) -> float:
    """Draws title, notes and key; returns the height where they end (inches)."""
    top = write_head(page, title(runs), [_NOTE, _ARROW, note], theme) - 0.08
    themes = [run_theme(theme, run) for run in runs]
    lines = [(own.hue(None), MEASURED[0], own.dash(""), _run_text(run)) for run, own in zip(runs, themes)]
    sheets = runs[0].view.sheets
    lines += [(theme.muted, *dash, f"{sheet.title} data sheet") for sheet, dash in zip(sheets, SHEETS * len(sheets))]
    drawable = next((run.view for run in runs if run.view.points), None)
    if drawable:
        shown = replace(drawable, rows=[row for row in drawable.rows if not row.naive])
        draw_shapes(page, shown, operations(runs), theme, top)
        top -= STEP
    return draw_lines(page, lines, MARGIN, top) - 0.12


def draw(runs: list[OneRun], names: list[str], theme: Theme) -> Figure:
    """The roofline of several runs in these formats: small multiples, or one panel with a table."""
    figure, page = new_page(theme)
    groups = panel_groups(names)
    alone = len(groups) == 1
    if alone:
        runs = [replace(run, view=run.view.only(name)) for run in runs for name in names[:1]]
        runs = [run for run in runs if run.view.points] or runs
    above = write_foot_of_runs(page, provenance(runs), {run.letter: run.view for run in runs}, theme)
    top, undrawn = _draw_top(page, runs, panels_note(names), theme), _undrawn_of(runs)
    lines = min(len(undrawn), _MOST_REASONS) + 1 if undrawn else 0
    low = 0.35 + lines * LINE + above
    draw_groups(page, undrawn, MARGIN, low, WIDTH - 2 * MARGIN, lines)
    unit = max((run.view.unit for run in runs), key=lambda unit: unit[1])
    panels = {name: _parts_of(runs, own, theme) for name, own in groups.items()}
    view = runs[0].view
    sheets = [sheet_roofs(view.only(own[0]), sheet) for own in groups.values() for sheet in view.sheets]
    area = with_headroom(_limits(list(panels.values()), sheets, unit[1]))
    right = _TABLE_LEFT - 0.5 if alone else WIDTH - MARGIN
    canvases = make_tiles(figure, page, list(groups), area, unit, (low, top), theme, right)
    room = column_width(canvases)
    for name, canvas in canvases.items():
        _draw_sheets(canvas, view, groups[name], theme)
        _draw_panel(canvas, panels[name], operations(runs), alone)
        for before, after in zip(panels[name], panels[name][1:]):
            _draw_arrows(canvas, before.rows, after.rows, theme, _SIZES[alone])
        _draw_head(page, canvas, name, [] if alone else panels[name], room)
        if alone:
            draw_rates(page, runs, canvas.right + 0.5, top, unit, theme)
    if not alone:
        draw_fastest(page, runs, groups, canvases, low, unit, theme)
    return figure


def figures(runs: list[OneRun], numbers: tuple[str, ...] = ()) -> dict[str, Callable[[Theme], Figure]]:
    """Functions that draw the figure of all shared formats, one of each, and that of the ratios, by file name.

    `numbers` chooses formats; none of them means all. Raises ResultsError where no run has any of them.
    """
    names = [name for name in formats(runs) if name in numbers or not numbers]
    if not names:
        raise ResultsError(f"the runs share no row in {', '.join(numbers)}; they have {', '.join(formats(runs)) or 'none'}")
    drawn: dict[str, Callable[[Theme], Figure]] = {"roofline-runs": partial(draw, runs, names)}
    for name in names if len(names) > 1 else []:
        drawn[f"roofline-runs-{name}"] = partial(draw, runs, [name])
    if dumbbells.cases(runs):
        drawn["runs-ratio"] = partial(dumbbells.draw, runs)
    return drawn
