"""The sections of an object of the host in a form that is equal for equal code: bytes, and what their relocations refer to.

A relocation counts by the name of its symbol. A symbol that is local to the object counts by its section and place or, in a
section of merged constants and texts, by the constant itself: the linker sorts these, and a text may hold a path of the build.
Left out: device code, which is compared by itself, line information, unwinding tables, and where sections lie.
"""

import struct
from dataclasses import dataclass, field

from .elf import ALLOC, EXECUTE, FIRST_RESERVED, GROUP, INFO_LINK, MERGE, NO_SECTION, SECTION_SYMBOL, STRINGS, Elf, Relocation, Section, guarded
from .fatbin import SECTIONS as DEVICE_SECTIONS
from .names import plain, without_hashes
from .piece import Piece, Pieces, add, digest

_SILENT = (*DEVICE_SECTIONS, ".nvFatBinSegment", "__nv_module_id", ".eh_frame", ".gcc_except_table", ".note")
_PC_RELATIVE = {2, 4, 9, 41, 42}  # of x86-64: R_X86_64_PC32, PLT32, GOTPCREL and its relaxed forms
_GROUP_FLAGS = 4  # bytes before the members of a group


@dataclass
class HostObject:
    """Sections by name, and the section that defines each name for other objects; `needs` are names that others define.

    `groups` has the group of a section by its name: of all groups of one name in a program the linker keeps the first one.
    """

    pieces: Pieces = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    defined: dict[str, str] = field(default_factory=dict)
    needs: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, elf: Elf, root: bytes) -> None:
        self.elf, self.root = elf, root
        self.contents = {one.index: elf.bytes_of(one) for one in elf.sections if one.flags & MERGE}

    def constant(self, section: Section, at: int) -> str:
        """The constant or the text at a place of a merged section; the place itself if none begins there."""
        data = self.contents[section.index]
        if section.flags & STRINGS and section.entry <= 1 and 0 <= at < len(data) and (at == 0 or data[at - 1] == 0):
            text = data[at : data.find(b"\0", at)]
            return f"text {plain((text.replace(self.root, b'') if self.root else text).decode('latin-1'))}"
        if not section.flags & STRINGS and section.entry and at % section.entry == 0 and 0 <= at <= len(data) - section.entry:
            return f"constant {data[at : at + section.entry].hex()}"
        return f"{section.name} {at} {digest(data)}"

    def label(self, one: Relocation) -> str:
        """The target of a relocation."""
        symbol = self.elf.symbols[one.symbol]
        if not NO_SECTION < symbol.section < FIRST_RESERVED:
            return f"{plain(symbol.name)} {one.addend}"
        section = self.elf.sections[symbol.section]
        if section.flags & MERGE and not symbol.binding:
            if symbol.type != SECTION_SYMBOL:
                return f"{self.constant(section, symbol.value)} {one.addend}"
            if one.type in _PC_RELATIVE:  # the addend depends on the bytes that follow in the instruction
                return f"{section.name} {one.addend} {digest(self.contents[section.index])}"
            return self.constant(section, symbol.value + one.addend)
        if symbol.type == SECTION_SYMBOL or not symbol.binding:
            return f"{plain(section.name)} {symbol.value} {one.addend}"
        return f"{plain(symbol.name)} {one.addend}"

    def piece(self, section: Section) -> Piece:
        # The assembler leaves the field of a relocation empty when the addend is beside it.
        found = sorted((one.offset, one.type, self.label(one)) for one in self.elf.relocations.get(section.index, ()))
        data = self.elf.bytes_of(section)
        content = data if section.flags & EXECUTE else without_hashes(data)
        return Piece(digest(section.type, section.flags & ~INFO_LINK, section.size, content, found))


_known: dict[str, HostObject] = {}  # by the digest of their bytes and root: both sides have most objects


def read_object(data: bytes, origin: str, root: str) -> HostObject:
    """The sections of an object; `root` is the folder of its sources or of its build, which texts may name. Raises ResultsError."""
    key = digest(data, root)
    if key not in _known:
        with guarded(origin):
            _known[key] = _read(Elf(data, origin), root)
    return _known[key]


def _read(elf: Elf, root: str) -> HostObject:
    reader, found = _Reader(elf, root.encode() if root else b""), HostObject()
    kept = {}
    for section in elf.sections:
        if section.flags & ALLOC and not section.name.startswith(_SILENT) and not (section.flags & MERGE and section.name.startswith(".rodata")):
            kept[section.index] = plain(section.name)
            add(found.pieces, plain(section.name), reader.piece(section))
    for symbol in elf.symbols:
        if symbol.binding and symbol.name:
            if symbol.section == NO_SECTION:
                found.needs.add(plain(symbol.name))
            elif symbol.section in kept:
                found.defined[plain(symbol.name)] = kept[symbol.section]
    for section in elf.sections:
        if section.type == GROUP and section.info < len(elf.symbols):
            for (member,) in struct.iter_unpack("<I", elf.bytes_of(section)[_GROUP_FLAGS:]):
                if member in kept:
                    found.groups[kept[member]] = plain(elf.symbols[section.info].name)
    return found
