"""The loops of the persistent Hopper products: what stands between two stages, and what promotion in fp8 exposes."""

import re

import pytest
from cubins import Kernel
from machine_code import needs_cuda, products
from sass import Instruction, innermost_loop, instructions_of

PRODUCTS = "matmul/hopper/wgmma_persistent.cu"
TILE = re.compile(r"14PersistentTileILi(\d+)ELi(\d+)EEELb([01])E")
STEPS = 4  # of wgmma in a stage
IS_WAIT, PENDING = 47, 72  # of WARPGROUP
ARRIVE = 0x79C5
WAIT = ARRIVE | 1 << IS_WAIT


def tile_of(kernel: Kernel) -> tuple[int, int]:
    rows, columns, _ = TILE.search(kernel.name).groups()
    return int(rows), int(columns)


def is_promoted(kernel: Kernel) -> bool:
    return TILE.search(kernel.name)[3] == "1"


def persistent() -> list[Kernel]:
    return [kernel for kernel in products(PRODUCTS) if TILE.search(kernel.name)]


def promoted(*tiles: tuple[int, int]) -> list[Kernel]:
    found = [kernel for kernel in persistent() if is_promoted(kernel) and tile_of(kernel) in tiles]
    assert {is_scaled(kernel) for kernel in found} == {False, True}
    return found


def is_scaled(kernel: Kernel) -> bool:
    """By block scales."""
    return "11BlockScales" in kernel.name


def addition(kernel: Kernel) -> str:
    """The instruction that adds a temporary sum in fp32: as it is, or times its scale."""
    return "FFMA" if is_scaled(kernel) else "FADD"


def stage_loop(kernel: Kernel) -> list[Instruction]:
    body = instructions_of(kernel)
    name = "QGMMA" if kernel.opcodes["QGMMA"] else "HGMMA"
    return innermost_loop(body, name, STEPS)


def waits(loop: list[Instruction]) -> list[int]:
    """Groups of products that each wait leaves in flight."""
    return [i.bits(PENDING, 3) for i in loop if i.name == "WARPGROUP" and i.bits(IS_WAIT, 1)]


def exposed_additions(loop: list[Instruction], name: str = "FADD") -> int:
    """Additions that run while the warpgroup has no products in flight."""
    in_flight, exposed = True, 0
    for i in loop:
        if i.name == "QGMMA":
            in_flight = True
        elif i.name == "WARPGROUP" and i.bits(IS_WAIT, 1):
            in_flight = i.bits(PENDING, 3) > 0
        elif i.name == name and not in_flight:
            exposed += 1
    return exposed


def code(*words: int) -> list[Instruction]:
    return [Instruction(16 * i, word) for i, word in enumerate(words)]


def test_an_addition_after_a_wait_for_all_products_is_exposed():
    start, add, one_left = 0x1F3, 0x221, 1 << PENDING
    assert waits(code(ARRIVE, WAIT, WAIT | one_left)) == [0, 1]
    assert exposed_additions(code(start, WAIT, add, add, ARRIVE, start, add)) == 2
    assert exposed_additions(code(start, WAIT | one_left, add, add)) == 0


@needs_cuda
def test_no_stage_of_a_loop_computes_its_addresses_anew():
    assert persistent()
    for kernel in persistent():
        names = [i.name for i in stage_loop(kernel)]
        assert "S2UR" not in names and "R2UR" not in names, kernel.name


@needs_cuda
@pytest.mark.parametrize("tile", [(128, 128), (128, 64)])
def test_two_sets_of_temporary_sums_leave_no_addition_exposed(tile):
    for kernel in promoted(tile):
        loop = stage_loop(kernel)
        assert sum(i.name == "QGMMA" for i in loop) == 2 * STEPS, kernel.name
        assert sum(i.name == addition(kernel) for i in loop) == tile[1], kernel.name  # two stages of half the columns
        assert waits(loop) == [1, 1], kernel.name
        assert exposed_additions(loop, addition(kernel)) == 0, kernel.name


@needs_cuda
def test_one_set_of_temporary_sums_exposes_each_addition():
    for kernel in promoted((256, 128)):
        assert waits(stage_loop(kernel)) == [0, 0], kernel.name
        assert exposed_additions(stage_loop(kernel), addition(kernel)) == 128, kernel.name


@needs_cuda
def test_scales_cost_two_multiplications_for_a_sub_tile_and_no_addition():
    for kernel in promoted((256, 128), (128, 128), (128, 64)):
        if not is_scaled(kernel):
            continue
        loop = stage_loop(kernel)
        sub_tiles = tile_of(kernel)[0] // 128
        stages = sum(i.name == "QGMMA" for i in loop) // (STEPS * sub_tiles)
        assert sum(i.name == "FMUL" for i in loop) == 2 * sub_tiles * stages, kernel.name
        assert sum(i.name == "LDG" for i in loop) == (2 * sub_tiles + 1) * stages, kernel.name
        assert not any(i.name == "FADD" for i in loop), kernel.name


@needs_cuda
def test_consumers_are_put_out_of_step_where_additions_are_exposed():
    for kernel in promoted((256, 128), (128, 128), (128, 64)):
        assert kernel.opcodes["BAR.ARV"] == (1 if tile_of(kernel) == (256, 128) else 0), kernel.name
