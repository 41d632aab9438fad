"""Nsight Compute: `ncu --csv`, with and without `--page raw`, and .ncu-rep where ncu_report is there.

Metrics: Nsight Compute's documentation, "Metrics Reference". Times under a profiler that fixes the clock are not those
of production; the bytes are those that DRAM moved, not the compulsory ones.
"""

import csv
import io
import re
import sys
from pathlib import Path
from typing import Any, Iterator, Optional

from ridgebench.base.files import open_regular, read

from . import number_formats, tables
from .point import Imported, Point, WrongForm, bad, device_number, number, time, work
from .units import BYTES, FLOPS, TIMES, scale, si

DURATION = "gpu__time_duration.sum"
_TRAFFIC = (("dram__bytes.sum",), ("dram__bytes_read.sum", "dram__bytes_write.sum"))
# Instructions of threads in fp32, and the FLOPs of one.
_FP32 = {f"smsp__sass_thread_inst_executed_op_f{name}_pred_on.sum": flops
         for name, flops in (("add", 1), ("mul", 1), ("fma", 2))}
# If one of these counted anything, fp32's instructions are not all of the arithmetic.
_TENSOR = ("sm__inst_executed_pipe_tensor", "sm__pipe_tensor", "sm__ops_path_tensor")
_RARE = re.compile("_op_[id]mma|_src_(int|fp64)")  # if they are 0, products of other formats may be left
_HALF, _DOUBLE = ("smsp__sass_thread_inst_executed_op_h",), ("smsp__sass_thread_inst_executed_op_d",)
_OF_FORMAT = {"fp16": _HALF, "bf16": _HALF, "fp64": _DOUBLE}  # what a kernel whose name has the format executes
_EXAMPLES = {_TENSOR: f"{_TENSOR[0]}.sum", _HALF: f"{_HALF[0]}fma_pred_on.sum", _DOUBLE: f"{_DOUBLE[0]}fma_pred_on.sum"}
_LARGEST = 2**28
_LONG = ("Metric Name", "Metric Unit", "Metric Value")  # columns of the table without --page raw
_LABELS = {"Duration": DURATION}  # as sections name a metric
_LAUNCH = (("Grid Size", "launch__grid_size"), ("Block Size", "launch__block_size"))
_Metrics = dict[str, tuple[Any, str]]  # name to value and unit


def _value(metrics: _Metrics, name: str, table: dict, origin: str) -> Optional[float]:
    """The metric in SI base units; None if the profile lacks it."""
    found, unit = metrics.get(name, ("", ""))
    if found in ("", "n/a"):
        return None
    plain = found.replace(",", "") if isinstance(found, str) else found  # 1,234: thousands
    return si(number(plain, origin, name), scale(table, unit, origin, name) if unit else 1.0)


def _total(metrics: _Metrics, names: tuple[str, ...], table: dict, origin: str) -> Optional[float]:
    values = [_value(metrics, name, table, origin) for name in names]
    return None if None in values else work(sum(values), origin, names[0])


def _flops_of(kernel: str, metrics: _Metrics, imported: Imported, origin: str) -> Optional[float]:
    """The FLOPs of fp32's instructions; None if they were not counted, or if they are or may be a part of the arithmetic."""
    counts = [_value(metrics, name, FLOPS, origin) for name in _FP32]
    if None in counts:
        return None
    others = [name for name in metrics if name.startswith((*_TENSOR, *_HALF, *_DOUBLE))]
    if any((_value(metrics, name, {metrics[name][1]: 1.0}, origin) or 0) > 0 for name in others):
        return None
    needed = (_TENSOR, _OF_FORMAT.get(str(number_formats.of_name(kernel)), _TENSOR))
    counted = {name for name in metrics if metrics[name][0] not in ("", "n/a") and not _RARE.search(name)}
    if missing := [_EXAMPLES[family] for family in dict.fromkeys(needed) if not any(name.startswith(family) for name in counted)]:
        note = (f"FLOPs are unknown, because fp32's instructions may be a part of the arithmetic and the profile lacks {' and '.join(missing)}; "
                "ncu --metrics adds it, or the file of --map states the FLOPs")
        imported.notes += [note] * (note not in imported.notes)
        return None
    return work(sum(count * flops for count, flops in zip(counts, _FP32.values())), origin, "FLOPs")


def _point(name: str, metrics: _Metrics, device: int, imported: Imported, origin: str) -> Point:
    elapsed = _value(metrics, DURATION, TIMES, origin)
    if elapsed is None:
        raise bad(origin, f"{DURATION} is missing; allowed: ncu --metrics {DURATION},{','.join(_TRAFFIC[1])}")
    moved = next((sum_ for names in _TRAFFIC if (sum_ := _total(metrics, names, BYTES, origin)) is not None), None)
    flops = _flops_of(name, metrics, imported, origin)
    return Point(origin, name, [time(elapsed, origin, DURATION)], bytes=moved, flops=flops, device=device,
                 counted=_counted_of(moved, flops))


def _counted_of(moved: Optional[float], flops: Optional[float]) -> set[str]:
    """The amounts that a profiler has counted."""
    return {key for key, value in (("bytes", moved), ("flops", flops)) if value is not None}


