"""Instructions of compute capability 7.0 and later with their operands, loops, and what costs issue slots.

An instruction is 128 bits. Fields, counted from the least significant bit: 0-8 opcode, 9-11 form of the operands,
16-23 destination, 24-31 first source, 32-39 second, 64-71 third, 105-108 stall clocks, 110-112 scoreboard that the result frees,
113-115 scoreboard that reading the sources frees (7: none), 116-121 scoreboards that it waits for, 122-125 reuse of the sources.
"""

from dataclasses import dataclass

from cubins import WIDTH_16_BYTES, WIDTH_AT, WIDTH_BITS, Kernel, name_of

BYTES = 16
ZERO_REGISTER = 255
# Forms of an instruction with three sources: in 1 all are registers; in 2 and 3 the third source is a constant and
# the second one moves into its field; in the others the second source is a constant or a uniform register.
FORM_REGISTERS, FORM_CONSTANT_LAST = 1, (2, 3)


@dataclass(frozen=True)
class Instruction:
    address: int
    word: int

    def bits(self, first: int, count: int) -> int:
        return self.word >> first & (1 << count) - 1

    @property
    def name(self) -> str:
        """Empty for an opcode that cubins.py does not name."""
        return name_of(self.word)

    @property
    def destination(self) -> int:
        return self.bits(16, 8)

    @property
    def stall(self) -> int:
        return self.bits(105, 4)

    @property
    def write_board(self) -> int:
        return self.bits(110, 3)

    @property
    def read_board(self) -> int:
        return self.bits(113, 3)

    def waits_for(self, board: int) -> bool:
        return bool(self.bits(116 + board, 1))

    @property
    def sources(self) -> list[int]:
        """Registers of an arithmetic instruction with three sources, in the order of its operands."""
        first, second, third = self.bits(24, 8), self.bits(32, 8), self.bits(64, 8)
        form = self.bits(9, 3)
        if form == FORM_REGISTERS:
            return [first, second, third]
        return [first, third]

    def is_reused(self, slot: int) -> bool:
        """True if source `slot` stays in the reuse cache for the next instruction."""
        return bool(self.word >> 122 + slot & 1)

    @property
    def target(self) -> int:
        """The address that a branch goes to."""
        offset = self.bits(16, 8) | self.bits(34, 48) << 8
        if offset >> 55:
            offset -= 1 << 56
        return self.address + BYTES + 4 * offset


def instructions_of(kernel: Kernel) -> list[Instruction]:
    code = kernel.code
    return [Instruction(at, int.from_bytes(code[at : at + BYTES], "little")) for at in range(0, len(code), BYTES)]


def wide_accesses(body: list[Instruction]) -> list[int]:
    """Where instructions load 16 bytes from global memory or store them."""
    wide = [i.name in ("LDG", "STG") and i.bits(WIDTH_AT, WIDTH_BITS) == WIDTH_16_BYTES for i in body]
    return [at for at, is_wide in enumerate(wide) if is_wide]


def loops(body: list[Instruction]) -> list[list[Instruction]]:
    """Bodies of backward branches, inner and outer ones alike."""
    ends = [i for i, branch in enumerate(body) if branch.name == "BRA" and 0 <= branch.target < branch.address]
    return [body[body[i].target // BYTES : i + 1] for i in ends]


def innermost_loop(body: list[Instruction], name: str, count: int) -> list[Instruction]:
    """The shortest loop with at least `count` instructions called `name`."""
    found = [loop for loop in loops(body) if sum(i.name == name for i in loop) >= count]
    assert found, f"no loop has {count} {name}"
    return min(found, key=len)


def ffma_waits(body: list[Instruction]) -> list[int]:
    """Clocks in which each instruction of a straight stretch of code, if it is an FFMA, waits for a bank of the register file.

    There are two banks, register number modulo 2, with one read port each, and a cache of one register per source.
    Source: Huerta et al., arXiv 2503.20481, for Ampere.
    """
    cache: dict[int, int] = {}
    waits = []
    for instruction in body:
        if instruction.name != "FFMA":
            cache = {}
            waits.append(0)
            continue
        reads = [0, 0]
        for slot, register in enumerate(instruction.sources):
            if register != ZERO_REGISTER and cache.get(slot) != register:
                reads[register % 2] += 1
        waits.append(max(0, max(reads) - 1))
        cache = {s: r for s, r in enumerate(instruction.sources) if instruction.is_reused(s)}
    return waits


def ffma_bank_conflicts(body: list[Instruction]) -> int:
    return sum(ffma_waits(body))


def share_of_issue(loop: list[Instruction], name: str) -> float:
    """Instructions called `name` per clock of a scheduler, if issue slots and bank conflicts alone take time."""
    return sum(i.name == name for i in loop) / (len(loop) + ffma_bank_conflicts(loop))
