"""Points with their whiskers, the paths of sweeps, and the names of the best points."""

from functools import cache
from math import nan
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.font_manager import FontProperties
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D, IdentityTransform

from ridgebench.base.text import cut
from ridgebench.base.units import percent
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene import roofline as scene

from . import labels
from .canvas import MARK, Canvas
from .finding import below_memory, best, compute_bound, named, share
from .style import DIRECT, SMALL, Theme, blend, contrast, edge_dashes, fill, shape
from .sweeps import paths, sweeps

_NAMED_FIRST = ("matmul", "relu", "gelu")  # the operations of the lecture
_LETTERED, _LETTER = 1.8, 0.66  # growth of the area of markers with letters; height of a letter in one
_NAIVE_SIZE = 0.45  # area of a naive row's marker, as a share of the others'
MARKER = 42.0  # area of a marker, points squared
MOST_VECTORS = 500  # points of one shape in a panel; more become an image
LABEL_HEIGHT = 0.15  # inches
_LONGEST_NAME = 27  # characters of an imported point
_MOST_IMPORTED = 3  # named points of other tools
_Place = tuple[float, float]  # data coordinates
Places = dict[str, _Place]  # of a row's id


def markers(
    ax: Axes, points: list[tuple[float, float]], rows: list[Row], theme: Theme, marker_shape: str,
    size: float = MARKER,
) -> None:
    """Draws points of one shape: hue = format, fill = implementation; naive ones are small.

    All are one collection because thousands of single markers take minutes. More than MOST_VECTORS become an image,
    also in SVG and PDF, which viewers would show too slowly otherwise.
    """
    size *= _LETTERED if any(theme.letter(row.format) for row in rows if row.format) else 1.0
    hues = [theme.hue(row.format) for row in rows]
    edges = [
        hue if row.origin == "library" or row.naive else blend(hue, theme.ink, 0.35)
        for hue, row in zip(hues, rows)
    ]
    sign = MarkerStyle(marker_shape)
    drawn = {
        "paths": [sign.get_path().transformed(sign.get_transform())] * len(rows), "offsets": points,
        "sizes": [size * (_NAIVE_SIZE if row.naive else 1.0) for row in rows],
        "facecolors": [fill(row, theme) for row in rows], "edgecolors": edges,
        "linewidths": [0.9 if row.naive else 1.2 for row in rows],
        "linestyles": [edge_dashes(row.format) for row in rows],
    }
    letters = "".join(sorted({theme.letter(row.format) for row in rows if row.format}))
    if letters:
        drawn = _with_letters(drawn, rows, theme)
    ax.add_collection(PathCollection(  # the collection that Axes.scatter makes, in a quarter of its time
        **drawn, offset_transform=ax.transData, transform=IdentityTransform(), zorder=5, clip_on=False,
        rasterized=len(rows) > MOST_VECTORS, gid=f"letters {letters}" if letters else None), autolim=False)


@cache
def _outline_of(letter: str) -> Path:
    """A letter as a shape of a marker: centred, _LETTER high where a marker is 1."""
    path = TextPath((0, 0), letter, size=1.0, prop=FontProperties(family="DejaVu Sans", weight="bold"))
    if not len(path.vertices):  # a space
        return path
    box = path.get_extents()
    move = Affine2D().translate(-(box.x0 + box.x1) / 2, -(box.y0 + box.y1) / 2)
    return path.transformed(move.scale(_LETTER / max(box.width, box.height)))


def _with_letters(drawn: dict[str, list], rows: list[Row], theme: Theme) -> dict[str, list]:
    """The markers with a letter after each one, so that a marker above another hides its letter, too."""
    inks = [max((theme.ink, theme.background), key=lambda c, row=row: contrast(c, fill(row, theme))) for row in rows]
    letters = {"paths": [_outline_of(theme.letter(row.format)) for row in rows], "facecolors": inks,
               "edgecolors": ["none"] * len(rows), "linestyles": ["solid"] * len(rows)}
    return {key: [one for pair in zip(values, letters.get(key, values)) for one in pair] for key, values in drawn.items()}


def marker(ax: Axes, x: float, y: float, row: Row, theme: Theme, marker_shape: str, size=MARKER):
    """Draws one point, as a legend needs it."""
    markers(ax, [(x, y)], [row], theme, marker_shape, size)


def draw_paths(axes: Axes, rows: list[Row], place: Places, theme: Theme, arrow: bool) -> None:
    """Joins the sizes of every sweep; an arrow head points to the largest."""
    for group in (sweep.rows for sweep in sweeps(rows)):
        hue, points = theme.hue(group[0].format), [place[row.id] for row in group]
        axes.plot(*zip(*points), color=hue, linewidth=0.9, alpha=0.7, zorder=4, gid=f"path {group[0].format}",
                  linestyle=theme.dash(group[0].format) if theme.letters else edge_dashes(group[0].format))
        if arrow:
            head = {"arrowstyle": "-|>,head_width=0.22,head_length=0.4", "color": hue,
                    "shrinkA": 0, "shrinkB": 4, "linewidth": 0}
            axes.annotate("", points[-1], points[-2], arrowprops=head, zorder=4)


