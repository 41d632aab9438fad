"""The CSV file of triton.testing.perf_report (run(save_path=...)): one column per line of the plot, `name (unit)`.

The columns without a unit in brackets before the first such column are the sizes. Older versions of Triton write no
unit; --unit then states it, and the sizes are the first column and those behind it that are named M, N or K. --unit also
states the unit of a column whose brackets hold another text, such as `Triton (latency)`.
"""

import re
from itertools import takewhile
from pathlib import Path
from typing import Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.text import quoted

from . import tables
from .point import Imported, Point, WrongForm, bad, number, shape_of, time
from .units import RATES, TIMES, find, scale, si

_HEADER = re.compile(r"(.*?)\s*\(([^()]*)\)")
_DIMENSIONS = ("m", "n", "k")
_UNITS = TIMES | RATES
_WHISKERS = ("-min", "-max")  # columns of the quantiles


def _point(name: str, value: str, unit: str, sizes: dict[str, str], origin: str) -> Point:
    shown = " ".join([name, *(f"{key}={size}" for key, size in sizes.items())])
    found = Point(origin, shown, [], technique=name, shape=shape_of({k: _whole(v) for k, v in sizes.items()}))
    amount = number(value, origin, name)
    if find(TIMES, unit) is not None:
        found.times_s = [time(si(amount, scale(TIMES, unit, origin, name)), origin, name)]
        return found
    kind, factor = scale(RATES | dict.fromkeys(TIMES), unit, origin, f"{name}; --unit states another")
    if amount <= 0:
        raise bad(origin, f"{name} is {amount:g} {unit}; allowed: more than 0")
    found.rates = {kind: amount * factor}
    return found


def _whole(text: str) -> str:
    """pandas writes whole sizes as 4096.0."""
    return re.sub(r"\.0*$", "", text)


def _columns(header: list[str], unit: Optional[str], origin: str) -> dict[str, tuple[str, str]]:
    """The columns with values: column to its name and unit. A column of sizes has no unit."""
    if len(header) == 1:
        raise WrongForm(f"{origin}: one column")
    found, stated = {}, []
    for column in header:
        match = _HEADER.fullmatch(column)
        if match and match[1] and not column.endswith(_WHISKERS):
            stated.append(match[2])
            found[column] = (match[1], match[2] if find(_UNITS, match[2]) or unit is None else unit)
    if found and unit is not None and not any(find(_UNITS, own) is None for own in stated):
        raise bad(origin, f"--unit is {quoted(unit)}, and every column names its unit; allowed: columns without one")
    if found:
        return found
    if unit is None:
        raise bad(origin, "no column names a unit, as in `Triton (GB/s)`; --unit states it")
    sizes = [header[0], *takewhile(lambda column: column.lower() in _DIMENSIONS, header[1:])]
    return {column: (column, unit) for column in header[len(sizes) :] if not column.endswith(_WHISKERS)}


def load(path: Path, unit: Optional[str] = None) -> Imported:
    imported = Imported([])
    header, lines = tables.lines(path, imported)
    values = _columns(header, unit, f"{path}:1")
    first = min((header.index(column) for column in values), default=0)
    for cells, origin in lines:
        sizes = {name: cells[name] for name in header[:first] if name}
        for column, (name, of) in values.items():
            with imported.row():
                if cells[column].lower() in ("", "nan"):  # a provider that did not run at this size
                    raise ResultsError(f"{name} at {sizes}: no value")
                imported.points.append(_point(name, cells[column], of, sizes, origin))
    return imported
