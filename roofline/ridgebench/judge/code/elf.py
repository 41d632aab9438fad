"""Sections, symbols and relocations of a 64-bit little-endian ELF file: a program, an object or a cubin.

Source of the layouts: System V Application Binary Interface, generic part, "Object Files".
"""

import struct
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Iterator, Optional

import numpy as np

from ridgebench.base.files import ResultsError, malformed

MAGIC = b"\x7fELF"
ALLOC, EXECUTE, MERGE, STRINGS, INFO_LINK = 0x2, 0x4, 0x10, 0x20, 0x40  # flags of a section
NULL, _SYMTAB, RELA, _NOBITS, REL, _DYNSYM, GROUP = 0, 2, 4, 8, 9, 11, 17  # types of a section
NO_SECTION, FIRST_RESERVED = 0, 0xFF00  # indexes of sections: none; absolute, common ...
SECTION_SYMBOL, FUNCTION_SYMBOL = 3, 2  # types of a symbol
CUDA, X86_64 = 190, 62  # machines

_IDENTITY = MAGIC + bytes((2, 1))  # 64 bits, little-endian
_HEAD = np.dtype([("identity", "V16"), ("type", "<u2"), ("machine", "<u2"), ("version", "<u4"), ("entry", "<u8"), ("program_table", "<u8"),
                  ("section_table", "<u8"), ("flags", "<u4"), ("size", "<u2"), ("program_size", "<u2"), ("programs", "<u2"),
                  ("section_size", "<u2"), ("sections", "<u2"), ("names", "<u2")])
_SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
                     ("link", "<u4"), ("info", "<u4"), ("alignment", "<u8"), ("entry", "<u8")])
_SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")])
_RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SHORT = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4")])  # without an addend


@dataclass(frozen=True)
class Section:
    index: int
    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int  # bytes of an entry of a table


@dataclass(frozen=True)
class _Symbol:
    name: str
    section: int
    value: int
    size: int
    type: int
    binding: int


@dataclass(frozen=True)
class Relocation:
    offset: int
    type: int
    symbol: int
    addend: int


class Unreadable(Exception):
    """A part of a program that cannot be compared; the text says why."""


@contextmanager
def guarded(origin: str) -> Iterator[None]:
    """Raises ResultsError, which names the origin, where the block meets an index or a size that the file cannot have."""
    try:
        yield
    except (ValueError, LookupError, struct.error, OverflowError) as error:
        raise malformed(origin, error, "malformed ELF file") from None


class Elf:
    """A file in memory. Raises ResultsError, which names the origin, for one that is malformed."""

    def __init__(self, data: bytes, origin: str) -> None:
        self.data, self.origin = data, origin
        with guarded(origin):
            self._read()

    def _read(self) -> None:
        if self.data[: len(_IDENTITY)] != _IDENTITY:
            raise ValueError("allowed: 64 bits, little-endian")
        head = np.frombuffer(self.data, _HEAD, 1)[0]
        self.abi_version, self.machine, self.flags = self.data[8], int(head["machine"]), int(head["flags"])
        if head["section_size"] != _SECTION.itemsize or head["names"] >= head["sections"]:
            raise ValueError("its table of sections")
        rows = np.frombuffer(self.data, _SECTION, int(head["sections"]), int(head["section_table"])).tolist()
        names = self.data[rows[head["names"]][4] :]
        self.sections = [Section(index, self.text_at(names, name), *more) for index, (name, *more) in enumerate(rows)]
        for one in self.sections:
            if one.type not in (NULL, _NOBITS) and one.offset + one.size > len(self.data):
                raise ValueError(f"section {one.name} goes beyond the end")

    def bytes_of(self, section: Section) -> bytes:
        """The content; empty for a section that occupies no bytes of the file."""
        if section.type in (_NOBITS, NULL):
            return b""
        return self.data[section.offset : section.offset + section.size]

    def named(self, name: str) -> Optional[Section]:
        return next((one for one in self.sections if one.name == name), None)

    def text_at(self, table: bytes, at: int) -> str:
        end = table.find(b"\0", at)
        return table[at : end if end >= 0 else None].decode("utf-8", "replace")

    def _symbols_of(self, kind: int) -> list[_Symbol]:
        table = next((one for one in self.sections if one.type == kind), None)
        if table is None:
            return []
        if table.size % _SYMBOL.itemsize or table.link >= len(self.sections):
            raise ResultsError(f"{self.origin}: malformed ELF file: the symbol table")
        names = self.bytes_of(self.sections[table.link])
        rows = np.frombuffer(self.bytes_of(table), _SYMBOL).tolist()
        return [_Symbol(self.text_at(names, name) if name else "", section, value, size, info & 15, info >> 4)
                for name, info, _, section, value, size in rows]

    @cached_property
    def symbols(self) -> list[_Symbol]:
        """The symbol table; empty for a stripped file."""
        return self._symbols_of(_SYMTAB)

    @cached_property
    def dynamic_symbols(self) -> list[_Symbol]:
        """The symbols of the loader."""
        return self._symbols_of(_DYNSYM)

    def entries(self, section: Section) -> list[Relocation]:
        """The relocations that a section lists. Raises ResultsError."""
        layout = _RELOCATION if section.type == RELA else _SHORT
        if section.size % layout.itemsize:
            raise ResultsError(f"{self.origin}: malformed ELF file: {section.name}")
        rows = np.frombuffer(self.bytes_of(section), layout).tolist()
        return [Relocation(row[0], row[1], row[2], row[3] if len(row) == 4 else 0) for row in rows]

    @cached_property
    def relocations(self) -> dict[int, list[Relocation]]:
        """The relocations of each section, by its index."""
        found: dict[int, list[Relocation]] = {}
        for one in self.sections:
            if one.type in (RELA, REL):
                found.setdefault(one.info, []).extend(self.entries(one))
        return found
