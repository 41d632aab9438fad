"""The reader of machine code, on instructions that cuobjdump has printed."""

from cubins import Kernel
from sass import Instruction, ffma_bank_conflicts, innermost_loop, instructions_of, loops, share_of_issue

FFMA, REUSE_AT = 0x223, 122
BRANCH_BACK = 0xFEA000383FFFFFFFFFFFC00F08947  # at 0x500: @!P0 BRA 0x4d0
BRANCH_FORTH = 0x4FF600038000000000000000501947  # at 0x290: @P1 BRA 0x3e0


def ffma(destination: int, a: int, b: int, c: int, reuse: int = 0) -> int:
    return FFMA | destination << 16 | a << 24 | b << 32 | c << 64 | reuse << REUSE_AT


def at_once(*words: int) -> list[Instruction]:
    return [Instruction(16 * i, word) for i, word in enumerate(words)]


def test_the_target_of_a_branch_is_read():
    assert Instruction(0x500, BRANCH_BACK).name == "BRA"
    assert Instruction(0x500, BRANCH_BACK).target == 0x4D0
    assert Instruction(0x290, BRANCH_FORTH).target == 0x3E0


def test_a_loop_ends_at_a_branch_back():
    body = at_once(*[ffma(0, 2, 4, 1)] * 0x50, BRANCH_BACK, BRANCH_FORTH)
    (loop,) = loops(body)
    assert [loop[0].address, loop[-1].address] == [0x4D0, 0x500]
    assert innermost_loop(body, "FFMA", 3) == loop


def test_a_conflict_is_a_second_read_of_one_bank():
    assert ffma_bank_conflicts(at_once(ffma(1, 2, 3, 1))) == 1  # 3 and 1
    assert ffma_bank_conflicts(at_once(ffma(1, 2, 4, 6))) == 2
    assert ffma_bank_conflicts(at_once(ffma(1, 2, 255, 1))) == 0  # the zero register has no bank


def test_a_reused_source_is_not_read_again():
    first = ffma(1, 2, 3, 4, reuse=0b010)
    assert ffma_bank_conflicts(at_once(first, ffma(1, 2, 3, 5))) == 1
    assert ffma_bank_conflicts(at_once(ffma(1, 2, 3, 4), ffma(1, 2, 3, 5))) == 2
    # The cache belongs to one source, and to the next instruction.
    assert ffma_bank_conflicts(at_once(first, ffma(1, 3, 2, 5))) == 2
    assert ffma_bank_conflicts(at_once(first, BRANCH_FORTH, ffma(1, 2, 3, 5))) == 2


def test_a_share_of_issue_counts_conflicts():
    assert share_of_issue(at_once(ffma(1, 2, 3, 1), ffma(1, 2, 3, 4), BRANCH_FORTH), "FFMA") == 2 / 5


def test_instructions_are_cut_from_the_code():
    words = [ffma(7, 2, 3, 1), BRANCH_FORTH]
    code = b"".join(word.to_bytes(16, "little") for word in words)
    body = instructions_of(Kernel("k", code))
    assert [i.name for i in body] == ["FFMA", "BRA"]
    assert [i.address for i in body] == [0, 16]
    assert body[0].destination == 7 and body[0].sources == [2, 3, 1]
