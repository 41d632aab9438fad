"""Log-log axes with decades of equal length on both axes: every bandwidth line rises at 45 degrees."""

from dataclasses import dataclass, field
from math import inf, log10
from typing import Any, Optional

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ridgebench.base import units
from ridgebench.figures.scene.axes import Frame, Limits, decade_in, filled, ticks
from ridgebench.figures.scene.roofline import Line

from . import labels
from .page import add_axes
from .style import NORMAL, Theme

LEFT, _BOTTOM, _TOP_GAP = 0.95, 0.95, 0.05  # inches around the axes
MARK = 0.07  # half a marker, inches
APART = 0.06  # inches between labels, and between a label and an axis


@dataclass
class Canvas(Frame):
    """The roofline's axes, their place on the page (inches), and the parts of it that are occupied."""

    axes: Axes
    page: Axes
    obstacles: labels.Obstacles = field(init=False)

    def __post_init__(self) -> None:
        self.obstacles = labels.Obstacles(labels.Box(self.left, self.bottom, self.right, self.top), APART)

    def inches(self, x: float, y: float) -> tuple[float, float]:
        """Page position of intensity x (FLOP/byte) and rate y (in the axis' unit)."""
        return self.place(log10(x), log10(y * self.scale))

    def visible(self, line: Line) -> list[tuple[float, float]]:
        """Both ends of the part of a roof within the axes, as intensity and rate (in the axis' unit); empty without such a part."""
        return [(10**x, 10**y / self.scale) for x, y in line.within(self.x, self.rates)]

    def shows(self, intensity: Optional[float]) -> bool:
        return intensity is not None and self.x[0] < log10(intensity) < self.x[1]

    def occupy(self, points: list[tuple[float, float]]) -> None:
        """Keeps labels away from points and from the path that joins them."""
        places = [self.inches(*point) for point in points]
        for place in places:
            self.obstacles.add_line(place, place, MARK)
        for start, end in zip(places, places[1:]):
            self.obstacles.add_line(start, end, MARK / 3)


def style_axis(axis: Axis, limits: Limits, most: int) -> None:
    axis.set_major_locator(FixedLocator(ticks(limits, most)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: units.tick(value)))
    axis.set_tick_params(labelsize=NORMAL, length=3)


def draw_grid(axes: Axes, theme: Theme) -> None:
    """A faint grid below the data, and no frame but both axes."""
    axes.grid(color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def style_axes(axes: Axes, x: Limits, y: Limits, theme: Theme, most: int = 8) -> None:
    """Makes both axes logarithmic, with plain tick numbers and a faint grid of decades."""
    axes.set(xscale="log", yscale="log")
    axes.set(xlim=(10 ** x[0], 10 ** x[1]), ylim=(10 ** y[0], 10 ** y[1]))
    style_axis(axes.xaxis, x, most)
    style_axis(axes.yaxis, y, most)
    draw_grid(axes, theme)


def across(axes: Axes, y: float, **style: Any) -> None:
    """A horizontal line from edge to edge of axes whose limits are set.

    Axes.axhline inverts a matrix, and a forked process whose parent has used OpenBLAS before may hang there.
    """
    axes.plot(axes.get_xlim(), (y, y), **style)


def upwards(axes: Axes, x: float, **style: Any) -> None:
    """A vertical line likewise, in place of Axes.axvline."""
    axes.plot((x, x), axes.get_ylim(), **style)


def make_canvas(
    figure: Figure, page: Axes, limits: tuple[Limits, Limits], unit: tuple[str, float],
    right: float, top: float, theme: Theme, spare: float = inf,
) -> Canvas:
    """Axes up to right and top (inches) that hold the limits; spare room extends the upper limits.

    No more than `spare` decades of intensity are added: axes end before `right` where that leaves room.
    """
    width, height = right - LEFT, top - _TOP_GAP - _BOTTOM
    decade = decade_in(limits, width, height)
    x, y = filled(limits[0], width, decade, spare), filled(limits[1], height, decade)
    width = (x[1] - x[0]) * decade
    axes = add_axes(figure, LEFT, _BOTTOM, width, height)
    style_axes(axes, x, y, theme)
    page.text(LEFT + width / 2, _BOTTOM - 0.33, "FLOP per byte (compulsory traffic of main memory)",
              size=NORMAL, ha="center", va="top")
    page.text(0.32, _BOTTOM + height / 2, unit[0], size=NORMAL, rotation=90, ha="center", va="center")
    return Canvas(x, y, decade, LEFT, _BOTTOM, unit[1], axes, page)
