"""Draws roofs and names them at their lines.

Diagonals end at the highest flat roof, flat roofs begin at the memory diagonal.
"""

from dataclasses import dataclass
from itertools import product
from typing import Optional, Union

from ridgebench.base import units
from ridgebench.figures.scene import roofline as scene

from . import labels
from .canvas import APART, Canvas
from .roofs import Roof, Roofs, memory_names, merged, of_sheet
from .style import DIRECT, SMALL, Theme

_LINE_HALF = 0.03  # inches that a label keeps away from the middle of a line
_DASHES = 4.0  # length of the dashes of roofs that share one line, in line widths
LINE = 0.155  # inches between the lines of a label
_DESCENT = 0.03  # inches of a text below its base line
_MIDDLES = (0.125, 0.1, -0.125, -0.1, 0.18, -0.18, 0.25)  # inches from line to label along both axes
_HALF = 0.05  # half the height of such a label
_STRETCHES = 3  # of each format, where several roofs share one line in print
MEASURED = (2.0, "solid")  # width and dash of a pen
SHEETS = [(1.3, (0, dashes)) for dashes in ((5, 3), (1.5, 1.5), (7, 2, 1.5, 2), (2, 4))]  # of several data sheets


@dataclass(frozen=True)
class Pen:
    """The style of one source of roofs: solid for a measurement, dashed for a data sheet."""

    theme: Theme
    width: float
    dash: Union[str, tuple]

    def colour(self, roof: Roof) -> str:
        return self.theme.hue(None if roof.engine == "memory" else roof.formats[0])

    def text_colour(self, roof: Roof) -> str:
        return self.theme.text(None if roof.engine == "memory" else roof.formats[0])

    @property
    def slant(self) -> str:
        """The style of its labels: italic for a data sheet, whose lines are thinner."""
        return "normal" if self.width >= MEASURED[0] else "italic"

    def dashes(self, roof: Roof, index: int, sharing: int) -> Union[str, tuple]:
        """The line style: that of the format, or every `sharing`-th dash of a line that several roofs share."""
        if self.dash != "solid":
            return self.dash
        own = self.theme.dash(roof.formats[0])
        return own if sharing == 1 or own != "solid" else (index * _DASHES, (_DASHES, _DASHES * (sharing - 1)))

    def stretches(self, ends: tuple[float, float], index: int, sharing: int) -> list[tuple[float, float]]:
        """The parts of a flat roof's line: all of it, or every `sharing`-th stretch where dashes distinguish formats."""
        if sharing == 1 or not self.theme.letters or self.dash != "solid":
            return [ends]
        count = sharing * _STRETCHES
        cuts = [ends[0] * (ends[1] / ends[0]) ** (step / count) for step in range(count + 1)]
        return list(zip(cuts, cuts[1:]))[index::sharing]


def _draw_diagonal(canvas: Canvas, roof: Roof, roofs: Roofs, pen: Pen, light: bool = False) -> None:
    """Draws rate = intensity x bandwidth with its p10-p90 band; a cache's line is lighter."""
    ends = canvas.visible(scene.rising(roof, roofs))
    if not ends:
        return
    colour, alpha = pen.colour(roof), 0.55 if light else 1.0
    xs, heights = zip(*ends)
    canvas.axes.plot(xs, heights, color=colour, linewidth=pen.width * alpha, alpha=alpha,
                     linestyle=pen.dash, solid_capstyle="butt", zorder=3, gid=f"roof {roof.name}")
    canvas.obstacles.add_line(canvas.inches(*ends[0]), canvas.inches(*ends[1]), _LINE_HALF)
    low, high = ([height * rate / roof.value for height in heights] for rate in (roof.low, roof.high))
    canvas.axes.fill_between(xs, low, high, color=colour, alpha=pen.theme.band_alpha, linewidth=0)


def _draw_flat(canvas: Canvas, group: list[Roof], roofs: Roofs, pen: Pen) -> None:
    """Draws one flat roof, or several that lie on one line as alternating dashes."""
    shown = canvas.visible(scene.level(group[0], roofs))
    if not shown:
        return
    ends = (shown[0][0], shown[1][0])
    for index, roof in enumerate(group):
        low, height, high = (v / canvas.scale for v in (roof.low, roof.value, roof.high))
        for part in pen.stretches(ends, index, len(group)):
            canvas.axes.plot(part, (height, height), color=pen.colour(roof), linewidth=pen.width, gid=f"flat {roof.name}",
                             linestyle=pen.dashes(roof, index, len(group)), dash_capstyle="butt",
                             solid_capstyle="butt", zorder=3)
        canvas.axes.fill_between(ends, low, high, color=pen.colour(roof), alpha=pen.theme.band_alpha, linewidth=0)
    canvas.obstacles.add_line(canvas.inches(*shown[0]), canvas.inches(*shown[1]), _LINE_HALF)


def _draw_cache_reach(canvas: Canvas, roofs: Roofs, pen: Pen) -> None:
    """Draws the highest roof left of memory's diagonal as a thin line: only data in a cache reaches it."""
    line = scene.cache_reach(roofs)
    if line and (ends := canvas.visible(line)):
        canvas.axes.plot(*zip(*ends), linewidth=1.0, color=pen.colour(roofs.compute[0]), alpha=0.55, zorder=2)