def _draw_segments(axes: Axes, segments: list[tuple[_Place, _Place]], **style: Any) -> None:
    """Draws short lines of one style as one path with gaps: thousands of single lines take seconds."""
    xs, ys = zip(*(end for pair in segments for end in (*pair, (nan, nan))))
    axes.plot(xs, ys, **style)


def _draw_whiskers(axes: Axes, rows: list[Row], place: Places, theme: Theme, power: int) -> None:
    """Draws p10 to p90 of the samples on an axis that grows as time to the given power."""
    lines: dict[tuple[str, bool], list[tuple[_Place, _Place]]] = {}
    for row in rows:
        x, y = place[row.id]
        low, high = (y * (t / row.time_median_s) ** power for t in (row.time_p10_s, row.time_p90_s))
        lines.setdefault((row.format, row.naive), []).append(((x, low), (x, high)))
    for (name, naive), some in lines.items():
        _draw_segments(axes, some, color=theme.hue(name), alpha=0.6 if naive else 1.0,
                      linewidth=0.9 if naive else 1.4, zorder=4.5, solid_capstyle="projecting")


def draw_points(axes: Axes, rows: list[Row], place: Places, operations: list[str], theme: Theme, power: int, size: float = MARKER) -> None:
    """Draws points with whiskers; `operations` choose shapes. power of time in y: 1 for a time, -1 for a rate, 0 without whiskers."""
    ordered = sorted(rows, key=lambda row: (scene.layer(row), row.id))
    if power:
        _draw_whiskers(axes, ordered, place, theme, power)
    for op in operations:
        own = [row for row in ordered if row.op == op]
        if own:
            markers(axes, [place[row.id] for row in own], own, theme, shape(op, operations), size)


def draw_on(canvas: Canvas, rows: list[Row], operations: list[str], theme: Theme, size: float) -> None:
    """Draws rates over intensities, a sweep as a path with an arrow, and keeps labels away from them."""
    place: Places = {row.id: (row.intensity_flop_per_byte, row.flops_per_s / canvas.scale) for row in rows}
    draw_paths(canvas.axes, rows, place, theme, arrow=True)
    draw_points(canvas.axes, rows, place, operations, theme, power=-1, size=size)
    for path in paths(rows):
        canvas.occupy([place[row.id] for row in path])


def imported(view: View) -> list[Row]:
    """The fastest point of each technique of other tools, at most _MOST_IMPORTED of them."""
    fastest = {row.technique: row for row in sorted(view.external, key=lambda row: row.flops_per_s or 0)}
    return sorted(fastest.values(), key=lambda row: -(row.flops_per_s or 0))[:_MOST_IMPORTED]


def _chosen(view: View) -> list[Row]:
    """Points of other tools, the rows of the title, then the fastest hand-written row of each operation.

    Those of the lecture come first. A figure of all formats names the rows of the title, and ReLU and GeLU.
    """
    order = [op for op in _NAMED_FIRST if op in view.operations]
    others = [op for op in reversed(view.operations) if op not in order]
    rows = {op: [row for row in named(view) if row.op == op] for op in order + others}
    tops = {op: best(some, lambda row: row.flops_per_s) for op, some in rows.items()}
    titled = [*compute_bound(view), *below_memory(view)[:1]]
    seen = {row.op for row in titled}
    wanted = order + others if view.format else ["relu", "gelu"]
    found = titled + [tops[op] for op in wanted if tops.get(op) and op not in seen]
    return list(filter(scene.placed, imported(view) + found))


def text_of(row: Row, view: View) -> str:
    if row.external:
        return cut(row.technique, _LONGEST_NAME)
    who = row.op if view.format else f"{row.format} {row.op}"
    if not share(row) or view.unsettled(row) or not view.may_head(row):
        return who
    at_roof = row.bound == "memory" and share(row) >= 1
    return f"{who} at the roof" if at_roof else f"{who} {percent(share(row))} %"


def candidates(x: float, y: float, size: float) -> list[labels.Box]:
    """Places around a point, the best first: lower right, right, lower left, further down."""
    near = MARK + 0.03
    corners = [(x + near, y - near - LABEL_HEIGHT), (x + near, y - LABEL_HEIGHT / 2),
               (x - near - size, y - near - LABEL_HEIGHT), (x - size / 2, y - near - LABEL_HEIGHT),
               (x + near, y - 2 * near - 2 * LABEL_HEIGHT), (x - near - size, y - LABEL_HEIGHT / 2),
               (x - near - size, y + near)]
    return [labels.Box(left, low, left + size, low + LABEL_HEIGHT) for left, low in corners]


def name_points(canvas: Canvas, view: View, theme: Theme, room: int) -> int:
    """Names at most `room` points where a label fits; returns their number."""
    done = 0
    for row in _chosen(view):
        if done >= room:
            break
        text = text_of(row, view)
        place = canvas.inches(row.intensity_flop_per_byte, row.flops_per_s / canvas.scale)
        boxes = candidates(*place, labels.width(text, SMALL))
        box = next(filter(canvas.obstacles.clear, boxes), None)
        if box is None:
            continue
        canvas.page.text(box.left, box.bottom + 0.03, text, size=SMALL,
                         color=theme.text(row.format), bbox=theme.patch, gid=DIRECT)
        canvas.obstacles.add(box)
        done += 1
    return done
