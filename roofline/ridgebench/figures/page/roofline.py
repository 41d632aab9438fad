"""The roofline: the rates of all rows under the roofs of the machine."""

from itertools import cycle
from typing import Optional

from matplotlib.figure import Figure

from ridgebench.base.units import percent
from ridgebench.data.judged import RAISED
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene import roofline as scene
from ridgebench.figures.scene.axes import Limits

from . import external
from .canvas import Canvas, make_canvas
from .finding import roofline_title
from .flat_labels import FlatLabel, draw_flat_labels, flat_label, flat_room
from .page import LINE, MARGIN, WIDTH, draw_undrawn, header, new_page, storage_note, undrawn_groups
from .panel import draw_panel
from .panel_labels import name_sweeps, product_sweeps
from .points import MARKER, draw_on, imported, name_points
from .roof_drawing import MEASURED, SHEETS, Pen, draw_roofs, label_caches, label_memory, label_ridges
from .roofs import Roofs, measured_roofs, merged, sheet_roofs
from .style import Theme

PANEL_LEFT, _PANEL_WIDEST, _PANEL_GAP = 8.5, 5.2, 0.3  # inches; it begins further left where the axes end earlier
_DASHED = "Dashed, with labels in italics: "
SPARE = 1.5  # decades of intensity right of all that is drawn
MOST_LABELS = 8
_SWEEP_LABELS = 3  # of them, where there are sweeps


def _placed(view: View) -> list[Row]:
    return list(filter(scene.placed, view.points))


def _ghosts(view: View) -> list[tuple[Row, float]]:
    """The rows whose traffic a profiler counted, with their FLOP per byte of that traffic."""
    return [(row, row.flops / row.dram_bytes) for row in _placed(view) if row.dram_bytes]


def limits(view: View, sources: list[Roofs]) -> tuple[Limits, Limits]:
    """Limits (log10) that hold all points, roofs and ridges; x in FLOP/byte, y in the figure's unit."""
    points = list(map(scene.place_of, _placed(view) + external.placed(view)))
    points += [(ghost / 1.5, row.flops_per_s) for row, ghost in _ghosts(view)]
    return scene.limits(points, map(scene.lines, sources), scene.REFERENCE, view.unit[1])


def _draw_ghosts(canvas: Canvas, view: View, theme: Theme) -> None:
    """Draws where a point would be by the counted traffic, joined to its own place."""
    for row, ghost in _ghosts(view):
        x, y, hue = row.intensity_flop_per_byte, row.flops_per_s / canvas.scale, theme.hue(row.format)
        canvas.axes.plot((x, ghost), (y, y), color=hue, linestyle=":", linewidth=0.8, zorder=4)
        canvas.axes.plot([ghost], [y], "o", color=hue, markerfacecolor="none", markersize=4,
                         alpha=0.6, zorder=4, gid="ghost")
        canvas.occupy([(x, y), (ghost, y)])


def draw_points(canvas: Canvas, view: View, theme: Theme, size: float = MARKER,
                operations: Optional[list[str]] = None) -> None:
    _draw_ghosts(canvas, view, theme)
    draw_on(canvas, _placed(view), view.operations if operations is None else operations, theme, size)
    canvas.occupy(list(external.draw(canvas.axes, view, canvas.scale, theme).values()))


_Source = tuple[Roofs, Pen]  # the roofs of a data sheet, and how they are drawn


def sheet_sources(view: View, theme: Theme) -> list[_Source]:
    """The data sheets of a view, each with a dash of its own."""
    return [(sheet_roofs(view, sheet), Pen(theme, *dash)) for sheet, dash in zip(view.sheets, cycle(SHEETS))]


def sources(view: View) -> list[Roofs]:
    """All roofs that are drawn: the measured ones and those of the data sheets."""
    return [measured_roofs(view), *(sheet_roofs(view, sheet) for sheet in view.sheets)]


def own_roofs(view: View) -> Optional[Roofs]:
    """The roofs of the measured device's own data sheet."""
    return sheet_roofs(view, view.own_sheet) if view.own_sheet else None


def _labelled(view: View, measured: Roofs, sources: list[_Source]) -> list[_Source]:
    """The data sheets whose roofs have labels of their own: those of other devices, or all without a measured roof."""
    named = [not view.is_own(sheet) or not measured.compute for sheet in view.sheets]
    return [source for source, name in zip(sources, named) if name]


