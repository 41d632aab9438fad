"""Parallelism that a GPU needs: Little's law for multiply-adds and for both memories, and wgmma by width."""

from dataclasses import dataclass
from typing import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from ridgebench.base.units import digits, enumerate_words, seconds
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene.axes import span

from .canvas import across, draw_grid
from .doubt import unfinished_title
from .page import MARGIN, WIDTH, add_axes, header, new_page
from .style import BLUE, GREEN, NORMAL, SMALL, VERMILLION, Theme, readable
from .working_set import size_text

_PACK_BYTES = 16 * 32  # of a warp with one pack of each thread: kernels/ceilings/sweep/parallelism.hpp
_FEWEST = 4  # points of a sweep
_ENOUGH = 0.9  # share of the best rate that counts as hidden latency
_LEFT, _BOTTOM, _GAP, _HEAD = 0.8, 1.3, 0.65, 0.55  # inches
_IDEA = "More in flight is faster, until the latency is hidden: then the unit is busy all the time, and more in flight gains nothing."
_MARKS = {1: "o", 2: "s", 4: "D", 8: "^"}  # by what a thread has in flight
_SPREAD = (1.25, 1.9)  # of the axes below the lowest and above the highest rate, for a logarithmic axis


@dataclass(frozen=True)
class _Sweep:
    """Rates over what an SM has in flight."""

    name: str
    title: str
    what: str  # of which the SM has something in flight
    axis: str
    colour: str
    each: str  # the dimension of the shape that says what a thread has in flight
    per_warp: int  # what one of them is for a warp, in the unit of the axis
    memory: bool

    def rows(self, view: View) -> list[Row]:
        needed = {"warps", self.each} | (set() if self.memory else {"iterations"})
        found = [row for row in view.verified_ceilings if row.op == self.name and row.rate and needed <= row.shape.keys()]
        return sorted(found, key=self.in_flight)

    def in_flight(self, row: Row) -> float:
        return float(self.per_warp * row.shape["warps"] * row.shape[self.each])

    def rate(self, row: Row) -> float:
        """byte/s or FLOP/s."""
        return (row.bytes_per_s if self.memory else row.flops_per_s) or 0.0

    def latency(self, row: Row, units: int) -> str:
        """Latency of one step with the least in flight; of a memory by Little's law, bytes in flight over the rate."""
        if self.memory:
            return seconds(self.in_flight(row) * units / self.rate(row))
        if row.cycles_median:
            return f"{digits(row.cycles_median / row.shape['iterations'])} clocks"
        return seconds(row.time_median_s / row.shape["iterations"])

    def amount(self, value: float) -> str:
        return size_text(value) if self.memory else f"{value:g}"


SWEEPS = (
    _Sweep("fma_parallelism", "multiply-adds, fp32", "multiply-adds", "chains on an SM", GREEN, "chains", 1, memory=False),
    _Sweep("dram_parallelism", "reads of main memory", "main memory", "bytes in flight on an SM", BLUE, "packs", _PACK_BYTES, memory=True),
    _Sweep("l2_parallelism", "reads of level 2", "level 2", "bytes in flight on an SM", VERMILLION, "packs", _PACK_BYTES, memory=True),
)


def _wgmma_rows(view: View) -> list[Row]:
    found = [row for row in view.verified_ceilings if row.op == "wgmma_tile" and row.flops_per_s and "n" in row.shape]
    return sorted(found, key=lambda row: row.shape["n"])


def panels(view: View) -> list[Callable[[Axes, View, Theme], str]]:
    """Functions that draw the sweeps of the run; a drawing returns the name of its x axis."""
    found: list[Callable[[Axes, View, Theme], str]] = []
    for sweep in SWEEPS:
        if len(sweep.rows(view)) >= _FEWEST:
            found.append(lambda axes, view, theme, sweep=sweep: _draw_sweep(axes, sweep, view, theme))
    if len(_wgmma_rows(view)) >= _FEWEST:
        found.append(_draw_wgmma)
    return found


def needed(sweep: _Sweep, view: View) -> str:
    """The least in flight with which a sweep reaches _ENOUGH of its best rate."""
    rows = sweep.rows(view)
    best = max(map(sweep.rate, rows))
    amount = sweep.amount(min(sweep.in_flight(row) for row in rows if sweep.rate(row) >= _ENOUGH * best))
    return amount if sweep.memory else f"{amount} chains"


def _title(view: View) -> str:
    if view.why_unfinished:
        return unfinished_title(view, "rates over parallelism")
    parts = [f"{needed(sweep, view)} of {sweep.what}" for sweep in SWEEPS if len(sweep.rows(view)) >= _FEWEST]
    if parts:
        return f"An SM hides the latency with {enumerate_words(parts)} in flight"
    best = max(_wgmma_rows(view), key=lambda row: row.flops_per_s or 0)
    return f"wgmma is fastest at a width of {best.shape['n']}: {best.flops_per_s / 1e12:.0f} TFLOP/s"


