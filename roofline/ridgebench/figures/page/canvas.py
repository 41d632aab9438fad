"""Log-log axes with decades of equal length on both axes: every bandwidth line rises at 45 degrees."""

from dataclasses import dataclass, field
from math import ceil, floor, inf, log10
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ridgebench.base import units

from . import labels
from .page import add_axes
from .style import NORMAL, Theme

LEFT, _BOTTOM, _TOP_GAP = 0.95, 0.95, 0.05  # inches around the axes
MARK = 0.07  # half a marker, inches

Limits = tuple[float, float]  # log10


@dataclass
class Canvas:
    """The roofline's axes, their place on the page (inches), and the parts of it that are occupied."""

    axes: Axes
    page: Axes
    scale: float  # FLOP/s per unit of the y axis
    x: Limits
    y: Limits
    decade: float  # inches, on both axes
    left: float = LEFT  # inches
    bottom: float = _BOTTOM
    obstacles: labels.Obstacles = field(init=False)

    def __post_init__(self) -> None:
        self.obstacles = labels.Obstacles(labels.Box(self.left, self.bottom, self.right, self.top))

    @property
    def right(self) -> float:
        return self.left + (self.x[1] - self.x[0]) * self.decade

    @property
    def top(self) -> float:
        return self.bottom + (self.y[1] - self.y[0]) * self.decade

    def inches(self, x: float, y: float) -> tuple[float, float]:
        """Page position of intensity x (FLOP/byte) and rate y (in the axis' unit)."""
        return (
            self.left + (log10(x) - self.x[0]) * self.decade,
            self.bottom + (log10(y) - self.y[0]) * self.decade,
        )

    def occupy(self, points: list[tuple[float, float]]) -> None:
        """Keeps labels away from points and from the path that joins them."""
        places = [self.inches(*point) for point in points]
        for place in places:
            self.obstacles.add_line(place, place, MARK)
        for start, end in zip(places, places[1:]):
            self.obstacles.add_line(start, end, MARK / 3)


def log_limits(low: float, high: float) -> Limits:
    return log10(low), log10(high)


def _ticks(limits: Limits, most: int) -> list[float]:
    """Powers of ten within the limits; every second or third of them where there are more than `most`."""
    first, last = ceil(limits[0] - 1e-9), floor(limits[1] + 1e-9)
    step = max(1, ceil((last - first + 1) / most))
    return [10.0**power for power in range(first, last + 1) if power % step == 0]


def style_axis(axis: Axis, limits: Limits, most: int) -> None:
    axis.set_major_locator(FixedLocator(_ticks(limits, most)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: units.tick(value)))
    axis.set_tick_params(labelsize=NORMAL, length=3)


def style_axes(axes: Axes, x: Limits, y: Limits, theme: Theme, most: int = 8) -> None:
    """Makes both axes logarithmic, with plain tick numbers and a faint grid of decades."""
    axes.set(xscale="log", yscale="log")
    axes.set(xlim=(10 ** x[0], 10 ** x[1]), ylim=(10 ** y[0], 10 ** y[1]))
    style_axis(axes.xaxis, x, most)
    style_axis(axes.yaxis, y, most)
    axes.grid(color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


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
    (x_low, x_high), (y_low, y_high) = limits
    width, height = right - LEFT, top - _TOP_GAP - _BOTTOM
    decade = min(height / (y_high - y_low), width / (x_high - x_low))
    x, y = (x_low, min(x_low + width / decade, x_high + spare)), (y_low, y_low + height / decade)
    width = (x[1] - x_low) * decade
    axes = add_axes(figure, LEFT, _BOTTOM, width, height)
    style_axes(axes, x, y, theme)
    page.text(LEFT + width / 2, _BOTTOM - 0.33, "FLOP per byte (compulsory traffic of main memory)",
              size=NORMAL, ha="center", va="top")
    page.text(0.32, _BOTTOM + height / 2, unit[0], size=NORMAL, rotation=90, ha="center", va="center")
    return Canvas(axes, page, unit[1], x, y, decade)
