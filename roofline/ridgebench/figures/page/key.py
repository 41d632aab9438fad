"""The key of a figure with several panels: what shapes, fills and lines mean."""

from dataclasses import replace
from typing import Union

from matplotlib.axes import Axes

from ridgebench.data.view import View

from . import labels
from .page import MARGIN, WIDTH
from .panel import draw_fills, neutral
from .points import marker
from .roof_drawing import MEASURED, SHEETS
from .style import SMALL, Theme, shape

_SHAPES_END = 9.2  # inches: the fills follow
STEP = 0.2  # inches between two lines of the key
_Line = tuple[str, float, Union[str, tuple], str]  # colour, width, dash, meaning


def _source_lines(view: View, theme: Theme) -> list[_Line]:
    """The lines of measured roofs and of each data sheet."""
    lines: list[_Line] = [(theme.muted, *MEASURED, "measured")] * bool(view.ceilings)
    for sheet, (width, dash) in zip(view.sheets, SHEETS * len(view.sheets)):
        own = "" if view.is_own(sheet) else ", not measured here"
        lines.append((theme.muted, width, dash, f"{sheet.title} data sheet{own}"))
    return lines


def draw_shapes(page: Axes, view: View, operations: list[str], theme: Theme, y: float,
                fills: bool = True) -> float:
    """Draws the shape of every operation, then perhaps the fills; returns where the last one ends (inches)."""
    x, sign = MARGIN, replace(neutral(view.points[0], "hand"), op="")
    for index, op in enumerate(operations):
        name = labels.fit(op, SMALL, 2.0)
        if x + 0.36 + labels.width(name, SMALL) > _SHAPES_END:
            more = f"… and {len(operations) - index} more"
            page.text(x, y, more, size=SMALL, va="center")
            x += labels.width(more, SMALL)
            break
        marker(page, x + 0.07, y, sign, theme, shape(op, operations), 34)
        page.text(x + 0.18, y, name, size=SMALL, va="center")
        x += 0.36 + labels.width(name, SMALL)
    return draw_fills(page, view, theme, x + 0.1, y) + 0.1 if fills else x


def draw_lines(page: Axes, lines: list[_Line], x: float, y: float) -> float:
    """Draws (line, meaning) pairs from x, on more lines where they do not fit; returns the height of the last."""
    for colour, width, dash, meaning in lines:
        meaning = labels.fit(meaning, SMALL, WIDTH - 2 * MARGIN - 0.5)
        size = labels.width(meaning, SMALL) + 0.62
        if x + size > WIDTH - MARGIN + 0.2 and x > MARGIN:
            x, y = MARGIN, y - STEP
        page.plot((x, x + 0.34), (y, y), color=colour, linestyle=dash, linewidth=width, solid_capstyle="butt")
        page.text(x + 0.4, y, meaning, size=SMALL, va="center")
        x += size
    return y


def draw_key(page: Axes, view: View, theme: Theme, y: float) -> float:
    """Draws the key from height y; returns where it ends (inches)."""
    x = draw_shapes(page, view, view.operations, theme, y) if view.points else MARGIN
    return draw_lines(page, _source_lines(view, theme), x, y) - 0.12
