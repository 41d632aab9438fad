"""Draws roofs: diagonals end at the highest flat roof, flat roofs begin at the memory diagonal."""

from dataclasses import dataclass
from math import log10
from typing import Optional, Union

from .canvas import Canvas
from .roofs import Roof, Roofs, merged
from .style import Theme

LINE_HALF = 0.03  # inches that a label keeps away from the middle of a line
DASHES = 4.0  # length of the dashes by which two equal roofs share one line, in line widths


@dataclass(frozen=True)
class Pen:
    """How one source of roofs is drawn: a measurement solid in hues, a data sheet dashed."""

    theme: Theme
    width: float
    dash: Union[str, tuple] = "solid"
    def colour(self, roof: Roof) -> str:
        return self.theme.hue(None if roof.engine == "memory" else roof.formats[0])

    def text_colour(self, roof: Roof) -> str:
        return self.theme.text(None if roof.engine == "memory" else roof.formats[0])

    def dashes(self, index: int, sharing: int) -> Union[str, tuple]:
        """Solid, or every sharing-th dash of a line that several roofs share."""
        if sharing == 1 or self.dash != "solid":
            return self.dash
        return (index * DASHES, (DASHES, DASHES * (sharing - 1)))


def measured_pen(theme: Theme) -> Pen:
    return Pen(theme, 2.0)


def sheet_pen(theme: Theme) -> Pen:
    return Pen(theme, 1.3, (0, (5, 3)))


def diagonal_ends(canvas: Canvas, roof: Roof, roofs: Roofs) -> tuple[float, float]:
    """Intensities from the left edge to where the line meets the highest roof or leaves."""
    end = min(10 ** canvas.x[1], 10 ** canvas.y[1] * canvas.scale / roof.value)
    if roofs.compute:
        end = min(end, roofs.compute[0].value / roof.value)
    return 10 ** canvas.x[0], end


def draw_diagonal(canvas: Canvas, roof: Roof, roofs: Roofs, pen: Pen, light: bool = False) -> None:
    """rate = intensity x bandwidth with its p10-p90 band; a cache's line is lighter."""
    ends = diagonal_ends(canvas, roof, roofs)
    if ends[0] >= ends[1]:
        return
    colour, alpha = pen.colour(roof), 0.55 if light else 1.0
    heights = [x * roof.value / canvas.scale for x in ends]
    canvas.axes.plot(ends, heights, color=colour, linewidth=pen.width * alpha, alpha=alpha,
                     linestyle=pen.dash, solid_capstyle="butt", zorder=3, gid=f"roof {roof.name}")
    canvas.obstacles.add_line(
        canvas.inches(ends[0], heights[0]), canvas.inches(ends[1], heights[1]), LINE_HALF
    )
    low, high = ([x * rate / canvas.scale for x in ends] for rate in (roof.low, roof.high))
    canvas.axes.fill_between(ends, low, high, color=colour, alpha=pen.theme.band_alpha, linewidth=0)


def flat_start(canvas: Canvas, roof: Roof, roofs: Roofs) -> float:
    """Intensity where a flat roof leaves the fastest memory diagonal."""
    low = 10 ** canvas.x[0]
    return max(low, roof.value / roofs.memory[0].value) if roofs.memory else low


def draw_flat(canvas: Canvas, group: list[Roof], roofs: Roofs, pen: Pen) -> None:
    """One flat roof, or several too near to be told apart as alternating dashes."""
    ends = (flat_start(canvas, group[0], roofs), 10 ** canvas.x[1])
    for index, roof in enumerate(group):
        low, height, high = (v / canvas.scale for v in (roof.low, roof.value, roof.high))
        canvas.axes.plot(ends, (height, height), color=pen.colour(roof), linewidth=pen.width,
                         linestyle=pen.dashes(index, len(group)), dash_capstyle="butt",
                         solid_capstyle="butt", zorder=3)
        canvas.axes.fill_between(ends, low, high, color=pen.colour(roof),
                                 alpha=pen.theme.band_alpha, linewidth=0)
    height = group[0].value / canvas.scale
    canvas.obstacles.add_line(
        canvas.inches(ends[0], height), canvas.inches(ends[1], height), LINE_HALF
    )


def draw_cache_reach(canvas: Canvas, roofs: Roofs, pen: Pen) -> None:
    """The highest roof left of memory's diagonal, thin: only data in cache gets there."""
    if not (roofs.caches and roofs.compute and roofs.memory):
        return
    roof = roofs.compute[0]
    start = max(10 ** canvas.x[0], roof.value / max(cache.value for cache in roofs.caches))
    height = roof.value / canvas.scale
    canvas.axes.plot((start, flat_start(canvas, roof, roofs)), (height, height), linewidth=1.0,
                     color=pen.colour(roof), alpha=0.55, zorder=2)


def ridge(roof: Roof, roofs: Roofs) -> Optional[float]:
    """FLOP/byte at which a row turns from memory-bound to compute-bound."""
    return roof.value / roofs.bandwidth.value if roofs.bandwidth else None


def draw_ridge(canvas: Canvas, roof: Roof, roofs: Roofs, pen: Pen) -> None:
    """A small open circle and a drop-line; roof_labels writes the value."""
    x, height = ridge(roof, roofs), roof.value / canvas.scale
    if x is None or not canvas.x[0] < log10(x) < canvas.x[1]:
        return
    canvas.axes.plot((x, x), (10 ** canvas.y[0], height), color=pen.colour(roof), linewidth=0.8,
                     linestyle=(0, (1, 2)), zorder=2)
    canvas.axes.scatter((x,), (height,), s=28, facecolors=pen.theme.background,
                        edgecolors=pen.colour(roof), linewidths=1.3, zorder=4)


def draw_roofs(canvas: Canvas, roofs: Roofs, pen: Pen, ridges: bool) -> None:
    for cache in roofs.caches:
        draw_diagonal(canvas, cache, roofs, pen, light=True)
    draw_cache_reach(canvas, roofs, pen)
    for roof in roofs.memory:
        draw_diagonal(canvas, roof, roofs, pen)
    for group in merged(roofs.compute):
        draw_flat(canvas, group, roofs, pen)
        if ridges:
            draw_ridge(canvas, group[0], roofs, pen)
