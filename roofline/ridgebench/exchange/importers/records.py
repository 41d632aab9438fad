"""Makes records and the environment of a results directory of foreign points."""

import hashlib
import json
import re
import secrets
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Optional

from ridgebench.base.files import ResultsError, write_at_once
from ridgebench.base.text import clean, quoted
from ridgebench.base.units import counted
from ridgebench.data.records import schema_of, shape_text

from . import number_formats
from .known_work import complete, hold_rates
from .point import LONGEST_NAME, MOST_SAMPLES, Imported, Point, bad, size, time

MEAN = "mean_time"  # flag: the time is a mean, because the tool reports no median
COUNTED = "counted_bytes"  # flag: a profiler counted the bytes; they are not the compulsory ones
_UNSAFE = re.compile(r"[^\w.<>:,=+-]+")  # in an id, whose parts a slash separates


def _find_time(point: Point) -> None:
    """Derives the time of a point that has a rate in its place. Raises ResultsError."""
    if point.times_s:
        return
    ((kind, per_s),) = point.rates.items()
    amount = getattr(point, kind)
    if not amount:
        raise bad(point.origin, f"{quoted(point.name, LONGEST_NAME)} has {kind} per second and no time; the file of --map states its "
                                f"{kind}, or operation and shape")
    point.times_s = [time(amount / per_s, point.origin, f"{kind} over {kind} per second")]


def _spread(times: list[float]) -> dict[str, float]:
    """Statistics of several samples beside the median. The harness's interval is not that of another tool's samples."""
    if len(times) < 2:
        return {}
    tenths = quantiles(times, n=10, method="inclusive")  # linear between samples, as in the harness
    return {"time_min_s": min(times), "time_p10_s": tenths[0], "time_p90_s": tenths[-1]}


def _identity(point: Point, backend: str) -> dict[str, Any]:
    operation = _UNSAFE.sub("_", point.operation or "external") or "external"
    technique = _UNSAFE.sub("_", point.technique or point.name)[:LONGEST_NAME] or "external"
    sizes = shape_text(point.shape)
    device = backend if backend == "cpu" else f"cuda:{point.device}"
    parts = [operation, technique, str(point.format), *filter(None, [sizes]), point.regime]
    return {"id": f"{'/'.join(parts)}@{device}", "op": operation, "technique": technique, "device": device,
            "backend": backend}


def _distinguish(points: list[Point], backend: str) -> None:
    """Adds to the technique of points that have one id the details in which they differ."""
    same: dict[str, list[Point]] = {}
    for point in points:
        same.setdefault(_identity(point, backend)["id"], []).append(point)
    for group in same.values():
        keys = dict.fromkeys(key for point in group for key in point.details)
        differing = [key for key in keys if len({str(point.details.get(key)) for point in group}) > 1]
        for point in group:
            own = (f"{key}={point.details[key]}" for key in differing if key in point.details)
            point.technique = " ".join([point.technique or point.name, *own])


def _record(point: Point, tool: str, backend: str) -> dict[str, Any]:
    """The record of a point: every key of the schema, null if the tool does not say it."""
    times = point.times_s[:MOST_SAMPLES]
    middle, flops, moved = median(times), point.flops or 0.0, point.bytes or 0.0
    values = dict.fromkeys(schema_of("record")["properties"])
    values |= {"schema": "ridgebench.record/1", **_identity(point, backend)}
    values |= {"origin": "external", "role": "kernel", "burst": False, "engine": "fma" if flops else "memory"}
    values |= {"format": point.format, "arithmetic": point.format, "shape": point.shape}
    values |= {"accumulator": number_formats.sums(str(point.format))}
    values |= {"regime": point.regime, "flops": flops, "bytes": moved, "written_fraction": 0.0}
    values |= {"intensity_flop_per_byte": flops / moved if moved else None, "status": "unverified"}
    values |= {"reason": f"measured by {tool}; nothing checked its output", "sets": 0, "samples_s": times}
    values |= {"samples_per_batch": 1, "launches_per_sample": 0, "time_median_s": middle, **_spread(times)}
    values |= {"flops_per_s": flops / middle or None, "bytes_per_s": moved / middle or None, "clocks_hz": []}
    values |= {"telemetry": {}, "flags": [MEAN] * point.is_mean + [COUNTED] * ("bytes" in point.counted)}
    return values


def _whole_point(point: Point, default_format: Optional[str]) -> None:
    """Gives a point its format, work and time. Raises ResultsError where it has none, or contradicts itself."""
    if len(point.name) > LONGEST_NAME:
        raise bad(point.origin, f"the name has {len(point.name)} characters; allowed: up to {LONGEST_NAME}")
    stated = point.format or default_format or number_formats.of_name(point.name)
    if stated is None:
        raise bad(point.origin, f"the format of {quoted(point.name, LONGEST_NAME)} is unknown; --format or the file of --map "
                                f"states it, allowed: {number_formats.allowed()}")
    point.format = number_formats.find(stated)
    if point.format is None:
        raise ResultsError(f"{point.name}: format {stated[:60]}; ridgebench has {number_formats.allowed()}; "
                           "the file of --map may state one of them")
    complete(point)
    _find_time(point)
    hold_rates(point)


