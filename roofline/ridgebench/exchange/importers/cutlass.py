"""The CSV of CUTLASS's profiler (--output): github.com/NVIDIA/cutlass, tools/profiler/src/performance_report.cpp.

Runtime is in milliseconds. Bytes and Flops are per launch. GB/s are multiples of 2^30 bytes per second, GFLOPs of 1e9 per second.
"""

import re
from itertools import takewhile
from pathlib import Path
from typing import Optional

from ridgebench.base.files import ResultsError

from . import number_formats, tables
from .point import Imported, Point, bad, number, shape_of, time, work
from .units import si

_NEEDED = ("Provider", "OperationKind", "Operation", "Disposition", "Status", "Bytes", "Flops", "Runtime")
_NO_SETTINGS = ("Problem", "Disposition", "Status")  # beside the columns from Bytes on
_NOTHING = re.compile("[0.+-]*")  # beta is 0, or not in the table
_GOOD = ("passed", "not_verified", "unverified")  # dispositions of a launch that was timed
_MILLISECONDS = 1e-3
_RATES = {"GFLOPs": ("flops", 1e9), "GB/s": ("bytes", 2.0**30)}  # older tables may lack them
# Layouts of A and B as ridgebench names them; both column-major has no name here.
_LAYOUTS = {("row", "column"): "nt", ("row", "row"): "nn", ("column", "row"): "tn"}


def _format_of(cells: dict[str, str]) -> Optional[str]:
    """The format of A, joined to that of B if they differ, or that of the products; a cell is `f16:row`."""
    kinds = list(dict.fromkeys(cells[key].split(":")[0] for key in ("A", "B") if cells.get(key)))
    return number_formats.multiplied("x".join(kinds), cells["Operation"]) if kinds else None


def _layout(cells: dict[str, str]) -> Optional[str]:
    """The layout of a GEMM; None if it has no name here."""
    return _LAYOUTS.get(tuple(cells.get(key, "").partition(":")[2] for key in "AB")) if cells["OperationKind"] == "gemm" else None


def _is_matmul(cells: dict[str, str]) -> bool:
    """True if a GEMM is ridgebench's matmul: a layout with a name, no batch, no C that is read, and D in the format of A."""
    one = cells.get("batch_count", "1") in ("", "1")
    kinds = {cells[key].partition(":")[0] for key in "AD" if cells.get(key)}
    return _layout(cells) is not None and one and len(kinds) < 2 and bool(_NOTHING.fullmatch(cells.get("beta", "")))


def _point(cells: dict[str, str], origin: str) -> Point:
    """The point of a line. Raises ResultsError for one that failed."""
    name = f"{cells['Provider']} {cells['OperationKind']} {cells['Operation']}"
    if not cells["Operation"]:
        raise bad(origin, "Operation is empty")
    if cells["Status"].lower() != "success" or cells["Disposition"].lower() not in _GOOD:
        raise ResultsError(f"{name}: {cells['Status']}, {cells['Disposition']}")
    elapsed = time(si(number(cells["Runtime"], origin, "Runtime"), _MILLISECONDS), origin, "Runtime")
    sizes = {key: cells[key] for key in ("m", "n", "k", "batch_count") if cells.get(key)}
    if sizes.get("batch_count") == "1":
        del sizes["batch_count"]
    layout = _layout(cells)
    shape = shape_of(sizes) | ({"layout": layout} if layout else {})
    return Point(
        origin, name, [elapsed], is_mean=True, shape=shape, technique=cells["Operation"],
        flops=work(number(cells["Flops"], origin, "Flops"), origin, "Flops"),
        bytes=work(number(cells["Bytes"], origin, "Bytes"), origin, "Bytes"),
        rates={key: number(cells[name], origin, name) * unit for name, (key, unit) in _RATES.items() if cells.get(name)},
        details={key: cells[key] for key in takewhile(lambda key: key != "Bytes", cells) if key not in _NO_SETTINGS},
        operation="matmul" if _is_matmul(cells) else cells["OperationKind"], format=_format_of(cells))


def load(path: Path) -> Imported:
    imported = Imported([])
    _, lines = tables.lines(path, imported, _NEEDED)
    for cells, origin in lines:
        with imported.row():
            imported.points.append(_point(cells, origin))
    return imported
