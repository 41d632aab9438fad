"""The place of the roofline in its picture, px. report.js fits the picture to the window and zooms it."""

from math import log10

from ridgebench.data.records import Row
from ridgebench.figures.scene import axes
from ridgebench.figures.scene.axes import decade_in
from ridgebench.figures.scene.roofline import REFERENCE, limits, lines, place_of, placed

from .sources import Content

_MOST_WIDTH = 860  # of the picture
LEFT, TOP, BOTTOM, _RIGHT = 62, 12, 50, 158  # around the plot; _RIGHT has the names of flat roofs
NARROW = {"left": 46, "right": 10, "width": 280}  # around the plot of a picture without room for these names, and its least width
MOST_HEIGHT = 700  # of the plot

Spot = tuple[float, float]  # px, downwards


class Frame(axes.Frame):
    """Axes on a page whose second coordinate grows downwards: `bottom` is negative."""

    @property
    def width(self) -> float:
        return self.right + _RIGHT

    @property
    def floor(self) -> float:
        return -self.bottom

    @property
    def height(self) -> float:
        return self.floor + BOTTOM

    def spot(self, x: float, y: float) -> Spot:
        """The place of log10 of FLOP/byte and of FLOP/s."""
        across, up = self.place(x, y)
        return across, -up

    def spot_of(self, row: Row) -> Spot:
        intensity, rate = place_of(row)
        return self.spot(log10(intensity), log10(rate))


def make_frame(content: Content) -> Frame:
    """The frame of the static picture, as large as both limits allow: the axes hold all points and the roofs of the runs, else all roofs."""
    everything = [source.roofs for source in content.sources]
    own = [source.roofs for source in content.sources if source.run is not None and source.roofs.memory] or everything
    points = [place_of(row) for _, row in content.rows if placed(row)]
    x, y = limits(points, map(lines, own), REFERENCE, content.unit[1])
    decade = decade_in((x, y), _MOST_WIDTH - LEFT - _RIGHT, MOST_HEIGHT)
    return Frame(x, y, decade, LEFT, -TOP - (y[1] - y[0]) * decade, content.unit[1])
