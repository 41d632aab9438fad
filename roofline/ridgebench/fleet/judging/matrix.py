"""The readings of a fleet as arrays: a line for each GPU, a column for each row of a pass; and which GPUs are peers."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ridgebench.base.text import short
from ridgebench.data.data_sheets import Sheet, sheet_if_known
from ridgebench.judge.comparable import HARD, HARD_OF_DEVICE, VARIABLES, against
from ridgebench.judge.judge import EXTERNAL_EVENTS

from . import outlier
from ..gpu import Gpu, Reading

KEYS = (*HARD_OF_DEVICE, VARIABLES, *HARD)  # of Gpu.facts, in the order in which a difference is named
_POWER_CAP = "sw_power_cap"
PASSES = ("isolated", "loaded")  # in this order; others follow
# Rows whose rate is a share of what the data sheet promises. The first ones measure nothing but that.
_OF_BANDWIDTH = "dram_"
_OF_PEAK = ("fma_peak", "tensor_peak", "wgmma_peak", "matmul")
_CEILINGS = (_OF_BANDWIDTH, *_OF_PEAK[:3])


class Column(NamedTuple):
    """A row of a pass. per_clock: the power limit held most GPUs, so that the row is judged in cycles."""

    pass_: str
    row: str
    label: str  # the row without its shape, where that is clear
    unit: str
    per_clock: bool

    @property
    def name(self) -> str:
        return f"{self.label} ({self.pass_})"


@dataclass(frozen=True)
class Group:
    """GPUs that may be compared. members: indexes of GPUs; differs: from the fleet, in these keys."""

    key: tuple
    members: np.ndarray
    differs: tuple[str, ...]
    columns: Optional[outlier.Columns] = None  # None: too few to judge, and not the fleet


@dataclass(frozen=True)
class Matrix:
    """rates and values: [GPU, column]; NaN without a verified reading of a usable GPU."""

    columns: list[Column]
    rates: np.ndarray  # as measured, in the unit of the column
    values: np.ndarray  # as judged: that, or launches per clock cycle
    heat: dict[int, tuple[str, ...]]  # GPU: the events that say that heat or hardware lowered its clock


def _pass_order(name: str) -> tuple[int, str]:
    return (PASSES.index(name) if name in PASSES else len(PASSES), name)


def _per_cycle(reading: Reading) -> float:
    """Launches per clock cycle; NaN without a clock."""
    cycles = reading.cycles
    if not cycles and reading.seconds and reading.clock_hz:
        cycles = reading.seconds * reading.clock_hz
    return 1 / cycles if cycles else float("nan")


def _rate_of(reading: Reading) -> float:
    if reading.rate:
        return reading.rate
    return 1 / reading.seconds if reading.seconds else float("nan")


def _find_columns(gpus: list[Gpu]) -> list[Column]:
    """The columns of these GPUs: those at the power limit last, else by name, passes beside each other."""
    units: dict[tuple[str, str], str] = {}
    counts: dict[tuple[str, str], list[int]] = {}
    for gpu in gpus:
        for key, reading in gpu.readings.items():
            if reading.status == "ok":
                units.setdefault(key, reading.unit if reading.rate else "launches/s")
                seen = counts.setdefault(key, [0, 0])
                seen[0] += 1
                seen[1] += _POWER_CAP in reading.events and (reading.cycles or reading.clock_hz) is not None
    capped = {key: 2 * limited > seen for key, (seen, limited) in counts.items()}
    order = sorted(units, key=lambda key: (capped[key], key[1], _pass_order(key[0])))
    names = _labels({row for _, row in units})
    return [Column(*key, names[key[1]], units[key], capped[key]) for key in order]


def _labels(rows: set[str]) -> dict[str, str]:
    """Rows as operation/technique/format; where two agree in these, as they are."""
    short = {row: "/".join(row.split("/")[:3]) for row in rows}
    once = Counter(short.values())
    return {row: label if once[label] == 1 else row for row, label in short.items()}


def line_of(gpu: Gpu, columns: dict[tuple[str, str], tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Rates and values of a GPU, one for each column."""
    rates, values = np.full(len(columns), np.nan), np.full(len(columns), np.nan)
    for key, reading in gpu.readings.items():
        place = columns.get(key)
        if place is not None and reading.status == "ok":
            rates[place[0]] = _rate_of(reading)
            values[place[0]] = _per_cycle(reading) if place[1] else rates[place[0]]
    return rates, values


def places(columns: list[Column]) -> dict[tuple[str, str], tuple[int, bool]]:
    return {(column.pass_, column.row): (index, column.per_clock) for index, column in enumerate(columns)}


def make_matrix(gpus: list[Gpu], usable: list[int]) -> Matrix:
    """The readings of the usable ones; the lines of the others are empty."""
    columns = _find_columns([gpus[index] for index in usable])
    where = places(columns)
    rates, values = np.full((len(gpus), len(columns)), np.nan), np.full((len(gpus), len(columns)), np.nan)
    heat: dict[int, tuple[str, ...]] = {}
    for index in usable:
        gpu = gpus[index]
        rates[index], values[index] = line_of(gpu, where)
        found = {event for reading in gpu.readings.values() for event in reading.events if event in EXTERNAL_EVENTS}
        if found:
            heat[index] = tuple(sorted(found))
    return Matrix(columns, rates, values, heat)


def _key_of(gpu: Gpu) -> tuple:
    """The values that must agree, in the order of comparable.py."""
    return tuple(gpu.facts.get(key) for key in KEYS)


def _differing(key: tuple, other: tuple) -> tuple[str, ...]:
    """'driver: 570 against 580': the first value is this one's, the second the fleet's."""
    named = ((name, unfrozen(a), unfrozen(b)) for name, a, b in zip(KEYS, key, other) if a != b)
    return tuple(short(against(name, a, b)) for name, a, b in named)


def unfrozen(value: Any) -> Any:
    """An object of JSON again, where a tuple of pairs stands for one."""
    pairs = isinstance(value, tuple) and all(isinstance(item, tuple) and len(item) == 2 for item in value)
    return dict(value) if pairs else value


def peers(gpus: list[Gpu], usable: list[int]) -> list[Group]:
    """The groups of comparable GPUs, the largest, which is the fleet, first."""
    known: dict[int, tuple] = {}  # GPUs that agree share their facts
    members: dict[tuple, list[int]] = {}
    for index in usable:
        facts = gpus[index].facts
        key = known.get(id(facts)) or known.setdefault(id(facts), _key_of(gpus[index]))
        members.setdefault(key, []).append(index)
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[1][0]))
    return [Group(key, np.array(indexes), _differing(key, ordered[0][0])) for key, indexes in ordered]


def sheet_of(gpu: Gpu) -> Optional[Sheet]:
    name = gpu.facts.get("data_sheet")
    return sheet_if_known(name) if isinstance(name, str) and name else None


def promised(column: Column, sheet: Optional[Sheet]) -> float:
    """The data sheet's rate for the row of a column; NaN if it has none."""
    op, _, format_ = (column.row.split("/") + ["", ""])[:3]
    if sheet is None:
        return float("nan")
    if op.startswith(_OF_BANDWIDTH) and column.unit == "byte/s":
        return sheet.bytes_per_s
    fits = op in _OF_PEAK and column.unit == "FLOP/s" and (op != "fma_peak" or format_ == "fp32")
    return sheet.peaks[format_][1] if fits and format_ in sheet.peaks else float("nan")


def is_ceiling(column: Column) -> bool:
    return column.row.startswith(_CEILINGS)
