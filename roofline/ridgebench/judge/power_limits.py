"""Runs of one device at several power limits: the limit with the most FLOP per joule, and the lowest that keeps the speed."""

from dataclasses import dataclass
from typing import Optional

from ridgebench.base.errors import INCOMPARABLE, ROW_FAILED, CommandError
from ridgebench.base.text import clean, short
from ridgebench.data.records import Row, Run

from .comparable import device_entries, differences
from .consistent import require_finished

KEPT = 0.95  # of the highest rate: the speed that the second limit keeps
_LIMIT = "power_limit_w"
_DOUBTED = 0.25  # a larger difference is an error: the meters also run between samples, up to 5 % of published rows
_NORMAL = 1.96  # half of a 95 % interval, in standard errors


@dataclass(frozen=True)
class _Point:
    """A row at one power limit."""

    limit_w: float
    flops_per_s: float
    rates: tuple[float, float]  # FLOP/s, 95 %
    power_w: float
    flops_per_joule: float  # by the energy of the samples
    error: float  # half of its 95 % interval, as a share: that of the power

    @property
    def interval(self) -> tuple[float, float]:
        """FLOP per joule, 95 %."""
        return self.flops_per_joule * (1 - self.error), self.flops_per_joule * (1 + self.error)


@dataclass(frozen=True)
class Range:
    """The limits within the intervals; None where that of the runs may lie beyond all limits that were tried."""

    low_w: Optional[float]
    high_w: Optional[float]
    beyond: Optional[str]  # "below" or "above": the limit that was found is the last one on this side


@dataclass(frozen=True)
class Curve:
    """A row over power limits, from the lowest on."""

    name: str
    points: list[_Point]

    @property
    def best(self) -> _Point:
        """The point with the most FLOP per joule: the knee, if limits on both sides of it were tried."""
        return max(self.points, key=lambda point: point.flops_per_joule)

    @property
    def near_best(self) -> Range:
        """The limits whose interval reaches that of the best point."""
        least = self.best.interval[0]
        limits = [point.limit_w for point in self.points if point.interval[1] >= least]
        return self._range(self.best, min(limits), max(limits))

    @property
    def fastest(self) -> _Point:
        return max(self.points, key=lambda point: point.flops_per_s)

    @property
    def keeps(self) -> _Point:
        """The lowest limit that keeps KEPT of the highest rate."""
        return next(point for point in self.points if point.flops_per_s >= KEPT * self.fastest.flops_per_s)

    @property
    def near_keeps(self) -> Range:
        """From the lowest limit that may keep KEPT of the highest rate, by the intervals of both, to the lowest that certainly does."""
        low, high = self.fastest.rates
        may = next(point for point in self.points if point.rates[1] >= KEPT * low)
        does = next(point for point in self.points if point is self.fastest or point.rates[0] >= KEPT * high)
        return self._range(self.keeps, may.limit_w, does.limit_w, up=False)

    def _range(self, found: _Point, low: float, high: float, up: bool = True) -> Range:
        """The range of a limit from `low` to `high`, which has no end where no limit beyond it was tried."""
        lowest, highest = self.points[0].limit_w, self.points[-1].limit_w
        beyond = "below" if found.limit_w == lowest else "above" if up and found.limit_w == highest else None
        return Range(None if low == lowest else low, None if up and high == highest else high, beyond)


def _limit_of(run: Run, device: str) -> float:
    """The power limit of a device. Raises CommandError."""
    limit = device_entries(run.environment).get(device, {}).get(_LIMIT)
    if type(limit) not in (int, float) or not limit > 0:
        raise CommandError(f"{clean(str(run.folder))}: {device} has no power limit; allowed: runs of a GPU whose driver reports it")
    return float(limit)


def _rate(row: Row, time_s: Optional[float]) -> float:
    """FLOP/s at an end of the interval of the time; by the median without one."""
    return row.flops / time_s if time_s else row.flops_per_s or 0.0


def _point_of(row: Row, limit_w: float) -> Optional[_Point]:
    """The point of a row; None if its rate or its energy is unknown, or if it paused, as a burst does.

    Raises CommandError if the energy is not that of the power and the rate.
    """
    joules, power = row.reading("energy_per_flop_j"), row.reading("power_w")
    if row.status != "ok" or row.burst or not row.flops_per_s or joules is None or power is None:
        return None
    right = power / row.flops_per_s
    if abs(joules - right) > _DOUBTED * right:
        raise CommandError(f"{clean(row.id)}: energy_per_flop_j is {joules:g}, but power_w and the rate give {right:g}; allowed: a "
                           f"difference of up to {_DOUBTED:.0%}", ROW_FAILED)
    rates = _rate(row, row.time_ci_high_s), _rate(row, row.time_ci_low_s)
    return _Point(limit_w, row.flops_per_s, rates, power, 1 / joules, _NORMAL * (row.reading("power_error_w") or 0.0) / power)


def _require_comparable(runs: list[Run]) -> list[str]:
    """Notes on differences that change no result. Raises CommandError unless runs are whole, and comparable but for the limit."""
    require_finished(runs)
    notes = []
    for run in runs[1:]:
        hard, soft = differences(runs[0].environment, run.environment, [_LIMIT])
        names = f"{clean(str(runs[0].folder))} and {clean(str(run.folder))}"
        if hard:
            raise CommandError(f"{names} must not be compared: {'; '.join(map(short, hard))}", INCOMPARABLE)
        notes += [f"{names}: {short(one)}" for one in soft if not short(one).startswith(_LIMIT)]
    return notes


def curves(runs: list[Run]) -> tuple[list[Curve], list[str]]:
    """The rows that at least two limits have, by id, the most FLOP per joule first; and notes. Raises CommandError.

    Of two runs at one limit the one with more FLOP/s counts for a row.
    """
    notes = _require_comparable(runs)
    found: dict[str, dict[float, _Point]] = {}
    for run in runs:
        for row in run.by_id.values():
            if point := _point_of(row, _limit_of(run, row.device)) if row.device != "cpu" else None:
                at_limits = found.setdefault(row.id, {})
                other = at_limits.get(point.limit_w)
                at_limits[point.limit_w] = point if other is None or point.flops_per_s > other.flops_per_s else other
    several = [Curve(name, [points[limit] for limit in sorted(points)]) for name, points in found.items() if len(points) > 1]
    if not several:
        limits = sorted({limit for points in found.values() for limit in points})
        shown = ", ".join(f"{limit:g} W" for limit in limits) or "no row with a power"
        raise CommandError(f"the runs have {shown}; allowed: rows with a rate and a power at two limits or more")
    return sorted(several, key=lambda curve: -curve.best.flops_per_joule), notes
