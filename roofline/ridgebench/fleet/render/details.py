"""Facts about the flagged GPUs, as lines of a table: Markdown and HTML show the same."""

import math
from typing import NamedTuple, Optional

from ridgebench.base import units
from ridgebench.base.units import digits
from ridgebench.fleet.findings import name_of
from ridgebench.fleet.gpu import Reading
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.matrix import PASSES
from ridgebench.fleet.states import Mark, Verdict

UNKNOWN = "–"
HEAD = ("GPU", "row", "value", "of median", "of data sheet", "z", "clock", "temperature", "power", "clock events",
        "loaded / isolated")  # fmt: skip


class _Detail(NamedTuple):
    """A flagged GPU in its lowest row; texts with units, UNKNOWN where nothing is known."""

    where: str
    row: str
    value: str
    ratio: str
    sheet: str
    z: str
    clock: str
    celsius: str
    watts: str
    events: str
    loaded: str


def rate(value: float, unit: str) -> str:
    """A rate with its unit: 4.6 TB/s, 64 TFLOP/s."""
    return units.rate(value, "B/s" if unit == "byte/s" else unit)


def share(value: float) -> str:
    return UNKNOWN if math.isnan(value) else f"{100 * value:.1f} %"


def _loaded_over_isolated(verdict: Verdict, row: str) -> str:
    both = [verdict.gpu.readings.get((name, row)) for name in PASSES]
    rates = [reading.rate for reading in both if reading is not None and reading.rate]
    return f"{rates[1] / rates[0]:.3f}" if len(rates) == 2 else UNKNOWN


def _with_unit(value: Optional[float], unit: str) -> str:
    return UNKNOWN if value is None else f"{value:.0f} {unit}"


def _detail(assessment: Assessment, verdict: Verdict, mark: Mark) -> _Detail:
    column = assessment.columns[mark.column]
    reading: Reading = verdict.gpu.readings[column.pass_, column.row]
    return _Detail(
        where=f"{verdict.gpu.node} GPU {name_of(verdict.gpu.index)}",
        row=column.name,
        value=rate(reading.rate, column.unit) if reading.rate else UNKNOWN,
        ratio=share(mark.ratio) + " per clock" * column.per_clock,
        sheet=share(mark.sheet),
        z=UNKNOWN if math.isnan(mark.z) else f"{mark.z:.1f}".replace("-", "−"),
        clock=f"{digits(reading.clock_hz / 1e9)} GHz" if reading.clock_hz else UNKNOWN,
        celsius=_with_unit(reading.celsius, "°C"),
        watts=_with_unit(reading.watts, "W"),
        events=", ".join(reading.events) or "none",
        loaded=_loaded_over_isolated(verdict, column.row),
    )


SOAK_HEAD = ("GPU", "state", "minutes", "compared", "kernel or pattern", "mismatches", "wrong bits", "SM", "phases", "folder")


def soak_lines(assessment: Assessment) -> list[tuple[str, ...]]:
    """A line for each soak, and for each kernel or pattern of it with wrong bits."""
    lines = []
    for soak in assessment.soaks:
        minutes = UNKNOWN if soak.elapsed_s is None or soak.planned_s is None else f"{soak.elapsed_s / 60:.3g} of {soak.planned_s / 60:.3g}"
        size = UNKNOWN if soak.bytes is None else units.rate(soak.bytes, "B")
        head = (f"{soak.node} {soak.device}", soak.state, minutes, size)
        for one in soak.errors:
            phases = ", ".join(f"{name} {number:,}" for name, number in one.phases)
            wrong_units = ", ".join(map(str, one.units)) or UNKNOWN
            lines.append((*head, one.id, f"{one.mismatches:,}", f"{one.bits:,}", wrong_units, phases or UNKNOWN, soak.folder))
        if not soak.errors:
            lines.append((*head, "", *("0" if soak.bytes is not None else UNKNOWN,) * 2, "", "", soak.folder))
    return lines


def details(assessment: Assessment, most: int) -> list[_Detail]:
    """The slow and the fast GPUs, lowest first, at most `most`."""
    marked = [(verdict, verdict.slow[0]) for verdict in assessment.verdicts if verdict.slow]
    marked.sort(key=lambda item: (item[1].ratio, item[0].gpu.node, item[0].gpu.index or 0))
    return [_detail(assessment, verdict, one) for verdict, one in marked[:most]]
