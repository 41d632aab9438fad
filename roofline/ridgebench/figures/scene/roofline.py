"""The roofline in numbers, for every picture of it: the limits of its axes, and its roofs as lines in log10 with ridges and bands."""

from dataclasses import dataclass, replace
from math import floor, inf, log10
from pathlib import Path
from typing import Iterable, Optional

from ridgebench.data.judged import Roof as Rate
from ridgebench.data.judged import Roofs
from ridgebench.data.records import Row

from .axes import Limits

SCRIPT = Path(__file__).with_name("scene.js")  # the same rules, for pages that draw a roofline themselves
Place = tuple[float, float]  # FLOP/byte and FLOP/s
_LEAST_DECADES = 2  # of an axis


def placed(row: Row) -> bool:
    """True if a row has a place: an intensity and a rate."""
    return bool(row.intensity_flop_per_byte and row.flops_per_s)


def place_of(row: Row) -> Place:
    """The place of a row that has one."""
    return row.intensity_flop_per_byte or 0.0, row.flops_per_s or 0.0


def layer(row: Row) -> tuple[bool, float]:
    """The order in which points are drawn: naive and slow rows first, so that a faster point near them stays visible."""
    return not row.naive, row.flops_per_s or 0.0


@dataclass(frozen=True)
class Line:
    """A roof in log10 of FLOP/byte and FLOP/s: a bandwidth, which rises by one decade a decade, or a level peak."""

    height: float  # of a rising line at 1 FLOP/byte
    rises: bool
    start: float = -inf
    end: float = inf
    band: Limits = (0.0, 0.0)  # p10 and p90, relative to the line
    ridge: Optional[float] = None  # of a level line

    def at(self, x: float) -> float:
        return self.height + (x if self.rises else 0.0)

    def within(self, x: Limits, y: Limits) -> list[tuple[float, float]]:
        """Both ends of the part of the line within axes; empty if it does not cross them. A level line has no end above or below."""
        low, high = (y[0] - self.height, y[1] - self.height) if self.rises else (-inf, inf)
        start, end = max(self.start, x[0], low), min(self.end, x[1], high)
        return [(start, self.at(start)), (end, self.at(end))] if start < end else []


def ridge(flops_per_s: float, bytes_per_s: float) -> float:
    """FLOP per byte at which a peak meets a bandwidth."""
    return flops_per_s / bytes_per_s


def _band(rate: Rate) -> Limits:
    return log10(rate.low / rate.value), log10(rate.high / rate.value)


def rising(rate: Rate, roofs: Roofs) -> Line:
    """Memory or a cache: its line ends at the highest peak."""
    end = log10(ridge(roofs.compute[0].value, rate.value)) if roofs.compute else inf
    return Line(log10(rate.value), True, end=end, band=_band(rate))


def level(rate: Rate, roofs: Roofs) -> Line:
    """A peak: its line begins at the fastest main memory."""
    start = log10(ridge(rate.value, roofs.memory[0].value)) if roofs.memory else -inf
    return Line(log10(rate.value), False, start, band=_band(rate), ridge=log10(rate.ridge) if rate.ridge else None)


def cache_reach(roofs: Roofs) -> Optional[Line]:
    """The highest peak left of main memory, as far as the fastest cache reaches it; None without a cache."""
    if not (roofs.caches and roofs.compute and roofs.memory):
        return None
    peak = roofs.compute[0]
    fastest = max(cache.value for cache in roofs.caches)
    return Line(log10(peak.value), False, log10(ridge(peak.value, fastest)), level(peak, roofs).start)


def lines(roofs: Roofs) -> list[Line]:
    """The lines of main memory and of all peaks."""
    return [*(rising(rate, roofs) for rate in roofs.memory), *(level(rate, roofs) for rate in roofs.compute)]


def sheet_share(rate: Optional[Rate], promised: Optional[Roofs]) -> Optional[float]:
    """The share of the data sheet that a measured roof reaches: of its memory, or of the peak of the same name; None without either."""
    if rate is None or promised is None:
        return None
    known = promised.memory if rate.engine == "memory" else [peak for peak in promised.compute if peak.name == rate.name]
    return rate.value / known[0].value if known else None


@dataclass(frozen=True)
class Roof:
    """The two limits of a device in one format: bytes/s and FLOP/s."""

    bytes_per_s: float
    flops_per_s: float
    stream: str = ""  # of a measured bandwidth: read, triad, ...

    @property
    def ridge(self) -> float:
        """FLOP per byte from which arithmetic is the limit."""
        return ridge(self.flops_per_s, self.bytes_per_s)

    def at(self, intensity: float) -> float:
        """The most FLOP/s at an intensity (FLOP/byte)."""
        return min(self.flops_per_s, intensity * self.bytes_per_s)

    def share(self, place: Place) -> float:
        """The share of the roof that a point reaches."""
        return place[1] / self.at(place[0])

    @property
    def lines(self) -> tuple[Line, Line]:
        """The slope and the flat part."""
        bend = log10(self.ridge)
        return Line(log10(self.bytes_per_s), True, end=bend), Line(log10(self.flops_per_s), False, bend, ridge=bend)


@dataclass(frozen=True)
class _Margins:
    """Room of axes beyond what they hold, as factors: left and right of points and ridges, below and above points and roofs."""

    x: tuple[float, float]  # FLOP/byte that the axis shows at least
    points: tuple[float, float]
    ridges: tuple[float, float]
    rates: tuple[float, float]  # of points
    roofs: tuple[float, float]
    whole: bool = False  # the lower limits are powers of ten


REFERENCE = _Margins((0.1, 100.0), (1.0, 2.0), (1.0, 2.0), (1.6, 1.8), (1.6, 1.8))
LECTURE = _Margins((0.1, 0.1), (1 / 0.9, 1.6), (4.0, 10.0), (1 / 0.8, 1.0), (1.0, 1.0), whole=True)
MOVING = replace(LECTURE, x=(0.1, 1e4))  # of points that a reader moves: the axes stay as long as they hold them


def _hold(*parts: tuple[Iterable[float], tuple[float, float]]) -> Limits:
    """Limits that hold values (log10) with the room of each part around them."""
    ends = [(value - log10(room[0]), value + log10(room[1])) for values, room in parts for value in values]
    return min(low for low, _ in ends), max(high for _, high in ends)


def limits(points: Iterable[Place], roofs: Iterable[Iterable[Line]], margins: _Margins, scale: float) -> tuple[Limits, Limits]:
    """Limits of both axes that hold points, ridges, and the roofs of all sources from the left edge on; y in `scale` FLOP/s."""
    found, kept = [(log10(x), log10(y)) for x, y in points], [line for some in roofs for line in some]
    ridges = [line.ridge for line in kept if line.ridge is not None]
    left, right = _hold((map(log10, margins.x), (1, 1)), ((x for x, _ in found), margins.points), (ridges, margins.ridges))
    left = floor(left) if margins.whole else left
    heights = [line.at(left) for line in kept] or [log10(scale)] * (not found)
    low, high = (end - log10(scale) for end in _hold(((y for _, y in found), margins.rates), (heights, margins.roofs)))
    low = min(low, high - _LEAST_DECADES)
    return (left, max(right, left + _LEAST_DECADES)), (floor(low) if margins.whole else low, high)
