"""How many instructions a step of the ladder spends on its copies."""

from machine_code import is_fp8, needs_cuda, products
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
