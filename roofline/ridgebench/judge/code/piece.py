"""Pieces of machine code, a function of a device or a section of an object, and a digest of each with what it calls."""

import hashlib
from dataclasses import dataclass
from typing import Iterable


@dataclass(frozen=True)
class Piece:
    """A piece in its normal form: equal pieces have equal digests wherever they lie. `calls` are names of other pieces."""

    digest: str
    calls: frozenset[str] = frozenset()


def digest(*parts: object) -> str:
    """A digest of texts, numbers and bytes, in their order."""
    found = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogateescape")
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


Pieces = dict[str, list[Piece]]  # by name; several files may hold a piece of one name


def add(pieces: Pieces, name: str, piece: Piece) -> None:
    pieces.setdefault(name, []).append(piece)


def reach(pieces: Pieces, roots: Iterable[str]) -> set[str]:
    """The names of the roots and of all pieces that they call, directly or not."""
    found: set[str] = set()
    open_names = list(roots)
    while open_names:
        name = open_names.pop()
        if name not in found:
            found.add(name)
            open_names += [call for piece in pieces.get(name, ()) for call in piece.calls]
    return found


def differing(one: Pieces, other: Pieces) -> set[str]:
    """The names whose pieces differ, or that only one side has."""

    def digests(pieces: Pieces, name: str) -> list[str]:
        return sorted(piece.digest for piece in pieces.get(name, ()))

    return {name for name in one.keys() | other.keys() if digests(one, name) != digests(other, name)}
