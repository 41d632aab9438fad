"""The roofline of many formats: one panel per format, all with the same axes, so that no format hides another."""

from dataclasses import replace
from math import log10

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.base.units import counted
from ridgebench.data.view import View
from ridgebench.figures.scene.axes import Limits

from . import external, grid, labels
from .canvas import Canvas
from .finding import roofline_title
from .key import draw_key
from .page import header, new_page, storage_note
from .panel import columns
from .panel_labels import head_rows, label_flat, label_foot, name_ends, name_tops
from .points import marker
from .roof_drawing import MEASURED, SHEETS, Pen, draw_roofs, label_diagonal, label_ridges
from .roofline import draw_points, ghost_note, limits, own_roofs, raised_note, sheet_sources
from .roofs import Roofs, memory_names, merged, roofs_of
from .style import NORMAL, SMALL, Theme, is_pair, shape
from .sweeps import sweeps
from .tiles import column_width, make_tiles

_NAMED_FIRST = ["relu", "gelu"]  # the pair whose equal times the lecture shows
_TOGETHER, _SWEPT = 3, 2  # formats, and formats with sweeps, that one plane can hold; more hide one another
MOST = 12  # panels
_SIZE = 28.0  # area of a marker, points squared
_HEADROOM = 1.5  # of the highest roof, for its label above it


def wanted(view: View) -> bool:
    """True if the view's formats would hide one another in one plane: many of them, or sweeps in several."""
    swept = {sweep.rows[0].format for sweep in sweeps(view.points)}
    return view.format is None and (len(columns(view.formats)) > _TOGETHER or len(swept) > _SWEPT)


def _of_formats(view: View, formats: list[str]) -> View:
    """The rows of some formats; mixed pairs, which share a panel, have no single format."""
    rows = [row for row in view.rows if row.role != "kernel" or row.format in formats]
    return replace(view, rows=rows, format=formats[0] if len(formats) == 1 else None)


def panel_groups(formats: list[str]) -> dict[str, list[str]]:
    """The formats of each panel by its name, at most MOST of them; mixed pairs share one."""
    return {"fp8 pairs" if is_pair(own[0]) else own[0]: own for own in columns(formats)[:MOST]}


def panels_note(formats: list[str]) -> str:
    """Says how many formats have no panel; empty if all have one."""
    left = len(columns(formats)) - MOST
    return f"{counted(left, 'more format')} without a panel here: each one has a figure of its own" if left > 0 else ""


def with_headroom(area: tuple[Limits, Limits]) -> tuple[Limits, Limits]:
    x, (low, high) = area
    return x, (low, high + log10(_HEADROOM))


def draw(view: View, theme: Theme) -> Figure:
    """The roofline of all formats of a view."""
    figure, page = new_page(theme)
    notes = [storage_note(view), raised_note(view), ghost_note(view), external.NOTE * bool(external.placed(view)),
             panels_note(view.formats)]
    top = header(page, view, roofline_title(view), notes, theme)
    top = draw_key(page, view, theme, top - 0.08)
    groups = panel_groups(view.formats)
    roofs = {name: roofs_of(view, formats) for name, formats in groups.items()}
    sheets = [source for source, _ in sheet_sources(view, theme)]
    area = with_headroom(limits(view, [*roofs.values(), *sheets]))
    low = grid.bottom(view) - grid.BOTTOM + 0.35
    grid.draw_undrawn_below(page, view)
    canvases = make_tiles(figure, page, list(groups), area, view.unit, (low, top), theme)
    for name, canvas in canvases.items():
        part = _of_formats(view, groups[name])
        _draw_panel(canvas, part, roofs[name], view.operations, theme)
        _draw_head(page, canvas, name, part, view.operations, theme, column_width(canvases))
    return figure


def _draw_head(page: Axes, canvas: Canvas, name: str, view: View, operations: list[str], theme: Theme,
               room: float) -> None:
    """Names the format and, within `room` (inches), the best matrix products of a panel above it."""
    formats = view.formats
    colour, name = theme.text(formats[0]), theme.titled(name)
    page.text(canvas.left, canvas.top + 0.31, name, size=NORMAL, weight="bold", color=colour, va="center")
    x, y = canvas.left + labels.width(name, NORMAL, "bold") + 0.12, canvas.top + 0.31
    for row, text in reversed(head_rows(view)):  # a library stands beside the name, a kernel of this project below it
        if row.origin != "library":
            x, y = canvas.left, canvas.top + 0.13
        text = labels.fit(text, SMALL, canvas.left + room - x - 0.18)
        marker(page, x + 0.06, y, row, theme, shape(row.op, operations), _SIZE)
        page.text(x + 0.18, y, text, size=SMALL, color=colour, va="center")


def _draw_panel(canvas: Canvas, view: View, roofs: Roofs, operations: list[str], theme: Theme) -> None:
    """Draws roofs and points of one panel, then labels from the most to the least important."""
    pen, own = Pen(theme, *MEASURED), own_roofs(view)
    draw_points(canvas, view, theme, _SIZE, operations)
    for sheet, dashed in sheet_sources(view, theme):
        if sheet.compute or not roofs.compute:  # a slope without an end would leave the measured roofs
            draw_roofs(canvas, sheet, dashed, ridges=True)
    draw_roofs(canvas, roofs, pen, ridges=True)
    groups = merged(roofs.compute)
    if roofs.memory:
        speed = memory_names(roofs)[1]
        label_diagonal(canvas, roofs.memory[0], roofs, pen, [speed, speed.split(" ", 2)[-1]])
    for group in groups[:1]:
        label_flat(canvas, group, pen, own)
    name_ends(canvas, view, theme)
    name_tops(canvas, view, _NAMED_FIRST, theme)
    label_ridges(canvas, replace(roofs, compute=roofs.compute[: len(groups[0])] if groups else []), pen)
    name_tops(canvas, view, [op for op in view.operations if op not in _NAMED_FIRST], theme)
    for group in groups[1:]:
        label_flat(canvas, group, pen, None)
    label_foot(canvas, own, Pen(theme, *SHEETS[0]))
