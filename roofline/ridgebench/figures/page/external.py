"""Points of other tools: their marker, and the question that a point above the roof raises."""

from math import inf

from matplotlib.axes import Axes

from ridgebench.base.units import counted, rate
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene import roofline as scene

from .points import Places, draw_paths, markers
from .roofs import Roofs
from .style import Theme

STAR, _SIZE = "*", 90.0
_MOST = 5  # questions
ABOVE = 1.02  # a point above the roof by less may be noise
DOUBT = "a question of units, of how FLOPs and bytes were counted, or of data that a cache held"
NOTE = "Stars: measured by another tool, not verified"


def placed(view: View) -> list[Row]:
    """The points of other tools that have an intensity and a rate."""
    return list(filter(scene.placed, view.external))


def draw(axes: Axes, view: View, scale: float, theme: Theme) -> Places:
    """Draws them, a sweep as a path; returns their places."""
    rows = placed(view)
    places = {row.id: (row.intensity_flop_per_byte, row.flops_per_s / scale) for row in rows}
    draw_paths(axes, rows, places, theme, arrow=False)
    if rows:
        markers(axes, [places[row.id] for row in rows], rows, theme, STAR, _SIZE)
    return places


def _allowed(row: Row, roofs: Roofs) -> float:
    """FLOP/s that memory and the roof of the point's format allow at its intensity; inf without either."""
    flat = max((roof.value for roof in roofs.compute if row.arithmetic in roof.formats), default=inf)
    memory = max((roof.value for roof in roofs.memory), default=inf)
    return scene.Roof(memory, flat).at(row.intensity_flop_per_byte)


def questions(view: View, sources: list[Roofs]) -> list[str]:
    """A line for each point above the roofs of every source, with the question how it was counted; after _MOST their number."""
    found = []
    for row in placed(view):
        roofs = [value for source in sources if (value := _allowed(row, source)) < inf]
        if roofs and row.flops_per_s > ABOVE * max(roofs):
            speed, roof = rate(row.flops_per_s, "FLOP/s"), rate(max(roofs), "FLOP/s")
            found.append(f"{row.id}: {speed} is above the roof of {roof}: {DOUBT}")
    left = len(found) - _MOST
    return found if left <= 0 else [*found[:_MOST], f"above the roof: {counted(left, 'more point')}"]
