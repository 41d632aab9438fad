"""A table with commas whose columns are named `name`, `time_us`, `flops`, ...: for numbers of any other source.

Columns: name and time with its unit (`time_us`, `time (us)`); where known operation, technique, format, flops, bytes
(also with a unit: `bytes_MB`) and shape (`m:64/n:64/k:64`) or dimensions of one letter (m, n, k).
"""

import re
from pathlib import Path
from typing import Optional

from ridgebench.base.command_line import USAGE, CommandError
from ridgebench.base.text import quoted

from . import tables
from .mapping import shape
from .point import Imported, Point, bad, number, shape_of, time, work
from .units import BYTES, FLOPS, RATES, TIMES, as_bytes, find, scale, si

_QUANTITIES = {"time": TIMES, "bytes": BYTES, "flops": FLOPS}
_UNITS = TIMES | BYTES | FLOPS | RATES
_TEXTS = ("name", "operation", "technique", "format", "shape")
_UNIT = re.compile(r"[\[(]([^\])]+)[\])]$")
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


def named_columns(words: Optional[list[str]]) -> Optional[dict[str, str]]:
    """The mapping of --columns: the name of a column of this table by that of the file. Raises CommandError."""
    if words is None:
        return None
    pairs = [word.partition("=")[::2] for word in words]
    for word, (name, column) in zip(words, pairs):
        if not name or not column:
            raise CommandError(f"--columns {quoted(word)}; allowed: NAME=COLUMN, for instance name=kernel", USAGE)
    found = {column: name for name, column in pairs}
    if len(found) < len(pairs) or len({name for name, _ in pairs}) < len(pairs):
        raise CommandError("--columns has a name or a column twice; allowed: once", USAGE)
    return found


def _unit_of(column: str, table: dict[str, float]) -> str:
    """The unit that a column's name states: in brackets, as the last word, or as another one; empty if it states none."""
    if match := _UNIT.search(column):
        return match[1]
    words = [word for word in re.split(r"[\s_]+", column) if len(word) > 1 or word == "s"]  # time_b may be the time of a variant
    if words and find(_UNITS, as_bytes(words[-1])) is not None:
        return words[-1]
    return next((word for word in reversed(words) if find(table | RATES, as_bytes(word)) is not None), "")


def _unit(kind: str, stated: str, column: str, origin: str) -> str:
    """The unit of a column, by --columns and by the column's own name. Raises ResultsError if they contradict each other."""
    table = _QUANTITIES[kind]
    own = _unit_of(column, table)
    if find(table, own) is None and find(table, own[:-1]) is not None:  # GFLOPs may mean GFLOP or GFLOP/s
        own = own[:-1]
        if not stated:
            raise bad(origin, f"column {column!r} may hold work or a rate; --columns {quoted(f'{kind}_{own}={column}')} says that it holds work")
    clear = as_bytes(own)
    if clear != own and not stated and find(table, clear) is not None:
        raise bad(origin, f"column {column!r} may be in bits or bytes; --columns {quoted(f'{kind}_{clear}={column}')} says that it is in bytes")
    if find(table, clear) is None and find(_UNITS, clear) is not None:
        raise bad(origin, f"column {column!r} is in {own}; allowed for {kind}: {', '.join(list(table)[:12])}, ..., of a launch")
    if stated and find(table, own) not in (None, scale(table, stated, origin, kind)):
        raise bad(origin, f"column {column!r} is in {own}, and --columns says {stated}; allowed: one unit")
    return stated or own


def _renamed(header: list[str], columns: dict[str, str], origin: str) -> list[str]:
    """The header in the names of this table, with units; a column that --columns leaves out is nameless."""
    if missing := [column for column in columns if column not in header]:
        raise bad(origin, f"column {missing[0]!r} is missing; there are {', '.join(header)[:200]}")
    found = []
    for column in header:
        name = columns.get(column, "")
        kind, stated = match.groups() if (match := _WITH_UNIT.fullmatch(name)) else (name, "")
        unit = _unit(kind, stated, column, origin) if kind in _QUANTITIES else ""
        found.append(f"{kind} ({unit})" if unit else name)
    return found


def load(path: Path, names: Optional[dict[str, str]] = None) -> Imported:
    """`names`: of the columns that are read, as named_columns() returns them; None: all, by their own names."""
    imported = Imported([])
    header, lines = tables.lines(path, imported, distinct=True)
    if names is None and "name" not in header:
        raise bad(f"{path}:1", f"column 'name' is missing; there are {', '.join(header)[:200]}; --columns name=COLUMN says which it is")
    shown = header if names is None else _renamed(header, names, f"{path}:1")
    whole, header = header, [name for name in shown if name]
    tables.check_header(header, ("name",), f"{path}:1")
    columns = _quantities(header, f"{path}:1")
    for line, origin in lines:
        cells = {name: line[column] for name, column in zip(shown, whole) if name}
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
                format=cells.get("format") or None, shape=_dimensions(cells, origin),
                unread={column: line[column] for name, column in zip(shown, whole) if not name}))
    return imported
