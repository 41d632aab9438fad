"""Reads what a comparison needs of results directories: few keys of many records, line by line."""

import gc
import itertools
import json
import math
from array import array
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from roofline.plot.records import ResultsError, clean, parse, read

SCHEMA = "ridgebench.record/1"
STATUSES = {"ok", "wrong", "invalid", "failed", "skipped"}
TIMES = ("time_median_s", "time_ci_low_s", "time_ci_high_s")
# Clock events that come from outside: a power cap is the kernel's own doing, heat is not.
EXTERNAL_EVENTS = {
    "hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown",
}


@dataclass
class Table:
    """The rows of one run in columns; controls are left out, times of rows that are not ok nan."""

    ids: list[str] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    status: list[str] = field(default_factory=list)
    reason: list[Optional[str]] = field(default_factory=list)
    bound: list[Optional[str]] = field(default_factory=list)
    partial: list[bool] = field(default_factory=list)  # it leaves a part of the device idle
    cause: list[Optional[str]] = field(default_factory=list)  # from outside, that struck the row
    times: np.ndarray = field(default_factory=lambda: np.empty((0, len(TIMES))))
    clock_hz: np.ndarray = field(default_factory=lambda: np.empty(0))
    turns: list[np.ndarray] = field(default_factory=list)  # medians; empty unless asked for

    def index(self) -> dict[str, int]:
        """Position of each id; of a row measured again, the last."""
        return {name: position for position, name in enumerate(self.ids)}


@dataclass(frozen=True)
class Run:
    folder: Path
    environment: dict[str, Any]
    table: Table


def reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


TurnsOf = Callable[[dict], np.ndarray]
DECODER = json.JSONDecoder(parse_constant=reject_constant)


def number(record: dict, key: str) -> float:
    """A positive number or, for null, nan."""
    value = record[key]
    if value is None:
        return math.nan
    if type(value) not in (int, float) or not 0 < value < math.inf:
        raise ValueError(f"{key} is neither null nor a positive number")
    return value


def text(record: dict, key: str) -> str:
    value = record[key]
    if type(value) is not str or not value:
        raise ValueError(f"{key} is no text")
    return value


def optional_text(record: dict, key: str) -> Optional[str]:
    return None if record[key] is None else text(record, key)


def turns_of(record: dict, longest: Optional[int]) -> np.ndarray:
    """Median of each turn's samples, in the order in which they were taken.

    A turn is a batch or, of more than `longest` samples, a part of it, as even as can be.
    """
    values = record["samples_s"]
    if type(values) is not list or not all(type(v) in (int, float) and v > 0 for v in values):
        raise ValueError("samples_s is no list of positive numbers")
    count = record.get("samples_per_batch", 1)
    if type(count) is not int or count < 1 or len(values) % count != 0:
        raise ValueError("samples_s does not hold whole batches of samples_per_batch")
    batches = np.array(values, dtype=float).reshape(-1, count)
    parts = 1 if longest is None else -(-count // longest)
    ends = [i * count // parts for i in range(parts + 1)]
    turns = [np.median(batches[:, i:j], axis=1) for i, j in itertools.pairwise(ends)]
    return np.column_stack(turns).ravel()


def log_ratio_of_neighbours(before: np.ndarray, after: np.ndarray) -> float:
    """The median over the turns that two processes took next to each other, first with first and so on.

    What slows a host for longer than a turn strikes both neighbours, and their ratio is spared.
    """
    common = min(len(before), len(after))
    return float(np.median(np.log(after[:common] / before[:common])))


def external_cause(telemetry: Any) -> Optional[str]:
    """What else than the kernel slowed the device while the row ran."""
    if type(telemetry) is not dict:
        raise ValueError("telemetry is no object")
    events = EXTERNAL_EVENTS.intersection(telemetry.get("clock_events") or ())
    if events:
        return ", ".join(sorted(events))
    return "another process on the device" if telemetry.get("other_processes") else None


def add_record(
    record: Any, table: Table, times: array, clocks: array, turns_in: Optional[TurnsOf]
) -> None:
    """Raises KeyError or ValueError for what no run writes."""
    if type(record) is not dict or record.get("schema") != SCHEMA:
        raise ValueError(f"not a record of schema {SCHEMA}")
    if record["role"] == "control":
        return
    status = text(record, "status")
    if status not in STATUSES:
        raise ValueError(f"status {status!r} is not one of {', '.join(sorted(STATUSES))}")
    row = [number(record, key) for key in TIMES]
    if any(math.isnan(t) == (status == "ok") for t in row):
        raise ValueError("a row has times if and only if it is ok")
    table.ids.append(text(record, "id"))
    table.devices.append(text(record, "device"))
    table.status.append(status)
    table.reason.append(optional_text(record, "reason"))
    table.bound.append(optional_text(record, "bound"))
    table.partial.append("below_one_wave" in record["flags"])
    table.cause.append(external_cause(record["telemetry"]))
    times.extend(row)
    clocks.append(number(record, "clock_hz"))
    if turns_in:
        turns = turns_in(record)
        if (len(turns) == 0) == (status == "ok"):
            raise ValueError("a row has samples if and only if it is ok")
        table.turns.append(turns)


def read_table(path: Path, turns_in: Optional[TurnsOf]) -> Table:
    """All finished rows; a last line without its end, left by a killed run, is none."""
    table, times, clocks = Table(), array("d"), array("d")
    with path.open("rb") as file:
        for line_number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                record = DECODER.decode(line.decode("utf-8"))
                add_record(record, table, times, clocks, turns_in)
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
                raise ResultsError(f"{path}:{line_number}: {clean(what)[:200]}") from None
    table.times = np.array(times).reshape(-1, len(TIMES))
    table.clock_hz = np.array(clocks)
    return table


def load(folder: Path, in_turns: bool = False) -> Run:
    """Raises ResultsError for anything that is missing or malformed."""
    path = folder / "environment.json"
    environment = parse(read(path), "environment", f"{path}:1")
    turns_in = partial(turns_of, longest=environment.get("samples_per_turn")) if in_turns else None
    try:
        table = read_table(folder / "records.jsonl", turns_in)
    except OSError as error:
        raise ResultsError(f"{folder / 'records.jsonl'}: {error.strerror}") from None
    if not table.ids:
        raise ResultsError(f"{folder / 'records.jsonl'}: no finished record in it")
    known = {device["name"] for device in environment["devices"]}
    for name in sorted(set(table.devices) - known):
        raise ResultsError(f"{path}: devices lacks {name!r}, which has records")
    return Run(folder, environment, table)


def load_both(baseline: Path, candidate: Path) -> tuple[Run, Run]:
    """Side by side: most of the time is JSON, and large runs take long.

    No record refers to itself, so that collecting cycles would only cost time.
    """
    with ProcessPoolExecutor(2, initializer=gc.disable) as pool:
        first, second = pool.map(load, (baseline, candidate))
    return first, second
