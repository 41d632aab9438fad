"""Reads duels.jsonl, which `ridgebench duel` wrote, and makes the tables of ratios of docs/*.md from nothing else."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import ResultsError, decoded, lines_of
from ridgebench.base.printers import markdown_table
from ridgebench.base.text import clean, markdown
from ridgebench.result_tables import captioned, size_text

from . import program
from .records import DUELS_FILE, commit_of, date_of, parse, read_environment
from .view import ORDER, ordered

NONE = "No duel has been published yet."
_FIRST_SCHEMA = "ridgebench.duel/1"  # its intervals take neighbouring quads as independent


@dataclass(frozen=True)
class _AtClock:
    """The quads that ran at one clock: a ratio that depends on the clock has two of them."""

    clock_hz: float
    ratio: float
    ci_low: float
    ci_high: float
    verdict: str


@dataclass(frozen=True)
class _Ratio:
    """The first technique's time over the second's, with its 95 % interval; None if it depends on the clock."""

    ratio: Optional[float]
    ci_low: Optional[float]
    ci_high: Optional[float]
    verdict: str
    states: tuple[_AtClock, ...] = ()


@dataclass(frozen=True)
class _Side:
    technique: str
    origin: str
    choice: Optional[str]
    early: Optional[bool]
    energy_per_launch_j: Optional[float]
    energy_ci_low_j: Optional[float] = None
    energy_ci_high_j: Optional[float] = None


@dataclass(frozen=True)
class _Duel:
    """One duel. `in_time` contains the power that each technique draws; both ratios are None unless they were measured."""

    id: str
    op: str
    device: str
    format: str
    shape: dict[str, Any]
    status: str
    reason: Optional[str]
    first: _Side
    second: _Side
    decided_by: Optional[str]
    in_time: Optional[_Ratio] = None
    one_clock: Optional[_Ratio] = None
    regime: str = "steady"


@dataclass(frozen=True)
class _Duels:
    """A folder of duels; `torn`: the last line was cut off while it was written."""

    folder: Path
    environment: dict[str, Any]
    duels: list[_Duel]
    torn: bool


def _taken(kind: type, record: dict[str, Any]) -> Any:
    """The dataclass from the keys of its fields, as far as the record has them."""
    return kind(**{key: record[key] for key in kind.__dataclass_fields__ if key in record})


def _make_ratio(value: Optional[dict[str, Any]], origin: str) -> Optional[_Ratio]:
    """Raises ResultsError for an interval whose ends are swapped."""
    if value is None:
        return None
    states = tuple(_taken(_AtClock, value[key]) for key in ("full_clock", "capped") if value[key])
    plain = {key: value[key] for key in ("ratio", "ci_low", "ci_high", "verdict")}
    for one in (value, *(value[key] for key in ("full_clock", "capped") if value[key])):
        if one["ratio"] is not None and not one["ci_low"] <= one["ratio"] <= one["ci_high"]:
            raise ResultsError(f"{origin}: ci_low, ratio and ci_high are not in this order")
    return _Ratio(**plain, states=states)


def _make_duel(record: dict[str, Any], origin: str) -> _Duel:
    """The duel of a record of version 2 that obeys the schema. Raises ResultsError."""
    sides = {side: _taken(_Side, record[side]) for side in ("first", "second")}
    plain = {key: record[key] for key in ("id", "op", "device", "format", "shape", "regime", "status", "reason", "decided_by")}
    if record["decided_by"] is None:
        return _Duel(**plain, **sides)
    scale = record[record["decided_by"]]
    if scale is None:
        raise ResultsError(f"{origin}: the scale that decides, {record['decided_by']}, is null")
    seconds, cycles = _make_ratio(scale["seconds"], origin), _make_ratio(record["short"]["cycles"], origin)
    in_time = None if record["verdict_in_time"] is None else seconds
    return _Duel(**plain, **sides, in_time=in_time, one_clock=cycles or (None if in_time else seconds))


def _judged(records: list[tuple[str, dict[str, Any]]], folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """The records with the intervals of today's rule, which the program forms of those of version 1."""
    if all(record["schema"] != _FIRST_SCHEMA for _, record in records):
        return records
    again = program.ask("duel", "--read", str(folder.resolve()))["duels"]
    return [(origin, clean(record)) for (origin, _), record in zip(records, again)]


