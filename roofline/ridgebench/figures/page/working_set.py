"""Latency and bandwidth over the working set: what each level of the memory answers in, and where it ends."""

from dataclasses import dataclass, replace
from math import log2
from typing import Callable, Optional

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from ridgebench.base.text import capital
from ridgebench.base.units import digits, enumerate_words, rate, seconds
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene.axes import span

from .canvas import across, draw_grid, upwards
from .doubt import unfinished_title
from .labels import width
from .page import MARGIN, WIDTH, add_axes, header, new_page
from .style import GREEN, NORMAL, SMALL, VERMILLION, Theme, readable

_LINE_BYTES = 128  # between neighbours of a pointer chase: kernels/latency/chain.hpp
_LEVEL_1_BYTES = 2**18  # the largest cache of level 1 of a GPU, which no driver reports: kernels/latency/pointer_chase.hpp
_FEWEST = 3  # sizes from which on they are a sweep, and latencies a level
_ALIKE = 0.05  # latencies of one level differ by less from their median
_LEFT, _BOTTOM, _GAP = 0.95, 0.85, 0.3  # inches
_NAMES = {1: "level 1", 2: "level 2", 3: "level 3", 4: "main memory"}
_READS = {"dram_read": "main memory", **{f"cache_l{level}_read": f"level {level}" for level in (1, 2, 3)}}
_RISES = 2.0  # how many times its least latency a chain reaches where the TLB no longer holds its pages
_SHARED = {"own_block": "shared memory", "other_block": "shared memory of another block of the cluster"}

_Point = tuple[float, float, Row]  # bytes, value


@dataclass(frozen=True)
class _Level:
    """Neighbouring sizes with one latency."""

    name: str
    low: float  # bytes
    high: float
    latency_s: float
    cycles: Optional[float]


def _verified(view: View, ops: tuple[str, ...]) -> list[Row]:
    return [row for row in view.verified_ceilings if row.op in ops and row.rate is not None]


def _latency(row: Row) -> float:
    return row.time_median_s / row.shape["accesses"]


def chases(view: View, dense: bool) -> list[_Point]:
    """Chains through neighbouring lines, or through lines far apart: the bytes that they span and their latency."""
    whole = [row for row in _verified(view, ("pointer_chase",)) if {"lines", "stride", "accesses"} <= row.shape.keys()]
    rows = [row for row in whole if (row.shape["stride"] == 1) == dense]
    return sorted((row.shape["lines"] * row.shape["stride"] * _LINE_BYTES, _latency(row), row) for row in rows)


def reads(view: View) -> list[_Point]:
    """The reads of each cache and of main memory by size, with bytes/s."""
    rows = _verified(view, ("cache_l1_read", "cache_l2_read", "cache_l3_read", "dram_read"))
    return sorted((4.0 * row.shape["n"], row.bytes_per_s, row) for row in rows if row.format == "fp32" and "n" in row.shape)


def panels(view: View) -> list[Callable[[Axes, View, Theme], None]]:
    """Functions that draw the panels whose rows are a sweep, from the upper one."""
    bandwidth = len({size for size, *_ in reads(view)}) >= _FEWEST
    return [draw_bandwidth] * bandwidth + [_draw_latency] * (len(chases(view, dense=True)) >= _FEWEST)


