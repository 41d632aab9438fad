"""Reads duels.jsonl, which `ridgebench duel` wrote."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import ResultsError, decoded, lines_of
from ridgebench.base.text import clean

from . import program
from .records import DUELS_FILE, parse, read_environment

_FIRST_SCHEMA = "ridgebench.duel/1"  # its intervals take neighbouring quads as independent


@dataclass(frozen=True)
class _AtClock:
    """The quads that ran at one clock: a ratio that depends on the clock has two of them. Too few processes have no interval."""

    clock_hz: float
    ratio: float
    ci_low: Optional[float]
    ci_high: Optional[float]
    verdict: str


@dataclass(frozen=True)
class Ratio:
    """The first technique's time over the second's, with its 95 % interval; None if it depends on the clock."""

    ratio: Optional[float]
    ci_low: Optional[float]
    ci_high: Optional[float]
    verdict: str
    states: tuple[_AtClock, ...] = ()


@dataclass(frozen=True)
class Side:
    technique: str
    origin: str
    choice: Optional[str]
    early: Optional[bool]
    energy_per_launch_j: Optional[float]
    energy_ci_low_j: Optional[float] = None
    energy_ci_high_j: Optional[float] = None


@dataclass(frozen=True)
class Duel:
    """One duel. `in_time` contains the power that each technique draws; both ratios are None unless they were measured."""

    id: str
    op: str
    device: str
    format: str
    shape: dict[str, Any]
    status: str
    reason: Optional[str]
    first: Side
    second: Side
    decided_by: Optional[str]
    in_time: Optional[Ratio] = None
    one_clock: Optional[Ratio] = None
    regime: str = "steady"
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Duels:
    """A folder of duels; `torn`: the last line was cut off while it was written."""

    folder: Path
    environment: dict[str, Any]
    duels: list[Duel]
    torn: bool


def _taken(kind: type, record: dict[str, Any]) -> Any:
    """The dataclass from the keys of its fields, as far as the record has them."""
    return kind(**{key: record[key] for key in kind.__dataclass_fields__ if key in record})


def _make_ratio(value: Optional[dict[str, Any]], origin: str) -> Optional[Ratio]:
    """Raises ResultsError for an interval whose ends are swapped."""
    if value is None:
        return None
    states = tuple(_taken(_AtClock, value[key]) for key in ("full_clock", "capped") if value[key])
    plain = {key: value[key] for key in ("ratio", "ci_low", "ci_high", "verdict")}
    for one in (value, *(value[key] for key in ("full_clock", "capped") if value[key])):
        if None not in (one["ratio"], one["ci_low"], one["ci_high"]) and not one["ci_low"] <= one["ratio"] <= one["ci_high"]:
            raise ResultsError(f"{origin}: ci_low, ratio and ci_high are not in this order")
    return Ratio(**plain, states=states)


def _make_duel(record: dict[str, Any], origin: str) -> Duel:
    """The duel of a record of version 2 that obeys the schema. Raises ResultsError."""
    sides = {side: _taken(Side, record[side]) for side in ("first", "second")}
    plain = {key: record[key] for key in ("id", "op", "device", "format", "shape", "regime", "status", "reason", "decided_by")}
    plain["flags"] = tuple(record["flags"])
    if record["decided_by"] is None:
        return Duel(**plain, **sides)
    scale = record[record["decided_by"]]
    if scale is None:
        raise ResultsError(f"{origin}: the scale that decides, {record['decided_by']}, is null")
    seconds, cycles = _make_ratio(scale["seconds"], origin), _make_ratio(record["short"]["cycles"], origin)
    in_time = None if record["verdict_in_time"] is None else seconds
    return Duel(**plain, **sides, in_time=in_time, one_clock=cycles or (None if in_time else seconds))


def _judged(records: list[tuple[str, dict[str, Any]]], folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """The records with the intervals of today's rule, which the program forms of those of version 1."""
    if all(record["schema"] != _FIRST_SCHEMA for _, record in records):
        return records
    again = program.ask("duel", "--read", str(folder.resolve()))["duels"]
    return [(origin, clean(record)) for (origin, _), record in zip(records, again)]


def load_duels(folder: Path) -> Duels:
    """Reads a folder of duels; raises ResultsError for anything that is missing or malformed."""
    environment = clean(read_environment(folder / "environment.json"))
    records, torn = [], False
    for origin, line in lines_of(folder / DUELS_FILE):
        if not line.endswith(b"\n"):
            torn = True
            break
        records.append((origin, clean(parse(decoded(line, origin), "duel", origin))))
    return Duels(folder, environment, [_make_duel(record, origin) for origin, record in _judged(records, folder)], torn)


def published_duels(root: Path, device: str) -> Optional[Path]:
    """The newest folder results/<device>/<date>-<commit> with duels, or None."""

    def started(folder: Path) -> str:
        return read_environment(folder / "environment.json")["started"] or ""

    found = [path.parent for path in (root / "results").glob(f"{device or '*'}/*/{DUELS_FILE}")]
    return max((folder for folder in found if folder.parent.name != "local"), key=started, default=None)
