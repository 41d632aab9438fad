"""Tables of text with commas, as benchmarks print them."""

import csv
from itertools import zip_longest
from pathlib import Path
from typing import Iterator, NamedTuple

from ridgebench.files import read
from ridgebench.importers.point import bad

MOST_ROWS = 200_000
MOST_COLUMNS = 20_000
csv.field_size_limit(2**20)


class Line(NamedTuple):
    """The cells of a line by the names of their columns, and its place."""

    cells: dict[str, str]
    origin: str


def rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Every line that is not empty, with its place. Raises ResultsError."""
    reader = csv.reader(read(path, "a table with commas").splitlines(), strict=True)
    count = 0
    while True:
        origin = f"{path}:{reader.line_num + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise bad(origin, f"no line of a table with commas: {error}") from None
        count += 1
        if count > MOST_ROWS or len(cells) > MOST_COLUMNS:
            raise bad(origin, f"allowed: up to {MOST_ROWS} rows and {MOST_COLUMNS} columns")
        if any(cell.strip() for cell in cells):
            yield origin, [cell.strip() for cell in cells]


def lines(path: Path, needed: tuple[str, ...] = (), distinct: bool = False) -> list[Line]:
    """The lines below the header, which must name the needed columns. A line may lack its last cells.

    Of columns with one name the first counts; `distinct` refuses them.
    """
    table = rows(path)
    origin, header = next(table, (f"{path}:1", []))
    check_header(header, needed, origin)
    if distinct and len(set(header)) < len(header):
        raise bad(origin, "two columns have one name")
    found = [Line(line_of(header, cells, where), where) for where, cells in table]
    if not found:
        raise bad(str(path), "no row below the header")
    return found


def line_of(header: list[str], cells: list[str], origin: str) -> dict[str, str]:
    if len(cells) > len(header):
        raise bad(origin, f"{len(cells)} cells; allowed: up to {len(header)}, the columns of the header")
    found: dict[str, str] = {}
    for name, cell in zip_longest(header, cells, fillvalue=""):
        found.setdefault(name, cell)
    return found


def check_header(header: list[str], needed: tuple[str, ...], origin: str) -> None:
    for name in needed:
        if name not in header:
            raise bad(origin, f"column {name!r} is missing; there are {', '.join(header)[:200]!r}")
        if header.count(name) > 1:
            raise bad(origin, f"column {name!r} comes twice")
