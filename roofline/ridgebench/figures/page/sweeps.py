"""Sweeps: the rows of one implementation in which exactly one thing grows. A path joins the rows of a sweep."""

from dataclasses import dataclass
from typing import Iterable

from ridgebench.data.records import Row, named_sizes, of_a_batch

_EVERY = "n"  # the name of the size that all dimensions of a square shape share


@dataclass(frozen=True)
class Sweep:
    """The rows of a sweep, the smallest first, and the dimension that grows."""

    grows: str
    rows: list[Row]

    def size(self, row: Row) -> str:
        """'m 256': what grows, and how far it is at a row."""
        value = row.shape[self.grows] if self.grows in row.shape else next(iter(_sizes(row).values()))
        return f"{self.grows} {value:.0f}"


def _sizes(row: Row) -> dict[str, float]:
    """The dimensions of a row, without its layout."""
    return {name: value for name, value in row.shape.items() if not isinstance(value, str)}


def _plain(row: Row) -> dict[str, float]:
    """The dimensions of a row without a batch, leading dimensions and attributes."""
    more = of_a_batch(row.shape)
    return {name: value for name, value in _sizes(row).items() if name not in more and not isinstance(value, float)}


def size_text(row: Row) -> str:
    """'n 128' of a square or a one-dimensional shape, else '2048×2048×128'; of a batch '128×64×64, b 8'."""
    own = [f"{value:.0f}" for value in _plain(row).values()]
    text = f"{_EVERY} {own[0]}" if len(set(own)) == 1 else "×".join(own)
    return text + named_sizes(row.shape)


def _small_first(row: Row) -> tuple:
    return (row.series, tuple(_sizes(row).values()), row.id)


def _kinds(row: Row) -> Iterable[tuple]:
    """Keys that a row shares with the other rows of each sweep that may hold it; the last part is the dimension that grows."""
    own = _sizes(row)
    texts = tuple(sorted((name, value) for name, value in row.shape.items() if isinstance(value, str)))
    plain = _plain(row)
    if len(set(plain.values())) == 1:
        every = _EVERY if len(plain) > 1 else next(iter(plain))
        yield row.series, texts, tuple(plain), named_sizes(row.shape), every
    for name in own if len(own) > 1 else ():
        yield row.series, texts, tuple((other, value) for other, value in own.items() if other != name), name


def _grown(rows: list[Row]) -> list[Row]:
    """The rows, which come the smallest first, without those that repeat a size."""
    return list({tuple(_sizes(row).values()): row for row in rows}.values())


def sweeps(rows: list[Row]) -> list[Sweep]:
    """The sweeps of each implementation, the longest first: all dimensions equal, or one grows and the others stay.

    A sweep whose rows are all in longer ones is left out: the rows of a grid would be joined twice.
    """
    groups: dict[tuple, list[Row]] = {}
    for row in sorted(rows, key=_small_first):
        for kind in _kinds(row):
            groups.setdefault(kind, []).append(row)
    known = [Sweep(kind[-1], _grown(some)) for kind, some in groups.items()]
    found, joined = [], set()
    for sweep in sorted(known, key=lambda sweep: -len(sweep.rows)):
        new = {row.id for row in sweep.rows} - joined
        if len(sweep.rows) > 1 and new:
            found.append(sweep)
            joined |= new
    return sorted(found, key=lambda sweep: (sweep.rows[0].series, -len(sweep.rows)))


def paths(rows: list[Row]) -> list[list[Row]]:
    """The rows of each sweep, then every row of no sweep by itself."""
    found = [sweep.rows for sweep in sweeps(rows)]
    joined = {row.id for path in found for row in path}
    return found + [[row] for row in sorted(rows, key=_small_first) if row.id not in joined]
