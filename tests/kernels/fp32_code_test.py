"""The machine code of the fp32 product on CUDA cores: what its inner loop and its epilogue cost."""

import re

import pytest
from machine_code import kernels, needs_cuda
from sass import ffma_bank_conflicts, innermost_loop, instructions_of, share_of_issue
from scheduler import share_of_peak

pytestmark = needs_cuda
SOURCE = "matmul/hopper/ffma_tma.cu"
FFMAS = 8 * 16  # of a thread in one k
TILE = re.compile(r"8FfmaTileILi(\d+)ELi(\d+)E")


def products():
    return kernels(SOURCE, "FfmaTile")


def tile_of(kernel) -> tuple[int, int]:
    rows, columns = TILE.search(kernel.name).groups()
    return int(rows), int(columns)


def is_gelu(kernel) -> bool:
    return "BiasGelu" in kernel.name


def loads_after_stores(names: list[str]) -> int:
    """The links of the longest possible chain of load, use and store: global loads that follow a global store."""
    accesses = [name for name in names if name in ("LDG", "STG")]
    return 1 + sum(pair == ("STG", "LDG") for pair in zip(accesses, accesses[1:]))


def test_each_tile_is_compiled_plain_and_with_gelu():
    found = sorted((tile_of(kernel), is_gelu(kernel)) for kernel in products())
    assert found == [(tile, gelu) for tile in ((64, 128), (128, 256)) for gelu in (False, True)]


def test_registers_of_the_loop_seldom_wait_for_a_bank():
    for kernel in products():
        loop = innermost_loop(instructions_of(kernel), "FFMA", FFMAS)
        count = sum(instruction.name == "FFMA" for instruction in loop)
        conflicts = ffma_bank_conflicts(loop)
        bound = share_of_issue(loop, "FFMA")
        print(f"{tile_of(kernel)} gelu {is_gelu(kernel)}: FFMA {count / len(loop):.3f} of the loop, "
              f"conflicts per FFMA {conflicts / count:.3f}, bound {bound:.3f} of peak")  # fmt: skip
        assert count / len(loop) >= 0.93, kernel.name
        assert conflicts / count <= 0.08, kernel.name
        assert bound >= 0.86, kernel.name


def test_the_loop_hides_the_latency_of_its_loads():
    for kernel in products():
        loop = innermost_loop(instructions_of(kernel), "FFMA", FFMAS)
        share = share_of_peak(loop, "FFMA")
        print(f"{tile_of(kernel)} gelu {is_gelu(kernel)}: {share:.3f} of peak on a simulated scheduler")
        assert share >= 0.86 and share >= 0.97 * share_of_issue(loop, "FFMA"), kernel.name


def test_copies_are_tma_s_and_results_leave_in_vectors():
    for kernel in products():
        rows, columns = tile_of(kernel)
        assert kernel.opcodes["UTMALDG"] > 0 and kernel.opcodes["USETMAXREG"] == 2, kernel.name
        assert kernel.wide("STG") == rows * columns // 256 // 4, kernel.name


def test_a_chain_of_loads_and_stores_is_counted():
    assert loads_after_stores(["LDG", "FFMA", "LDG", "STG", "STG"]) == 1
    assert loads_after_stores(["LDG", "STG", "LDG", "MUFU", "STG", "LDG"]) == 3


@pytest.mark.parametrize("gelu", [False, True])
def test_no_store_holds_up_the_loads_of_the_epilogue(gelu):
    for kernel in products():
        if is_gelu(kernel) == gelu:
            assert loads_after_stores(kernel.sequence) <= 2, kernel.name
