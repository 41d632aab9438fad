"""Points with their whiskers, and the path of one implementation over shape."""

from itertools import groupby
from math import nan
from typing import Any

from matplotlib.axes import Axes

from ridgebench.records import Row
from .style import Theme, edge_dashes, markers, shape
from ridgebench.view import View

Place = tuple[float, float]  # data coordinates
Places = dict[str, Place]  # of a row's id


def series(rows: list[Row]) -> list[list[Row]]:
    """Rows of one implementation, smallest problem first."""
    in_order = sorted(rows, key=lambda row: (row.series, row.flops, row.bytes, row.id))
    return [list(group) for _, group in groupby(in_order, key=lambda row: row.series)]


def draw_paths(axes: Axes, rows: list[Row], place: Places, theme: Theme, arrow: bool) -> None:
    """Joins the sizes of every sweep; an arrow head in the last leg points to the largest."""
    for group in series(rows):
        if len(group) < 2:
            continue
        hue, points = theme.hue(group[0].format), [place[row.id] for row in group]
        axes.plot(*zip(*points), color=hue, linewidth=0.9, alpha=0.7, zorder=4,
                  linestyle=edge_dashes(group[0].format))
        if arrow:
            head = {"arrowstyle": "-|>,head_width=0.22,head_length=0.4", "color": hue,
                    "shrinkA": 0, "shrinkB": 4, "linewidth": 0}
            axes.annotate("", points[-1], points[-2], arrowprops=head, zorder=4)


def draw_segments(axes: Axes, segments: list[tuple[Place, Place]], **style: Any) -> None:
    """Short lines of one look as one path with gaps: one by one, thousands take seconds."""
    xs, ys = zip(*(end for pair in segments for end in (*pair, (nan, nan))))
    axes.plot(xs, ys, **style)


def draw_whiskers(axes: Axes, rows: list[Row], place: Places, theme: Theme, power: int) -> None:
    """p10 to p90 of the samples, on an axis that grows as time to the given power."""
    lines: dict[tuple[str, bool], list[tuple[Place, Place]]] = {}
    for row in rows:
        x, y = place[row.id]
        low, high = (
            y * (t / row.time_median_s) ** power for t in (row.time_p10_s, row.time_p90_s)
        )
        lines.setdefault((row.format, row.naive), []).append(((x, low), (x, high)))
    for (name, naive), some in lines.items():
        draw_segments(axes, some, color=theme.hue(name), alpha=0.6 if naive else 1.0,
                      linewidth=0.9 if naive else 1.4, zorder=4.5, solid_capstyle="projecting")


def draw_points(
    axes: Axes, rows: list[Row], place: Places, view: View, theme: Theme, power: int
) -> None:
    """power of time in y: 1 where y is a time, -1 where it is a rate, 0 without a whisker."""
    # Naive and slow rows first, so that a faster point near them stays visible.
    ordered = sorted(rows, key=lambda row: (not row.naive, row.flops_per_s or 0, row.id))
    if power:
        draw_whiskers(axes, ordered, place, theme, power)
    operations = view.operations
    for op in operations:
        own = [row for row in ordered if row.op == op]
        if own:
            markers(axes, [place[row.id] for row in own], own, theme, shape(op, operations))
