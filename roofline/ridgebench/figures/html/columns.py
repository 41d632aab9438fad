"""The columns of the table, and the names of its rows; the card of a point shows the same cells."""

from dataclasses import dataclass
from typing import Callable, Optional

from ridgebench.base.text import cut
from ridgebench.base.units import digits, percent, rate, seconds
from ridgebench.data.judged import RAISED
from ridgebench.data.records import Row, shape_text
from ridgebench.data.view import View
from ridgebench.figures.page.finding import share
from ridgebench.figures.page.panel import share_text
from ridgebench.figures.page.runs import LIMITS

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
    breaks: bool = False  # a long name goes on below after _ or /
    whole: str = ""  # the name in the card, where the head is short


def name_of(row: Row) -> str:
    return f"{row.op} {row.technique} {row.format} {cut(shape_text(row.shape))} {row.regime}"


def _percent_text(part: Optional[float]) -> str:
    return NONE if part is None else f"{percent(part)} %"


def _roof_text(row: Row, view: View) -> str:
    """The share of the measured roof, marked as in the figures: ~ the roof moved, ↑ the row raised it."""
    text = share_text(row, view)
    return text if share(row) is None else text.rstrip(RAISED) + " %" + RAISED * text.endswith(RAISED)


def ratio_text(row: Row, view: View) -> str:
    """The first ratio of a row, for the name of its point."""
    if row.external:
        return "measured by another tool, not verified"
    return f"{_roof_text(row, view)} of the measured roof" if share(row) is not None else "no measured roof"


def _around(low: Optional[float], high: Optional[float], median: Optional[float]) -> str:
    """'−0.12 to +0.30 %': bounds of a time relative to its median."""
    if not (low and high and median):
        return NONE
    return f"{100 * (low / median - 1):+.2f} to {100 * (high / median - 1):+.2f} %".replace("-", "−")


def _limiter(row: Row, view: View) -> str:
    return dict(LIMITS).get(row.bound, row.bound) or NONE


def roofs_text(row: Row, view: View) -> str:
    """The roofs that judge a row, each with the ceiling that measured it, and why one is lacking."""
    roof = row.roof or {}
    sides = (("flops_per_s", "FLOP/s", "compute_ceiling"), ("bytes_per_s", "B/s", "memory_ceiling"))
    known = [side for side in sides if roof.get(side[0])]
    parts = [f"{rate(roof[key], unit)} ({str(roof[ceiling]).split('/', 1)[0]})" for key, unit, ceiling in known]
    return ", ".join([*parts, *filter(None, [row.roof_unknown])]) or NONE


def _value_of(key: str) -> Callable[[Row], Optional[float]]:
    return lambda row: getattr(row, key)


def _rated(key: str, unit: str) -> Callable[[Row, View], str]:
    return lambda row, view: rate(getattr(row, key), unit) if getattr(row, key) else NONE


def _early(row: Row) -> str:
    """Says if the steady launches of a row may overlap, which makes each of them look shorter than a single one."""
    if row.early and row.regime == "steady":
        return "launches may overlap"
    return f"unknown: {row.early_unknown}" if row.early_unknown else NONE


# Only where some row has them, as where `ridgebench counters` counted its traffic.
RARE = (
    Column("dram_bytes", "Counted bytes", lambda row, view: f"{row.dram_bytes:.4g}" if row.dram_bytes else NONE,
           _value_of("dram_bytes"), detail=True),
    Column("dram_over_model", "Counted/model",
           lambda row, view: digits(row.dram_over_model) if row.dram_over_model else NONE,
           _value_of("dram_over_model"), whole="Counted bytes of DRAM over the model's"),
    Column("choice", "Choice", lambda row, view: row.choice or NONE, detail=True, whole="Choice of the technique"),
    Column("loaded_from", "From file", lambda row, view: row.loaded_from or NONE, detail=True),
    Column("held_back_by", "Held back by", lambda row, view: row.held_back_by or NONE, detail=True),
    Column("early_unknown", "Early start", lambda row, view: _early(row), detail=True),
)
# A narrow window shows the first ones: what the row is, its time and its rate.
COLUMNS = (
    Column("op", "Operation", lambda row, view: row.op, breaks=True),
    Column("technique", "Technique", lambda row, view: row.technique, breaks=True),
    Column("format", "Format", lambda row, view: row.format, breaks=True),
    Column("time_median_s", "Time", lambda row, view: seconds(row.time_median_s) if row.time_median_s else NONE,
           _value_of("time_median_s")),
    Column("flops_per_s", "Achieved", _rated("flops_per_s", "FLOP/s"), _value_of("flops_per_s")),
    Column("fraction_of_measured_roof", "Of roof", _roof_text, _value_of("fraction_of_measured_roof"),
           whole="Of measured roof"),
    Column("shape", "Shape", lambda row, view: shape_text(row.shape), breaks=True),
    Column("regime", "Regime", lambda row, view: row.regime),
    Column("fraction_of_roof_at_clock", "At clock", lambda row, view: _percent_text(row.fraction_of_roof_at_clock),
           _value_of("fraction_of_roof_at_clock"), whole="Of roof at clock"),
    Column("mfu", "MFU", lambda row, view: _percent_text(row.mfu), _value_of("mfu")),
    Column("bound", "Limiter", _limiter),
    Column("samples", "Samples", lambda row, view: NONE if row.turns is None else str(row.turns), _value_of("turns")),
    Column("bytes_per_s", "Traffic", _rated("bytes_per_s", "B/s"), _value_of("bytes_per_s")),
    Column("intensity_flop_per_byte", "FLOP/byte",
           lambda row, view: digits(row.intensity_flop_per_byte) if row.intensity_flop_per_byte else NONE,
           _value_of("intensity_flop_per_byte")),
    *RARE,
    Column("kind", "Implementation", lambda row, view: kind(row), detail=True),
    Column("arithmetic", "Arithmetic", lambda row, view: f"{row.arithmetic}, summed in {row.accumulator}", detail=True),
    Column("interval", "95 % interval",
           lambda row, view: _around(row.time_ci_low_s, row.time_ci_high_s, row.time_median_s), detail=True),
    Column("spread", "p10 to p90",
           lambda row, view: _around(row.time_p10_s, row.time_p90_s, row.time_median_s), detail=True),
    Column("roofs", "Judged by", roofs_text, detail=True),
    Column("flags", "Remarks", lambda row, view: ", ".join(row.flags).replace("_", " ") or "none", detail=True),
    Column("id", "Row", lambda row, view: row.id, detail=True),
)
