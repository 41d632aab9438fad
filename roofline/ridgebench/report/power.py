"""Clock, power and energy of what keeps one unit of a GPU busy."""

from ridgebench.plot.power import watts
from ridgebench.records import Row, shape_text
from ridgebench.units import digits
from ridgebench.view import View

from .cells import table, text


def energy(row: Row, power: float) -> str:
    """The energy of what a ceiling counts, by its power: picojoules per byte, FLOP or result."""
    if row.saturates in ("memory", "cache"):
        work, unit = row.bytes_per_s, "B"
    else:
        work, unit = row.flops_per_s, "FLOP" if row.saturates in ("fma", "tensor") else "result"
    return f"{digits(power / work * 1e12)} pJ/{unit}" if work else ""


def power_line(row: Row) -> tuple[str, ...]:
    power = watts(row)
    what = (f"{row.op} {row.technique}", row.saturates or "", row.format, shape_text(row.shape))
    return (*what, f"{row.clock_hz / 1e9:.3f} GHz", f"{digits(power)} W", energy(row, power))


def clock_and_power(view: View) -> str:
    """What each unit holds while it is busy: all ceilings, those that are no roof among them."""
    ceilings = [row for row in view.rows if row.role == "ceiling" and row.status == "ok"]
    found = [map(text, power_line(row)) for row in ceilings if row.clock_hz and watts(row)]
    if not found:
        return ""
    head = ("Ceiling", "Saturates", "Format", "Shape", "Clock", "Power", "Energy")
    return f"<h3>Clock and power by unit</h3>{table(head, found)}"