def _mean(values: list[Optional[float]]) -> Optional[float]:
    """None if one of them is unknown."""
    return None if None in values else sum(values) / len(values)


def _merged(points: list[Point]) -> list[Point]:
    """Launches of one kernel with one launch configuration are samples of one point; their counters are averaged."""
    launches: dict[tuple[str, int], list[Point]] = {}
    for one in points:
        launches.setdefault((one.name, one.device), []).append(one)
    for same in launches.values():
        same[0].times_s = [time_s for one in same for time_s in one.times_s]
        same[0].bytes, same[0].flops = _mean([one.bytes for one in same]), _mean([one.flops for one in same])
        same[0].counted = _counted_of(same[0].bytes, same[0].flops)
    return [same[0] for same in launches.values()]


def _table_lines(text: str) -> list[str]:
    """The quoted lines in what `ncu --csv` printed: its table. Messages of ncu and of the program surround it."""
    return [line for line in text.splitlines() if line.startswith('"')]


def raw_table(text: str) -> list[list[str]]:
    """With `--page raw`: names, units and a line per launch. Raises csv.Error."""
    return list(csv.reader(io.StringIO("\n".join(_table_lines(text))), strict=True))


def _wide(header: list[str], lines: list[str], imported: Imported, path: Path) -> Iterator[tuple[str, _Metrics]]:
    """The launches of `--page raw`: a line for each, a column for each metric."""
    units, rows = tables.split(lines[0], f"{path}: units"), lines[1:]
    if len(rows) == 0 or len(units) != len(header):
        raise WrongForm(f"{path}: no lines of names, units and launches")
    tables.check_header(header, ("Kernel Name", DURATION), str(path))
    for index, line in enumerate(rows, 1):
        origin = f"{path}: launch {index}"
        with imported.row():
            cells = tables.whole_line(header, tables.split(line, origin), origin)
            yield origin, dict(zip(header, zip(cells, units)))


def _long(header: list[str], lines: list[str], imported: Imported, path: Path) -> Iterator[tuple[str, _Metrics]]:
    """The launches of the table without `--page raw`: a line for each metric of each launch."""
    tables.check_header(header, ("Kernel Name", *_LONG), str(path))
    launches: dict[tuple[str, ...], _Metrics] = {}
    of_launch = header[: header.index("Section Name" if "Section Name" in header else _LONG[0])]
    for index, text in enumerate(lines, 2):
        with imported.row():
            origin = f"{path}: line {index} of the table"
            line = dict(zip(header, tables.whole_line(header, tables.split(text, origin), origin)))
            facts = tuple(line[name] for name in of_launch)
            metrics = launches.setdefault(facts, {name: (line[name], "") for name in of_launch})
            name, unit, found = (line[column] for column in _LONG)
            metrics.setdefault(_LABELS.get(name, name), (found, unit))  # a line of a rule has no metric
    yield from ((f"{path}: launch {index}", metrics) for index, metrics in enumerate(launches.values(), 1))


def _load_csv(path: Path) -> Imported:
    first, *lines = _table_lines(read(path, "the output of ncu --csv")) or [""]
    header = tables.split(first, str(path))
    if not lines or "Kernel Name" not in header:
        raise WrongForm(f"{path}: no table with a column 'Kernel Name'")
    imported = Imported([])
    launches = _long if _LONG[0] in header else _wide
    for origin, metrics in launches(header, lines, imported, path):
        with imported.row():
            launch = [f"{key}={metrics[key][0]}" for key in ("Grid Size", "Block Size") if key in metrics]
            name = " ".join([metrics["Kernel Name"][0], *launch])
            device = device_number(metrics.get("Device", ("0", ""))[0] or 0, origin)
            imported.points.append(_point(name, metrics, device, imported, origin))
    imported.points = _merged(imported.points)
    return imported


def _load_report(path: Path) -> Imported:
    """A .ncu-rep by NVIDIA's own reader, which comes with Nsight Compute (extras/python)."""
    try:
        import ncu_report
    except ImportError:
        raise bad(str(path), "the Python package ncu_report of Nsight Compute (extras/python) reads it; without it, "
                             "`ncu --import FILE --csv --page raw` writes what this command reads") from None
    open_regular(path, _LARGEST).close()
    imported = Imported([])
    try:
        context = ncu_report.load_report(str(path))
        for actions in context:
            for action in actions:
                metrics = {name: (action[name].value(), action[name].unit()) for name in action}
                launch = [f"{key}={metrics[metric][0]}" for key, metric in _LAUNCH if metric in metrics]
                with imported.row():
                    imported.points.append(_point(" ".join([action.name(), *launch]), metrics, 0, imported, f"{path}: {action.name()}"))
    except (RuntimeError, TypeError, ValueError, KeyError, AttributeError) as error:
        if sys.flags.dev_mode:
            raise
        raise bad(str(path), f"no report of Nsight Compute: {error}") from None
    imported.points = _merged(imported.points)
    return imported


def load(path: Path) -> Imported:
    return _load_report(path) if path.suffix == ".ncu-rep" else _load_csv(path)
