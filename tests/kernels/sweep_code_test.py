"""Machine code of the ceilings that time each multiprocessor, of those whose A is sparse and of int8."""

import pytest
from cubins import Kernel
from machine_code import kernels, needs_cuda
from sass import Instruction, innermost_loop, instructions_of

pytestmark = needs_cuda

CS2R, SR_AT, SR_BITS, GLOBALTIMER = 0x005, 72, 8, 82  # reads a special register of 64 bits
SPARSE = "ceilings/sweep/sparse_mma_sync.cu", "ceilings/hopper/sparse_wgmma.cu"
INT8 = "ceilings/sweep/int8_mma_sync.cu", "ceilings/hopper/int8_wgmma.cu"


def of_90(name: str) -> list[Kernel]:
    """Those whose branches sass.py follows."""
    return [kernel for kernel in kernels(name) if kernel.capability == 90]


def reads_timer(instruction: Instruction) -> bool:
    return instruction.word & 0x1FF == CS2R and instruction.bits(SR_AT, SR_BITS) == GLOBALTIMER


def test_all_multiply_adds_of_a_multiprocessor_lie_between_two_readings_of_the_timer():
    for kernel in kernels("ceilings/sweep/sm_times.cu"):
        body = instructions_of(kernel)
        first, last = (i.address for i in body if reads_timer(i))
        assert all(first < i.address < last for i in body if i.name == "FFMA"), kernel.capability
        # All threads have come before each reading, and nothing is loaded or stored between them.
        assert [i.name for i in body if i.address < first].count("BAR") == 1
        between = [i.name for i in body if first < i.address < last]
        assert between.count("BAR") == 1 and not {"LDG", "STG", "LDL", "STL"}.intersection(between)


def test_they_are_nearly_all_that_a_multiprocessor_executes():
    for kernel in of_90("ceilings/sweep/sm_times.cu"):
        turn = innermost_loop(instructions_of(kernel), "FFMA", 8 * 16)
        assert sum(i.name == "FFMA" for i in turn) >= 0.95 * len(turn), kernel.capability


# A product of 32 x 32 x 64 takes 16 instructions of 16 x 8 x 32; dense ones, of 16 x 8 x 16, would be 32.
def test_mma_sp_does_the_work_of_two_dense_instructions():
    for kernel in of_90(SPARSE[0]):
        turn = innermost_loop(instructions_of(kernel), "HMMA", 4 * 16)
        assert sum(i.name == "HMMA" for i in turn) == 4 * 16, kernel.name
        assert len(turn) <= 4 * 16 + 8, kernel.name


def tensor_instructions(kernel: Kernel) -> str:
    return "QGMMA" if kernel.opcodes["QGMMA"] else "HGMMA"


# A product takes 64 bytes of a row of A in two steps of 32, in fp8 32 bytes in one. A group has 16 instructions.
def test_wgmma_sp_is_issued_in_groups_of_16():
    found = kernels(SPARSE[1])
    assert {tensor_instructions(kernel) for kernel in found} == {"HGMMA", "QGMMA"}
    for kernel in found:
        name = tensor_instructions(kernel)
        turn = innermost_loop(instructions_of(kernel), name, 16)
        assert sum(i.name == name for i in turn) == 16, kernel.name


# Of int8, a product of 32 x 32 x 32 takes 8 instructions of 16 x 8 x 32, and one of 64 x 256 x 32 a single one.
@pytest.mark.parametrize("name, instruction, count", [(INT8[0], "IMMA", 8 * 8), (INT8[1], "IGMMA", 16)])
def test_int8_is_multiplied_by_instructions_of_int8(name, instruction, count):
    for kernel in of_90(name):
        turn = innermost_loop(instructions_of(kernel), instruction, count)
        assert sum(i.name == instruction for i in turn) == count
        assert len(turn) <= 2 * count + 16


@pytest.mark.parametrize("name", [*SPARSE, *INT8])
def test_operands_of_sparse_products_and_of_int8_stay_where_they_are(name):
    assert all(kernel.opcodes["LDL"] == kernel.opcodes["STL"] == 0 for kernel in kernels(name))
