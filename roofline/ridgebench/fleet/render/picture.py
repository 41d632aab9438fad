"""The map of the fleet as a figure: map.svg and map.png."""

import math
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ridgebench.base.text import one_line
from ridgebench.figures.page import labels
from ridgebench.figures.page.drawing import drawing, write
from ridgebench.figures.page.page import HEIGHT, MARGIN, WIDTH, new_page, write_head
from ridgebench.figures.page.style import NORMAL, SMALL, THEMES, Theme
from ridgebench.fleet import findings
from ridgebench.fleet.gpu import MISSING
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.states import SLOW

from . import colours
from .layout import MOST_GPUS, Cell, Layout, by_node, is_slow, make_layout, state_of
from .map_svg import lowest_ratio, percent

_WIDTHS = range(320, 4000, 80)  # px of the layouts of which the largest picture is taken
_POINTS = 72.0  # to the inch
_LARGEST = 0.017  # inches of a px: a cell of a small fleet is not larger
_LEAST_TEXT = 4.5  # points; smaller numbers are left out, and the colour remains
_KEY = 0.62  # inches below the map


def _best_layout(assessment: Assessment, width: float, height: float) -> tuple[Layout, float]:
    """The layout whose px are largest in this room (inches), and the inches of a px."""
    table = by_node(assessment)
    layouts = (make_layout(table, float(px)) for px in _WIDTHS)
    scaled = ((min(width / one.width, height / one.height, _LARGEST), one) for one in layouts)
    scale, layout = max(scaled, key=lambda item: item[0])
    return layout, scale


def _draw_cell(page: Axes, assessment: Assessment, cell: Cell, box: tuple, theme: Theme, size: float) -> None:
    """box: left, bottom, width, height in inches; size: of the text, in points."""
    x, y, width, height = box
    state, ratio = state_of(assessment, cell), lowest_ratio(assessment, cell)
    sign, steps = colours.SIGNS.get(state), colours.steps("light")
    if sign is None and not math.isnan(ratio):
        step = steps[colours.step_of(ratio)]
        slow = is_slow(assessment, cell)
        page.add_artist(Rectangle((x, y), width, height, facecolor=step.fill, edgecolor=theme.ink if slow else "none", linewidth=1.3))
        text, ink, weight = percent(ratio), step.ink, "bold" if slow else "normal"
    else:
        hatch = "////" if state == MISSING else None
        page.add_artist(Rectangle((x, y), width, height, facecolor=theme.background, edgecolor=theme.muted, linewidth=0.7, hatch=hatch))
        text, ink, weight = sign or "", theme.ink, "normal"
    if text and size >= _LEAST_TEXT:
        page.text(x + width / 2, y + height / 2, text, size=size, color=ink, weight=weight, ha="center", va="center_baseline")


def _draw_key(page: Axes, assessment: Assessment, layout: Layout, theme: Theme, base: float) -> None:
    """Steps of colour in the first line, the signs that occur in the second; base: the lower edge of the page."""
    x, y = MARGIN, base + 0.55
    for name, step in zip(colours.NAMES, colours.steps("light")):
        page.add_artist(Rectangle((x, y), 0.24, 0.15, facecolor=step.fill, edgecolor="none"))
        page.text(x + 0.3, y + 0.07, name, size=SMALL, color=theme.muted, va="center")
        x += 0.52 + labels.width(name, SMALL)
    states = list(dict.fromkeys(state_of(assessment, cell) for cell in layout.cells))
    x, y = MARGIN, base + 0.31
    for state, sign in {SLOW: "", **colours.SIGNS}.items():
        if state not in states:
            continue
        name = "slow by the rule" if state == SLOW else state.lower().replace("_", " ")
        page.add_artist(Rectangle((x, y), 0.24, 0.15, facecolor=theme.background, edgecolor=theme.ink,
                                 linewidth=1.3 if state == SLOW else 0.7, hatch="////" if state == MISSING else None))  # fmt: skip
        page.text(x + 0.12, y + 0.07, sign, size=SMALL, ha="center", va="center")
        page.text(x + 0.3, y + 0.07, name, size=SMALL, color=theme.muted, va="center")
        x += 0.52 + labels.width(name, SMALL)


def _draw(assessment: Assessment, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    fleet = assessment.fleet
    models = ", ".join(dict.fromkeys(gpu.model for gpu in fleet.gpus if gpu.model)) or "no GPU"
    what = "each cell is a node with its lowest GPU" if len(fleet.gpus) > MOST_GPUS else "each cell is a GPU in its lowest row"
    notes = [f"{models} · {findings.coverage_text(assessment)}", f"Percent of the median of comparable GPUs; {what}"]
    top = write_head(page, findings.title(assessment), notes, theme)
    bottom = MARGIN + _KEY
    layout, scale = _best_layout(assessment, WIDTH - 2 * MARGIN, top - bottom)
    width, height = (scale * part for part in layout.size)
    size = min(NORMAL + 2, 0.5 * height * _POINTS, 0.32 * width * _POINTS)
    for cell in layout.cells:
        _draw_cell(page, assessment, cell, (MARGIN + scale * cell.x, top - scale * cell.y - height, width, height), theme, size)
    anchors = {"start": "left", "middle": "center", "end": "right"}
    for text in layout.texts:
        page.text(MARGIN + scale * text.x, top - scale * text.y, text.text, size=min(SMALL + 1, max(size, _LEAST_TEXT)),
                  color=theme.muted, ha=anchors[text.anchor], va="center_baseline")  # fmt: skip
    base = top - scale * layout.height - bottom  # a small map needs no page of 16:9
    figure.set_size_inches(WIDTH, HEIGHT - base)
    page.set_ylim(base, HEIGHT)
    _draw_key(page, assessment, layout, theme, base)
    page.text(MARGIN, base + 0.1, labels.fit(one_line(str(fleet.folder)), SMALL, HEIGHT), size=SMALL, color=theme.muted, va="bottom")
    return figure


def save(assessment: Assessment, folder: Path) -> None:
    """Writes map.svg and map.png."""
    theme = THEMES["light"]
    with drawing(theme):
        figure = _draw(assessment, theme)
        for kind in ("svg", "png"):
            write(figure, folder / f"map.{kind}", kind)
