"""Reads the results folder of one GPU: faster than ridgebench.data.records, which checks every key of a record.

Only the keys that a fleet needs are read and checked. The samples, most of a record, are cut out before it is parsed.
`ridgebench verify DIR` checks a folder as a whole.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any, Mapping, Optional

from ridgebench.base.command_line import CommandError, what_failed
from ridgebench.base.files import ResultsError, decoded, lines_of, parse_quickly, read, wrong
from ridgebench.base.text import clean, cut, one_line, quoted
from ridgebench.data.doubts import CACHED, recorded, why_unfinished
from ridgebench.data.records import BROKEN, require_rates
from ridgebench.judge.comparable import CHANGE_RESULTS, HARD, HARD_OF_DEVICE, VARIABLES, branch, lookup
from ridgebench.judge.consistent import require_unchanged

from .bits import bits_of
from .gpu import Reading
from .health import Health, during_rows, during_run, recorded_of

# A text cannot contain the key: its quotes would have a backslash.
_SAMPLES = re.compile(rb'("(?:samples_s|clocks_hz)"):\[[^][{}"]*\]')
_STATUSES = ("ok", *BROKEN, "skipped", "unverified")
_VERSIONS = ("version", "commit", "host.kernel", "host.governor", "host.os")
_VERSIONS_OF_DEVICE = (
    "driver", "cuda_of_driver", "vbios", "inforom", "gsp_firmware", "board_part_number", "persistence", "pcie", "nvlinks",
)
# A row with fewer FLOPs to a byte shows its rate in byte/s. The ridges of all data sheets are above it. The bound of a
# record would not do: it depends on the roofs of the run, and GPUs of one fleet could differ in it.
_FLOPS_TO_A_BYTE = 8.0
LONGEST_REASON = 200
MALFORMED = (CommandError, OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


@dataclass
class Results:
    """A results folder's facts about one of its devices."""

    run_id: str
    started: str  # RFC 3339, as in the file
    hostname_hash: Optional[str]
    device: str
    uuid_hash: Optional[str]
    model: Optional[str]
    facts: Mapping[str, Any]
    versions: Mapping[str, Any]
    readings: dict[str, Reading]  # by row id without "@device"
    torn: bool  # the last line was cut off while it was written
    health: tuple[Health, ...] = ()  # what the rows recorded of the GPU's health
    doubted: tuple[str, ...] = ()  # ceilings whose controls moved
    recorded: tuple[str, ...] = ()  # what environment.json says of the GPU's health
    unfinished: str = ""  # why the run may lack rows


def reason_of(error: Exception, folder: Optional[Path] = None) -> str:
    """The malformed part, as one line; files below the folder are named from there."""
    text = what_failed(error) if isinstance(error, (CommandError, OSError)) else wrong(error)
    return one_line(text.replace(f"{folder}/", ""))[:LONGEST_REASON]


def _frozen(value: Any) -> Any:
    """A value of JSON as one that can be hashed and shown: its texts have no control characters."""
    if isinstance(value, dict):
        return tuple(sorted((clean(key), _frozen(item)) for key, item in value.items()))
    return tuple(map(_frozen, value)) if isinstance(value, list) else clean(value)


def text_or_none(value: Any) -> Optional[str]:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{quoted(value)} is not a text")
    return cut(value if value is None or value.isprintable() else one_line(value))


def _number(record: dict, key: str) -> Optional[float]:
    value = record[key]
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise ValueError(f"{key} is {quoted(value)}; allowed: null or a number that is not negative")
    return float(value)


def _number_if_any(record: dict, key: str) -> Optional[float]:
    """The number at a key that older records lack."""
    return _number(record, key) if key in record else None


def _median(telemetry: dict, key: str) -> Optional[float]:
    found = telemetry.get(key)
    return _number(found, "median") if found else None


def _telemetry_of(record: dict) -> tuple[dict, dict]:
    """Readings while the row ran, and in its window; empty without readings."""
    telemetry = record["telemetry"] or {}
    return telemetry, telemetry.get("window") or {}


def _reading_of(record: dict) -> Reading:
    """Raises what MALFORMED lists."""
    status = record["status"]
    if status not in _STATUSES:
        raise ValueError(f"status is {quoted(status)}; allowed: {', '.join(_STATUSES)}")
    flops, moved = _number(record, "flops") or 0.0, _number(record, "bytes") or 0.0
    computes = flops > 0 and flops >= _FLOPS_TO_A_BYTE * moved
    seconds = _number(record, "time_median_s")
    if status == "ok" and not seconds:
        raise ValueError("status is ok, and time_median_s is not a number above 0")
    rate = _number(record, "flops_per_s" if computes else "bytes_per_s")
    if status == "ok":
        require_rates(record)
    telemetry, window = _telemetry_of(record)
    watts = _number_if_any(window, "power_w")
    return Reading(
        status=intern(status),
        seconds=seconds,
        rate=rate,
        unit="FLOP/s" if computes else "byte/s",
        cycles=_number_if_any(record, "cycles_median"),
        clock_hz=_number(record, "clock_hz"),
        watts=_median(telemetry, "power_w") if watts is None else watts,
        celsius=_median(telemetry, "temperature_c"),
        events=tuple(intern(str(event)) for event in telemetry.get("clock_events") or ()),
        reason=one_line(record["reason"])[:LONGEST_REASON] if record["reason"] else None,
        power_state=text_or_none(record.get("power_state")),
        bits=bits_of(record),
        cached=CACHED in (record.get("flags") or ()),
    )