def style(axes: Axes, x: list[float], scale: str, theme: Theme) -> None:
    axes.set(xscale="log", yscale=scale, xlim=span(x, 1.5))
    axes.xaxis.set_major_locator(FixedLocator(sorted(set(x))[:: 2 if len(set(x)) > 6 else 1]))
    for locate in (axes.xaxis.set_minor_locator, axes.yaxis.set_minor_locator):
        locate(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=SMALL, length=3)
    draw_grid(axes, theme)


def _draw_sweep(axes: Axes, sweep: _Sweep, view: View, theme: Theme) -> str:
    rows, colour = sweep.rows(view), sweep.colour
    x = [sweep.in_flight(row) for row in rows]
    y = [sweep.rate(row) / 1e12 for row in rows]
    style(axes, x, "log", theme)
    low, high = span(y, *_SPREAD)
    axes.set_ylim(low, high)
    steps = [step * 10.0**power for power in range(-4, 5) for step in (1, 2, 5)]
    axes.yaxis.set_major_locator(FixedLocator([value for value in steps if low <= value <= high]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: sweep.amount(value)))
    least = rows[0]
    line = [x[0], x[0] * max(y) / y[0]]
    axes.plot(line, [y[0], max(y)], color=theme.muted, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)
    across(axes, max(y), color=theme.muted, linewidth=1.1, linestyle=(0, (4, 3)), zorder=1)
    for count, mark in _MARKS.items():
        own = [(a, b) for a, b, row in zip(x, y, rows) if row.shape[sweep.each] == count]
        if own:
            axes.plot(*zip(*own), mark, color=colour, markersize=6, markeredgecolor=theme.background, markeredgewidth=0.6)
    unit = "TB/s" if sweep.memory else "TFLOP/s"
    text = readable(colour, theme.ink, theme.background)
    axes.set_title(f"{sweep.title}, {unit}", size=NORMAL, weight="bold", loc="left", color=text, pad=8)
    axes.annotate(f"best: {digits(max(y))} {unit}", (0.02, max(y)), (0, 3), textcoords="offset points",
                  xycoords=("axes fraction", "data"), size=SMALL, color=theme.muted)  # fmt: skip
    axes.text(0.97, 0.05, f"one in flight:\n{sweep.latency(least, view.device.get('sms') or 1)}", transform=axes.transAxes,
              size=SMALL, ha="right", color=theme.muted)  # fmt: skip
    return sweep.axis


def _draw_wgmma(axes: Axes, view: View, theme: Theme) -> str:
    rows = _wgmma_rows(view)
    style(axes, [float(row.shape["n"]) for row in rows], "linear", theme)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for series in dict.fromkeys((row.technique, row.format) for row in rows):
        own = [row for row in rows if (row.technique, row.format) == series]
        colour, shared = theme.hue(series[1]), series[0].endswith("_ss")
        y = [row.flops_per_s / 1e12 for row in own]
        axes.plot([row.shape["n"] for row in own], y, "s--" if shared else "o-", color=colour, linewidth=1.2, markersize=5,
                  markerfacecolor=theme.background if shared else colour)  # fmt: skip
        source = "shared memory" if shared else "registers"
        axes.annotate(f"{series[1]}, A from {source}", (own[-1].shape["n"], y[-1]), (0, 7), textcoords="offset points", ha="right",
                      size=SMALL, color=theme.text(series[1]))  # fmt: skip
    axes.set_ylim(0, 1.15 * max(row.flops_per_s for row in rows) / 1e12)
    axes.set_title("wgmma by its width, TFLOP/s", size=NORMAL, weight="bold", loc="left", color=theme.ink, pad=8)
    return "N of an instruction of 64 x N"


def _draw_marks(page: Axes, theme: Theme) -> None:
    x, y = MARGIN + 0.1, 0.5
    for count, mark in _MARKS.items():
        page.plot((x,), (y,), mark, color=theme.muted, markersize=6)
        page.text(x + 0.12, y, f"{count}", size=SMALL, va="center")
        x += 0.4
    text = "of a thread in flight, and 1 to 32 warps on an SM. Dashed: Little's law from the least in flight on, up to the best rate; 90 % of that hides it."
    page.text(x, y, text, size=SMALL, va="center")


def draw(view: View, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    rows = [row for sweep in SWEEPS for row in sweep.rows(view)] + _wgmma_rows(view)
    top = header(page, view, _title(view), [_IDEA], theme, rows) - _HEAD
    wanted = panels(view)
    width = (WIDTH - _LEFT - MARGIN - _GAP * (len(wanted) - 1)) / len(wanted)
    for index, draw_panel in enumerate(wanted):
        left = _LEFT + index * (width + _GAP)
        axes = add_axes(figure, left, _BOTTOM, width, top - _BOTTOM)
        name = draw_panel(axes, view, theme)
        page.text(left + width / 2, _BOTTOM - 0.36, name, size=NORMAL, ha="center", va="top")
    if any(len(sweep.rows(view)) >= _FEWEST for sweep in SWEEPS):
        _draw_marks(page, theme)
    return figure
