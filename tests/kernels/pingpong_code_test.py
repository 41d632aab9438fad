"""What the compiler made of the ping-pong product: a consumer starts all products of a tile, and passes its turn before it
waits for the last of them."""

from cubins import function_of, variant
from machine_code import is_fp8, kernels, needs_cuda
from sass import innermost_loop, instructions_of

pytestmark = needs_cuda

SOURCE = "matmul/hopper/wgmma_pingpong.cu"
TILES, OF_64_COLUMNS = 7, 2  # and the tiles that have a multiple of 64 columns
# All tiles: layout nt in bf16, fp16, tf32 and fp8_e4m3, and GeLU. The others: layouts nn and tn in 16 bits, and other pairs of fp8.
INSTANCES = TILES * (4 + 3) + OF_64_COLUMNS * (2 * 2 + 3)
PRODUCTS = 4 * 2  # of 32 bytes of k in a stage, of 64 rows in a tile
LONGEST_LOOP = 90  # instructions for the 512 to 768 clocks of a stage's products
LONGEST_PASS = 20  # instructions from the last products to the other consumer's turn


def parts(kernel) -> tuple[int, int]:
    """Where the loop over stages begins and ends."""
    body = instructions_of(kernel)
    loop = innermost_loop(body, "QGMMA" if is_fp8(kernel) else "HGMMA", 1)
    return body.index(loop[0]), body.index(loop[-1]) + 1


def test_every_format_and_layout_is_compiled():
    assert len(kernels(SOURCE)) == INSTANCES
    assert {function_of(kernel.name) for kernel in kernels(SOURCE)} == {"matmul_wgmma_pingpong"}


def test_a_consumer_multiplies_the_rows_of_a_whole_tile():
    for kernel in kernels(SOURCE):
        begin, end = parts(kernel)
        assert kernel.opcodes["HGMMA"] + kernel.opcodes["QGMMA"] == PRODUCTS, kernel.name
        assert kernel.sequence[begin:end].count("QGMMA" if is_fp8(kernel) else "HGMMA") == PRODUCTS
        assert end - begin <= LONGEST_LOOP, kernel.name


def test_the_turn_is_passed_while_the_last_products_run():
    for kernel in kernels(SOURCE):
        _, end = parts(kernel)
        (arrival,) = [i for i, x in enumerate(instructions_of(kernel)) if variant(x.name, x.word) == "BAR.ARV"]
        assert end <= arrival < end + LONGEST_PASS, kernel.name
        assert kernel.sequence[arrival:].count("WARPGROUP") == 1, "the wait for the last products comes later"


def test_warps_specialise_and_blocks_share_operands():
    for kernel in kernels(SOURCE):
        assert kernel.opcodes["USETMAXREG"] == 2, kernel.name
        assert 0 < kernel.opcodes["UTMALDG.MULTICAST"] < kernel.opcodes["UTMALDG"], kernel.name
        assert kernel.opcodes["UTMASTG"] > 0, kernel.name
        assert kernel.opcodes["LDL"] == kernel.opcodes["STL"] == 0, kernel.name
