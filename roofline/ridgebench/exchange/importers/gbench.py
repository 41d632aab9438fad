"""Google Benchmark's JSON (--benchmark_out): github.com/google/benchmark, docs/user_guide.md, "Output Formats"."""

from collections import Counter
from pathlib import Path
from typing import Any

from ridgebench.base.files import ResultsError, read
from ridgebench.base.text import quoted

from .point import Imported, Point, WrongForm, bad, document, number, time, whole, work
from .units import TIMES, scale, si

# The library divides a rate by the CPU time unless one of these is part of the name.
_BY_REAL_TIME = ("/real_time", "/manual_time")
# Rates by key, with the work that they count, and whether they are by the CPU time. ridgebench's own benchmark.json has
# those per_s, by the one time that it states twice.
_RATES = {"bytes_per_second": ("bytes", True), "bytes_per_s": ("bytes", False), "flops_per_s": ("flops", False)}
DEBUG = "debug"  # library_build_type of a library without optimisation
_AGGREGATES = ("median", "mean")  # the first that is there represents a benchmark whose repetitions are not listed


def _text(row: dict, key: str, origin: str) -> str:
    if not isinstance(row.get(key), str) or not row[key]:
        raise bad(origin, f"{key} is {quoted(row.get(key))}; allowed: a text")
    return row[key]


def _seconds(row: dict, key: str, origin: str) -> float:
    unit = scale(TIMES, row.get("time_unit", "ns") if isinstance(row.get("time_unit", "ns"), str) else "?", origin,
                 "time_unit")
    return time(si(number(row.get(key), origin, key), unit), origin, key)


def _works(row: dict, name: str, elapsed: float, origin: str) -> dict[str, float]:
    """FLOPs and bytes of a launch, by the row's rates."""
    found = {}
    for key, (kind, by_cpu) in _RATES.items():
        if row.get(key) is not None:
            per_s = number(row[key], origin, key)
            by = elapsed if not by_cpu or any(end in name for end in _BY_REAL_TIME) else _seconds(row, "cpu_time", origin)
            found.setdefault(kind, whole(work(per_s * by, origin, f"{key} times its time")))
    return found


def _add(points: dict[tuple[str, int], Point], seen: Counter, row: dict, origin: str) -> None:
    """Adds a repetition to the point of its benchmark. Another benchmark of the same name has a point of its own."""
    name = row.get("run_name") or row.get("name")
    name = _text({"name": name}, "name", origin)
    elapsed = _seconds(row, "real_time", origin)
    known = _works(row, name, elapsed, origin)
    is_aggregate = row.get("run_type") == "aggregate"
    one = name, row.get("aggregate_name") if is_aggregate else str(row.get("repetition_index"))
    seen[one] += 1
    point = points.setdefault((name, seen[one]), Point(origin, name, [], is_mean=is_aggregate and row.get("aggregate_name") == "mean",
                                                            details={"label": row["label"]} if row.get("label") else {}))
    if is_aggregate and point.times_s:
        return
    point.times_s.append(elapsed)
    for kind, amount in known.items():
        setattr(point, kind, amount)


def _rank(row: Any) -> int:
    """Repetitions first, then the aggregates in the order of _AGGREGATES; others do not become points."""
    if not isinstance(row, dict) or row.get("run_type") != "aggregate":
        return 0
    name = row.get("aggregate_name")
    return 1 + _AGGREGATES.index(name) if name in _AGGREGATES else 9


def load(path: Path) -> Imported:
    json = document(read(path, "Google Benchmark's JSON"), str(path))
    rows = json.get("benchmarks")
    if not isinstance(rows, list):
        raise WrongForm(f"{path}: no list 'benchmarks'")
    points: dict[tuple[str, int], Point] = {}
    seen: Counter = Counter()
    imported = Imported([])
    context = json.get("context")
    if isinstance(context, dict) and context.get("library_build_type") == DEBUG:
        imported.notes.append(f"library_build_type is {DEBUG}: Google Benchmark was built without optimisation")
    for index, row in sorted(enumerate(rows), key=lambda item: _rank(item[1])):
        origin = f"{path}: benchmarks[{index}]"
        with imported.row():
            if not isinstance(row, dict):
                raise bad(origin, "no object")
            if _rank(row) == 9 or row.get("run_type") == "aggregate" and row.get("aggregate_unit", "time") != "time":
                continue
            if row.get("error_occurred") or row.get("skipped"):
                raise ResultsError(f"{row.get('name')}: {row.get('error_message') or row.get('skip_message') or 'failed'}")
            _add(points, seen, row, origin)
    imported.points = list(points.values())
    return imported
