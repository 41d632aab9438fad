"""How many instructions a step of the ladder spends on its copies, and that no wait hangs a GPU."""

from machine_code import KERNELS, is_fp8, needs_cuda, products
from sass import innermost_loop, instructions_of

pytestmark = needs_cuda


def test_a_copy_of_wgmma_takes_few_instructions():
    # A stage is 8 wgmmas and 16 copies for each thread. With 51 instructions a copy, calculating addresses took longer
    # than multiplying.
    for kernel in products("matmul/hopper/wgmma.cu"):
        stage = innermost_loop(instructions_of(kernel), "QGMMA" if is_fp8(kernel) else "HGMMA", 8)
        copies = sum(instruction.name == "LDGSTS" for instruction in stage)
        assert copies == 16, kernel.name
        assert len(stage) <= 20 * copies, kernel.name


def test_a_wait_at_an_mbarrier_that_never_ends_traps():
    waiting = [kernel for kernel in KERNELS if kernel.opcodes["SYNCS"]]
    assert len(waiting) >= 10
    assert [kernel.name for kernel in waiting if not kernel.opcodes["BPT"]] == []