def load_duels(folder: Path) -> _Duels:
    """Reads a folder of duels; raises ResultsError for anything that is missing or malformed."""
    environment = clean(read_environment(folder / "environment.json"))
    records, torn = [], False
    for origin, line in lines_of(folder / DUELS_FILE):
        if not line.endswith(b"\n"):
            torn = True
            break
        records.append((origin, clean(parse(decoded(line, origin), "duel", origin))))
    return _Duels(folder, environment, [_make_duel(record, origin) for origin, record in _judged(records, folder)], torn)


def _interval_text(ratio: Any) -> str:
    return f"{ratio.ratio:.4f} ({ratio.ci_low:.4f} to {ratio.ci_high:.4f})"


def _ratio_cells(ratio: Optional[_Ratio]) -> list[str]:
    if ratio is not None and ratio.states:
        return ["; ".join(f"{state.clock_hz / 1e9:.2f} GHz: {_interval_text(state)} {state.verdict}" for state in ratio.states), ratio.verdict]
    if ratio is None or ratio.ratio is None:
        return ["–", "–"]
    return [_interval_text(ratio), ratio.verdict]


def _side_joules(side: _Side) -> str:
    if side.energy_ci_low_j is None:
        return f"{side.energy_per_launch_j:.3g}"
    return f"{side.energy_per_launch_j:.4g} ({side.energy_ci_low_j:.4g} to {side.energy_ci_high_j:.4g})"


def _energy_cell(duel: _Duel) -> str:
    sides = (duel.first, duel.second)
    return "–" if None in [side.energy_per_launch_j for side in sides] else " / ".join(_side_joules(side) for side in sides)


def _early_cell(duel: _Duel) -> str:
    """The sides whose launches may start before the launch ahead has ended."""
    sides = {"first": duel.first.early, "second": duel.second.early}
    if None in sides.values():
        return "unknown"
    return " and ".join(name for name, early in sides.items() if early) or "–"


def _duel_cells(duel: _Duel) -> list[str]:
    names = [f"`{side.technique}`" for side in (duel.first, duel.second)]
    head = [*names, duel.format, size_text(duel.shape) + (f", {duel.regime}" if duel.regime != "steady" else "")]
    if duel.status != "ok":
        return [*head, duel.status, *["–"] * 5]
    return [*head, *_ratio_cells(duel.in_time), *_ratio_cells(duel.one_clock), _early_cell(duel), _energy_cell(duel)]


def duel_table(duels: _Duels, op: str, link: str) -> str:
    """The table of an operation: one line per duel that was timed or failed."""
    mine = [duel for duel in duels.duels if duel.op == op and duel.status != "skipped"]
    if not mine:
        return NONE
    rank = {name: i for i, name in enumerate(ordered({duel.format for duel in mine}, ORDER))}
    mine.sort(key=lambda duel: rank[duel.format])  # a stable order: a cold duel heads its size, as in the profile
    header = ["first", "second", "format", "size", "in time, first / second", "first is", "at one clock", "first is", "early", "J"]
    environment = duels.environment
    devices = {device["name"]: device for device in environment["devices"]}
    model = markdown(devices[mine[0].device]["model"])
    return captioned(
        markdown_table(header, [_duel_cells(duel) for duel in mine]),
        "The cells show ratios with their 95 % intervals. Below 1 the first technique is faster.",
        "In time: with the power that each draws; –: not measured.",
        "Cold: single launches behind emptied caches." if any(duel.regime == "cold" for duel in mine) else "",
        "Early: the side whose launches may start before the launch ahead has ended." if any(_early_cell(duel) != "–" for duel in mine) else "",
        f"They come from the duels [{date_of(environment)}, {commit_of(environment)}]({link}) of {model}.",
    )


def published_duels(root: Path, device: str) -> Optional[Path]:
    """The newest folder results/<device>/<date>-<commit> with duels, or None."""

    def started(folder: Path) -> str:
        return read_environment(folder / "environment.json")["started"] or ""

    found = [path.parent for path in (root / "results").glob(f"{device or '*'}/*/{DUELS_FILE}")]
    return max((folder for folder in found if folder.parent.name != "local"), key=started, default=None)
