"""The readings of a fleet as arrays, and each GPU against its peers, with the effects of whole nodes and shares of the data sheet.

An array has a line for each GPU and a column for each row of a pass. 'All GPUs of gn2 are 5 % slow' is one finding, not eight.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Optional

import numpy as np

from ridgebench.base.text import short
from ridgebench.data.data_sheets import Sheet, sheet_if_known
from ridgebench.judge.comparable import HARD, HARD_OF_DEVICE, VARIABLES, against
from ridgebench.judge.judge import EXTERNAL_EVENTS

from . import peers
from .gpu import Gpu, Reading

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
    """GPUs that may be compared. members: indexes of GPUs; differs: from the fleet, in these keys.

    by_caches: the columns that caches may have served on most members. Those on which it is otherwise are not compared there.
    """

    key: tuple
    members: np.ndarray
    differs: tuple[str, ...]
    by_caches: np.ndarray
    columns: Optional[peers.Columns] = None  # None: too few to judge, and not the fleet


@dataclass(frozen=True)
class Matrix:
    """rates, values, cached: [GPU, column]; NaN without a verified reading of a usable GPU."""

    columns: list[Column]
    rates: np.ndarray  # as measured, in the unit of the column
    values: np.ndarray  # as judged: that, or launches per clock cycle
    cached: np.ndarray  # True if caches may have served the reading
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


def line_of(gpu: Gpu, columns: dict[tuple[str, str], tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rates and values of a GPU, and which caches may have served, one for each column."""
    rates, values, cached = np.full(len(columns), np.nan), np.full(len(columns), np.nan), np.zeros(len(columns), bool)
    for key, reading in gpu.readings.items():
        place = columns.get(key)
        if place is not None and reading.status == "ok":
            rates[place[0]] = _rate_of(reading)
            values[place[0]] = _per_cycle(reading) if place[1] else rates[place[0]]
            cached[place[0]] = reading.cached
    return rates, values, cached


def places(columns: list[Column]) -> dict[tuple[str, str], tuple[int, bool]]:
    return {(column.pass_, column.row): (index, column.per_clock) for index, column in enumerate(columns)}


def make_matrix(gpus: list[Gpu], usable: list[int]) -> Matrix:
    """The readings of the usable ones; the lines of the others are empty."""
    columns = _find_columns([gpus[index] for index in usable])
    where = places(columns)
    shape = (len(gpus), len(columns))
    rates, values, cached = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool)
    heat: dict[int, tuple[str, ...]] = {}
    for index in usable:
        gpu = gpus[index]
        rates[index], values[index], cached[index] = line_of(gpu, where)
        found = {event for reading in gpu.readings.values() for event in reading.events if event in EXTERNAL_EVENTS}
        if found:
            heat[index] = tuple(sorted(found))
    return Matrix(columns, rates, values, cached, heat)


def alike(values: np.ndarray, cached: np.ndarray, group: Group) -> np.ndarray:
    """The values without those that memory served and caches most peers', or the reverse: NaN."""
    return np.where(cached == group.by_caches, values, np.nan)


def _key_of(gpu: Gpu) -> tuple:
    """The values that must agree, in the order of comparable.py."""
    return tuple(gpu.facts.get(key) for key in KEYS)


def _differing(key: tuple, other: tuple) -> tuple[str, ...]:
    """'driver: 570 against 580': the first value is this one's, the second the fleet's."""
    named = ((name, unfrozen(a), unfrozen(b)) for name, a, b in zip(KEYS, key, other) if a != b)
    return tuple(short(against(name, a, b)) for name, a, b in named)


def unfrozen(value: Any) -> Any:
    """An object of JSON again, where a tuple of pairs represents one."""
    pairs = isinstance(value, tuple) and all(isinstance(item, tuple) and len(item) == 2 for item in value)
    return dict(value) if pairs else value


