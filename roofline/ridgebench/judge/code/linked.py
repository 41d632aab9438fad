"""The host's code of two linked programs, whose objects nobody kept: equal where all that differs are shifted addresses.

Device code lies in front of a program's data. Where it has another length, the data move, and each operand that refers to them
changes by the same distance. Two programs count as equal if their sections have the same sizes, and if every field that differs
refers to the same place of the same section. Everything else is a difference, also where it means nothing.
"""

import struct
from typing import Optional

import numpy as np

from .elf import ALLOC, EXECUTE, X86_64, Elf, Section, guarded
from .fatbin import SECTIONS as DEVICE_SECTIONS
from .names import plain, without_hashes

# Device code and its handle; unwinding; notes; tables of the loader, whose names are compared.
_SILENT = (*DEVICE_SECTIONS, ".nvFatBinSegment", "__nv_module_id", ".eh_frame", ".gcc_except_table", ".note", ".gnu.hash", ".hash", ".dynsym", ".dynamic")
_RELOCATED = (".rela.dyn", ".rela.plt")
_MODRM_MASK, _MODRM_OF_PC = 0xC7, 0x05  # of x86-64: an operand relative to the next instruction
_FIELD, _WORD = 4, 8  # bytes
_AFTER_FIELD = (0, 1, 2, 4)  # bytes of a constant that may follow the field in its instruction


class _Pair:
    """Two programs, and where an address lies in each."""

    def __init__(self, one: Elf, other: Elf) -> None:
        self.sides = (one, other)
        self.sections = [[s for s in elf.sections if s.flags & ALLOC and s.address] for elf in self.sides]

    def place(self, side: int, address: int) -> Optional[tuple[str, int]]:
        """Name of the section of an address, and the distance from its begin."""
        for section in self.sections[side]:
            if section.address <= address <= section.address + section.size:
                return section.name, address - section.address
        return None

    def same_place(self, one: int, other: int) -> bool:
        found = self.place(0, one)
        return found is not None and found == self.place(1, other)


def _explained_in_code(pair: _Pair, sections: tuple[Section, Section], data: tuple[bytes, bytes], at: int) -> Optional[int]:
    """The end of the field around the first byte that differs, if it refers to the same place on both sides."""
    for start in range(at, at - _FIELD, -1):
        if start < 1 or start + _FIELD > len(data[0]) or data[0][start - 1] & _MODRM_MASK != _MODRM_OF_PC or data[0][start - 1] != data[1][start - 1]:
            continue
        values = [struct.unpack_from("<i", text, start)[0] for text in data]
        for after in _AFTER_FIELD:
            ends = [section.address + start + _FIELD + after + value for section, value in zip(sections, values)]
            if pair.same_place(*ends):
                return start + _FIELD
    return None


def _explained_in_data(pair: _Pair, data: tuple[bytes, bytes], at: int) -> Optional[int]:
    """The end of the word around the first byte that differs, if it is an address of the same place on both sides."""
    start = at // _WORD * _WORD
    if start + _WORD > len(data[0]):
        return None
    one, other = (struct.unpack_from("<Q", text, start)[0] for text in data)
    return start + _WORD if pair.same_place(one, other) else None


def _section_differs(pair: _Pair, sections: tuple[Section, Section]) -> bool:
    data = tuple(elf.bytes_of(section) for elf, section in zip(pair.sides, sections))
    if data[0] == data[1]:
        return False
    is_code = bool(sections[0].flags & EXECUTE)
    data = data if is_code else tuple(map(without_hashes, data))
    if len(data[0]) != len(data[1]) or (is_code and pair.sides[0].machine != X86_64):
        return True
    end = 0
    for at in np.flatnonzero(np.frombuffer(data[0], np.uint8) != np.frombuffer(data[1], np.uint8)).tolist():
        if at < end:
            continue
        found = _explained_in_code(pair, sections, data, at) if is_code else _explained_in_data(pair, data, at)
        if found is None:
            return True
        end = found
    return False


def _relocations(pair: _Pair, side: int) -> list[tuple]:
    """The fields that the loader fills in: the place, the kind, the symbol, and what is added, which without a symbol is a place, too."""
    found = []
    for name in _RELOCATED:
        section = pair.sides[side].named(name)
        for one in pair.sides[side].entries(section) if section else ():
            place = pair.place(side, one.offset)
            if place is None or not place[0].startswith(_SILENT):
                found.append((place, one.type, one.symbol, one.addend if one.symbol else pair.place(side, one.addend)))
    return sorted(found, key=repr)


def _imports(elf: Elf) -> list[tuple[str, int]]:
    """The symbols of the loader, in their order."""
    return [(one.name, one.type) for one in elf.dynamic_symbols]


def _names(elf: Elf) -> list[tuple[str, str, int]]:
    """Functions and variables with their sections and sizes."""
    sections = {one.index: one for one in elf.sections}
    return sorted((plain(s.name), sections[s.section].name, s.size) for s in elf.symbols
                  if s.section in sections and s.size and not sections[s.section].name.startswith(_SILENT))


def host_difference(one: Elf, other: Elf) -> str:
    """How the host's code of two programs differs; empty where it does not. Raises ResultsError for a malformed one."""
    with guarded(f"{one.origin} or {other.origin}"):
        return _difference(one, other)


def _difference(one: Elf, other: Elf) -> str:
    pair = _Pair(one, other)
    kept = [[s for s in elf.sections if s.flags & ALLOC and not s.name.startswith(_SILENT)] for elf in pair.sides]
    shapes = [[(s.name, s.type, s.flags, s.size, s.entry) for s in sections] for sections in kept]
    if one.machine != other.machine or shapes[0] != shapes[1]:
        return "other sizes of sections"
    if _names(one) != _names(other) or _imports(one) != _imports(other):
        return "other names or sizes of functions"
    for sections in zip(*kept):
        if not (one.symbols and other.symbols):
            if one.bytes_of(sections[0]) != other.bytes_of(sections[1]) or sections[0].address != sections[1].address:
                return f"section {sections[0].name}, and without symbols addresses are not compared"
            continue
        relocates = sections[0].name in _RELOCATED
        if _relocations(pair, 0) != _relocations(pair, 1) if relocates else _section_differs(pair, sections):
            return f"section {sections[0].name}"
    return ""
