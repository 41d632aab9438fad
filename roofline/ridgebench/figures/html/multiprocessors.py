"""The time that each multiprocessor of a GPU takes for the same work, and the odd ones among them."""

import math
from statistics import median
from typing import Any, Optional

from ridgebench.base.printers import html_table
from ridgebench.base.units import digits, seconds
from ridgebench.data.outlier_rule import FEWEST, FLOOR, LEAST_Z, NORMAL
from ridgebench.data.records import Row
from ridgebench.data.view import View

from .cells import text


def times_of(row: Row) -> dict[int, float]:
    """Seconds by the number of the multiprocessor; empty if the row has none."""
    found: Any = row.telemetry.get("unit_times_s")
    if not isinstance(found, list):
        return {}
    return {number: float(time) for number, time in enumerate(found)
            if type(time) in (int, float) and 0 < time < math.inf}


def slow(times: dict[int, float]) -> dict[int, float]:
    """The numbers of the slow ones, and the share by which the rate of each lies below the median's.

    Both limits must be exceeded: that of the modified z score, 0.6745 (x - median) / MAD, and the least loss.
    """
    if len(times) < FEWEST:
        return {}
    rates = {number: 1 / time for number, time in times.items()}
    middle = median(rates.values())
    spread = median(abs(rate - middle) for rate in rates.values())
    losses = {number: 1 - rate / middle for number, rate in rates.items()}
    return {number: loss for number, loss in losses.items()
            if loss > FLOOR and NORMAL * loss * middle > LEAST_Z * spread}


def _line(row: Row) -> Optional[tuple[str, ...]]:
    times = times_of(row)
    if not times:
        return None
    middle, (least, most) = median(times.values()), (min(times.values()), max(times.values()))
    apart = slow(times)
    named = ", ".join(f"SM {number} ({digits(100 * loss)} % slower)" for number, loss in apart.items())
    none = "none" if len(times) >= FEWEST else f"fewer than {FEWEST}"
    slowest = max(times, key=lambda number: times[number])
    spread = f"{100 * (least / middle - 1):+.2f} to {100 * (most / middle - 1):+.2f} %"
    return (f"{row.op} {row.technique}", str(len(times)), seconds(middle), spread, f"SM {slowest}", named or none)


def multiprocessors(view: View) -> str:
    """The spread of the multiprocessors, and those that are slow; empty if none was timed by itself."""
    lines = [found for row in view.verified_ceilings if (found := _line(row))]
    if not lines:
        return ""
    head = ("Ceiling", "Timed", "Median", "Spread", "Slowest", "Outliers")
    return f"<h3>Multiprocessors</h3>{html_table(head, [map(text, cells) for cells in lines])}"
