"""Reads what other benchmarks print: Google Benchmark's JSON, nvbench's JSON, and CSV.

Another program wrote every text. A malformed one is a ResultsError of one line that names file and key. A value that
no benchmark can measure, such as 0, fails only its row.
"""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

from ridgebench.base.files import ResultsError, parse_lenient
from ridgebench.exchange.importers import nvbench as nvbench_file
from ridgebench.exchange.importers.gbench import DEBUG
from ridgebench.exchange.importers.point import named, objects
from ridgebench.exchange.importers.tables import check_header

from .comparable import differing, split
from .readings import BadValue, Metric, Reading, Readings, failed, positive, readings_of

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_RATES = ("items_per_second", "bytes_per_second")  # Google Benchmark's own counters: higher is better
_NVBENCH_TIMES = ("nv/cold/time/gpu/median", "nv/cold/time/gpu/mean")  # seconds; older versions have no median
NO_MATCH = "Failed to match any benchmarks"  # Google Benchmark, on standard error
_LONGEST_FILTER = 100_000  # bytes; Linux allows 128 KiB in an argument
# For a command that does not set its own time: many short repetitions, those of all rows in random order over the
# seconds of a process, so that each row meets the quiet moments. 40 pairs of 20 rows take less than ten minutes.
_GBENCH_TIME = ("--benchmark_min_time", "--benchmark_repetitions")
_REPETITION_S, PROCESS_S = 0.002, 4.0
_LONGER = 1.4  # than _REPETITION_S is a repetition, by the rule with which the library predicts iterations
FEWEST, _MOST = 3, 400  # repetitions


def _require_metric(rows: list[Reading], reason: str, allowed: str, origin: str) -> None:
    """Raises ResultsError if no row has the metric and one lacks it for this reason."""
    if any(row.reason == reason for row in rows) and not any(row.status == "ok" for row in rows):
        raise ResultsError(f"{origin}: {reason} in any row; allowed: {allowed}")


def _gbench_value(entry: dict, metric: Metric, origin: str) -> float:
    """A time in seconds, or a counter as it is. Raises BadValue."""
    value = positive(entry[metric.name], metric.name)
    if not metric.is_time:
        return value
    unit = entry.get("time_unit", "ns")
    if unit not in _SECONDS:
        raise ResultsError(f"{origin}: time_unit {unit!r}; allowed: {', '.join(_SECONDS)}")
    return value * _SECONDS[unit]


def _untimed(entry: dict, name: str, metric: Metric) -> Optional[Reading]:
    """The reading of an entry that has no number; None for one that has."""
    if entry.get("error_occurred"):
        return failed(name, entry.get("error_message") or "no message")
    if entry.get("skipped"):
        return Reading(name, None, "skipped", str(entry.get("skip_message") or "no message"))
    return None if metric.name in entry else Reading(name, None, "skipped", f"no {metric}")


def _gbench(text: str, origin: str, metric: Metric) -> Readings:
    """A reading per benchmark; where only aggregates were printed, their median is taken."""
    document = parse_lenient(text, origin)
    values: dict[str, list[float]] = {}
    aggregates: dict[str, list[float]] = {}
    seen: set[tuple[str, Any]] = set()
    broken: dict[str, Reading] = {}
    for entry in objects(document, "benchmarks", origin):
        name = str(entry.get("run_name") or named(entry, "name", origin))
        is_aggregate = entry.get("run_type") == "aggregate"
        if is_aggregate and entry.get("aggregate_name") != "median":
            continue
        if (lacking := _untimed(entry, name, metric)) is not None:
            broken[name] = lacking
            continue
        try:
            value = _gbench_value(entry, metric, origin)
        except BadValue as error:
            broken[name] = failed(name, error)
            continue
        if is_aggregate:
            aggregates[name] = [value]
            continue
        repetition = (name, entry.get("repetition_index"))
        if repetition in seen:
            raise ResultsError(f"{origin}: the row '{name}' comes twice; allowed: one benchmark of a name")
        seen.add(repetition)
        values.setdefault(name, []).append(value)
    rows = readings_of({k: v for k, v in (aggregates | values).items() if k not in broken}, metric)
    rows += broken.values()
    _require_metric(rows, f"no {metric}", "real_time, cpu_time or a counter of the program", origin)
    context = document.get("context")
    return Readings(Path(origin), rows, context if isinstance(context, dict) else {})


def _nvbench_state(state: dict, name: str, metric: Metric, origin: str) -> Reading:
    """The value of a summary; for times the first of _NVBENCH_TIMES that is there."""
    if state.get("is_skipped"):
        return Reading(name, None, "skipped", str(state.get("skip_reason") or "no reason"))
    values = nvbench_file.summaries(state, origin)
    wanted = _NVBENCH_TIMES if metric.is_time else (metric.name,)
    tag = next((tag for tag in wanted if tag in values), None)
    if tag is None:
        return Reading(name, None, "skipped", f"no {metric}")
    try:
        return Reading(name, metric.cost(positive(values[tag], tag)), samples=nvbench_file.samples(state, origin) if metric.is_time else ())
    except BadValue as error:
        return failed(name, error)


