"""Reads duels.jsonl, which `ridgebench duel` wrote, and makes the tables of ratios of docs/*.md from it alone."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

from ridgebench.files import ResultsError, decoded, lines_of
from ridgebench.records import clean, parse, read_environment
from ridgebench.result_tables import captioned, escape, lines, size_text
from ridgebench.view import ORDER, ordered

NAME = "duels.jsonl"
NONE = "No duel has been published yet."


@dataclass(frozen=True)
class Ratio:
    """The first technique's time over the second's, with its 95 % interval."""

    ratio: Optional[float]
    ci_low: Optional[float]
    ci_high: Optional[float]
    verdict: str


@dataclass(frozen=True)
class Side:
    technique: str
    origin: str
    choice: Optional[str]
    energy_per_launch_j: Optional[float]


@dataclass(frozen=True)
class Duel:
    """One duel. `seconds` is of the scale that decides; both ratios are None unless the duel was timed."""

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
    seconds: Optional[Ratio] = None
    cycles: Optional[Ratio] = None


@dataclass(frozen=True)
class Duels:
    """A folder of duels; `torn`: the last line was cut off while it was written."""

    folder: Path
    environment: dict[str, Any]
    duels: list[Duel]
    torn: bool


def make_ratio(value: Optional[dict[str, Any]]) -> Optional[Ratio]:
    return Ratio(*(value[key] for key in Ratio.__dataclass_fields__)) if value else None


def make_duel(record: dict[str, Any], origin: str) -> Duel:
    """The duel of a line that obeys the schema. Raises ResultsError for an interval whose ends are swapped."""
    sides = [Side(*(record[side][key] for key in Side.__dataclass_fields__)) for side in ("first", "second")]
    plain = {key: record[key] for key in ("id", "op", "device", "format", "shape", "status", "reason", "decided_by")}
    duel = Duel(**plain, first=sides[0], second=sides[1])
    if record["decided_by"] is None:
        return duel
    scale = record[record["decided_by"]]
    if scale is None:
        raise ResultsError(f"{origin}: the scale that decides, {record['decided_by']}, is null")
    duel = replace(duel, seconds=make_ratio(scale["seconds"]), cycles=make_ratio(record["short"]["cycles"]))
    for ratio in (duel.seconds, duel.cycles):
        if ratio and ratio.ratio is not None and not ratio.ci_low <= ratio.ratio <= ratio.ci_high:
            raise ResultsError(f"{origin}: ci_low, ratio and ci_high are not in this order")
    return duel


def load_duels(folder: Path) -> Duels:
    """Reads a folder of duels; raises ResultsError for anything that is missing or malformed."""
    environment = clean(read_environment(folder / "environment.json"))
    duels, torn = [], False
    for origin, line in lines_of(folder / NAME):
        if not line.endswith(b"\n"):
            torn = True
            break
        duels.append(make_duel(clean(parse(decoded(line, origin), "duel", origin)), origin))
    return Duels(folder, environment, duels, torn)


def ratio_cells(ratio: Optional[Ratio]) -> list[str]:
    if ratio is None or ratio.ratio is None:
        return ["–", "–"]
    return [f"{ratio.ratio:.4f} ({ratio.ci_low:.4f} to {ratio.ci_high:.4f})", ratio.verdict]


def energy_cell(duel: Duel) -> str:
    joules = [side.energy_per_launch_j for side in (duel.first, duel.second)]
    return "–" if None in joules else " / ".join(f"{value:.3g}" for value in joules)


def duel_cells(duel: Duel) -> list[str]:
    names = [f"`{side.technique}`" for side in (duel.first, duel.second)]
    head = [*names, duel.format, size_text(duel.shape)]
    if duel.status != "ok":
        return [*head, duel.status, *["–"] * 4]
    return [*head, *ratio_cells(duel.seconds), *ratio_cells(duel.cycles), energy_cell(duel)]


def duel_table(duels: Duels, op: str, link: str) -> str:
    """The table of an operation: one line per duel that was timed or failed."""
    mine = [duel for duel in duels.duels if duel.op == op and duel.status != "skipped"]
    if not mine:
        return NONE
    rank = {name: i for i, name in enumerate(ordered({duel.format for duel in mine}, ORDER))}
    mine.sort(key=lambda duel: rank[duel.format])
    header = ["first", "second", "format", "size", "time, first / second", "first is", "cycles", "in cycles", "J"]
    environment = duels.environment
    devices = {device["name"]: device for device in environment["devices"]}
    model = escape(devices[mine[0].device]["model"])
    commit = (environment["commit"] or "unknown")[:7]
    return captioned(
        lines(header, [duel_cells(duel) for duel in mine]),
        "The cells show ratios with their 95 % intervals. Below 1 the first technique is faster.",
        f"They come from the duels [{environment['started'][:10]}, {commit}]({link}) of {model}.",
    )


def published_duels(root: Path, device: str) -> Optional[Path]:
    """The newest folder results/<device>/<date>-<commit> with duels, or None."""

    def started(folder: Path) -> str:
        return read_environment(folder / "environment.json")["started"] or ""

    found = [path.parent for path in (root / "results").glob(f"{device or '*'}/*/{NAME}")]
    return max((folder for folder in found if folder.parent.name != "local"), key=started, default=None)
