"""Time of one launch over size, with the least time that the measured roofs allow."""

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.base.units import digits
from ridgebench.data.records import Row, shape_text
from ridgebench.data.view import View
from ridgebench.figures.scene.axes import Limits, log_span

from . import grid
from .canvas import across
from .page import header, new_page, storage_note
from .points import draw_paths, draw_points
from .style import Theme
from .sweeps import paths, sweeps
from .titles import time_title

_BOUND, _FLOOR = "dashed", "dotted"
_LEAST_SIZES = 3  # of one implementation, which are a sweep over size
_DASH = 1.25  # half length of the mark of a single lower bound, as a factor of size


def swept(view: View) -> View:
    """The view with those operations of which one implementation has several sizes; empty if no size was swept."""
    operations = {sweep.rows[0].op for sweep in sweeps(view.points) if len(sweep.rows) >= _LEAST_SIZES}
    return replace(view, rows=[row for row in view.rows if row.role != "kernel" or row.op in operations])


def _limits(view: View) -> tuple[Limits, Limits]:
    """Limits (log10) that hold all sizes (MB) and all times, measured and predicted (ms)."""
    rows = [row for row in view.points if row.bytes]
    sizes = [row.bytes / 1e6 for row in rows]
    known = [time for row in rows for time in (row.time_median_s, row.least_time_s)]
    times = [time * 1e3 for time in known if time]
    floor = view.device["launch_floor_s"]
    if floor and min(times) < 30e3 * floor:  # else it would lie far below all rows
        times.append(floor * 1e3)
    return log_span(sizes, 2), log_span(times, 2)


def bounds(rows: list[Row]) -> list[list[tuple[float, float]]]:
    """The lower bound of each format over the sizes of each sweep, by its fastest engine, as lines through (MB, ms).

    Sizes of two sweeps have no line in common: a product that grows along k is no larger square.
    """
    least: dict[tuple[str, str], float] = {}
    for row in rows:
        if bound := row.least_time_s:
            key = row.format, shape_text(row.shape)
            least[key] = min(bound, least.get(key, bound))
    found: dict[tuple, list[tuple[float, float]]] = {}
    for path in paths(rows):
        known = [(row.bytes / 1e6, least[key] * 1e3) for row in path if (key := (row.format, shape_text(row.shape))) in least]
        if known:
            found.setdefault((path[0].format, *known), sorted(known))
    return list(found.values())


def _draw_bounds(axes: Axes, rows: list[Row], theme: Theme) -> None:
    for name in sorted({row.format for row in rows}):
        for line in bounds([row for row in rows if row.format == name]):
            if len(line) == 1:
                line = [(line[0][0] / _DASH, line[0][1]), (line[0][0] * _DASH, line[0][1])]
            axes.plot(*zip(*line), color=theme.hue(name), linestyle=_BOUND, linewidth=1.3, zorder=3)


def draw(view: View, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    shown = swept(view)
    top = header(page, view, time_title(shown), [storage_note(view)], theme)
    grid.draw_undrawn_below(page, view)
    rows = [row for row in shown.points if row.bytes]
    if not rows:
        return figure
    area = _limits(shown)
    lines = [(_BOUND, "lower bound: max(FLOPs / roof, bytes / bandwidth)")]
    floor = view.device["launch_floor_s"]
    if floor:
        seen = "" if floor * 1e3 > 10 ** area[1][0] else " (below)"
        lines.append((_FLOOR, f"launch floor {digits(floor * 1e6)} µs{seen}"))
    top = grid.draw_legend(page, shown, theme, top - 0.05, lines)
    panels = grid.make_panels(figure, page, view, area, top, theme, shown.operations)
    place = {row.id: (row.bytes / 1e6, row.time_median_s * 1e3) for row in rows}
    for op, axes in panels.items():
        own = [row for row in rows if row.op == op]
        if floor:
            across(axes, floor * 1e3, color=theme.muted, linestyle=_FLOOR)
        _draw_bounds(axes, own, theme)
        draw_paths(axes, own, place, theme, arrow=False)
        draw_points(axes, own, place, view.operations, theme, power=1)
    grid.name_axes(page, view, "compulsory traffic per launch, MB", "time per launch, ms", top)
    return figure