def _flat_labels(view: View, measured: Roofs, sources: list[_Source], theme: Theme) -> list[FlatLabel]:
    """Labels of every measured roof, and of as many of the data sheets' roofs as the budget leaves."""
    own = own_roofs(view)
    found = [flat_label(group, Pen(theme, *MEASURED), own, view.unit[1]) for group in merged(measured.compute)]
    room = MOST_LABELS - len(found) - bool(measured.memory) - len(sources)
    for index, (roofs, pen) in enumerate(sources):
        groups = merged(roofs.compute)[: max(room // (len(sources) - index), 0)]
        room -= len(groups)
        found += [flat_label(group, pen, None, view.unit[1], (roofs.owner, roofs.short)) for group in groups]
    return found


def _draw_labels(canvas: Canvas, view: View, measured: Roofs, sources: list[_Source],
                 flats: list[FlatLabel], theme: Theme) -> None:
    """Writes at most MOST_LABELS labels at lines and points; memory and flat roofs come first."""
    pen, own = Pen(theme, *MEASURED), own_roofs(view)
    used = len(flats) + label_memory(canvas, measured, pen, own)
    for roofs, dashed in sources:
        used += label_memory(canvas, roofs, dashed, None)
        label_ridges(canvas, roofs, dashed, (f"{roofs.owner} ", f"{roofs.short} ") if roofs.owner else ("",))
    draw_flat_labels(canvas, flats, theme)
    label_ridges(canvas, measured, pen)
    used += label_caches(canvas, measured, pen, MOST_LABELS - used)
    others, kept = len(imported(view)), _SWEEP_LABELS if product_sweeps(view) else 0
    used += name_points(canvas, view, theme, max(MOST_LABELS - used - kept, 0) + others)
    name_sweeps(canvas, view, theme, max(MOST_LABELS + others - used, 0))
    if own and view.format and measured.compute:
        label_ridges(canvas, own, Pen(theme, *SHEETS[0]), ("data sheet: ",))


def _sheet_notes(view: View) -> list[str]:
    """The data sheets of the dashed lines."""
    states = {True: "", False: ", not measured here"}
    return [f"{sheet.title} data sheet{states[view.is_own(sheet)]}" for sheet in view.sheets]


def raised_note(view: View) -> str:
    """A note on the roofs that a row above the ceiling raised."""
    used = {row.roof[key] for row in view.points if row.roof for key in ("compute_ceiling", "memory_ceiling")}
    parts = [
        f"{ceiling.op} by {percent(ceiling.raised - 1)} % ({ceiling.raiser.rsplit('/', 3)[0]})"
        for ceiling in view.ceilings
        if ceiling.raised_by and ceiling.id in used
    ]
    return f"{RAISED} raised a roof above its ceiling: {', '.join(parts)}" if parts else ""


def ghost_note(view: View) -> str:
    return "Dotted, to a small circle: by the traffic of DRAM that was counted" if _ghosts(view) else ""


def draw(view: View, theme: Theme) -> Figure:
    """The roofline of a view: of all formats, or of one if the view has one."""
    figure, page = new_page(theme)
    notes = [storage_note(view), _DASHED * bool(view.sheets) + "; ".join(_sheet_notes(view)), raised_note(view), ghost_note(view),
             external.NOTE * bool(external.placed(view))]
    top = header(page, view, roofline_title(view), notes, theme)
    measured, sheets = measured_roofs(view), sheet_sources(view, theme)
    named = _labelled(view, measured, sheets)
    flats = _flat_labels(view, measured, named, theme)
    panel = bool(view.points or view.external or undrawn_groups(view))
    beside = flat_room(flats) + _PANEL_GAP
    right = (PANEL_LEFT if panel else WIDTH - MARGIN + _PANEL_GAP) - beside
    area = limits(view, [measured, *(roofs for roofs, _ in sheets)])
    canvas = make_canvas(figure, page, area, view.unit, right, top, theme, SPARE)
    draw_points(canvas, view, theme)
    for roofs, pen in sheets:
        draw_roofs(canvas, roofs, pen, ridges=(roofs, pen) in named or view.format is not None)
    draw_roofs(canvas, measured, Pen(theme, *MEASURED), ridges=True)
    _draw_labels(canvas, view, measured, named, flats, theme)
    left = canvas.right + beside
    width = min(WIDTH - MARGIN - left, _PANEL_WIDEST)
    end = draw_panel(page, view, theme, left, top, width)
    draw_undrawn(page, view, left, end, width, int((end - 0.35) / LINE))
    return figure
