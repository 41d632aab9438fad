"""Two stored runs side by side, also of two devices: what was measured where, and no verdict."""

from typing import Optional

from ridgebench.base.printers import aligned
from ridgebench.base.text import clean, cut, short
from ridgebench.base.units import counted, digits, rate, seconds
from ridgebench.data.doubts import cached, only_by_caches
from ridgebench.data.power_states import differ
from ridgebench.data.records import Row, Run

from .comparable import LONGEST_VALUE, differences
from .consistent import notes_on
from .report import NOT_COMPARABLE

_LEAST_TIME = 1e-15  # seconds; a run holds none


def _cell(row: Optional[Row]) -> str:
    """Rate and time of a row, or why it has none."""
    if row is None:
        return "no such row"
    if row.status != "ok":
        return cut(f"{row.status}: {row.reason}", LONGEST_VALUE)
    moves = row.bound == "memory" or row.saturates in ("memory", "cache") or not row.flops_per_s
    unit, value = ("B/s", row.bytes_per_s) if moves else ("FLOP/s", row.flops_per_s)
    return f"{rate(value, unit)}, {seconds(row.time_median_s)}" if value else seconds(row.time_median_s)


def _ratio(one: Optional[Row], other: Optional[Row]) -> str:
    """How many times as fast the second run was, or why that is not said."""
    if one is None or other is None or "ok" not in (one.status, other.status) or one.status != other.status:
        return ""
    if min(one.time_median_s, other.time_median_s) < _LEAST_TIME:
        return ""
    if cached(one) != cached(other):
        return f"{NOT_COMPARABLE}: {only_by_caches('the first' if cached(one) else 'the second')}"
    states = differ([one.power_state, other.power_state])
    return f"{digits(one.time_median_s / other.time_median_s)} x" + (f", {states}" if states else "")


def _by_name(run: Run) -> dict[str, Row]:
    """Rows by id; without the device, where the run has only one: another run's device may have another name."""
    if len(run.environment["devices"]) > 1:
        return run.by_id
    return {row.case: row for row in run.by_id.values()}


def _model(run: Run) -> str:
    return ", ".join(f"{device['model'] or 'unknown'} ({device['name']})" for device in run.environment["devices"])


def side_by_side(first: Run, second: Run) -> str:
    """The text of both runs: devices, rows, and the keys of the environments that differ."""
    one, other = (_by_name(run) for run in (first, second))
    both = {key: (one.get(key), other.get(key)) for key in sorted(one | other)}
    shown = {key: rows for key, rows in both.items() if any(row and row.status != "skipped" for row in rows)}
    table = [["row", "first", "second", "second over first"]]
    table += [[key, _cell(a), _cell(b), _ratio(a, b)] for key, (a, b) in shown.items()]
    sides = (("first:  ", first), ("second: ", second))
    lines = [f"{side}{clean(str(run.folder))}, {_model(run)}" for side, run in sides]
    if len(both) > len(shown):
        table.append([f"... {counted(len(both) - len(shown), 'more row')}, which no side measured", "", "", ""])
    hard, soft = differences(first.environment, second.environment, [])
    notes = [f"Note: {clean(note)}" for note in notes_on(first, second, ("first", "second"))]
    return "\n".join([*lines, *aligned(table), "Not a verdict.", *notes, *(f"Differs: {clean(short(d))}" for d in hard + soft)]) + "\n"
