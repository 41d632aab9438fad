"""Rates of copies and of collectives over the bytes that they move, under the rates of links."""

from dataclasses import dataclass
from math import log10, nan
from typing import Any, Optional

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ridgebench.base.text import cut
from ridgebench.base.units import digits, percent, rate
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene.axes import span

from .canvas import across
from .doubt import unfinished_title
from .external import NOTE
from .labels import spread, width
from .page import HEIGHT, MARGIN, WIDTH, add_axes, header, new_page
from .style import GREEN, NORMAL, SMALL, VERMILLION, Theme, readable
from .working_set import free_share, style

_COPIES = {"copy_to_device": "copies to the device", "copy_to_host": "copies to the host", "copy_to_peer": "copies to another device",
           "copy_both_ways": "copies both ways at once"}
_COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "gather", "scatter", "sendrecv")
_FEWEST = 3  # sizes from which on they are a sweep
_EQUAL = 1e-6  # of a factor between sizes
_MOST = 6  # series; the others would cover each other
_LONGEST = 34  # characters of a label
_LABEL = 0.075  # of the axes' height: a label of two lines
_MARKS = "os^Dv*"
_LEFT, _BOTTOM, _GAP = 0.95, 0.85, 0.16  # inches


@dataclass(frozen=True)
class Link:
    """A link by its name, and the rate of one direction."""

    name: str
    bytes_per_s: float
    both_ways: bool = False

    @property
    def shown(self) -> str:
        return f"{self.name} in both directions" if self.both_ways else self.name


@dataclass(frozen=True)
class _Series:
    """The rates of one operation and technique, of copies between devices also of one peer, from the fewest bytes on."""

    rows: list[tuple[float, Row]]  # with the bytes of the message
    left_out: tuple[float, ...] = ()  # sizes between these at which the run has the operation, but none of these rows

    @property
    def name(self) -> str:
        """A plural of copies, else the collective and how it was computed."""
        row = self.best
        return _COPIES.get(row.op) or f"{row.op.replace('_', '-')} ({row.technique.replace('_', ' ')})"

    @property
    def reach(self) -> str:
        return f"{self.name} {'reach' if self.best.op in _COPIES else 'reaches'}"

    @property
    def line(self) -> list[tuple[float, float]]:
        """Bytes and GB/s along the line, which is broken at the sizes that were left out."""
        points = [(size, (row.bytes_per_s or 0) / 1e9) for size, row in self.rows]
        return sorted([*points, *((size, nan) for size in self.left_out)], key=lambda point: point[0])

    @property
    def best(self) -> Row:
        return max((row for _, row in self.rows), key=lambda row: row.bytes_per_s or 0)


def _message(row: Row) -> float:
    """The bytes that were copied or went through a collective; those that a link carried may be more."""
    return float(row.shape.get("message_bytes") or row.bytes)


def _is_transfer(row: Row) -> bool:
    return _is_link(row) and bool(row.bytes_per_s) and (row.external or row.status == "ok")


def _is_link(row: Row) -> bool:
    return (row.op in _COPIES or row.external and row.op in _COLLECTIVES) and row.regime == "steady"


def all_series(view: View) -> list[_Series]:
    """The transfers of a view by operation, technique and peer, the fastest first."""
    found: dict[tuple[Any, ...], list[tuple[float, Row]]] = {}
    for row in filter(_is_transfer, view.rows):
        found.setdefault((row.op, row.technique, row.shape.get("peer")), []).append((_message(row), row))
    sizes: dict[str, set[float]] = {}
    for row in filter(_is_link, view.rows):
        sizes.setdefault(row.op, set()).add(_message(row))
    series = [_series_of(sorted(rows, key=lambda pair: pair[0]), _swept(sizes[key[0]])) for key, rows in found.items()]
    return sorted(series, key=lambda one: -(one.best.bytes_per_s or 0))


def _swept(sizes: set[float]) -> set[float]:
    """With the sizes that a sweep by one factor lacks: an import has no row of what it left out. Most steps have that factor."""
    known = sorted(sizes)
    ratios = [after / before for before, after in zip(known, known[1:])]
    least = min(ratios, default=1.0)
    if least <= 1.0 or 2 * sum(ratio < least * (1 + _EQUAL) for ratio in ratios) <= len(ratios):
        return sizes
    steps = [log10(ratio) / log10(least) for ratio in ratios]
    if any(abs(step - round(step)) > _EQUAL for step in steps):
        return sizes
    return sizes | {before * least**more for before, step in zip(known, steps) for more in range(1, round(step))}


def _series_of(rows: list[tuple[float, Row]], sizes: set[float]) -> _Series:
    missing = sizes - {size for size, _ in rows}
    return _Series(rows, tuple(sorted(size for size in missing if rows[0][0] < size < rows[-1][0])))


def wanted(view: View, links: tuple[Link, ...]) -> bool:
    """True if there is a sweep of sizes, or if links are named for any transfers."""
    series = all_series(view)
    return bool(series and links) or any(len({size for size, _ in one.rows}) >= _FEWEST for one in series)


def roofs_of(row: Row, links: tuple[Link, ...]) -> list[Link]:
    """The links with the rates that bound a row: twice that of one direction if it copies both ways at once."""
    both = row.op == "copy_both_ways"
    return [Link(link.name, 2 * link.bytes_per_s, True) if both else link for link in links]