def _peers_of(gpus: list[Gpu], matrix: Matrix, usable: list[int]) -> list[Group]:
    """The groups of comparable GPUs, the largest, which is the fleet, first."""
    known: dict[int, tuple] = {}  # GPUs that agree share their facts
    members: dict[tuple, list[int]] = {}
    for index in usable:
        facts = gpus[index].facts
        key = known.get(id(facts)) or known.setdefault(id(facts), _key_of(gpus[index]))
        members.setdefault(key, []).append(index)
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[1][0]))
    most = [2 * matrix.cached[m].sum(axis=0) > (~np.isnan(matrix.values[m])).sum(axis=0) for _, m in ordered]
    return [Group(key, np.array(m), _differing(key, ordered[0][0]), cached) for (key, m), cached in zip(ordered, most)]


def _sheet_of(gpu: Gpu) -> Optional[Sheet]:
    name = gpu.facts.get("data_sheet")
    return sheet_if_known(name) if isinstance(name, str) and name else None


def _promised_rate(column: Column, sheet: Optional[Sheet]) -> float:
    """The data sheet's rate for the row of a column; NaN if it has none."""
    op, _, format_ = (column.row.split("/") + ["", ""])[:3]
    if sheet is None:
        return float("nan")
    if op.startswith(_OF_BANDWIDTH) and column.unit == "byte/s":
        return sheet.bytes_per_s
    fits = op in _OF_PEAK and column.unit == "FLOP/s" and (op != "fma_peak" or format_ == "fp32")
    return sheet.peaks[format_][1] if fits and format_ in sheet.peaks else float("nan")


def _is_ceiling(column: Column) -> bool:
    return column.row.startswith(_CEILINGS)


_FEWEST_NODES = 3  # two nodes do not say which of them is slow
_FEWEST_GPUS = 2  # of a node


class _Effect(NamedTuple):
    """A node whose GPUs are slow together in some columns. effect: -0.05 is 5 % below the median of the fleet."""

    node: str
    members: tuple[int, ...]  # indexes of GPUs
    columns: tuple[int, ...]
    effect: float  # the lowest of its columns
    worst: int  # that column


class _SlotEffect(NamedTuple):
    """The GPU of one index that is slow in all nodes: airflow or wiring, no defect of one GPU."""

    slot: int
    effect: float
    worst: int


def slots_of(gpus: list[Gpu], members: np.ndarray) -> tuple[list[str], dict[int, tuple[int, int]]]:
    """The nodes in order, and for each GPU its node and its slot: its index, or its place where indexes are unknown."""
    by_node: dict[str, list[int]] = {}
    for index in members.tolist():
        by_node.setdefault(gpus[index].node, []).append(index)
    place = {}
    for node, (_, indexes) in enumerate(by_node.items()):
        named = [gpus[index].index for index in indexes]
        usable = None not in named and len(set(named)) == len(named) and max(named) < 4 * len(named) + 16
        place.update({index: (node, named[n] if usable else n) for n, index in enumerate(indexes)})
    return list(by_node), place


def _polish(gpus: list[Gpu], group: Group, ratio: np.ndarray) -> tuple[list[str], dict, np.ndarray, np.ndarray]:
    """Names of nodes, places of GPUs, effects of nodes [column, node] and of slots [column, slot]."""
    names, place = slots_of(gpus, group.members)
    table = np.full((ratio.shape[1], len(names), 1 + max(slot for _, slot in place.values())), np.nan)
    nodes, slots = (np.array([place[index][k] for index in group.members.tolist()]) for k in (0, 1))
    table[:, nodes, slots] = ratio[group.members].T
    effects, slot_effects, _ = peers.median_polish(table)
    return names, place, effects, slot_effects


def _find_effects(gpus: list[Gpu], group: Group, ratio: np.ndarray) -> tuple[list[_Effect], list[_SlotEffect]]:
    """The nodes and the slots of a group that are slow as a whole.

    The limits are those of a single GPU, although the median of several GPUs scatters less.
    """
    judged = group.columns is not None and not np.isnan(group.columns.cut).all()
    if not judged or len({gpus[index].node for index in group.members.tolist()}) < _FEWEST_NODES:
        return [], []
    names, place, effects, slot_effects = _polish(gpus, group, ratio)
    members: list[list[int]] = [[] for _ in names]
    for index in group.members.tolist():
        members[place[index][0]].append(index)
    cut = group.columns.cut - 1
    low = effects < cut[:, None]
    found = []
    for node in np.flatnonzero(low.any(axis=0)).tolist():
        if len(members[node]) < _FEWEST_GPUS:
            continue
        where = np.flatnonzero(low[:, node])
        worst = int(where[np.argmin(effects[where, node])])
        found.append(_Effect(names[node], tuple(members[node]), tuple(where.tolist()), float(effects[worst, node]), worst))
    slots = []
    for slot in np.flatnonzero((slot_effects < -peers.FLOOR).any(axis=0)).tolist():
        worst = int(np.argmin(slot_effects[:, slot]))
        slots.append(_SlotEffect(slot, float(slot_effects[worst, slot]), worst))
    return found, slots


