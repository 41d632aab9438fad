"""nvbench's JSON (--json) and CSV (--csv): github.com/NVIDIA/nvbench, json_printer.cu and csv_printer.cu."""

import re
from pathlib import Path
from typing import Any, Iterator, Optional

import numpy as np

from ridgebench.base.files import ResultsError, read

from . import number_formats, tables
from .point import (
    Imported, Point, bad, device_number, document, named, number, objects, shape_of, time, whole, work,
)

# Summaries by their tag. A cold time is that of launches behind a flushed L2, a batch's is that of launches in a row.
_TIMES = (("nv/cold/time/gpu/mean", "cold"), ("nv/batch/time/gpu/mean", "steady"))
_SAMPLES, _SAMPLE = "nv/json/bin:nv/cold/sample_times", np.dtype("<f4")
_BANDWIDTH = "nv/cold/bw/global/bytes_per_second"
# The same as columns of the CSV file, whose names hold the unit.
_COLUMNS = (("GPU Time (sec)", "cold"), ("Batch GPU (sec)", "steady"))
_COLUMN_OF_BANDWIDTH = "GlobalMem BW (bytes/sec)"
# Columns of summaries without a unit in brackets; every other one below `Skipped` is an axis of a later benchmark.
_SUMMARIES = ("Skipped", "Samples", "Noise", "BWUtil", "HBWPeak", "LoadEff", "StoreEff", "L1HitRate", "L2HitRate")
_WITH_UNIT = re.compile(r".*\([^()]*\)")
_DEVICE = ("Benchmark", "Device", "Device Name")
# type_strings.cuh. Formats that ridgebench does not have get a name too, so that the row is left out by it.
_TYPES = {"F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16", "float": "fp32", "double": "fp64", "half": "fp16"}
_TYPES |= {f"{letter}{bits}": f"{kind}{bits}" for letter, kind in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)}


def states(root: dict, origin: str) -> Iterator[tuple[str, dict]]:
    """Every state of nvbench's JSON with the name of its benchmark. Raises ResultsError."""
    for benchmark in objects(root, "benchmarks", origin):
        name = named(benchmark, "name", origin)
        for state in objects(benchmark, "states", f"{origin}: {name}", optional=True):
            yield name, state


def summaries(state: dict, origin: str) -> dict[str, Any]:
    """The value of each summary by its tag. Raises ResultsError."""
    found = {}
    for summary in objects(state, "summaries", origin, optional=True):
        data = objects(summary, "data", origin, optional=True)
        found[str(summary.get("tag"))] = next((one.get("value") for one in data if one.get("name") == "value"), None)
    return found


def samples(state: dict, origin: str) -> tuple[float, ...]:
    """The seconds of all cold samples that --jsonbin wrote beside the file; none without it. Raises ResultsError."""
    for summary in objects(state, "summaries", origin, optional=True):
        if summary.get("tag") == _SAMPLES:
            data = {one.get("name"): one.get("value") for one in objects(summary, "data", origin, optional=True)}
            return _read_samples(str(data.get("filename")), str(data.get("size")), origin)
    return ()