def _nvbench(text: str, origin: str, metric: Metric) -> Readings:
    """A row per state, `BENCHMARK/STATE`."""
    document = parse_lenient(text, origin)
    rows: dict[str, Reading] = {}
    for benchmark, state in nvbench_file.states(document, origin):
        name = f"{benchmark}/{named(state, 'name', origin)}"
        if name in rows:
            raise ResultsError(f"{origin}: the row '{name}' comes twice")
        rows[name] = _nvbench_state(state, name, metric, origin)
    _require_metric(list(rows.values()), f"no {metric}", "time, or the tag of a summary", origin)
    devices = objects(document, "devices", origin) if "devices" in document else []
    models = ", ".join(str(one.get("name")) for one in devices)
    return Readings(Path(origin), list(rows.values()), {"model": models})


def _comma_separated(text: str, origin: str, metric: Metric) -> Readings:
    """A table whose first line names its columns: `name`, and the metric. Lines of one name are repetitions."""
    lines = csv.reader(io.StringIO(text), strict=True)
    values: dict[str, list[float]] = {}
    broken: dict[str, Reading] = {}
    try:
        header = [column.strip() for column in next(lines, [])]
        check_header(header, ("name", metric.name), f"{origin}:1")
        name, value = header.index("name"), header.index(metric.name)
        for line in filter(None, lines):
            place = f"{origin}:{lines.line_num}"
            if len(line) != len(header) or not line[name]:
                raise ResultsError(f"{place}: {len(line)} columns; allowed: {len(header)}, with a name")
            try:
                values.setdefault(line[name], []).append(positive(line[value].strip(), metric.name))
            except BadValue as error:
                broken[line[name]] = failed(line[name], f"line {lines.line_num}: {error}")
    except csv.Error as error:
        raise ResultsError(f"{origin}:{lines.line_num}: no CSV: {error}") from None
    rows = readings_of({key: found for key, found in values.items() if key not in broken}, metric)
    return Readings(Path(origin), [*rows, *broken.values()])


def _extended(name: str) -> str:
    """A name as a POSIX extended regular expression, which RE2 and ECMAScript read alike."""
    return "".join(f"\\{c}" if c in ".^$*+?()[]{}|\\" else c for c in name)


def gbench_filter(ids: list[str]) -> Optional[str]:
    """The filter that lets only these rows pass; None if it would be too long."""
    pattern = f"^({'|'.join(map(_extended, ids))})$"
    return pattern if len(pattern.encode("utf-8", "replace")) < _LONGEST_FILTER else None


def _gbench_time(repetitions: int) -> list[str]:
    """The arguments of a process whose rows shall be repeated this often."""
    values = (f"{_REPETITION_S:g}", str(repetitions))
    own = [f"{option}={value}" for option, value in zip(_GBENCH_TIME, values)]
    return [*own, "--benchmark_enable_random_interleaving=true"]


def gbench_plan(text: str, origin: str, ids: Optional[list[str]]) -> tuple[int, float]:
    """How often these rows of a result, or all, can be repeated in PROCESS_S, and the seconds of such a process."""
    rows = _gbench(text, origin, Metric("real_time", is_time=True)).rows
    times = [row.time_median_s for row in rows if row.time_median_s is not None and (ids is None or row.id in ids)]
    seconds = sum(max(time, _LONGER * _REPETITION_S) for time in times)
    repetitions = min(max(round(PROCESS_S / seconds), FEWEST), _MOST) if seconds else FEWEST
    return repetitions, repetitions * seconds


def environment_differences(format: "Reader", one: dict, other: dict, allowed: list[str]) -> tuple[list[str], list[str]]:
    """The texts of what forbids to compare two processes, and of what is noted."""
    hard, soft = (list(differing(one, other, keys)) for keys in (format.hard, format.soft))
    soft += [(key, f"{key} is {value} on both sides: Google Benchmark was built without optimisation")
             for key, value in format.doubts.items() if one.get(key) == other.get(key) == value]
    return split(hard, soft, allowed)


@dataclass(frozen=True)
class Reader:
    """How the gate gets the numbers of a kind of program."""

    parse: Callable[[str, str, Metric], Readings]
    metric: str  # the default
    times: tuple[str, ...] = ()  # metrics that are times, in seconds once they are read
    higher: tuple[str, ...] = ()  # metrics of which more is better
    output: Callable[[Path], list[str]] = lambda path: []  # arguments that send the result into a file
    select: Optional[Callable[[str], list[str]]] = None  # arguments that choose rows
    own_time: tuple[str, ...] = ()  # options of a command that sets its own time
    time: Callable[[int], list[str]] = lambda repetitions: []  # arguments for another one
    # The number of repetitions of rows, by a result of FEWEST, and the seconds of a process.
    plan: Callable[[str, str, Optional[list[str]]], tuple[int, float]] = lambda text, origin, ids: (FEWEST, 0.0)
    hard: tuple[str, ...] = ()  # keys of the environment that must agree
    soft: tuple[str, ...] = ()  # keys whose differences are noted
    doubts: dict[str, str] = field(default_factory=dict)  # values of the environment that are noted


READERS = {
    "gbench": Reader(
        _gbench, "real_time", ("real_time", "cpu_time"), _RATES,
        lambda path: [f"--benchmark_out={path}", "--benchmark_out_format=json"],
        lambda pattern: [f"--benchmark_filter={pattern}"], _GBENCH_TIME, _gbench_time, gbench_plan,
        soft=("library_build_type", "host_name", "num_cpus", "cpu_scaling_enabled"),
        doubts={"library_build_type": DEBUG},
    ),
    "nvbench": Reader(
        _nvbench, "time", ("time",), output=lambda path: ["--json", str(path)], hard=("model",),
    ),
    "csv": Reader(_comma_separated, "value"),
}
