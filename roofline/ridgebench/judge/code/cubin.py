"""The functions of a cubin in a form that is equal for equal code: instructions, constants, resources, and what they refer to.

Left out: addresses and order of sections and symbols, line information, unwinding tables, names of the compiler's files. The
version and the options of ptxas are returned apart. Attributes of a kernel in .nv.info, found by compiling kernels that differ
in one property: a form (1 byte; 4 means that a size and a value follow), an attribute (1 byte), and 2 bytes.
"""

import struct
from dataclasses import dataclass, field

from ridgebench.base.files import ResultsError

from .elf import CUDA, FIRST_RESERVED, FUNCTION_SYMBOL, INFO_LINK, NO_SECTION, NULL, REL, RELA, SECTION_SYMBOL, Elf, Relocation, Section, guarded
from .names import plain
from .piece import Piece, Pieces, add, digest

_TEXT = ".text."
_SILENT = (".debug", ".nv_debug", ".note", ".rela.debug", ".rel.debug", ".rela.nv_debug", ".rel.nv_debug", ".nv.callgraph", ".nv.prototype",
           ".nv.rel.action", ".symtab", ".strtab", ".shstrtab", ".nv.info", ".nv.merc", ".eh_frame")
_TOOLS = ".note.nv.tkinfo"
_RELEASE = "Cuda compilation tools, "
_OWN_FLAGS = 0xFFFFFF  # of the file's flags; the high byte is the index of a section
_SIZED = 4  # form of an attribute whose value has a size
_SYMBOL_FIRST = {0x0A, 0x11, 0x12, 0x2F, 0x23}  # attributes that begin with a symbol: constant bank, stack, frame, registers
_SYMBOLS = {0x0F}  # a list of symbols: what is called from outside
_REGISTERS_SHIFT = 24  # of a section's info, whose low bits are a symbol


@dataclass
class Cubin:
    """Functions by name; `kernels` are those that a host launches."""

    pieces: Pieces = field(default_factory=dict)
    kernels: set[str] = field(default_factory=set)
    tools: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, elf: Elf) -> None:
        self.elf = elf
        self.functions = {one.index: plain(one.name[len(_TEXT) :]) for one in elf.sections if one.name.startswith(_TEXT)}
        self.named = {name: index for index, name in self.functions.items()}

    def label(self, index: int) -> str:
        """A symbol without its number. One that is local to a section is that section and its place in it."""
        symbol = self.elf.symbols[index]
        if NO_SECTION < symbol.section < FIRST_RESERVED and symbol.type == SECTION_SYMBOL:
            return plain(self.elf.sections[symbol.section].name)
        return f"{plain(symbol.name)} {symbol.value:x}" if symbol.section in self.functions else plain(symbol.name)

    def callee(self, relocation: Relocation) -> str:
        """The function that a relocation refers to, of this file or another one; empty for data."""
        symbol = self.elf.symbols[relocation.symbol]
        if symbol.section in self.functions:
            return self.functions[symbol.section]
        return plain(symbol.name) if symbol.section == NO_SECTION and symbol.type == FUNCTION_SYMBOL else ""

    def attributes(self, section: Section) -> list[tuple[str, str]]:
        """The attributes of a section: the symbol that each begins with, or an empty text, and the rest as a text."""
        data, at, found = self.elf.bytes_of(section), 0, []
        while at + 4 <= len(data):
            form, attribute, short = struct.unpack_from("<BBH", data, at)
            at += 4
            if form != _SIZED:
                found.append(("", f"{form} {attribute} {short}"))
                continue
            value = data[at : at + short]
            at += short
            owner, rest = "", value.hex()
            if attribute in _SYMBOLS:
                rest = " ".join(sorted(self.label(index) for (index,) in struct.iter_unpack("<I", value)))
            elif attribute in _SYMBOL_FIRST and len(value) >= 4:
                (index,) = struct.unpack_from("<I", value)
                owner, rest = self.label(index), value[4:].hex()
                if self.elf.symbols[index].section in self.functions:
                    owner = self.functions[self.elf.symbols[index].section]
            found.append((owner, f"{attribute:x} {rest}"))
        return found

    def content(self, section: Section) -> str:
        """A section with its relocations."""
        relocations = [(one.offset, one.type, self.label(one.symbol), one.addend)
                       for one in sorted(self.elf.relocations.get(section.index, ()), key=lambda one: one.offset)]
        kept = section.info >> _REGISTERS_SHIFT if section.name.startswith(_TEXT) else 0
        return digest(section.type, section.flags & ~INFO_LINK, section.size, kept, self.elf.bytes_of(section), relocations)

    def owner(self, section: Section) -> str:
        """The function that a section belongs to, as .nv.constant0.NAME does; empty for one of all functions."""
        if section.index in self.functions:
            return self.functions[section.index]
        name = section.name
        for mark in (".nv.info.", ".nv.shared.", ".nv.local.", ".nv.constant"):
            if name.startswith(mark):
                rest = name[len(mark) :]
                rest = rest.partition(".")[2] if mark == ".nv.constant" else rest
                return plain(rest) if plain(rest) in self.named else ""
        return ""


def read_cubin(data: bytes, origin: str) -> Cubin:
    """The functions of a cubin. Raises ResultsError for a malformed one."""
    elf = Elf(data, origin)
    if elf.machine != CUDA:
        raise ResultsError(f"{origin}: not a cubin: machine {elf.machine}")
    with guarded(origin):
        return _read(elf)


def _read(elf: Elf) -> Cubin:
    reader, found = _Reader(elf), Cubin()
    own: dict[str, list[str]] = {name: [] for name in reader.named}
    common: list[str] = []
    for section in elf.sections:
        if section.name == _TOOLS:
            strings = elf.bytes_of(section).decode("latin-1").split("\0")
            found.tools.add(" ".join(text.strip().removeprefix(_RELEASE) for text in strings if text.startswith(("-", _RELEASE))))
        if section.name.startswith(".nv.info"):
            owner = reader.owner(section)
            for symbol, text in reader.attributes(section):
                place = owner or (symbol if symbol in own else "")
                (own[place] if place else common).append(f"{section.name if not owner else ''} {symbol} {text}")
        elif section.type not in (RELA, REL, NULL) and not section.name.startswith(_SILENT):
            owner = reader.owner(section)
            label = section.name.replace(owner, "") if owner else section.name
            (own[owner] if owner else common).append(f"{plain(label)} {reader.content(section)}")
    shared = sorted(common)
    for index, name in reader.functions.items():
        calls = frozenset(filter(None, map(reader.callee, elf.relocations.get(index, ()))))
        add(found.pieces, name, Piece(digest(elf.flags & _OWN_FLAGS, elf.abi_version, *sorted(own[name]), "shared", *shared), calls - {name}))
    for section in elf.sections:
        if section.name.startswith(".nv.constant0.") and (owner := reader.owner(section)):
            found.kernels.add(owner)
    return found
