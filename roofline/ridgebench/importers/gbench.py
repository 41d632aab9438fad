"""Google Benchmark's JSON (--benchmark_out): github.com/google/benchmark, docs/user_guide.md, "Output Formats"."""

from pathlib import Path
from typing import Any

from ridgebench.files import parse_json, read
from ridgebench.importers.point import Imported, Point, bad, number, time, whole, work
from ridgebench.importers.units import TIMES, scale, si

# The library divides a rate by the CPU time unless one of these is part of the name.
BY_REAL_TIME = ("/real_time", "/manual_time")
AGGREGATES = ("median", "mean")  # the first that is there stands for a benchmark whose repetitions are not listed


def text(row: dict, key: str, origin: str) -> str:
    if not isinstance(row.get(key), str) or not row[key]:
        raise bad(origin, f"{key} is {str(row.get(key))[:60]!r}; allowed: a text")
    return row[key]


def seconds(row: dict, key: str, origin: str) -> float:
    unit = scale(TIMES, row.get("time_unit", "ns") if isinstance(row.get("time_unit", "ns"), str) else "?", origin,
                 "time_unit")
    return time(si(number(row.get(key), origin, key), unit), origin, key)


def add(points: dict[str, Point], row: dict, origin: str) -> None:
    """Adds a repetition to the point of its benchmark."""
    name = row.get("run_name") or row.get("name")
    name = text({"name": name}, "name", origin)
    elapsed = seconds(row, "real_time", origin)
    point = points.setdefault(name, Point(origin, name, []))
    if row.get("run_type") == "aggregate":
        if point.times_s:
            return
        point.is_mean = row.get("aggregate_name") == "mean"
    point.times_s.append(elapsed)
    if row.get("bytes_per_second") is not None:
        per_s = number(row["bytes_per_second"], origin, "bytes_per_second")
        by = elapsed if any(end in name for end in BY_REAL_TIME) else seconds(row, "cpu_time", origin)
        point.bytes = whole(work(per_s * by, origin, "bytes_per_second times its time"))


def rank(row: Any) -> int:
    """Repetitions first, then the aggregates in the order of AGGREGATES; others are no points."""
    if not isinstance(row, dict) or row.get("run_type") != "aggregate":
        return 0
    name = row.get("aggregate_name")
    return 1 + AGGREGATES.index(name) if name in AGGREGATES else 9


def load(path: Path) -> Imported:
    json = parse_json(read(path, "Google Benchmark's JSON"), str(path))
    rows = json.get("benchmarks") if isinstance(json, dict) else None
    if not isinstance(rows, list):
        raise bad(str(path), "no list 'benchmarks'; is this Google Benchmark's --benchmark_out as JSON?")
    points: dict[str, Point] = {}
    left_out = []
    for index, row in sorted(enumerate(rows), key=lambda item: rank(item[1])):
        origin = f"{path}: benchmarks[{index}]"
        if not isinstance(row, dict):
            raise bad(origin, "no object")
        if rank(row) == 9 or row.get("run_type") == "aggregate" and row.get("aggregate_unit", "time") != "time":
            continue
        if row.get("error_occurred") or row.get("skipped"):
            left_out.append(f"{row.get('name')}: {row.get('error_message') or row.get('skip_message') or 'failed'}")
            continue
        add(points, row, origin)
    return Imported(list(points.values()), left_out=left_out)