def _draw_ridge(canvas: Canvas, roof: Roof, pen: Pen) -> None:
    """Draws a small open circle and a drop-line; label_ridge() writes the value."""
    x, height = roof.ridge, roof.value / canvas.scale
    if not canvas.shows(x):
        return
    canvas.axes.plot((x, x), (10 ** canvas.y[0], height), color=pen.colour(roof), linewidth=0.8,
                     linestyle=(0, (1, 2)), zorder=2)
    canvas.axes.scatter((x,), (height,), s=28, facecolors=pen.theme.background,
                        edgecolors=pen.colour(roof), linewidths=1.3, zorder=4)


def draw_roofs(canvas: Canvas, roofs: Roofs, pen: Pen, ridges: bool) -> None:
    for cache in roofs.caches:
        _draw_diagonal(canvas, cache, roofs, pen, light=True)
    _draw_cache_reach(canvas, roofs, pen)
    for roof in roofs.memory:
        _draw_diagonal(canvas, roof, roofs, pen)
    for group in merged(roofs.compute):
        _draw_flat(canvas, group, roofs, pen)
        if ridges:
            _draw_ridge(canvas, group[0], pen)


def _apart(canvas: Canvas, roof: Roof, roofs: Roofs) -> list[float]:
    """The inches by which the diagonals that a roof's label does not name lie above the roof's own; one label names all of main memory."""
    cached = roof in roofs.caches
    others = [*(one for one in roofs.caches if one != roof), *(roofs.memory if cached else [])]
    return [canvas.inches(1.0, one.value)[1] - canvas.inches(1.0, roof.value)[1] for one in others]


def label_diagonal(canvas: Canvas, roof: Roof, roofs: Roofs, pen: Pen, texts: list[str]) -> None:
    """Writes the first text that is no longer than the line (else the last one) where it crosses the least, nearest to its own line."""
    ends = canvas.visible(scene.rising(roof, roofs))
    if not ends:
        return
    start, end = (canvas.inches(*one) for one in ends)
    first, last = max(canvas.obstacles.area.bottom - start[1], 0.0) + 0.18, end[0] - start[0] - 0.2
    sides = {text: labels.width(text, SMALL) / 2**0.5 for text in texts}  # along either axis
    text = next((text for text in texts if sides[text] <= last - first), texts[-1])
    side = sides[text]
    last -= side
    steps = range(max(int((last - first) / 0.06), 0) + 1)
    places = [
        (start[0] + first + step * 0.06 - shift, start[1] + first + step * 0.06 + shift)
        for shift in _MIDDLES
        for step in steps
    ]

    def line(place: labels.Point) -> tuple[labels.Point, labels.Point, float]:
        low, high = -APART, side + APART
        return (place[0] + low, place[1] + low), (place[0] + high, place[1] + high), _HALF

    apart = _apart(canvas, roof, roofs)

    def cost(place: labels.Point) -> tuple[int, bool, int]:
        above = (place[1] - start[1]) - (place[0] - start[0])  # the label's middle over its own line
        texts_met, met = canvas.obstacles.hits(*line(place))
        return texts_met, any(abs(above - other) < abs(above) for other in apart), met

    x, y = min(places, key=cost)
    canvas.page.text(x + _HALF, y - _HALF, text, size=SMALL, color=pen.text_colour(roof), style=pen.slant,
                     rotation=45, rotation_mode="anchor", va="baseline", gid=DIRECT)
    canvas.obstacles.add_line(*line((x, y)), what=labels.TEXT)


def label_ridge(canvas: Canvas, roof: Roof, pen: Pen, whose: tuple[str, ...] = ("",), lines: int = 10) -> None:
    """Writes the value of a ridge at the foot of its drop-line, on the lowest line of text that is free, of at most `lines`."""
    x = roof.ridge
    if not canvas.shows(x):
        return
    values = [f"{owner}ridge {units.digits(x)}" for owner in whose]
    across, foot = canvas.inches(x, 10 ** canvas.y[0])
    texts = [f"{values[0]} ({roof.mix})"] * bool(roof.mix) + values
    for step, text, right in product(range(lines), texts, (True, False)):
        size = labels.width(text, SMALL)
        left, low = across + 0.05 if right else across - 0.05 - size, foot + APART + step * LINE
        box = labels.Box(left, low, left + size, low + LINE)
        if canvas.obstacles.clear(box):
            canvas.page.text(left, low + _DESCENT, text, size=SMALL, color=pen.text_colour(roof), bbox=pen.theme.patch,
                             style=pen.slant)
            canvas.obstacles.add(labels.Box(left - APART, low, left + size + APART, low + LINE))
            return


def label_memory(canvas: Canvas, roofs: Roofs, pen: Pen, promised: Optional[Roofs]) -> int:
    """Writes the label of main memory; returns the number of labels."""
    if not roofs.memory:
        return 0
    texts, line = memory_names(roofs), roofs.memory[0]
    if promised and (part := of_sheet(roofs.bandwidth, promised)):
        texts = [f"{text} ({part})" for text in texts] + texts
        line = max(line, promised.memory[0], key=lambda roof: roof.value)
    label_diagonal(canvas, line, roofs, pen, texts)
    return 1


def label_caches(canvas: Canvas, roofs: Roofs, pen: Pen, room: int) -> int:
    for cache in roofs.caches[: max(room, 0)]:
        text = f"{cache.name} {units.rate(cache.value, 'B/s')}"
        label_diagonal(canvas, cache, roofs, pen, [text])
    return min(len(roofs.caches), max(room, 0))


def label_ridges(canvas: Canvas, roofs: Roofs, pen: Pen, whose: tuple[str, ...] = ("",)) -> None:
    for group in reversed(merged(roofs.compute)):
        label_ridge(canvas, group[0], pen, whose)
