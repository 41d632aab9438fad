"""Clock, power and energy of what keeps one unit of a GPU busy."""

from typing import Any

from ridgebench.base.printers import html_table
from ridgebench.base.units import digits
from ridgebench.data.records import Row, shape_text
from ridgebench.data.view import View
from ridgebench.figures.page.power import watts

from .cells import text


def _energy(row: Row, power: float) -> str:
    """The energy of what a ceiling counts, by its power: picojoules per byte, FLOP or result."""
    if row.saturates in ("memory", "cache"):
        work, unit = row.bytes_per_s, "B"
    else:
        work, unit = row.flops_per_s, "FLOP" if row.saturates in ("fma", "tensor") else "result"
    return f"{digits(power / work * 1e12)} pJ/{unit}" if work else ""


def settling(row: Row) -> str:
    """How long power and clock took to settle from the start of the load."""
    load = row.telemetry.get("load")
    if not isinstance(load, dict) or not load.get("time_s"):
        return ""
    settle = load.get("settle_s")
    return f"not in {digits(load['time_s'][-1])} s" if settle is None else f"{digits(settle)} s"


def _temperature(reading: Any) -> str:
    """'39 °C' of a reading, or of the summary of several; empty if there is none."""
    value = reading.get("median") if isinstance(reading, dict) else reading
    return f"{digits(value)} °C" if type(value) in (int, float) else ""


def _power_line(row: Row) -> tuple[str, ...]:
    power = watts(row)
    what = (f"{row.op} {row.technique}", row.saturates or "", row.format, shape_text(row.shape))
    more = row.nvml_clock_excess_hz
    held = (f"{row.clock_hz / 1e9:.3f} GHz", "" if more is None else f"{more / 1e6:+.0f} MHz", f"{digits(power)} W",
            _temperature(row.telemetry.get("temperature_c")))
    return (*what, *held, _energy(row, power), settling(row))


def _idle_line(view: View) -> tuple[str, ...]:
    """Readings of the device before the first row, when no kernel ran."""
    clock, power = view.before.get("sm_clock_hz"), view.before.get("power_w")
    held = (f"{clock / 1e9:.3f} GHz" if clock else "", "", f"{digits(power)} W" if power else "")
    return ("idle, before the run", "", "", "", *held, _temperature(view.before.get("temperature_c")), "", "")


def clock_and_power(view: View) -> str:
    """Clock and power of each unit while it is busy: all ceilings, also those that are not roofs."""
    found = [_power_line(row) for row in view.verified_ceilings if row.clock_hz and watts(row)]
    if not found:
        return ""
    head = ("Ceiling", "Saturates", "Format", "Shape", "Clock", "NVML beyond it", "Power", "Temperature", "Energy", "Settles")
    idle = _idle_line(view)
    lines = [map(text, cells) for cells in [idle] * any(idle[1:]) + found]
    return f"<h3>Clock and power by unit</h3>{html_table(head, lines)}"
