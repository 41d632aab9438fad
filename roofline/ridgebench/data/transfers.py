"""The copies over a device's links, beside the time in which its memory takes as many bytes from a kernel."""

from typing import Optional

from ridgebench.base.units import digits, rate, seconds

from .records import Row
from .view import View

_TO_DEVICE = "copy_to_device"
_DIRECTIONS = {_TO_DEVICE: "to the device", "copy_to_host": "to the host", "copy_to_peer": "to a peer"}
HEAD = ("Copy", "Technique", "Bytes", "Rate of the link", "Time", "Time to create them", "Times as long")


def _writing(view: View) -> Optional[Row]:
    """The ceiling of the memory whose traffic is nearest to writes only, as roofline/roofs.cpp chooses it; None without one."""
    found = [row for row in view.ceilings if row.saturates == "memory" and row.bytes_per_s]
    return min(found, key=lambda row: (abs(row.written_fraction - 1), -(row.bytes_per_s or 0)), default=None)


def transfers(view: View) -> list[tuple[Row, Optional[float]]]:
    """The largest verified copy of each direction and technique, and the seconds in which a kernel creates as many bytes.

    Copies both ways at once are left out. As in `plan transfer`, only a copy to the device has seconds, and none without a ceiling of the memory.
    """
    copies = [row for row in view.verified_ceilings if row.op in _DIRECTIONS and row.regime == "steady" and row.bytes_per_s]
    largest = {(row.op, row.technique): row for row in sorted(copies, key=lambda row: row.bytes)}
    memory = _writing(view)
    per_s = (memory.bytes_per_s or 0) * memory.raised if memory else None
    order = list(_DIRECTIONS)
    ordered = sorted(largest.values(), key=lambda row: order.index(row.op))
    return [(row, row.bytes / per_s if per_s and row.op == _TO_DEVICE else None) for row in ordered]


def note(view: View) -> str:
    """The sentence on the columns of the creation; empty without a ceiling of the memory."""
    memory = _writing(view)
    what = "A kernel that creates the bytes on the device only writes them: its time is by the rate of"
    return f"{what} {memory.op}, the measured ceiling of the memory that is nearest to writes only." if memory else ""


def cells(view: View) -> list[tuple[str, ...]]:
    """A line of HEAD for each of them."""
    return [
        (_DIRECTIONS[row.op], row.technique, rate(row.bytes, "B"), rate(row.bytes_per_s or 0, "B/s"), seconds(row.time_median_s or 0),
         seconds(creation) if creation else "", digits((row.time_median_s or 0) / creation) if creation else "")
        for row, creation in transfers(view)
    ]  # fmt: skip
