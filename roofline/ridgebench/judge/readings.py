"""Readings of a process of any benchmark: one number per row."""

import statistics
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.text import LONGEST_QUOTED, cut

from .report import HIGHER

_LEAST, _MOST = 1e-300, 1e300  # whose inverses are numbers, too


class BadValue(ValueError):
    """A row has a number that no benchmark can measure; the text says which."""


@dataclass(frozen=True)
class Metric:
    """The number that is compared. Where higher is better its inverse takes the place of a time."""

    name: str
    higher_is_better: bool = False
    is_time: bool = False  # in seconds
    best: bool = False  # of the repetitions of a process the best one counts, and not their median

    def cost(self, value: float) -> float:
        """The value for the comparison, of which less is better, as of a time."""
        return 1 / value if self.higher_is_better else value

    def value(self, cost: float) -> float:
        return self.cost(cost)  # an inverse is its own inverse

    def of(self, repetitions: list[float]) -> float:
        """The cost of a row in a process, whose repetitions do not replicate the process."""
        return min(map(self.cost, repetitions)) if self.best else self.cost(statistics.median(repetitions))

    def __str__(self) -> str:
        return self.name

    @property
    def description(self) -> str:
        statistic = " of the best repetition" if self.best else ""
        return self.name + statistic + (HIGHER if self.higher_is_better else ", lower is better")


@dataclass(frozen=True)
class Reading:
    """A row of a process, with the keys of a ridgebench row that judging reads. Its time is the metric's cost."""

    id: str
    time_median_s: Optional[float]
    status: str = "ok"  # failed: the program says that the row failed; skipped: that it skipped it
    reason: Optional[str] = None
    bound: Optional[str] = None
    clock_hz: Optional[float] = None
    turns: Any = None
    flags: tuple[str, ...] = ()
    telemetry: dict[str, Any] = field(default_factory=dict)
    samples: tuple[float, ...] = ()  # costs of the repetitions or samples of the process, where it wrote them


@dataclass(frozen=True)
class Readings:
    """All rows of a process, and what it says of the machine."""

    folder: Path
    rows: list[Reading]
    environment: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> dict[str, Reading]:
        return {row.id: row for row in self.rows}


def positive(value: Any, what: str) -> float:
    """A number from _LEAST to _MOST. Raises BadValue."""
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            pass
    try:
        if number is not None and _LEAST <= number <= _MOST:
            return float(number)
    except OverflowError:
        pass
    raise BadValue(f"{what} is {cut(repr(value), LONGEST_QUOTED)}; allowed: a number from {_LEAST:g} to {_MOST:g}")


def readings_of(values: dict[str, list[float]], metric: Metric) -> list[Reading]:
    """A reading per row of its repetitions."""
    return [Reading(name, metric.of(found), samples=tuple(map(metric.cost, found))) for name, found in values.items()]


def failed(name: str, reason: Any) -> Reading:
    return Reading(name, None, "failed", str(reason))
