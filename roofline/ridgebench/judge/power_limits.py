"""Runs of one device at several power limits: the limit with the most FLOP per joule, and the lowest that keeps the speed."""

from dataclasses import dataclass
from math import hypot
from typing import Any, Optional

from ridgebench.base.errors import CommandError
from ridgebench.base.text import clean
from ridgebench.data.records import Row, Run

KEPT = 0.95  # of the highest rate: the speed that the second limit keeps
_NORMAL = 1.96  # half of a 95 % interval, in standard errors


@dataclass(frozen=True)
class _Point:
    """A row at one power limit."""

    limit_w: float
    flops_per_s: float
    power_w: float
    error: float  # half of the 95 % interval of FLOP per joule, as a share

    @property
    def flops_per_joule(self) -> float:
        return self.flops_per_s / self.power_w

    @property
    def interval(self) -> tuple[float, float]:
        """FLOP per joule, 95 %: the errors of time and of power are independent."""
        return self.flops_per_joule * (1 - self.error), self.flops_per_joule * (1 + self.error)


@dataclass(frozen=True)
class Curve:
    """A row over power limits, from the lowest on."""

    name: str
    points: list[_Point]

    @property
    def best(self) -> _Point:
        """The point with the most FLOP per joule: the knee."""
        return max(self.points, key=lambda point: point.flops_per_joule)

    @property
    def near_best(self) -> tuple[float, float]:
        """The lowest and the highest limit whose interval reaches that of the best point."""
        least = self.best.interval[0]
        limits = [point.limit_w for point in self.points if point.interval[1] >= least]
        return min(limits), max(limits)

    @property
    def keeps(self) -> _Point:
        """The lowest limit that keeps KEPT of the highest rate."""
        most = max(point.flops_per_s for point in self.points)
        return next(point for point in self.points if point.flops_per_s >= KEPT * most)


def _number(value: Any) -> Optional[float]:
    return float(value) if type(value) in (int, float) and value > 0 else None


def _limit_of(run: Run, device: str) -> float:
    """The power limit of a device. Raises CommandError."""
    found = next((one for one in run.environment["devices"] if one["name"] == device), {})
    limit = _number(found.get("power_limit_w"))
    if limit is None:
        raise CommandError(f"{clean(str(run.folder))}: {device} has no power limit; allowed: runs of a GPU whose driver reports it")
    return limit


def _point_of(row: Row, limit_w: float) -> Optional[_Point]:
    """The point of a row; None if its rate or its power is unknown, or if it paused, as a burst does."""
    window = row.telemetry.get("window")
    power = _number(window.get("power_w")) if isinstance(window, dict) else None
    if row.status != "ok" or row.burst or not row.flops_per_s or power is None or not _number(window.get("energy_j")):
        return None
    low, high = row.time_ci_low_s, row.time_ci_high_s
    of_time = (high - low) / 2 / row.time_median_s if low and high and row.time_median_s else 0.0
    return _Point(limit_w, row.flops_per_s, power, hypot(of_time, _NORMAL * (_number(window.get("power_error_w")) or 0.0) / power))


def _check(runs: list[Run]) -> None:
    """Raises CommandError unless the runs are of one model, each whole, and of two limits or more."""
    models = sorted({str(device["model"]) for run in runs for device in run.environment["devices"] if device["backend"] != "cpu"})
    if len(models) != 1:
        raise CommandError(f"the runs are of {', '.join(map(clean, models)) or 'no GPU'}; allowed: runs of one model")
    for run in runs:
        if run.environment.get("interrupted") or run.torn:
            raise CommandError(f"{clean(str(run.folder))}: the run did not end; allowed: whole runs")


def curves(runs: list[Run]) -> list[Curve]:
    """The rows that at least two limits have, by id, the most FLOP per joule first. Raises CommandError.

    Of two runs at one limit the one with more FLOP/s counts for a row.
    """
    _check(runs)
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
    return sorted(several, key=lambda curve: -curve.best.flops_per_joule)