def capacities(view: View, units: int) -> list[tuple[float, str]]:
    """Bytes of each cache that the device reports for a number of units, SMs or threads."""
    caches = view.device.get("caches") or []
    return [(cache["bytes"] * max(1, units // cache["shared_by"]), _NAMES[cache["level"]]) for cache in caches]


def _level_name(view: View, largest: float) -> str:
    """The level that holds a working set of this size."""
    sizes = {cache["level"]: cache["bytes"] for cache in view.device.get("caches") or []}
    if view.device["backend"] != "cpu":
        sizes[1] = _LEVEL_1_BYTES
    return _NAMES[next((level for level in sorted(sizes) if largest <= sizes[level]), 4)]


def levels(view: View) -> list[_Level]:
    """The levels that the chain through neighbouring lines shows, from the fastest on."""
    found: list[_Level] = []
    rest = chases(view, dense=True)
    while rest:
        count = 1
        while count < len(rest) and _uniform([value for _, value, _ in rest[: count + 1]]):
            count += 1
        own, rest = rest[:count], rest[count:]
        name = _level_name(view, own[-1][0])
        if count >= _FEWEST and name not in [level.name for level in found]:
            middle = own[count // 2][2]
            cycles = middle.cycles_median / middle.shape["accesses"] if middle.cycles_median else None
            found.append(_Level(name, own[0][0], own[-1][0], float(np.median([value for _, value, _ in own])), cycles))
    return found


def _uniform(values: list[float]) -> bool:
    return bool(np.ptp(values) <= 2 * _ALIKE * np.median(values))


def title(view: View) -> str:
    if view.why_unfinished:
        return unfinished_title(view, "reads over working-set size")
    firm = replace(view, rows=list(filter(view.may_head, view.rows)))
    parts = [f"{seconds(level.latency_s)} in {level.name}" for level in levels(firm)]
    if parts:
        return f"A load that waits for the load before it takes {enumerate_words(parts)}"
    best = {row.op: row for _, _, row in sorted(reads(firm), key=lambda point: point[1])}
    if not best:
        return "Reads over working-set size; --budget cut their samples"
    rates = [f"{rate(row.bytes_per_s, 'B/s')} from {_READS[op]}" for op, row in sorted(best.items())]
    return capital(f"reads bring {enumerate_words(rates)}")


def size_text(size: float) -> str:
    """A number of bytes in powers of two: 4 KiB, 2 MiB, 8 GiB."""
    for prefix, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale:
            return f"{size / scale:.4g} {prefix}"
    return f"{size:.0f} B"


def style(axes: Axes, x: tuple[float, float], theme: Theme, lowest: bool) -> None:
    axes.set(xscale="log", yscale="log", xlim=x)
    first, last = round(log2(x[0])), round(log2(x[1]))
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in range(first, last + 1) if power % 3 == 2]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=NORMAL, length=3, labelbottom=lowest)
    draw_grid(axes, theme)


def _mark_capacities(axes: Axes, view: View, units: int, theme: Theme) -> None:
    low, high = axes.get_xlim()
    for size, name in capacities(view, units):
        if low < size < high:
            upwards(axes, size, color=theme.muted, linewidth=0.9, linestyle=(0, (1, 2)))
            axes.text(size, 0.985, f" {name}: {size_text(size)}", transform=axes.get_xaxis_transform(), size=SMALL,
                      color=theme.muted, va="top")  # fmt: skip


def _draw_series(axes: Axes, points: list[_Point], colour: str, mark: str, line: str) -> None:
    x, y = [point[0] for point in points], [point[1] for point in points]
    axes.plot(x, y, color=colour, marker=mark, linestyle=line, linewidth=1.2, markersize=5)


def draw_bandwidth(axes: Axes, view: View, theme: Theme) -> None:
    points = [(size, value / 1e9, row) for size, value, row in reads(view)]
    unit = "GB/s"
    if max(value for _, value, _ in points) >= 1e4:
        points, unit = [(size, value / 1e3, row) for size, value, row in points], "TB/s"
    colour, values = readable(GREEN, theme.ink, theme.background), [value for _, value, _ in points]
    _draw_series(axes, points, colour, "s", "-")
    axes.set_ylim(*span(values, 2, 3))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    for op in dict.fromkeys(row.op for *_, row in points):
        size, value = max(((size, value) for size, value, row in points if row.op == op), key=lambda point: point[1])
        _name_read(axes, f"{_READS[op]}: {digits(value)} {unit}", size, value, colour, theme)
    axes.set_ylabel(f"bandwidth of reads, {unit}", size=NORMAL)
    _mark_capacities(axes, view, view.device.get("sms") or view.device.get("threads") or 1, theme)


def _share(axes: Axes, size: float) -> float:
    """The place of a size on its axis, from 0 to 1."""
    low, high = map(log2, axes.get_xlim())
    return (log2(size) - low) / (high - low)


def _name_read(axes: Axes, text: str, size: float, value: float, colour: str, theme: Theme) -> None:
    """Names a level above its point; at the right end below it, because the line that comes down to the last level is above it."""
    place, half = _share(axes, size), (width(text, SMALL, "bold") + _GAP) / 2 / (axes.get_position().width * WIDTH)
    kept = min(max(place, half), 1 - half)
    up = kept >= place
    axes.annotate(text, (kept, value), (0, 8 if up else -8), textcoords="offset points", xycoords=("axes fraction", "data"), ha="center",
                  va="bottom" if up else "top", size=SMALL, weight="bold", color=colour, bbox=theme.patch)  # fmt: skip


def free_share(axes: Axes, points: list[_Point], value: float, text: str) -> float:
    """The share of the axis at which a text above a level line begins so that no chain's curve crosses it; 0 without such a place."""
    wide = width(text, SMALL) / (axes.get_position().width * WIDTH)
    crossed = [_share(axes, size) for (size, one, _), (_, other, _) in zip(points, points[1:])
               if min(one, other) <= 1.1 * value and max(one, other) >= 0.9 * value]
    # A curve takes up to a factor of 8 in size from one point to the next.
    step = _share(axes, 8 * points[0][0]) - _share(axes, points[0][0]) if points else 0.0
    starts = [index / 40 for index in range(40) if index / 40 + wide <= 1]
    return next((x for x in starts if all(place + step < x or place > x + wide for place in crossed)), 0.0) + 0.005


def _draw_latency(axes: Axes, view: View, theme: Theme) -> None:
    near, far = ([(size, 1e9 * value, row) for size, value, row in chases(view, dense)] for dense in (True, False))
    blue, red = theme.hue("bf16"), VERMILLION
    _draw_series(axes, near, blue, "o", "-")
    if far:
        _draw_series(axes, far, red, "D", "--")
        spacing = size_text(far[-1][2].shape["stride"] * _LINE_BYTES)
        rises = ": it rises beyond the reach of the TLB" if max(value for _, value, _ in far) > _RISES * far[0][1] else ""
        axes.annotate(f"a line of each {spacing}{rises}", far[0][:2], (0, -8), textcoords="offset points", size=SMALL, va="top",
                      color=readable(red, theme.ink, theme.background))  # fmt: skip
    for level in levels(view):
        cycles = f" · {digits(level.cycles)} clocks" if level.cycles else ""
        text = f"{level.name}: {seconds(level.latency_s)}{cycles}"
        centre = (level.low * level.high) ** 0.5
        axes.annotate(text, (centre, 1e9 * level.latency_s), (0, 8), textcoords="offset points", ha="center", size=SMALL,
                      weight="bold", color=readable(blue, theme.ink, theme.background))  # fmt: skip
    values = [value for _, value, _ in near + far]
    for row in _verified(view, ("pointer_chase_shared",)):
        values.append(1e9 * _latency(row))
        across(axes, values[-1], color=theme.muted, linewidth=0.9, linestyle=(0, (4, 3)))
        name = _SHARED.get(row.technique, row.technique)
        text = f"{name}: {seconds(_latency(row))}"
        axes.annotate(text, (free_share(axes, near + far, values[-1], text), values[-1]), (0, 2), textcoords="offset points",
                      xycoords=("axes fraction", "data"), size=SMALL, color=theme.muted)  # fmt: skip
    axes.set_ylim(*span(values, 1.5, 1.6))
    axes.yaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("latency of a load, ns", size=NORMAL)
    _mark_capacities(axes, view, 1, theme)


def draw(view: View, theme: Theme) -> Figure:
    figure, page = new_page(theme)
    points = reads(view) + chases(view, True) + chases(view, False)
    top = header(page, view, title(view), [], theme, [row for *_, row in points]) - 0.1
    wanted = panels(view)
    x = span((size for size, *_ in points), 2)
    height = (top - _BOTTOM - _GAP * (len(wanted) - 1)) / len(wanted)
    for index, draw_panel in enumerate(wanted):
        low = top - height - index * (height + _GAP)
        axes = add_axes(figure, _LEFT, low, WIDTH - _LEFT - MARGIN, height)
        style(axes, x, theme, lowest=index == len(wanted) - 1)
        draw_panel(axes, view, theme)
    page.text(WIDTH / 2, _BOTTOM - 0.33, "working set", size=NORMAL, ha="center", va="top")
    return figure
