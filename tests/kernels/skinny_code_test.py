"""The machine code of wgmma_split_k and wgmma_tf32x3: what their instruction counts say about shared memory, about
the waits between wgmmas and about reads that are under way. Reads the build; needs no GPU."""

import re

import pytest
from machine_code import needs_cuda, products
from sass import Instruction, instructions_of, loops

pytestmark = needs_cuda

SPLIT_K, TF32X3 = "matmul/hopper/wgmma_split_k.cu", "matmul/hopper/wgmma_tf32x3.cu"
# Low 9 bits of instructions that cubins.py does not name.
LOP3, LDSM, LD, PREEXIT, ACQBULK = 0x012, 0x03B, 0x180, 0x02D, 0x02E
FORM = 0xFFF
A_IN_REGISTERS, A_IN_SHARED_MEMORY = 0xDF0, 0x9F0  # forms of HGMMA
DEPBAR = 0x8000_0000_79C5  # the low word of WARPGROUP.DEPBAR; another form is ARRIVE
STEPS = 4  # of wgmma in 128 bytes of k


def opcode(instruction: Instruction) -> int:
    return instruction.bits(0, 9)


def form(instruction: Instruction) -> int:
    return instruction.word & FORM


def is_wgmma(instruction: Instruction) -> bool:
    return instruction.name in ("HGMMA", "QGMMA")


def waits(body: list[Instruction]) -> list[int]:
    """The wgmma groups that each wait of a stretch of code leaves in flight."""
    return [i.bits(72, 3) for i in body if i.bits(0, 64) == DEPBAR]


def stage_loop(body: list[Instruction]) -> list[Instruction]:
    """The shortest loop with all wgmmas of the kernel."""
    count = sum(map(is_wgmma, body))
    return min((loop for loop in loops(body) if sum(map(is_wgmma, loop)) == count), key=len)


def boxes_of(kernel) -> tuple[int, int]:
    """Rows of C and boxes of 64 columns of a kernel of wgmma_split_k."""
    rows, boxes = re.search(r"Li(\d+)ELi(\d+)EEEv", kernel.name).groups()
    return int(rows), int(boxes)


def test_split_k_has_kernels_of_128_columns_for_64_and_128_rows_in_every_format():
    found = [boxes_of(kernel) for kernel in products(SPLIT_K)]
    assert sorted(set(found)) == [(16, 1), (32, 1), (64, 1), (64, 2), (128, 2)]
    assert len(found) == 7 * 5


def test_split_k_multiplies_every_box_and_waits_for_the_stage_before_alone():
    for kernel in products(SPLIT_K):
        body = instructions_of(kernel)
        assert sum(map(is_wgmma, body)) == STEPS * boxes_of(kernel)[1], kernel.name
        assert waits(stage_loop(body)) == [1], kernel.name
        assert waits(body) == [1, 0], kernel.name


def test_split_k_lets_the_next_kernel_start_before_it_waits_for_the_one_before():
    for kernel in products(SPLIT_K):
        order = [opcode(i) for i in instructions_of(kernel) if opcode(i) in (PREEXIT, ACQBULK)]
        assert order == [PREEXIT, ACQBULK], kernel.name


def test_split_k_reads_16_bytes_of_several_blocks_before_it_adds():
    for kernel in products(SPLIT_K):
        body = instructions_of(kernel)
        reads = [at for at, i in enumerate(body) if opcode(i) == LD]
        assert len(reads) == 8 and all(body[at].bits(73, 3) == 6 for at in reads), kernel.name
        first_add = next(at for at in range(reads[0], len(body)) if body[at].name == "FADD")
        many = boxes_of(kernel)[0] >= 64  # with fewer rows of C, ptxas uses fewer registers
        assert sum(at < first_add for at in reads) >= (6 if many else 2), kernel.name


@pytest.fixture(name="tf32x3")
def fixture_tf32x3() -> list[Instruction]:
    (kernel,) = products(TF32X3)
    return instructions_of(kernel)


SUB_TILES = 2  # of a consumer
CONSUMERS = 2
CLOCKS_OF_WGMMA = 64  # m64n128k8 in tf32
SHARED_BYTES_PER_CLOCK = 128


def test_tf32x3_makes_two_of_three_products_from_registers(tf32x3):
    forms = [form(i) for i in stage_loop(tf32x3) if is_wgmma(i)]
    assert forms == SUB_TILES * (2 * STEPS * [A_IN_REGISTERS] + STEPS * [A_IN_SHARED_MEMORY])


def test_tf32x3_moves_less_through_shared_memory_than_it_can(tf32x3):
    """Bytes of a stage of both consumers at the rate of the tensor cores: wgmma reads its 128 columns of B and, in one
    form, its 64 rows of A; ldmatrix reads 512 bytes per warp; the splitters read and write B, and TMA writes A and B."""
    loop = stage_loop(tf32x3)
    of_b, of_a = 128 * 32, 64 * 32
    products_of_stage = CONSUMERS * [form(i) for i in loop if is_wgmma(i)]
    wgmma = sum(of_b + of_a * (form_ == A_IN_SHARED_MEMORY) for form_ in products_of_stage)
    ldmatrix = CONSUMERS * 4 * 512 * sum(opcode(i) == LDSM for i in loop)
    whole_a, whole_b = 256 * 128, 128 * 128
    assert ldmatrix == whole_a, "each number of A is read once"
    moved = wgmma + ldmatrix + 2 * whole_b + whole_a + whole_b
    clocks = CLOCKS_OF_WGMMA * len(products_of_stage)
    assert clocks == 3072
    assert moved / clocks <= 0.9 * SHARED_BYTES_PER_CLOCK


def test_tf32x3_leaves_products_in_flight_while_it_loads_a_fragment(tf32x3):
    assert waits(stage_loop(tf32x3)) == SUB_TILES * [1, 1, 0]


def test_tf32x3_issues_few_instructions_beside_its_products(tf32x3):
    """A scheduler has one warp of each consumer, which leaves it this many slots beside the products."""
    loop = stage_loop(tf32x3)
    assert CONSUMERS * len(loop) <= 0.3 * 3072


def test_tf32x3_splits_16_bytes_in_at_most_12_instructions(tf32x3):
    loop = min((loop for loop in loops(tf32x3) if {"LDS", "STS", "FADD"} <= {i.name for i in loop}), key=len)
    vectors = sum(i.name == "STS" for i in loop)
    assert vectors == 4
    assert sum(i.name == "FADD" for i in loop) == sum(opcode(i) == LOP3 for i in loop) == 4 * vectors
    assert len(loop) / vectors <= 12
