"""The energy roofline: FLOP per joule over intensity, under what the ceilings of the same run spend.

J. W. Choi et al., "A roofline model of energy", IPDPS 2013. Power is that of the whole board while the row ran, so that a
line is no bound of physics: a lower clock or a lower power limit spends less on a FLOP.
"""

from dataclasses import dataclass
from math import inf, log10
from typing import Optional

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.base.text import capital
from ridgebench.base.units import digits, enumerate_words
from ridgebench.data.records import Row
from ridgebench.data.view import ORDER, View, ordered
from ridgebench.figures.scene.axes import log_span

from . import grid
from .canvas import across, style_axes
from .doubt import unfinished_title
from .finding import spoken
from .key import draw_shapes
from .labels import width
from .page import MARGIN, WIDTH, add_axes, header, new_page, storage_note
from .points import draw_paths, draw_points
from .style import NORMAL, SMALL, Theme, family, readable

_PICO = 1e12
_GIGA = 1e9
_LEAST_RATIO = 2.0  # room around the points
_LONGEST_NAME = "pJ a FLOP: 0.444 fp8_e5m2, 0.451 fp8_e4m3"
_NAME = 0.06  # of the axes' height: the name of a line
_MEMORY = "main memory"


@dataclass(frozen=True)
class _Line:
    """The energy of a ceiling: joules of a FLOP in a format, or of a byte of main memory or of a level of cache."""

    format: Optional[str]  # None: a byte
    joules: float
    level: Optional[int] = None  # of a byte: None is main memory

    @property
    def place(self) -> str:
        """Where a byte comes from."""
        return f"L{self.level}" if self.level else _MEMORY


def joules_per_flop(row: Row) -> Optional[float]:
    """The board's energy for a FLOP of the row; None if its batches were too short to say, or paused, as those of a burst do."""
    return None if row.burst else row.reading("energy_per_flop_j")


def _joules_per_byte(row: Row) -> Optional[float]:
    found = None if row.burst else row.reading("energy_per_launch_j")
    return found / row.bytes if found and row.bytes else None


def placed(view: View) -> list[Row]:
    """The kernel rows whose intensity and energy are known."""
    return [row for row in view.points if row.intensity_flop_per_byte and joules_per_flop(row)]


def lines(view: View) -> list[_Line]:
    """The least energy of a FLOP in each format, and of a byte of main memory and of each cache, among the ceilings that judge kernels."""
    flops: dict[str, float] = {}
    of_bytes: dict[Optional[int], float] = {}
    for row in view.ceilings:
        if row.engine == "memory":
            if found := _joules_per_byte(row):
                of_bytes[row.level] = min(found, of_bytes.get(row.level, found))
        elif found := joules_per_flop(row):
            flops[row.format] = min(found, flops.get(row.format, found))
    shown = [_Line(name, flops[name]) for name in ordered(set(flops), ORDER)]
    return shown + [_Line(None, of_bytes[level], level) for level in sorted(of_bytes, key=lambda level: level or inf)]


def of_memory(known: list[_Line]) -> Optional[_Line]:
    """The line of a byte of main memory."""
    return next((one for one in known if not one.format and not one.level), None)


def notes(view: View, known: list[_Line]) -> list[str]:
    """The energy of a byte of each level, and the power without a kernel; what the run did not record is named."""
    levels = [one for one in known if not one.format]
    missing = {row.level for row in view.ceilings if row.engine == "memory"} - {one.level for one in levels}
    places = [_Line(None, 0.0, level).place for level in sorted(missing, key=lambda level: level or inf)]
    parts = [f"A byte takes {enumerate_words([f'{digits(_PICO * one.joules)} pJ in {one.place}' for one in levels])}"] if levels else []
    parts += [f"energy of a byte not recorded: {', '.join(places)}"] if places else []
    watts = view.before.get("power_w")
    text = "; ".join([*parts, f"idle before the run: {digits(watts)} W" if watts else "idle power not recorded"])
    return [text[0].upper() + text[1:]]


def title(view: View, known: list[_Line]) -> str:
    """'A FLOP takes 0.444 pJ in fp8_e5m2, 0.823 pJ in bf16': the cheapest first, by ceilings.

    Without them the kernel with the least energy is named: its FLOPs include the bytes that it moves.
    """
    memory = of_memory(known)
    byte = f"; a byte of {_MEMORY} {digits(_PICO * memory.joules)} pJ" if memory else ""
    flops = sorted((one for one in known if one.format), key=lambda one: one.joules)
    if not flops:
        best = min(placed(view), key=lambda row: joules_per_flop(row) or inf)
        return f"{capital(spoken(best.op))} takes {digits(_PICO * (joules_per_flop(best) or 0.0))} pJ a FLOP in {best.format}{byte}"
    parts = enumerate_words([f"{digits(_PICO * one.joules)} pJ in {one.format}" for one in flops[:3]])
    return f"A FLOP takes {parts}{byte}"


