"""Time of one launch over size, with the least time that the measured roofs allow."""

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.records import Row
from ridgebench.units import digits
from ridgebench.view import View

from . import grid
from .canvas import Limits, log_limits
from .page import header, new_page, storage_note
from .points import draw_paths, draw_points
from .style import Theme
from .sweeps import sweeps
from .titles import time_title

_BOUND, _FLOOR = "dashed", "dotted"
_LEAST_SIZES = 3  # of one implementation, which are a sweep over size
_DASH = 1.25  # half length of the mark of a single lower bound, as a factor of size


def swept(view: View) -> View:
    """The view with those operations of which one implementation has several sizes; empty where no size was swept."""
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
    return log_limits(min(sizes) / 2, max(sizes) * 2), log_limits(min(times) / 2, max(times) * 2)


def _draw_bounds(axes: Axes, rows: list[Row], theme: Theme) -> None:
    """Draws the lower bound of each format over its sizes, by its fastest engine."""
    for name in sorted({row.format for row in rows}):
        found: dict[float, float] = {}
        for row in rows:
            if row.format == name and (bound := row.least_time_s):
                size = row.bytes / 1e6
                found[size] = min(bound, found.get(size, bound))
        line = sorted((size, bound * 1e3) for size, bound in found.items())
        if len(line) == 1:
            line = [(line[0][0] / _DASH, line[0][1]), (line[0][0] * _DASH, line[0][1])]
        if line:
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
            axes.axhline(floor * 1e3, color=theme.muted, linestyle=_FLOOR)
        _draw_bounds(axes, own, theme)
        draw_paths(axes, own, place, theme, arrow=False)
        draw_points(axes, own, place, view, theme, power=1)
    grid.name_axes(page, view, "compulsory traffic per launch, MB", "time per launch, ms", top)
    return figure
