"""The machine code of CUDA objects, without a disassembler: opcodes of every kernel in an object file.

An instruction of compute capability 7.0 and later is 16 bytes; the low 9 bits of its first word name it
whatever the form of its operands. The table was found by compiling kernels that differ in one instruction.
"""

import re
import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

OPCODES = {
    0x016: "PRMT", 0x020: "FMUL", 0x021: "FADD", 0x023: "FFMA", 0x02B: "DFMA", 0x030: "HADD2", 0x031: "HFMA2", 0x032: "HMUL2", 0x035: "HFMA2.MMA", 0x03C: "HMMA",
    0x03E: "F2FP", 0x03F: "DMMA", 0x040: "HMNMX2", 0x044: "STSM", 0x108: "MUFU", 0x180: "LD", 0x181: "LDG", 0x183: "LDL", 0x184: "LDS",
    0x186: "STG", 0x187: "STL", 0x188: "STS", 0x1B4: "UTMALDG", 0x1B5: "UTMASTG", 0x1C8: "USETMAXREG",
    0x0CA: "R2UR", 0x11D: "BAR", 0x147: "BRA", 0x1A7: "SYNCS", 0x1AE: "LDGSTS", 0x1C3: "S2UR", 0x1C5: "WARPGROUP",
    0x07A: "QMMA", 0x02D: "PREEXIT", 0x037: "IMMA", 0x1F1: "IGMMA", 0x02E: "ACQBULK", 0x14D: "EXIT", 0x1F0: "HGMMA", 0x1F3: "QGMMA",
}  # fmt: skip
ELF = b"\x7fELF"
EM_CUDA = 190
WIDTH_AT, WIDTH_BITS, WIDTH_16_BYTES = 73, 3, 6  # of a load or a store, in the 128 bits of an instruction
MULTICAST_FORM = 0x3B4  # of UTMALDG, in the low 12 bits
BARRIER_MODE_AT, BARRIER_MODE_BITS, ARRIVES = 77, 3, 1  # of BAR


@dataclass
class Kernel:
    name: str  # mangled
    code: bytes = b""
    opcodes: Counter = field(default_factory=Counter)
    sequence: list[str] = field(default_factory=list)  # of all instructions; "" for those without a name here
    capability: int = 0  # that the code is for: 90 is 9.0

    def wide(self, opcode: str) -> int:
        """Loads or stores of 16 bytes."""
        return self.opcodes[f"{opcode}.128"]

    def densest_alternation(self, one: str, other: str, count: int) -> float:
        """How often two opcodes alternate in the shortest stretch of code that has `count` of them, as a share."""
        places = [i for i, name in enumerate(self.sequence) if name in (one, other)]
        spans = [(last - first, k) for k, (first, last) in enumerate(zip(places, places[count - 1 :]))]
        if not spans:
            return 0.0
        start = min(spans)[1]
        names = [self.sequence[i] for i in places[start : start + count]]
        return sum(a != b for a, b in zip(names, names[1:])) / (count - 1)


def mangled(*parts: str) -> str:
    """How names of namespaces and functions stand in a mangled name."""
    return "".join(f"{len(part)}{part}" for part in parts)


def function_of(name: str) -> str:
    """The name of a function, without its namespaces and template arguments, from its mangled name."""
    at, part = len("_ZN"), ""
    while match := re.match(r"\d+", name[at:]):
        start = at + len(match[0])
        at = start + int(match[0])
        part = name[start:at]
    return part


def name_of(word: int) -> str:
    """The name of an instruction; empty for one that is not in the table."""
    return OPCODES.get(word & 0x1FF, "")


def variant(name: str, word: int) -> str | None:
    """The name of a form of an instruction that tests tell apart."""
    if name in ("LDG", "STG") and (word >> WIDTH_AT) & ((1 << WIDTH_BITS) - 1) == WIDTH_16_BYTES:
        return f"{name}.128"
    if name == "UTMALDG" and word & 0xFFF == MULTICAST_FORM:
        return "UTMALDG.MULTICAST"
    if name == "BAR" and (word >> BARRIER_MODE_AT) & ((1 << BARRIER_MODE_BITS) - 1) == ARRIVES:
        return "BAR.ARV"
    return None


def read_instructions(kernel: Kernel) -> None:
    for at in range(0, len(kernel.code), 16):
        word = int.from_bytes(kernel.code[at : at + 16], "little")
        name = name_of(word)
        kernel.sequence.append(name)
        if name:
            kernel.opcodes.update(filter(None, (name, variant(name, word))))


def capability_of(data: bytes, start: int) -> int:
    """The compute capability in the flags of an ELF file: the low byte of CUDA 12, the next one since version 8."""
    (flags,) = struct.unpack_from("<I", data, start + 0x30)
    return (flags >> 8 if data[start + 8] >= 8 else flags) & 0xFF


def kernels_of_cubin(data: bytes, start: int) -> list[Kernel]:
    """The .text sections of the 64-bit ELF file that begins at start."""
    (section_table,) = struct.unpack_from("<Q", data, start + 0x28)
    entry_size, entries, names_index = struct.unpack_from("<HHH", data, start + 0x3A)
    sections = []
    for i in range(entries):
        name, _, _, _, offset, size = struct.unpack_from("<IIQQQQ", data, start + section_table + i * entry_size)
        sections.append((name, offset, size))
    names = start + sections[names_index][1]
    found = []
    for name, offset, size in sections:
        end = data.index(b"\0", names + name)
        text = data[names + name : end].decode()
        if text.startswith(".text."):
            kernel = Kernel(text.removeprefix(".text."), data[start + offset : start + offset + size])
            kernel.capability = capability_of(data, start)
            read_instructions(kernel)
            found.append(kernel)
    return found


def kernels_of(path: Path) -> list[Kernel]:
    """All kernels of all architectures in an object; its cubins must not be compressed."""
    data = path.read_bytes()
    found = []
    at = data.find(ELF, 1)  # the object itself is ELF as well
    while at != -1:
        if struct.unpack_from("<H", data, at + 18)[0] == EM_CUDA:
            found += kernels_of_cubin(data, at)
        at = data.find(ELF, at + 1)
    return found
