"""The table that a program of nccl-tests prints, such as all_reduce_perf: github.com/NVIDIA/nccl-tests.

A row is a size of the message, out of place or in place. Its bytes are those that each rank sends over its link in one
direction, so that bytes per second are the bus bandwidth ("busbw"): the message times a factor for each collective, which
doc/PERFORMANCE.md of nccl-tests derives for a ring, and which holds for any algorithm without sums in the network.
"""

import re
from pathlib import Path
from typing import NamedTuple

from ridgebench.base.files import ResultsError, read
from ridgebench.base.text import quoted
from ridgebench.data import program

from .point import Imported, Point, WrongForm, bad, number, shape_of, size, time, work
from .units import si

_MICROSECONDS = 1e-6
_GIGA = 1e9
# The names of `plan transfer --collective` by those of the programs.
_COLLECTIVES = {"all_reduce": "all-reduce", "reduce_scatter": "reduce-scatter", "all_gather": "all-gather", "alltoall": "all-to-all",
                "gather": "gather", "scatter": "scatter", "broadcast": "broadcast", "reduce": "reduce", "sendrecv": "send-receive"}
_PROGRAM = re.compile(rf"(?<![A-Za-z_])({'|'.join(_COLLECTIVES)})_perf\b")
_RANK = re.compile(r"#\s+Rank\s+(\d{1,7})\s+(?:Group\s+(\d{1,7})\s)?.*?\bdevice\s+\d+\s+\[[^\]]*\]\s+(\S.*?)\s*$")
_FIRST = ("size", "count", "type")  # then, in newer versions, redop and root
_TIMED = ("time", "algbw", "busbw")  # then a count of wrong values, or the largest error
_PLACES = ("out_of_place", "in_place")
_ROUNDED = 0.005  # GB/s: half a unit of the last place of a printed rate
_DOUBTED = 0.02  # of the rate: short times have two digits


class _Table(NamedTuple):
    """The facts above the rows of a table."""

    collective: str
    ranks: int
    share: float  # of the message, that a rank sends
    first_time: int  # column of the first time
    columns: int


def _collective(text: str, origin: str) -> str:
    """The collective whose program's name the file has. Raises ResultsError."""
    names = sorted(set(_PROGRAM.findall(text)))
    if len(names) == 1:
        return names[0]
    what = f"names {' and '.join(names)}" if names else "does not name the collective"
    raise bad(origin, f"the file {what}; allowed: one of {', '.join(f'{name}_perf' for name in _COLLECTIVES)}, for instance in a line "
                      "above the table")


def _ranks(lines: list[str], imported: Imported, origin: str) -> int:
    """The number of ranks, by the list of devices above the table. Raises ResultsError."""
    listed = [match for match in map(_RANK.match, lines) if match]
    found = {int(match[1]): match[3] for match in listed}
    if len(found) < 2 or sorted(found) != list(range(len(found))):
        raise bad(origin, f"'# Using devices' lists {len(found)} ranks; allowed: two or more, numbered from 0")
    groups = {match[2] for match in listed}
    if len(groups) > 1:
        raise bad(origin, f"the ranks are in {len(groups)} groups, as NCCL_TESTS_SPLIT makes them; allowed: one group")
    models = sorted(set(found.values()))
    imported.models[0] = models[0]
    if len(models) > 1:
        imported.notes.append(f"the ranks are {' and '.join(models)}; the records name the first")
    return len(found)


def _table(text: str, lines: list[str], imported: Imported, origin: str) -> _Table:
    """Raises ResultsError unless the file has one table of the known columns."""
    titles = [line.lstrip("#").split() for line in lines if line.startswith("#") and {"size", "busbw"} <= set(line.split())]
    if len(titles) != 1:
        raise WrongForm(f"{origin}: {len(titles)} tables with size and busbw")
    (title,) = titles
    first = title.index("time") if "time" in title else 0
    groups = title[first : first + 4], title[first + 4 :]
    if tuple(title[:3]) != _FIRST or any(tuple(group[:3]) != _TIMED or len(group) != 4 for group in groups):
        raise bad(origin, f"columns {quoted(' '.join(title))}; allowed: size, count, type, and twice time, algbw, busbw, #wrong")
    collective, ranks = _collective(text, origin), _ranks(lines, imported, origin)
    return _Table(collective, ranks, program.sent_by_a_rank(_COLLECTIVES[collective], ranks), first, len(title))


def _bus_rate(cells: list[str], at: int, bytes_: float, elapsed: float, origin: str) -> None:
    """Raises ResultsError if the printed bus bandwidth is not that of the message's bytes and the time."""
    stated, right = number(cells[at + 2], origin, "busbw"), bytes_ / elapsed / _GIGA
    if abs(stated - right) > _ROUNDED + _DOUBTED * right:
        raise bad(origin, f"busbw is {stated:g} GB/s, but size, ranks and time give {right:.4g}; allowed: a difference of 2 %")


def _point(table: _Table, cells: list[str], place: int, origin: str) -> Point:
    """The point of a row, out of place or in place. Raises ResultsError."""
    at = table.first_time + 4 * place
    name = f"{table.collective} {cells[0]} bytes {_PLACES[place]}"
    if cells[at + 3] not in ("0", "N/A", "0e+00"):
        raise ResultsError(f"{name}: {cells[at + 3]} in the column of wrong values")
    message = size(cells[0])
    if message is None:
        raise bad(origin, f"size is {quoted(cells[0])}; allowed: 1 to 2^40 bytes")
    elapsed = time(si(number(cells[at], origin, "time"), _MICROSECONDS), origin, "time")
    moved = work(message * table.share, origin, "bytes")
    _bus_rate(cells, at, moved, elapsed, origin)
    redop = cells[3] if table.first_time > 3 and cells[3] != "none" else ""
    return Point(origin, name, [elapsed], is_mean=True, bytes=moved, operation=table.collective, format=cells[2],
                 technique="_".join(filter(None, ("nccl", redop, _PLACES[place]))),
                 details={"root": cells[4]} if table.first_time > 4 else {},
                 shape=shape_of({"ranks": table.ranks, "message_bytes": message}))


def load(path: Path) -> Imported:
    text = read(path, "the output of nccl-tests")
    lines = text.splitlines()
    imported = Imported([])
    table = _table(text, lines, imported, str(path))
    for index, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or not cells[0].isdigit():
            continue
        origin = f"{path}:{index}"
        if len(cells) != table.columns:
            imported.left_out.append(f"{origin}: {len(cells)} cells; allowed: {table.columns}, as in the header")
            continue
        for place in (0, 1):
            with imported.row():
                imported.points.append(_point(table, cells, place, origin))
    return imported
