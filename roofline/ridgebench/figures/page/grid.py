"""Small multiples: one panel per operation, all with the same axes."""

from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.data.view import View
from ridgebench.figures.scene.axes import Limits

from . import labels
from .canvas import style_axes
from .page import MARGIN, WIDTH, add_axes, draw_undrawn, undrawn_groups
from .panel import draw_fills, fills_width, neutral
from .points import marker
from .style import NORMAL, SMALL, Theme, shape

_COLUMNS = 3
LEFT, _GAP, _HEAD = 0.95, 0.28, 0.3  # inches
BOTTOM, _LIST = 0.85, 1.1  # inches below the panels, and of the list of undrawn rows


def draw_legend(page: Axes, view: View, theme: Theme, y: float, lines: list[tuple[str, str]]) -> float:
    """Draws formats in their colours, fills, then (line style, meaning) pairs; returns where the legend ends."""
    x = MARGIN
    for name in view.formats:
        titled = theme.titled(name)
        page.text(x, y, titled, size=SMALL, weight="bold", color=theme.text(name), va="center")
        x += labels.width(titled, SMALL, "bold") + 0.18
    if x + fills_width(view) > WIDTH - MARGIN:
        x, y = MARGIN, y - 0.2
    x = draw_fills(page, view, theme, x, y) + 0.06
    if x + sum(labels.width(meaning, SMALL) + 0.56 for _, meaning in lines) > WIDTH:
        x, y = MARGIN, y - 0.2
    for style, meaning in lines:
        page.plot((x, x + 0.3), (y, y), color=theme.muted, linestyle=style, linewidth=1.3)
        meaning = labels.fit(meaning, SMALL, max(WIDTH - x - 0.5, 0))
        page.text(x + 0.36, y, meaning, size=SMALL, va="center")
        x += labels.width(meaning, SMALL) + 0.56
    return y - 0.22


def bottom(view: View) -> float:
    """The height where the panels begin (inches)."""
    return BOTTOM + (_LIST if undrawn_groups(view) else 0.0)


def make_panels(
    figure: Figure, page: Axes, view: View, limits: tuple[Limits, Limits], top: float, theme: Theme, operations: list[str]
) -> dict[str, Axes]:
    """Axes of these operations; only the outer ones have tick numbers."""
    columns = min(_COLUMNS, len(operations))
    rows = ceil(len(operations) / columns)
    width = (WIDTH - LEFT - MARGIN - _GAP * (columns - 1)) / columns
    height = (top - bottom(view) - (_HEAD + 0.1) * rows) / rows
    panels = {}
    for index, op in enumerate(operations):
        left = LEFT + index % columns * (width + _GAP)
        low = top - _HEAD - height - index // columns * (height + _HEAD + 0.1)
        axes = add_axes(figure, left, low, width, height)
        style_axes(axes, *limits, theme, most=5)
        lowest = index + columns >= len(operations)
        axes.tick_params(labelleft=index % columns == 0, labelbottom=lowest)
        sign = neutral(view.points[0], "hand")
        marker(page, left + 0.1, low + height + 0.13, sign, theme, shape(op, view.operations), 44)
        title = labels.fit(op, NORMAL, width - 0.3, "bold")
        page.text(left + 0.24, low + height + 0.13, title, size=NORMAL, weight="bold", va="center")
        panels[op] = axes
    return panels


def name_axes(page: Axes, view: View, x: str, y: str, top: float) -> None:
    low = bottom(view)
    page.text(WIDTH / 2, low - 0.28, x, size=NORMAL, ha="center", va="top")
    page.text(0.24, (top + low) / 2, y, size=NORMAL, rotation=90, ha="center", va="center")


def draw_undrawn_below(page: Axes, view: View) -> None:
    top, width = bottom(view) - 0.52, WIDTH - 2 * MARGIN
    draw_undrawn(page, view, MARGIN, top, width, 7)
