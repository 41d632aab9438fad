"""nvbench's JSON (--json) and CSV (--csv): github.com/NVIDIA/nvbench, json_printer.cu and csv_printer.cu."""

from pathlib import Path
from typing import Any, Optional

from ridgebench.files import parse_json, read
from ridgebench.importers import tables
from ridgebench.importers.point import Imported, Point, bad, device_number, number, shape_of, time, whole, work

# Summaries by their tag. A cold time is that of launches behind a flushed L2, a batch's is that of launches in a row.
TIMES = (("nv/cold/time/gpu/mean", "cold"), ("nv/batch/time/gpu/mean", "steady"))
BANDWIDTH = "nv/cold/bw/global/bytes_per_second"
# The same as columns of the CSV file, whose names hold the unit.
COLUMNS = (("GPU Time (sec)", "cold"), ("Batch GPU (sec)", "steady"))
COLUMN_OF_BANDWIDTH = "GlobalMem BW (bytes/sec)"
TYPES = {"F64": "fp64", "F32": "fp32", "F16": "fp16", "BF16": "bf16", "float": "fp32", "half": "fp16"}


def objects(value: Any, origin: str) -> list[dict]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise bad(origin, "no list of objects; is this nvbench's --json?")
    return value


def summaries(state: dict, origin: str) -> dict[str, Any]:
    """The value of each summary by its tag."""
    found = {}
    for summary in objects(state.get("summaries") or [], f"{origin}: summaries"):
        data = objects(summary.get("data") or [], f"{origin}: data")
        found[str(summary.get("tag"))] = next((one.get("value") for one in data if one.get("name") == "value"), None)
    return found


def type_of(axes: dict[str, Any]) -> Optional[str]:
    """The format that a type axis names, if there is exactly one."""
    named = {TYPES[str(value)] for value in axes.values() if str(value) in TYPES}
    return named.pop() if len(named) == 1 else None


def points(name: str, axes: dict[str, Any], times: list[tuple[Any, str]], bandwidth: Any, device: int,
           origin: str) -> list[Point]:
    """A point for each regime that has a time."""
    found = []
    shown = " ".join([name, *(f"{key}={value}" for key, value in axes.items())])
    for value, regime in times:
        if value in (None, ""):
            continue
        elapsed = time(number(value, origin, "GPU time"), origin, "GPU time")
        found.append(Point(origin, shown, [elapsed], is_mean=True, shape=shape_of(axes), technique=name,
                           format=type_of(axes), regime=regime, device=device))
    if not found:
        raise bad(origin, "no GPU time")
    cold = found[0]
    if bandwidth not in (None, "") and cold.regime == "cold":
        per_s = number(bandwidth, origin, "bandwidth")
        moved = whole(work(per_s * cold.times_s[0], origin, "bandwidth times GPU time"))
        for point in found:
            point.bytes = moved
    return found


def load_json(path: Path, root: Any) -> Imported:
    if not isinstance(root, dict):
        raise bad(str(path), "no object; is this nvbench's --json?")
    imported = Imported([])
    for index, device in enumerate(objects(root.get("devices") or [], f"{path}: devices")):
        imported.models[device_number(device.get("id"), f"{path}: devices[{index}]")] = str(device.get("name"))
    for bench in objects(root.get("benchmarks"), f"{path}: benchmarks"):
        name = str(bench.get("name"))
        for index, state in enumerate(objects(bench.get("states") or [], f"{path}: {name}: states")):
            origin = f"{path}: {name}: states[{index}]"
            if state.get("is_skipped"):
                imported.left_out.append(f"{name}: {state.get('skip_reason') or 'skipped'}")
                continue
            axes = {str(a.get("name")): a.get("value") for a in objects(state.get("axis_values") or [], origin)}
            values = summaries(state, origin)
            times = [(values.get(tag), regime) for tag, regime in TIMES]
            device = device_number(state.get("device") or 0, origin)
            imported.points += points(name, axes, times, values.get(BANDWIDTH), device, origin)
    return imported


def load_csv(path: Path) -> Imported:
    imported = Imported([])
    for cells, origin in tables.lines(path, ("Benchmark", "Skipped", COLUMNS[0][0])):
        if cells["Skipped"] != "No":
            imported.left_out.append(f"{cells['Benchmark']}: skipped")
            continue
        device = device_number(cells.get("Device") or 0, origin)
        if cells.get("Device Name"):
            imported.models[device] = cells["Device Name"]
        # The axes stand between the device and `Skipped`; a power of two comes a second time as a plain number.
        names = list(cells)[: list(cells).index("Skipped")]
        axes = {name: cells[name] for name in names
                if name not in ("Benchmark", "Device", "Device Name") and not name.endswith("(pow2)") and cells[name]}
        times = [(cells.get(column), regime) for column, regime in COLUMNS]
        imported.points += points(cells["Benchmark"], axes, times, cells.get(COLUMN_OF_BANDWIDTH), device, origin)
    return imported


def load(path: Path) -> Imported:
    text = read(path, "nvbench's output")
    if text.lstrip()[:1] in ("{", "["):
        return load_json(path, parse_json(text, str(path)))
    return load_csv(path)
