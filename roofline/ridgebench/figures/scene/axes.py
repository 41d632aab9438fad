"""Log-log axes in numbers: their limits, their ticks, and a frame whose decades are equally long."""

from dataclasses import dataclass
from math import ceil, floor, inf, log10
from typing import Iterable, Optional

Limits = tuple[float, float]  # log10


def span(values: Iterable[float], below: float, above: Optional[float] = None) -> tuple[float, float]:
    """The least and the largest value with room around them, as factors; `above` is `below` unless it is given."""
    found = list(values)
    return min(found) / below, max(found) * (below if above is None else above)


def log_span(values: Iterable[float], below: float, above: Optional[float] = None) -> Limits:
    """The same in log10."""
    low, high = span(values, below, above)
    return log10(low), log10(high)


def decades(limits: Limits, most: float = inf, step: int = 1) -> list[int]:
    """Powers of ten within the limits: the multiples of `step`, or of a larger number if more than `most` would remain."""
    first, last = ceil(limits[0] - 1e-9), floor(limits[1] + 1e-9)
    step = max(step, ceil((last - first + 1) / most))
    return [power for power in range(first, last + 1) if power % step == 0]


def ticks(limits: Limits, most: float = inf) -> list[float]:
    """The numbers at an axis: its decades; in a span with fewer than two of them also 2 and 5 of each, or every digit."""
    found = [10.0**power for power in decades(limits, most)]
    powers = range(floor(limits[0]), ceil(limits[1]))
    for steps in ((1, 2, 5), range(1, 10)):
        if len(found) < 2:
            found = [step * 10.0**power for power in powers for step in steps if limits[0] <= log10(step) + power <= limits[1]]
    return found


def decade_in(limits: tuple[Limits, Limits], width: float, height: float) -> float:
    """The length of a decade with which both axes have room in width x height."""
    (x_low, x_high), (y_low, y_high) = limits
    return min(width / (x_high - x_low), height / (y_high - y_low))


def filled(limits: Limits, length: float, decade: float, spare: float = inf) -> Limits:
    """The limits with an upper end that fills `length`, at most `spare` decades further."""
    low, high = limits
    return low, min(max(high, low + length / decade), high + spare)


@dataclass
class Frame:
    """The place of the axes on a page, in the page's unit of length."""

    x: Limits  # FLOP/byte
    y: Limits  # the unit of the axis
    decade: float
    left: float
    bottom: float
    scale: float  # FLOP/s per unit of the y axis

    @property
    def right(self) -> float:
        return self.left + (self.x[1] - self.x[0]) * self.decade

    @property
    def top(self) -> float:
        return self.bottom + (self.y[1] - self.y[0]) * self.decade

    @property
    def unit(self) -> float:
        """log10 of the unit of the y axis in FLOP/s."""
        return log10(self.scale)

    @property
    def rates(self) -> Limits:
        """The limits of the y axis in FLOP/s."""
        return self.y[0] + self.unit, self.y[1] + self.unit

    def place(self, x: float, y: float) -> tuple[float, float]:
        """The place of log10 of FLOP/byte and of FLOP/s."""
        return self.left + (x - self.x[0]) * self.decade, self.bottom + (y - self.rates[0]) * self.decade