def _draw_lines(axes: Axes, known: list[_Line], theme: Theme) -> None:
    """Draws what the ceilings spend: level lines of formats, named at the left, and the rising lines of a byte."""
    for one in known:
        if one.format is None:
            _draw_byte(axes, one, theme)
        else:
            across(axes, 1 / one.joules / _GIGA, color=readable(theme.hue(one.format), theme.ink, theme.background), linewidth=1.6)
    _name_lines(axes, [one for one in known if one.format], theme)


def _draw_byte(axes: Axes, one: _Line, theme: Theme) -> None:
    """A line that rises with intensity, named in the middle of its part within the axes; that of a cache is lighter."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    ends = max(left, low * one.joules * _GIGA), min(right, high * one.joules * _GIGA)
    if ends[0] >= ends[1]:
        return
    axes.plot((left, right), [x / one.joules / _GIGA for x in (left, right)], color=theme.muted, linewidth=0.8 if one.level else 1.6)
    at = (ends[0] * ends[1]) ** 0.5
    text = f"pJ a byte: {digits(_PICO * one.joules)}"
    if one.level:  # above its line, away from the rows of kernels
        text, away, sides = f"{text} {one.place}", (-8, 4), {"ha": "right", "va": "bottom"}
    else:
        away, sides = (8, -4), {"ha": "left", "va": "top"}
    axes.annotate(text, (at, at / one.joules / _GIGA), away, textcoords="offset points", size=SMALL, color=theme.muted, **sides)


def _name_lines(axes: Axes, levels: list[_Line], theme: Theme) -> None:
    """Names the level lines at their left end, lines that leave no room between them by one text above the highest."""
    low, high = map(log10, axes.get_ylim())
    groups: list[list[_Line]] = []
    for one in sorted(levels, key=lambda level: level.joules):
        near = groups and log10(one.joules / groups[-1][-1].joules) < _NAME * (high - low)
        groups = [*groups[:-1], [*groups[-1], one]] if near else [*groups, [one]]
    for group in groups:
        text = "pJ a FLOP: " + ", ".join(f"{digits(_PICO * one.joules)} {one.format}" for one in group)
        hue = theme.hue(group[0].format) if len({family(str(one.format)) for one in group}) == 1 else theme.ink
        axes.annotate(text, (axes.get_xlim()[0], 1 / group[0].joules / _GIGA), (6, 3), textcoords="offset points", size=SMALL,
                      color=readable(hue, theme.ink, theme.background))  # fmt: skip


def draw(view: View, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    rows, known = placed(view), lines(view)
    top = header(page, view, unfinished_title(view, "energy of a FLOP") or title(view, known), [storage_note(view), *notes(view, known)], theme)
    draw_shapes(page, view, view.operations, theme, top - 0.05, fills=False)
    top = grid.draw_legend(page, view, theme, top - 0.27, [])
    place = {row.id: (row.intensity_flop_per_byte, 1 / joules_per_flop(row) / _GIGA) for row in rows}
    levels = [1 / one.joules / _GIGA for one in known if one.format]
    room = width(_LONGEST_NAME, SMALL) if levels else 0.0
    beside = 10 ** (room / (WIDTH - grid.LEFT - MARGIN) * 3)  # the names of lines need it
    x = log_span((x for x, _ in place.values()), _LEAST_RATIO * beside, _LEAST_RATIO)
    y = log_span([y for _, y in place.values()] + levels, _LEAST_RATIO)
    bottom = 0.95
    axes = add_axes(figure, grid.LEFT, bottom, WIDTH - grid.LEFT - MARGIN, top - bottom - 0.1)
    style_axes(axes, x, y, theme, most=6)
    _draw_lines(axes, known, theme)
    draw_paths(axes, rows, place, theme, arrow=False)
    draw_points(axes, rows, place, view.operations, theme, power=0)
    page.text(0.3, (bottom + top) / 2, "GFLOP per joule of the board", size=NORMAL, rotation=90, ha="center", va="center")
    name = "FLOP per byte (compulsory traffic of main memory)"
    page.text(WIDTH / 2, bottom - 0.33, name, size=NORMAL, ha="center", va="top")
    return figure