@dataclass
class _DeviceRows:
    """The rows of one device. uncorrected: errors of its memory during them; disturbed: rows beside another process."""

    readings: dict[str, Reading] = field(default_factory=dict)
    uncorrected: float = 0.0
    disturbed: int = 0

    def add(self, name: str, record: dict) -> None:
        """Raises what MALFORMED lists."""
        if name in self.readings:
            raise ValueError(f"{name} comes twice")
        self.readings[intern(name)] = _reading_of(record)
        telemetry, window = _telemetry_of(record)
        self.uncorrected += _number_if_any(window, "ecc_uncorrected") or 0.0
        self.disturbed += bool(telemetry.get("other_processes"))


def _read_rows(path: Path) -> tuple[dict[str, _DeviceRows], bool]:
    """The rows by device, and whether an unfinished last line was left out. A control ceiling is not a row."""
    rows: dict[str, _DeviceRows] = {}
    for origin, line in lines_of(path):
        if not line.endswith(b"\n"):
            return rows, True
        record = parse_quickly(decoded(_SAMPLES.sub(rb"\1:0", line), origin), origin)
        try:
            if record["role"] == "control":
                continue
            name, _, device = record["id"].rpartition("@")
            if device != record["device"]:
                raise ValueError(f"device is {quoted(record['device'])}, but {quoted(record['id'])} ends with {quoted(device)}")
            rows.setdefault(device, _DeviceRows()).add(name if name.isprintable() else one_line(name), record)
        except MALFORMED as error:
            raise ResultsError(f"{origin}: {reason_of(error)}") from None
    return rows, False


def facts_of(environment: dict, device: dict) -> dict[str, Any]:
    """Facts that must agree for two GPUs to be compared: of a driver only its branch."""
    variables = environment.get(VARIABLES) or {}
    chosen = {name: value for name, value in variables.items() if name.startswith(tuple(CHANGE_RESULTS))}
    facts = {key: lookup(environment, key) for key in HARD} | {VARIABLES: chosen}
    facts |= {key: branch(key, device.get(key)) for key in HARD_OF_DEVICE}
    return {intern(key): _frozen(value) for key, value in facts.items()}


def _moved(environment: dict, device: str) -> tuple[str, ...]:
    """The ceilings of a device whose controls moved, each with the change of its rate."""
    changes = recorded(environment) or {}
    return tuple(f"{one_line(name.rpartition('@')[0])} {100 * change:+.1f} %"
                 for name, change in changes.items() if name.rpartition("@")[2] == device)  # fmt: skip


def read_results(folder: Path) -> list[Results]:
    """The devices of a results folder. Raises ResultsError for anything that is missing or malformed.

    Raises CommandError for a file whose checksum is not the one that the run wrote.
    """
    path = folder / "environment.json"
    environment = parse_quickly(read(path), str(path))
    rows, torn = _read_rows(folder / "records.jsonl")
    require_unchanged(folder)
    found = []
    try:
        versions = {key: _frozen(lookup(environment, key)) for key in _VERSIONS}
        for device in environment["devices"]:
            of_device = rows.get(str(device["name"]), _DeviceRows())
            found.append(Results(
                run_id=str(environment["run_id"]),
                started=str(environment["started"]),
                hostname_hash=text_or_none(lookup(environment, "host.hostname_hash")),
                device=str(device["name"]),
                uuid_hash=text_or_none(device.get("uuid_hash")),
                model=text_or_none(device.get("model")),
                facts=facts_of(environment, device),
                versions=versions | {key: _frozen(device.get(key)) for key in _VERSIONS_OF_DEVICE},
                readings=of_device.readings,
                torn=torn,
                health=during_run(environment, str(device["name"])) + during_rows(of_device.uncorrected, of_device.disturbed),
                doubted=_moved(environment, str(device["name"])),
                recorded=(intern(recorded_of(device)),),
                unfinished=why_unfinished(environment) or "",
            ))  # fmt: skip
    except MALFORMED as error:
        raise ResultsError(f"{path}: {reason_of(error)}") from None
    if not found:
        raise ResultsError(f"{path}: devices is empty")
    return found
