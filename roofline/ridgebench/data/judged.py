"""The judgement of a run: its rows under their roofs, as the program computes it (docs/method/judged.md).

This package judges no row. It reads the judgement from judged.json, or runs `ridgebench show`. From the roof of a judged row
figures/slides/model.py derives where other sizes of the same operation lie.
"""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import LARGEST_FILE, ResultsError, open_regular, read
from ridgebench.base.text import clean
from ridgebench.base.units import percent

from . import program
from .records import Run, parse

FILE = "judged.json"
_LONGEST_S = 600.0  # for the judgement of a folder: it may hold GiB, and a machine may be busy
_CHECKED = {"records_sha256": "records.jsonl", "environment_sha256": "environment.json"}
ABOVE_ROOF = "above_roof"  # the flag of a row that is faster than a ceiling
RAISED = "↑"  # how tables and figures show it
MARGIN = 0.01  # by which a row has to exceed a ceiling to raise it: kRoofMargin of harness/results/measured_roofs.hpp
# The keys of a judged row that take the place of the record's, or that a record lacks.
_OF_ROW = ("flags", "bound", "roof", "fraction_of_measured_roof", "least_time_s", "limited_by", "doubted", "is_roof", "raised",
           "raised_by", "cut_by_budget", "served_by_cache")


def percent_of_roof(share: float) -> str:
    """A share of a measured roof for a reader: one within the margin of the roof counts as 1, and a larger one is printed as it is.

    A row that may not raise its roof, as one of few samples, may lie far above it.
    """
    return percent(1.0 if 1.0 < share <= 1.0 + MARGIN else share)


@dataclass(frozen=True)
class Roof:
    """A bandwidth (bytes/s) or a flat roof (FLOP/s) with its p10-p90 band over samples."""

    name: str
    value: float
    low: float
    high: float
    formats: tuple[str, ...] = ()
    engine: str = "memory"
    bandwidth: Optional[float] = None  # of a flat roof: the bytes/s that judge its rows
    mix: str = ""  # of that bandwidth: read, copy, ...
    ridge: Optional[float] = None  # the intensity (FLOP/byte) at which a row turns from memory-bound to compute-bound


@dataclass(frozen=True)
class Roofs:
    """All roofs of one source. memory: fastest first. caches: by level. compute: highest first."""

    memory: list[Roof]
    caches: list[Roof]
    compute: list[Roof]
    owner: str = ""  # a data sheet's title, where several are drawn
    short: str = ""  # and its name, for a label without room
    products: Optional[dict[str, Any]] = None  # the roof of matrix products: flops_per_s, bytes_per_s, traffic

    @property
    def bandwidth(self) -> Optional[Roof]:
        """The bandwidth of a source as a whole: the read roof where it is known, because operands are read."""
        return next((roof for roof in self.memory if roof.name == "read"), None) or (
            self.memory[0] if self.memory else None
        )


@dataclass(frozen=True)
class Judgement:
    """Facts about all rows of a run. roofs: by device and format, None for all formats together."""

    unfinished: str = ""
    moved: dict[str, float] = field(default_factory=dict)
    roofs: dict[str, dict[Optional[str], Roofs]] = field(default_factory=dict)

    def roofs_of(self, device: str, format_: Optional[str]) -> Roofs:
        """The roofs of a device for the rows of one format, or of all; without rows of the format only its memory."""
        known = self.roofs.get(device, {})
        if format_ in known:
            return known[format_]
        return replace(known[None], compute=[], products=None) if None in known else Roofs([], [], [])


def _digest(path: Path) -> str:
    with open_regular(path, LARGEST_FILE) as file:
        return hashlib.sha256(file.read()).hexdigest()


def _stored(run: Run) -> Optional[dict[str, Any]]:
    """The judgement in judged.json; None if the file is not whole, has another version or is not of these rows."""
    path = run.folder / FILE
    if not path.exists():
        return None
    try:
        told = parse(read(path), "judged", f"{path}:1")["runs"][0]
        same = [clean(one["id"]) for one in told["rows"]] == [row.id for row in run.rows]
        return told if same and all(told[key] == _digest(run.folder / name) for key, name in _CHECKED.items()) else None
    except (ResultsError, LookupError, TypeError):
        return None


def _asked(folder: Path) -> dict[str, Any]:
    """The judgement by the program. Raises ResultsError."""
    name = str(folder)
    return program.asked("show", name if not name.startswith("-") else f"./{name}", seconds=_LONGEST_S)["runs"][0]


def _roof_of(told: dict[str, Any]) -> Roof:
    return Roof(told["name"], told["per_s"], told["low_per_s"], told["high_per_s"], (told["format"],), told["engine"],
                told["bytes_per_s"], told["traffic"] or "", told["ridge"])


def _roofs_of(told: dict[str, Any]) -> Roofs:
    parts = ([_roof_of(one) for one in told[key]] for key in ("memory", "caches", "compute"))
    return Roofs(*parts, products=told["products"])


def judged(run: Run) -> Run:
    """The run with its rows under their roofs. Raises ResultsError."""
    if run.judgement is not None:
        return run
    told = clean(_stored(run) or _asked(run.folder))
    if len(told["rows"]) != len(run.rows):
        raise ResultsError(f"{run.folder}: records.jsonl has changed while it was read")
    rows = [replace(row, **{key: found[key] for key in _OF_ROW}) for row, found in zip(run.rows, told["rows"])]
    judgement = Judgement(
        told["unfinished"] or "",
        {one["ceiling"]: one["change"] for one in told["moved"]},
        {device["name"]: {one["format"]: _roofs_of(one) for one in device["roofs"]} for device in told["devices"]},
    )
    return replace(run, rows=rows, judgement=judgement)