def _nearest(row: Row, links: tuple[Link, ...]) -> Optional[Link]:
    """The slowest link that is not slower than a row; None without one."""
    able = [link for link in roofs_of(row, links) if link.bytes_per_s >= (row.bytes_per_s or 0)]
    return min(able, key=lambda link: link.bytes_per_s, default=None)


def _title(view: View, series: list[_Series], links: tuple[Link, ...]) -> str:
    if view.why_unfinished:
        return unfinished_title(view, "rates of links over bytes")
    best = series[0].best
    link = _nearest(best, links)
    share = f", {percent((best.bytes_per_s or 0) / link.bytes_per_s)} % of {link.shown}" if link else ""
    above = ", more than any link that is drawn" if links and not link else ""
    title = f"{series[0].reach} {rate(best.bytes_per_s or 0, 'B/s')}{share}{above}"
    return title[0].upper() + title[1:]


def _draw_roofs(axes: Axes, roofs: list[Link], series: list[_Series], theme: Theme) -> None:
    """Draws a line for each roof, with its name where no curve crosses it."""
    points = [(size, (row.bytes_per_s or 0) / 1e9, row) for one in series for size, row in one.rows]
    for link in roofs:
        value, text = link.bytes_per_s / 1e9, f"{link.shown}: {rate(link.bytes_per_s, 'B/s')}"
        across(axes, value, color=theme.ink, linewidth=1.4)
        axes.annotate(text, (free_share(axes, points, value, text), value), (4, 3), xycoords=("axes fraction", "data"),
                      textcoords="offset points", size=SMALL, weight="bold", color=theme.ink)  # fmt: skip


def _label(axes: Axes, series: list[_Series], colours: list[str], room: float) -> None:
    """Writes the name of each series and its best rate beside its end, with a line to it."""
    low, high = map(log10, axes.get_ylim())
    ends = sorted(((one.rows[-1][1].bytes_per_s or 0) / 1e9, index) for index, one in enumerate(series))
    wanted_shares = [(log10(value) - low) / (high - low) for value, _ in ends]
    for (value, index), share in zip(ends, spread(wanted_shares, _LABEL, 0, 1)):
        one = series[index]
        text = f"{cut(one.name, _LONGEST)}\n{digits((one.best.bytes_per_s or 0) / 1e9)} GB/s"
        axes.annotate(text, (one.rows[-1][0], value), (1 + room, share), textcoords="axes fraction", size=SMALL, va="center",
                      color=colours[index], linespacing=1.1,
                      arrowprops={"arrowstyle": "-", "color": colours[index], "linewidth": 0.6, "relpos": (0, 0.5)})  # fmt: skip


def _rate_axis(axes: Axes, values: list[float]) -> None:
    """A logarithmic axis with plain numbers: 1, 2 and 5 of each decade if there are few."""
    low, high = span(values, 2)
    steps = (1, 2, 5) if high < 300 * low else (1,)
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator([step * 10.0**power for power in range(-9, 9) for step in steps]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("bytes over a link each second, GB/s", size=NORMAL)


def notes(every: list[_Series]) -> list[str]:
    """The lines below the title."""
    foreign = [NOTE.replace("Stars: m", "M")] * any(one.best.external for one in every[:_MOST])
    gaps = ["A line is broken at a size that was left out"] * any(one.left_out for one in every[:_MOST])
    return foreign + gaps + [f"{len(every) - _MOST} slower series are not drawn"] * (len(every) > _MOST)


def draw(view: View, links: tuple[Link, ...], theme: Theme) -> Figure:
    """Draws the fastest series; the footer counts the others."""
    every = all_series(view)
    series = every[:_MOST]
    figure, page = new_page(theme)
    top = header(page, view, _title(view, series, links), notes(every), theme, [row for one in series for _, row in one.rows]) - 0.1
    beside = max(width(line, SMALL) for one in series for line in (cut(one.name, _LONGEST), "000.0 GB/s")) + 2 * _GAP
    wide = WIDTH - _LEFT - MARGIN - beside
    axes = add_axes(figure, _LEFT, _BOTTOM, wide, min(top, HEIGHT) - _BOTTOM)
    style(axes, span((size for one in series for size, _ in one.rows), 2), theme, lowest=True)
    roofs = list(dict.fromkeys(link for one in series for link in roofs_of(one.best, links)))
    rates = [row.bytes_per_s or 0 for one in series for _, row in one.rows] + [link.bytes_per_s for link in roofs]
    _rate_axis(axes, [value / 1e9 for value in rates])
    colours = [readable(colour, theme.ink, theme.background) for colour in (theme.hue("bf16"), VERMILLION, GREEN, theme.hue("fp8_e4m3"))]
    colours = [colours[index % len(colours)] for index in range(len(series))]
    for one, colour, mark in zip(series, colours, _MARKS):
        axes.plot(*zip(*one.line), color=colour, marker=mark, linewidth=1.2, markersize=5)
    _draw_roofs(axes, roofs, series, theme)
    _label(axes, series, colours, _GAP / wide)
    page.text(_LEFT + wide / 2, _BOTTOM - 0.33, "bytes of a copy, or of the message of a collective", size=NORMAL, ha="center", va="top")
    return figure
