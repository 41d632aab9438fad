"""A table with commas whose columns are named `name`, `time_us`, `flops`, ...: for numbers of any other source.

Columns: name and time with its unit (`time_us`, `time (us)`); where known operation, technique, format, flops, bytes
(also with a unit: `bytes_MB`) and shape (`m:64/n:64/k:64`) or dimensions of one letter (m, n, k).
"""

import re
from pathlib import Path

from ridgebench.base.text import quoted

from . import tables
from .mapping import shape
from .point import Imported, Point, bad, number, shape_of, time, work
from .units import BYTES, FLOPS, TIMES, scale, si

_QUANTITIES = {"time": TIMES, "bytes": BYTES, "flops": FLOPS}
_TEXTS = ("name", "operation", "technique", "format", "shape")
_WITH_UNIT = re.compile(r"(time|bytes|flops)(?:_|\s*[\[(])([^\])]+)[\])]?")


def _quantities(header: list[str], origin: str) -> dict[str, tuple[str, float]]:
    """The column of each quantity with the scale of its unit."""
    found = {}
    for column in header:
        match = _WITH_UNIT.fullmatch(column)
        kind, unit = match.groups() if match else (column, "")
        if kind in _QUANTITIES:
            if kind == "time" and not unit:
                raise bad(origin, "column 'time' has no unit; allowed: time_s, time_ms, time_us, time_ns")
            if kind in found:
                raise bad(origin, f"two columns hold {kind}: {found[kind][0]!r} and {column!r}")
            found[kind] = (column, scale(_QUANTITIES[kind], unit, origin, kind) if unit else 1.0)
        elif column not in _TEXTS and not re.fullmatch("[A-Za-z]", column):
            raise bad(origin, f"unknown column {quoted(column)}; allowed: {', '.join(_TEXTS)}, time_us, flops, bytes, "
                              "and dimensions of one letter")
    if "time" not in found:
        raise bad(origin, "no column with a time; allowed: time_s, time_ms, time_us, time_ns")
    return found


def _dimensions(cells: dict[str, str], origin: str) -> dict[str, int]:
    """The shape of a line, by its column or by the columns of one letter."""
    letters = {name: cells[name] for name in cells if len(name) == 1 and cells[name]}
    if cells.get("shape"):
        if letters:
            raise bad(origin, f"both 'shape' and {', '.join(letters)} have sizes; allowed: one of them")
        return shape(cells["shape"], origin)
    sizes = shape_of(letters)
    for name, text in letters.items():
        if name not in sizes:
            raise bad(origin, f"{name} is {quoted(text)}; allowed: a whole number from 1 to 2^40")
    return sizes


def load(path: Path) -> Imported:
    imported = Imported([])
    header, lines = tables.lines(path, imported, ("name",), distinct=True)
    columns = _quantities(header, f"{path}:1")
    for cells, origin in lines:
        with imported.row():
            values = {}
            for kind, (column, factor) in columns.items():
                if kind == "time" or cells[column]:
                    check = time if kind == "time" else work
                    values[kind] = check(si(number(cells[column], origin, column), factor), origin, column)
            if not cells["name"]:
                raise bad(origin, "name is empty")
            imported.points.append(Point(
                origin, cells["name"], [values["time"]], flops=values.get("flops"), bytes=values.get("bytes"),
                operation=cells.get("operation") or None, technique=cells.get("technique") or None,
                format=cells.get("format") or None, shape=_dimensions(cells, origin)))
    return imported
