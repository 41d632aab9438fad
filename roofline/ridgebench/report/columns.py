"""The columns of the table, and the names of its rows; the card of a point shows the same cells."""

from dataclasses import dataclass
from typing import Callable, Optional

from ridgebench.plot.cli import cut
from ridgebench.plot.finding import share
from ridgebench.plot.panel import share_text
from ridgebench.plot.runs import LIMITS
from ridgebench.records import Row, shape_text
from ridgebench.roofs import RAISED
from ridgebench.units import digits, percent, rate, seconds
from ridgebench.view import View

from .marks import kind

NONE = "–"


@dataclass(frozen=True)
class Column:
    """text: what a cell shows; value: what it is sorted by, None for a column of text. detail: only the card shows it.

    The reader left the number of samples in a row's `turns` (sources.load); a point of another tool has none.
    """

    key: str
    head: str
    text: Callable[[Row, View], str]
    value: Optional[Callable[[Row], Optional[float]]] = None
    detail: bool = False
    whole: str = ""  # the name in the card, where the head is short


def name_of(row: Row) -> str:
    return f"{row.op} {row.technique} {row.format} {cut(shape_text(row.shape))} {row.regime}"


def percent_text(part: Optional[float]) -> str:
    return NONE if part is None else f"{percent(part)} %"


def roof_text(row: Row, view: View) -> str:
    """The share of the measured roof, marked as in the figures: ~ the roof moved, ↑ the row raised it."""
    text = share_text(row, view)
    return text if share(row) is None else text.rstrip(RAISED) + " %" + RAISED * text.endswith(RAISED)


def ratio_text(row: Row, view: View) -> str:
    """The first ratio of a row, for the name of its point."""
    if row.external:
        return "measured by another tool, not verified"
    return f"{roof_text(row, view)} of the measured roof" if share(row) is not None else "no measured roof"


def interval(row: Row, view: View) -> str:
    if row.time_ci_low_s is None or row.time_ci_high_s is None:
        return NONE
    return f"{seconds(row.time_ci_low_s)} to {seconds(row.time_ci_high_s)}"


def spread(row: Row, view: View) -> str:
    if row.time_p10_s is None or row.time_p90_s is None:
        return NONE
    return f"{seconds(row.time_p10_s)} to {seconds(row.time_p90_s)}"


def limiter(row: Row, view: View) -> str:
    return dict(LIMITS).get(row.bound, row.bound) or NONE


def roofs_text(row: Row, view: View) -> str:
    """The roofs that judge a row, each with the ceiling that measured it."""
    roof = row.roof or {}
    sides = (("flops_per_s", "FLOP/s", "compute_ceiling"), ("bytes_per_s", "B/s", "memory_ceiling"))
    known = [side for side in sides if roof.get(side[0])]
    parts = [f"{rate(roof[key], unit)} ({str(roof[ceiling]).split('/', 1)[0]})" for key, unit, ceiling in known]
    return ", ".join(parts) or NONE


def value_of(key: str) -> Callable[[Row], Optional[float]]:
    return lambda row: getattr(row, key)


def rated(key: str, unit: str) -> Callable[[Row, View], str]:
    return lambda row, view: rate(getattr(row, key), unit) if getattr(row, key) else NONE


COLUMNS = (
    Column("op", "Operation", lambda row, view: row.op),
    Column("technique", "Technique", lambda row, view: row.technique),
    Column("format", "Format", lambda row, view: row.format),
    Column("shape", "Shape", lambda row, view: shape_text(row.shape)),
    Column("regime", "Regime", lambda row, view: row.regime),
    Column("time_median_s", "Time", lambda row, view: seconds(row.time_median_s) if row.time_median_s else NONE,
           value_of("time_median_s")),
    Column("flops_per_s", "Achieved", rated("flops_per_s", "FLOP/s"), value_of("flops_per_s")),
    Column("fraction_of_measured_roof", "Of roof", roof_text, value_of("fraction_of_measured_roof"),
           whole="Of measured roof"),
    Column("fraction_of_roof_at_clock", "At clock", lambda row, view: percent_text(row.fraction_of_roof_at_clock),
           value_of("fraction_of_roof_at_clock"), whole="Of roof at clock"),
    Column("mfu", "MFU", lambda row, view: percent_text(row.mfu), value_of("mfu")),
    Column("bound", "Limiter", limiter),
    Column("samples", "Samples", lambda row, view: NONE if row.turns is None else str(row.turns), value_of("turns")),
    Column("bytes_per_s", "Traffic", rated("bytes_per_s", "B/s"), value_of("bytes_per_s")),
    Column("intensity_flop_per_byte", "FLOP/byte",
           lambda row, view: digits(row.intensity_flop_per_byte) if row.intensity_flop_per_byte else NONE,
           value_of("intensity_flop_per_byte")),
    Column("dram_bytes", "Counted by Nsight",
           lambda row, view: f"{row.dram_bytes:.4g} bytes" if row.dram_bytes else NONE,
           value_of("dram_bytes"), detail=True),
    Column("kind", "Implementation", lambda row, view: kind(row), detail=True),
    Column("arithmetic", "Arithmetic", lambda row, view: f"{row.arithmetic}, summed in {row.accumulator}", detail=True),
    Column("interval", "95 % interval", interval, detail=True),
    Column("spread", "p10 to p90", spread, detail=True),
    Column("roofs", "Judged by", roofs_text, detail=True),
    Column("flags", "Remarks", lambda row, view: ", ".join(row.flags).replace("_", " ") or "none", detail=True),
    Column("id", "Row", lambda row, view: row.id, detail=True),
)