# The lowest ceiling of a healthy GPU among the published runs has 59 % of the data sheet (tensor_peak/mma_sync in bf16
# of an H200, results/nvidia-h200); a GPU below half of it is broken whatever its peers do.
SHEET_FLOOR = 0.5


def judged_groups(gpus: list[Gpu], matrix: Matrix, usable: list[int]) -> list[Group]:
    """The groups; all that are large enough, and the first one, have their columns."""
    groups = _peers_of(gpus, matrix, usable)
    pools = np.array([column.per_clock for column in matrix.columns], int)
    values = [alike(matrix.values[g.members], matrix.cached[g.members], g) for g in groups]
    counted = [n == 0 or len(g.members) >= peers.FEWEST for n, g in enumerate(groups)]
    comparisons = sum(int((~np.isnan(own)).sum()) for own, counts in zip(values, counted) if counts)
    return [replace(group, columns=peers.columns_of(own, pools, comparisons)) if counts else group
            for group, own, counts in zip(groups, values, counted)]  # fmt: skip


class Scored(NamedTuple):
    """[GPU, column] of the groups that are judged, and what their nodes do."""

    ratio: np.ndarray
    z: np.ndarray
    slow: np.ndarray
    fast: np.ndarray
    sheet: np.ndarray
    group_of: np.ndarray
    promised: list[np.ndarray]  # of each group: the rates of the data sheet, NaN if unknown
    effects: list[_Effect]
    slots: list[_SlotEffect]


def score(gpus: list[Gpu], matrix: Matrix, groups: list[Group]) -> Scored:
    shape = matrix.values.shape
    ratio, z, sheet = (np.full(shape, np.nan) for _ in range(3))
    slow, fast = np.zeros(shape, bool), np.zeros(shape, bool)
    group_of, promises, effects, slots = np.full(len(gpus), -1), [], [], []
    for number, group in enumerate(groups):
        group_of[group.members] = number
        own_sheet = _sheet_of(gpus[group.members[0]])
        promises.append(np.array([_promised_rate(column, own_sheet) for column in matrix.columns]))
        sheet[group.members] = matrix.rates[group.members] / promises[-1]
        if group.columns is None:
            continue
        found = peers.scores(alike(matrix.values[group.members], matrix.cached[group.members], group), group.columns)
        ratio[group.members], z[group.members] = found.ratio, found.z
        slow[group.members], fast[group.members] = found.slow, found.fast
        of_nodes, of_slots = _find_effects(gpus, group, ratio)
        effects, slots = effects + of_nodes, slots + of_slots
    slow |= below_floor(sheet, matrix)
    return Scored(ratio, z, slow, fast, sheet, group_of, promises, effects, slots)


def below_floor(sheet: np.ndarray, matrix: Matrix) -> np.ndarray:
    """Where a ceiling is below the floor; sheet: shares of the data sheet, a column for each of the matrix."""
    return np.array([_is_ceiling(column) for column in matrix.columns], bool) & (sheet < SHEET_FLOOR)


def of_whole_node(scored: Scored, groups: list[Group], effect: _Effect, index: int) -> bool:
    """True if the effect of its node explains all that is slow about a GPU."""
    columns = groups[scored.group_of[index]].columns
    slow = np.flatnonzero(scored.slow[index])
    if not set(slow.tolist()) <= set(effect.columns):
        return False
    own = scored.ratio[index, list(effect.columns)] - effect.effect
    return bool(np.all(~(own < columns.cut[list(effect.columns)])))
