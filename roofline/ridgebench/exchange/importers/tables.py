"""Tables of text with commas, as benchmarks print them."""

import csv
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ridgebench.base.files import read

from .point import LONGEST_NAME, Imported, WrongForm, bad

_MOST_ROWS = 200_000
_MOST_COLUMNS = 20_000
csv.field_size_limit(2**20)


class _Line(NamedTuple):
    """The cells of a line by the names of their columns, and its place."""

    cells: dict[str, str]
    origin: str


def split(line: str, origin: str, delimiter: str = ",") -> list[str]:
    """The cells of a line without the spaces around them. Raises ResultsError."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True, delimiter=delimiter), [])]
    except csv.Error as error:
        raise bad(origin, f"no line of a table with commas: {error}") from None


def lines(path: Path, imported: Imported, needed: tuple[str, ...] = (), distinct: bool = False) -> tuple[list[str], list[_Line]]:
    """The header, which must name the needed columns, and the lines below it; bad ones are left out.

    Of columns with one name the first counts; `distinct` refuses them. A cell ends with its line.
    """
    texts = [(f"{path}:{n}", line) for n, line in enumerate(read(path, "a table with commas").splitlines(), 1) if line.strip()]
    if len(texts) < 2:
        raise WrongForm(f"{path}: no row below the header")
    (origin, first), *rest = texts
    delimiter = next((mark for mark in ",;\t" if mark in first), ",")
    header = split(first, origin, delimiter)
    if len(rest) > _MOST_ROWS or len(header) > _MOST_COLUMNS:
        raise bad(str(path), f"allowed: up to {_MOST_ROWS} rows and {_MOST_COLUMNS} columns")
    if max(map(len, header)) > LONGEST_NAME:
        raise bad(origin, f"a column has a name of {max(map(len, header))} characters; allowed: up to {LONGEST_NAME}")
    check_header(header, needed, origin)
    if distinct and (twice := [name for name, count in Counter(header).items() if count > 1]):
        raise bad(origin, f"column {twice[0]!r} comes twice")
    found = []
    for origin, line in rest:
        with imported.row():
            cells: dict[str, str] = {}
            for name, cell in zip(header, whole_line(header, split(line, origin, delimiter), origin)):
                cells.setdefault(name, cell)
            found.append(_Line(cells, origin))
    return header, found


def whole_line(header: list[str], cells: list[str], origin: str) -> list[str]:
    """The cells of a line that has all of them. Raises ResultsError."""
    if len(cells) != len(header):
        raise bad(origin, f"{len(cells)} cells; allowed: {len(header)}, as in the header")
    return cells


def check_header(header: list[str], needed: tuple[str, ...], origin: str) -> None:
    for name in needed:
        if name not in header:
            raise WrongForm(f"{origin}: column {name!r} is missing; there are {', '.join(header)[:200] or 'none'}")
        if header.count(name) > 1:
            raise bad(origin, f"column {name!r} comes twice")
