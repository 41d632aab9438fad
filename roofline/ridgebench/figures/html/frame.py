"""The place of the roofline in its picture: decades of equal length, so that bandwidths rise at 45 degrees.

report.js computes the same frame again for the width of the window.
"""

from dataclasses import dataclass
from math import log10

from .sources import Content, placed

MOST_WIDTH = 860  # px of the picture
LEFT, TOP, BOTTOM, RIGHT = 62, 12, 50, 158  # px around the plot; RIGHT has the names of flat roofs
MOST_HEIGHT = 700  # px of the plot
_LEAST_X = (0.1, 50.0)  # FLOP/byte; the axis shows at least this range
BEYOND = 40.0  # log10, outside of every picture

_Limits = tuple[float, float]  # log10


@dataclass(frozen=True)
class Frame:
    x: _Limits  # FLOP/byte
    y: _Limits  # the unit of the axis
    decade: float  # px

    @property
    def right(self) -> float:
        return LEFT + (self.x[1] - self.x[0]) * self.decade

    @property
    def width(self) -> float:
        return self.right + RIGHT

    @property
    def floor(self) -> float:
        return TOP + (self.y[1] - self.y[0]) * self.decade

    @property
    def height(self) -> float:
        return self.floor + BOTTOM

    def across(self, x: float) -> float:
        return LEFT + (x - self.x[0]) * self.decade

    def down(self, y: float) -> float:
        return self.floor - (y - self.y[0]) * self.decade


def _limits(content: Content) -> tuple[_Limits, _Limits]:
    """log10 limits that hold all points, the roofs of the runs (else those laid over them) and their ridges."""
    scale = content.unit[1]
    rows = [row for _, row in content.rows if placed(row)]
    everything = [source.roofs for source in content.sources]
    own = [source.roofs for source in content.sources if source.run is not None and source.roofs.memory] or everything
    xs = [*_LEAST_X, *(row.intensity_flop_per_byte for row in rows)]
    xs += [roof.ridge for roofs in own for roof in roofs.compute if roof.ridge]
    ys = [row.flops_per_s / scale for row in rows]
    ys += [roof.value / scale for roofs in own for roof in roofs.compute]
    ys += [roof.value / scale for roofs in own for roof in roofs.memory]  # the line at 1 FLOP/byte
    high = max(ys, default=1.0) * 2
    low = min([*ys, high / 100]) / 2
    return (log10(min(xs)), log10(max(xs) * 2)), (log10(low), log10(high))


def make_frame(content: Content) -> Frame:
    """The frame of the static picture, as large as both limits allow."""
    x, y = _limits(content)
    return Frame(x, y, min((MOST_WIDTH - LEFT - RIGHT) / (x[1] - x[0]), MOST_HEIGHT / (y[1] - y[0])))
