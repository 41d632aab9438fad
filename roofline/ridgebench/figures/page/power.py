"""Rate, clock and power over intensity: what a power limit leaves of the roofs."""

from math import log10
from typing import Optional

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ridgebench.base.units import digits
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene import roofline as scene
from ridgebench.figures.scene.axes import Limits, log_span

from . import grid
from .canvas import across, style_axes
from .doubt import unfinished_title
from .finding import spoken
from .key import draw_shapes
from .page import MARGIN, WIDTH, add_axes, header, new_page, storage_note
from .points import Places, draw_paths, draw_points
from .style import NORMAL, SMALL, Theme

_GAP = 0.2  # inches between two panels
_SAME_CLOCK = 0.05  # clocks that differ by less are called one
_SAME_POWER = 0.03  # the same for power
_RIGHT = 0.8  # share of the axis from which on a name ends at its point
_SPARE = 1.15  # room above the highest clock and the most power


def watts(row: Row) -> Optional[float]:
    """The power during the row's samples; None if they are too short to say."""
    return row.reading("power_w")


def placed(view: View) -> list[Row]:
    """The rows whose intensity, rate, clock and power are all known."""
    return [row for row in filter(scene.placed, view.points) if row.clock_hz and watts(row)]


def _clock_of(row: Row) -> float:
    return row.clock_hz or 0.0


def _telling(rows: list[Row]) -> list[Row]:
    """The rows that draw the most power, where their clocks differ; else all."""
    most = max(watts(row) or 0.0 for row in rows)
    hungry = [row for row in rows if (watts(row) or 0.0) >= (1 - _SAME_POWER) * most]
    clocks = sorted(map(_clock_of, hungry))
    return hungry if clocks[0] < (1 - _SAME_CLOCK) * clocks[-1] else rows


def _who(row: Row) -> str:
    return f"{row.format} {spoken(row.op)}"


def title(rows: list[Row]) -> str:
    """'At 700 W the clock pays: 1.98 GHz in bf16 ReLU, 1.22 GHz in fp8_e4m3 matmul'

    The rows that draw the most power say it, where their clocks differ.
    """
    most = max(watts(row) or 0.0 for row in rows)
    every, rows = rows, _telling(rows)
    slowest, fastest = min(rows, key=_clock_of), max(rows, key=_clock_of)
    low, high = watts(fastest) or 0.0, watts(slowest) or 0.0
    if _clock_of(slowest) >= (1 - _SAME_CLOCK) * _clock_of(fastest):
        return f"The clock stays at {_clock_of(fastest) / 1e9:.2f} GHz up to {digits(most)} W"
    ends = [(_clock_of(row), _who(row), watts(row) or 0.0) for row in (fastest, slowest)]
    if rows is not every or abs(high - low) <= _SAME_POWER * high:
        return f"At {digits(max(low, high))} W the clock pays: " + ", ".join(f"{hertz / 1e9:.2f} GHz in {who}" for hertz, who, _ in ends)
    return "The clock pays for power: " + ", ".join(f"{hertz / 1e9:.2f} GHz at {digits(power)} W in {who}"
                                                     for hertz, who, power in ends)


def draw(view: View, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    rows = placed(view)
    top = header(page, view, unfinished_title(view, "clock and power") or title(rows), [storage_note(view)], theme)
    grid.draw_undrawn_below(page, view)
    draw_shapes(page, view, view.operations, theme, top - 0.05, fills=False)
    top = grid.draw_legend(page, view, theme, top - 0.27, [])
    x = log_span((row.intensity_flop_per_byte for row in rows), 2)
    rates = [row.flops_per_s / view.unit[1] for row in rows]
    clocks = [row.clock_hz / 1e9 for row in rows]
    powers = [watts(row) for row in rows]
    low = grid.bottom(view)
    height = (top - low - 2 * _GAP) / 3
    highest, limit = (view.device.get("clocks") or {}).get("max_sm_hz"), view.device.get("power_limit_w")
    panels = [
        (view.unit[0], rates, log_span(rates, 2), None, ""),
        ("clock, GHz", clocks, None, highest and highest / 1e9, "highest clock"),
        ("power, W", powers, None, limit, "power limit"),
    ]
    for index, (name, values, y, bound, what) in enumerate(panels):
        bottom = top - height - index * (height + _GAP)
        place = {row.id: (row.intensity_flop_per_byte, value) for row, value in zip(rows, values)}
        axes = _draw_panel(figure, view, (bottom, height), (x, y), place, rows, theme, lowest=index == len(panels) - 1)
        if bound:
            _draw_bound(axes, bound, f"{what} {bound:.4g} {name.split(', ')[-1]}", theme)
        if name.startswith("clock"):
            _name_ends(axes, rows, place, theme)
        page.text(0.3, bottom + height / 2, name, size=NORMAL, rotation=90, ha="center", va="center")
    name = "FLOP per byte (compulsory traffic of main memory)"
    page.text(WIDTH / 2, low - 0.28, name, size=NORMAL, ha="center", va="top")
    return figure


def _draw_panel(
    figure: Figure, view: View, box: tuple[float, float], limits: tuple[Limits, Optional[Limits]], place: Places,
    rows: list[Row], theme: Theme, lowest: bool,
) -> Axes:  # fmt: skip
    """One panel at `box` (bottom and height in inches); without limits, its y axis begins at 0."""
    axes = add_axes(figure, grid.LEFT, box[0], WIDTH - grid.LEFT - MARGIN, box[1])
    x, y = limits
    style_axes(axes, x, y or (0, 1), theme, most=5)
    if y is None:
        axes.set_yscale("linear")
        axes.set_ylim(0, max(value for _, value in place.values()) * _SPARE)
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(labelbottom=lowest)
    draw_paths(axes, rows, place, theme, arrow=False)
    draw_points(axes, rows, place, view.operations, theme, power=-1 if y else 0)
    return axes


def _draw_bound(axes: Axes, bound: float, text: str, theme: Theme) -> None:
    """A dashed line at what the board allows, named above the middle of the axis, where intensities have a gap."""
    across(axes, bound, color=theme.muted, linewidth=1.1, linestyle=(0, (4, 3)), zorder=2)
    axes.set_ylim(top=max(axes.get_ylim()[1], _SPARE * bound))
    axes.annotate(text, (0.5, bound), (0, 2), textcoords="offset points", xycoords=("axes fraction", "data"), size=SMALL,
                  color=theme.muted, ha="center")  # fmt: skip


def _name_ends(axes: Axes, rows: list[Row], place: Places, theme: Theme) -> None:
    """Names the points of the highest and of the lowest clock among the rows of the title, below their marks."""
    telling = _telling(rows)
    for row in {one.id: one for one in (max(telling, key=_clock_of), min(telling, key=_clock_of))}.values():
        low, high = map(log10, axes.get_xlim())
        right = log10(place[row.id][0]) > low + _RIGHT * (high - low)
        axes.annotate(_who(row), place[row.id], (-9 if right else 9, -4), textcoords="offset points", size=SMALL, va="top",
                      color=theme.text(row.format), ha="right" if right else "left")  # fmt: skip