def _read_samples(name: str, size: str, origin: str) -> tuple[float, ...]:
    """32-bit numbers, little-endian. The path is relative to the folder of the JSON file, or to the one above it."""
    folder = Path(origin).absolute().parent
    path = next((one for one in (folder / name, folder.parent / name) if one.is_file()), None)
    if path is None:
        raise ResultsError(f"{origin}: its samples, {name}, are missing; allowed: the folder that --jsonbin wrote beside it")
    data = path.read_bytes()
    if size != str(len(data) // _SAMPLE.itemsize) or len(data) % _SAMPLE.itemsize:
        raise ResultsError(f"{path}: {len(data)} bytes; allowed: {_SAMPLE.itemsize} for each of the {size} samples that {origin} states")
    found = np.frombuffer(data, _SAMPLE).astype(float)
    if not (np.isfinite(found) & (found > 0)).all():
        raise ResultsError(f"{path}: holds a time that is not a number above 0")
    return tuple(found.tolist())


def _type_of(axes: dict[str, Any]) -> tuple[Optional[str], Optional[str]]:
    """The axis that states the format, and the format: T, else the only axis with the name of a type.

    Of several types none is the format, unless ridgebench has none of them: then the format is all, and the row is left out.
    """
    typed = {name: _TYPES[str(value)] for name, value in axes.items() if str(value) in _TYPES}
    one = next((name for name in typed if name.partition("{")[0] == "T"), next(iter(typed)) if len(typed) == 1 else None)
    if one is not None:
        return one, typed[one]
    known = any(number_formats.find(name) for name in typed.values())
    return None, None if known or not typed else " and ".join(dict.fromkeys(typed.values()))


def _points(name: str, axes: dict[str, Any], times: list[tuple[Any, str]], bandwidth: Any, device: int,
            origin: str) -> list[Point]:
    """A point for each regime that has a time."""
    found = []
    shown = " ".join([name, *(f"{key}={value}" for key, value in axes.items())])
    (typed, stated), sizes = _type_of(axes), shape_of(axes)
    others = (f"{key}={value}" for key, value in axes.items() if key != typed and not shape_of({key: value}))
    technique = " ".join([name, *others])  # float, string and further type axes: a row's id has all of them
    for value, regime in times:
        if value in (None, ""):
            continue
        elapsed = time(number(value, origin, "GPU time"), origin, "GPU time")
        found.append(Point(origin, shown, [elapsed], is_mean=True, shape=dict(sizes), technique=technique,
                           format=stated, regime=regime, device=device))
    if not found:
        raise bad(origin, "no GPU time")
    cold = found[0]
    if bandwidth not in (None, "") and cold.regime == "cold":
        per_s = number(bandwidth, origin, "bandwidth")
        moved = whole(work(per_s * cold.times_s[0], origin, "bandwidth times GPU time"))
        for point in found:
            point.bytes = moved
    return found


def _load_json(path: Path, root: dict) -> Imported:
    imported = Imported([])
    for index, device in enumerate(objects(root, "devices", str(path), optional=True)):
        origin = f"{path}: devices[{index}]"
        imported.name_device(device_number(device.get("id"), origin), str(device.get("name")), origin)
    for index, (name, state) in enumerate(states(root, str(path))):
        origin = f"{path}: state {index} ({name})"
        with imported.row():
            if state.get("is_skipped"):
                raise ResultsError(f"{name}: {state.get('skip_reason') or 'skipped'}")
            axes = {str(a.get("name")): a.get("value") for a in objects(state, "axis_values", origin, optional=True)}
            values = summaries(state, origin)
            times = [(values.get(tag), regime) for tag, regime in _TIMES]
            device = device_number(state.get("device") or 0, origin)
            imported.points += _points(name, axes, times, values.get(_BANDWIDTH), device, origin)
    return imported


def _axis_columns(header: list[str]) -> list[str]:
    """The columns of axes. The first benchmark has them before `Skipped`, later ones have them below its summaries.

    A power of two comes a second time as a plain number.
    """
    before = header.index("Skipped")
    found = [name for name in header[:before] if not name.endswith("(pow2)")]
    found += [name for name in header[before:] if name not in _SUMMARIES and not _WITH_UNIT.fullmatch(name)]
    return [name for name in dict.fromkeys(found) if name not in _DEVICE]


def _load_csv(path: Path) -> Imported:
    imported = Imported([])
    header, lines = tables.lines(path, imported, ("Benchmark", "Skipped", _COLUMNS[0][0]))
    names = _axis_columns(header)
    for cells, origin in lines:
        with imported.row():
            if cells["Skipped"] != "No":
                raise ResultsError(f"{cells['Benchmark']}: skipped")
            device = device_number(cells.get("Device") or 0, origin)
            if cells.get("Device Name"):
                imported.name_device(device, cells["Device Name"], origin)
            axes = {name: cells[name] for name in names if cells[name]}
            times = [(cells.get(column), regime) for column, regime in _COLUMNS]
            imported.points += _points(cells["Benchmark"], axes, times, cells.get(_COLUMN_OF_BANDWIDTH), device, origin)
    return imported


def load(path: Path) -> Imported:
    text = read(path, "nvbench's output")
    if text.lstrip()[:1] in ("{", "["):
        return _load_json(path, document(text, str(path)))
    return _load_csv(path)
