"""Small multiples of the roofline's plane: equal axes side by side, decades as long as the page allows."""

from dataclasses import dataclass
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.figures.scene.axes import Limits, decade_in, filled

from .canvas import LEFT, Canvas, style_axes, style_axis
from .page import MARGIN, WIDTH, add_axes
from .style import NORMAL, Theme

_GAP, _HEAD, _FOOT = 0.2, 0.45, 0.14  # inches between two columns, above a panel for its name, below a panel
_SPARE = 1.3  # decades of intensity that may extend the axes into free room
_TICK = 0.5  # inches that a tick number of the lower axis needs
_TICK_ROOM = 0.5  # inches below the lowest panels: tick numbers and the name of the axis


@dataclass(frozen=True)
class _Tiling:
    """Columns and rows of panels, and the length of a decade (inches)."""

    columns: int
    rows: int
    decade: float


def tiling(count: int, limits: tuple[Limits, Limits], width: float, height: float) -> _Tiling:
    """The arrangement of `count` equal panels with the longest decade in width x height (inches)."""
    found = []
    for rows in range(1, count + 1):
        columns = ceil(count / rows)
        across, up = (width - (columns - 1) * _GAP) / columns, (height - rows * (_HEAD + _FOOT)) / rows
        found.append(_Tiling(columns, rows, decade_in(limits, across, up)))
    return max(found, key=lambda one: (one.decade, -one.rows))


def make_tiles(
    figure: Figure, page: Axes, names: list[str], limits: tuple[Limits, Limits], unit: tuple[str, float],
    box: tuple[float, float], theme: Theme, right: float = WIDTH - MARGIN,
) -> dict[str, Canvas]:  # fmt: skip
    """A canvas for each name, in rows from the upper left; `box`: lowest and highest place of the page in inches.

    A single canvas begins at the left; several are centred.
    """
    low, top = box[0] + _TICK_ROOM, box[1]
    width = right - LEFT
    tiles = tiling(len(names), limits, width, top - low)
    x, y = filled(limits[0], (width - (tiles.columns - 1) * _GAP) / tiles.columns, tiles.decade, _SPARE), limits[1]
    across, up = (x[1] - x[0]) * tiles.decade, (y[1] - y[0]) * tiles.decade
    gap = min((width - tiles.columns * across) / max(tiles.columns - 1, 1), 4 * _GAP) if tiles.columns > 1 else 0.0
    spare = width - tiles.columns * across - (tiles.columns - 1) * gap
    first = LEFT + (spare / 2 if len(names) > 1 else 0.0)
    canvases = {}
    for index, name in enumerate(names):
        column, row = index % tiles.columns, index // tiles.columns
        left, bottom = first + column * (across + gap), top - (row + 1) * (_HEAD + up) - row * _FOOT
        axes = add_axes(figure, left, bottom, across, up)
        style_axes(axes, x, y, theme, most=max(2, int(across / _TICK)))
        style_axis(axes.yaxis, y, most=8)
        axes.tick_params(labelleft=column == 0, labelbottom=index + tiles.columns >= len(names))
        canvases[name] = Canvas(x, y, tiles.decade, left, bottom, unit[1], axes, page)
    _name_axes(page, list(canvases.values()), unit[0])
    return canvases


def column_width(canvases: dict[str, Canvas]) -> float:
    """The inches from one column to the next, without a gap: the room of a text above a panel."""
    lefts = sorted({canvas.left for canvas in canvases.values()})
    return (lefts[1] if len(lefts) > 1 else WIDTH - MARGIN + _GAP / 2) - lefts[0] - _GAP / 2


def _name_axes(page: Axes, canvases: list[Canvas], unit: str) -> None:
    """Names both axes once for all panels."""
    left, right = min(one.left for one in canvases), max(one.right for one in canvases)
    low, top = min(one.bottom for one in canvases), max(one.top for one in canvases)
    page.text((left + right) / 2, low - 0.3, "FLOP per byte (compulsory traffic of main memory)",
              size=NORMAL, ha="center", va="top")
    page.text(left - 0.63, (low + top) / 2, unit, size=NORMAL, rotation=90, ha="center", va="center")