def _remedy(same: list[Point]) -> str:
    """The way to distinguish points of one id, as far as there is one."""
    if len({point.name for point in same}) == len(same):
        return "technique or shape in the file of --map distinguish them"
    values = {column: {point.unread[column] for point in same} for column in same[0].unread}
    differing = sorted((column for column in values if len(values[column]) > 1), key=lambda column: -len(values[column]))
    if not differing:
        return "allowed: one row of a name and shape"
    column, letters = differing[0], f"{differing[0][0].lower()}tijxyz"
    free = [letter for letter in letters if re.fullmatch("[a-z]", letter) and letter not in same[0].shape]
    is_size = all(size(value) for value in values[column]) and len(values[column]) == len(same)
    remedy = f"--columns {quoted(f'{free[0]}={column}')} distinguishes them" if free and is_size else "allowed: a name for each of them"
    return f"they differ in {', '.join(map(quoted, differing[:3]))}, which --columns leaves out; {remedy}"


def records(imported: Imported, tool: str, backend: str, default_format: Optional[str]) -> list[dict[str, Any]]:
    """A record per point. A point that is not whole is left out, and so are all points that have one id."""
    whole: list[Point] = []
    by_name: list[str] = []  # formats that only the name of a point states
    for point in imported.points:
        with imported.row():
            is_stated = (point.format or default_format) is not None
            _whole_point(point, default_format)
            by_name += [] if is_stated else [str(point.format)]
            whole.append(point)
    if by_name:
        imported.notes.append(f"the format of {counted(len(by_name), 'row')} is what their names say: {', '.join(sorted(set(by_name)))}; "
                              "--format states another")
    _distinguish(whole, backend)
    made: dict[str, list[Point]] = {}
    for point in whole:
        made.setdefault(clean(_identity(point, backend)["id"]), []).append(point)
    for name, same in made.items():
        if len(same) > 1:
            imported.left_out += [f"{point.origin}: {name} comes {len(same)} times; {_remedy(same)}" for point in same]
    return [clean(_record(same[0], tool, backend)) for same in made.values() if len(same) == 1]


def _nothing(part: dict[str, Any]) -> dict[str, Any]:
    """Null for every required key of an object of the schema."""
    return dict.fromkeys(part["required"])


def environment(imported: Imported, rows: list[dict], tool: str, source: Path, options: dict[str, Any],
                command: list[str]) -> dict[str, Any]:
    """environment.json: the foreign file and what it says of its devices; everything else is null.

    The digest is null without a file, as for a function from the cell of a notebook.
    """
    keys = schema_of("environment")
    values = _nothing(keys)
    for part in ("host", "build"):
        values[part] = _nothing(keys["properties"][part])
    devices = []
    for name in dict.fromkeys(row["device"] for row in rows):
        device = _nothing(keys["properties"]["devices"]["items"])
        model = options["model"] or (imported.models.get(int(name[5:])) if name != "cpu" else None)
        devices.append({**device, "name": name, "backend": "cpu" if name == "cpu" else "cuda", "model": model})
    digest = hashlib.sha256(source.read_bytes()).hexdigest() if source.is_file() else None
    values |= {"schema": "ridgebench.environment/1", "run_id": f"imported-{secrets.token_hex(8)}", "version": tool}
    values |= {"imported": {"tool": tool, "file": source.name, "sha256": digest}, "command_line": command}
    values |= {"regimes": [], "roof": options["roof"], "interrupted": False, "devices": devices, "libraries": {}}
    unknown = {key: f"{tool} does not say it" for key, value in values.items() if value is None and key != "roof"}
    return clean({**values, "environment_variables": {}, "unavailable": unknown})


def write(folder: Path, rows: list[dict], facts: dict[str, Any]) -> None:
    """Writes a results directory, or nothing. Raises ResultsError if there is one already."""
    fresh = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ResultsError(f"{folder}: is not empty; allowed: a new or an empty folder")
    files = {"environment.json": json.dumps(facts, indent=2) + "\n",
             "records.jsonl": "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)}
    sums = {name: hashlib.sha256(text.encode("utf-8")).hexdigest() for name, text in files.items()}
    files["SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
    try:
        for name, text in reversed(files.items()):  # without environment.json, no reader takes the folder for a run
            write_at_once(folder / name, text)
    except BaseException:  # an interruption too
        for name in files:
            (folder / name).unlink(missing_ok=True)
        if fresh:
            with suppress(OSError):
                folder.rmdir()
        raise
