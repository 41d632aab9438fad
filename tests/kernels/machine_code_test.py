"""What the compiler made of the CUDA kernels: no serialised tensor instructions, no spills, and the
instructions that each technique is about. Reads the build; needs no GPU."""

import re

import pytest
from cubins import function_of, mangled
from machine_code import KERNELS, LOGS, SOURCES, faults, is_fp8, kernels, namespace_of, needs_cuda, products, registers_of
from sass import innermost_loop, instructions_of

pytestmark = needs_cuda


def test_a_fault_is_found():
    log = "    0 bytes stack frame, {} bytes spill loads\n"
    assert len(faults(log.format("4 bytes spill stores, 0"))) == 1
    assert len(faults(log.format("0 bytes spill stores, 4"))) == 1
    assert faults(log.format("0 bytes spill stores, 0")) == []
    assert faults("ptxas info    : (C7510) Potential Performance Loss: wgmma ...") == ["C7510"]


def test_the_name_of_a_function_is_read_from_its_mangled_name():
    assert function_of("_ZN10ridgebench4cuda10relu_naive5firstIfEEvPKT_") == "first"
    assert mangled("cuda", "relu_naive") == "4cuda10relu_naive"


def test_every_cuda_file_was_compiled():
    own = [name for name, text in SOURCES.items() if "__global__" in text]
    assert [name for name in own if not any(namespace_of(name) in kernel.name for kernel in KERNELS)] == []


@pytest.mark.parametrize("name", sorted(LOGS))
def test_ptxas_serialised_nothing_and_spilled_nothing(name):
    assert LOGS[name].startswith("ptxas info"), "the compiler's messages are not there"
    assert faults(LOGS[name]) == []


OF_STEP = [f"{operation}/vec16.cu" for operation in ("add", "swiglu", "relu_backward", "gelu_backward", "optimizer")]


@pytest.mark.parametrize("name", ["relu/vec16.cu", "gelu/vec16.cu", "ceilings/dram.cu", *OF_STEP])
def test_vectors_are_loaded_and_stored_16_bytes_at_a_time(name):
    assert any(kernel.wide("LDG") > 0 and kernel.wide("STG") > 0 for kernel in kernels(name))


def test_a_kernel_without_packs_has_no_wide_access():
    assert all(kernel.wide("LDG") == kernel.wide("STG") == 0 for kernel in kernels("relu/naive.cu"))


@pytest.mark.parametrize(
    "name", ["ceilings/dram.cu", "dot/two_pass.cu", "dot/one_pass.cu", "matvec/row_per_warp.cu"]
)
def test_sums_load_16_bytes_at_a_time(name):
    assert any(kernel.wide("LDG") >= 4 for kernel in kernels(name))


@pytest.mark.parametrize(
    "name, opcode",
    [
        ("matmul/mma_sync.cu", "HMMA"),
        ("ceilings/tensor_mma_sync.cu", "HMMA"),
        ("ceilings/hopper/tensor_wgmma.cu", "HGMMA"),
        ("ceilings/hopper/tensor_wgmma.cu", "QGMMA"),
        ("ceilings/hopper/wgmma_tile.cu", "HGMMA"),
        ("ceilings/hopper/wgmma_tile.cu", "QGMMA"),
        ("ceilings/fma.cu", "FFMA"),
        ("ceilings/fma.cu", "DFMA"),
        ("ceilings/sweep/tensor_double_mma_sync.cu", "DMMA"),
        ("ceilings/fma_half.cu", "HFMA2"),
        ("ceilings/shared.cu", "LDS"),
        ("ceilings/sfu.cu", "MUFU"),
        ("ceilings/convert.cu", "F2FP"),
        ("matmul/shared_tile.cu", "LDS"),
        ("matmul/register_tile.cu", "FFMA"),
    ],
)
def test_the_instruction_that_a_file_is_about_is_there(name, opcode):
    assert any(kernel.opcodes[opcode] > 0 for kernel in kernels(name))


def test_a_turn_of_the_loop_of_multiply_adds_is_little_else():
    for name, opcode, count in [("fma.cu", "FFMA", 8 * 64), ("fma.cu", "DFMA", 4 * 64), ("intensity.cu", "FFMA", 4 * 32)]:
        of_90 = [kernel for kernel in kernels(f"ceilings/{name}") if kernel.capability == 90]
        found = [kernel for kernel in of_90 if kernel.opcodes[opcode] >= count]
        assert found, name
        for kernel in found:
            turn = innermost_loop(instructions_of(kernel), opcode, count)
            assert sum(i.name == opcode for i in turn) == count, kernel.name
            assert len(turn) <= 1.1 * count, kernel.name


def test_half_precision_multiply_adds_alternate_between_both_pipes():
    found = kernels("ceilings/fma_half.cu")
    shares = [kernel.densest_alternation("HFMA2", "HFMA2.MMA", 150) for kernel in found]
    both = [share for share in shares if share > 0]  # the compiler uses one pipe on 8.9, and for bf16 on 8.0
    assert len(both) >= len(found) / 2 and min(both) >= 0.95


@pytest.mark.parametrize(
    "name, only",
    [
        ("ceilings/dram.cu", {"dram_read", "dram_write"}),
        ("ceilings/shared.cu", {"shared_read"}),
        ("ceilings/cache.cu", {"cache_l2_read"}),
    ],
)
def test_a_ceiling_that_sums_launches_no_second_kernel(name, only):
    assert {function_of(kernel.name) for kernel in kernels(name)} == only


@pytest.mark.parametrize("name", ["ceilings/fma.cu", "ceilings/fma_half.cu"])
def test_an_sm_holds_a_whole_wave_of_chains(name):
    used = [registers for _, registers in registers_of(name)]
    registers_per_sm, most_threads_per_sm = 65536, 2048  # of compute capability 9.0
    assert used and max(used) <= registers_per_sm // most_threads_per_sm


# Three files compile the persistent kernel, and its name has that of one.
HOPPER = sorted({re.sub("_(fp8|block_scaled).cu", ".cu", name) for name in SOURCES if name.startswith("matmul/hopper/wgmma")})
PERSISTENT_TILE = re.compile(r"14PersistentTileILi(\d+)ELi(\d+)E")
STEPS = 4  # of wgmma in 128 bytes of k


@pytest.mark.parametrize("name", HOPPER)
def test_hopper_products_use_their_format_s_instruction_and_no_other(name):
    for kernel in products(name):
        used, unused = ("QGMMA", "HGMMA") if is_fp8(kernel) else ("HGMMA", "QGMMA")
        assert kernel.opcodes[used] > 0, kernel.name
        assert kernel.opcodes[unused] == kernel.opcodes["HMMA"] == 0, kernel.name


@pytest.mark.parametrize("name, sub_tiles", [("matmul/hopper/wgmma.cu", 2), ("matmul/hopper/wgmma_tma.cu", 1)])
def test_a_stage_is_four_steps_of_each_sub_tile(name, sub_tiles):
    for kernel in products(name):
        assert kernel.opcodes["HGMMA"] + kernel.opcodes["QGMMA"] == STEPS * sub_tiles, kernel.name


@pytest.mark.parametrize("name", [name for name in HOPPER if "persistent" in name])
def test_persistent_products_specialise_their_warps_and_share_operands(name):
    tiles = set()
    for kernel in products(name):
        rows, columns = map(int, PERSISTENT_TILE.search(kernel.name).groups())
        tiles.add((rows, columns))
        steps = kernel.opcodes["HGMMA"] + kernel.opcodes["QGMMA"]
        assert steps % (STEPS * rows // 128) == 0, kernel.name  # one stage, or several in a row
        assert kernel.opcodes["USETMAXREG"] == 2, kernel.name
        assert kernel.opcodes["UTMALDG.MULTICAST"] > 0, kernel.name
        assert kernel.opcodes["UTMALDG"] > kernel.opcodes["UTMALDG.MULTICAST"], kernel.name
        assert kernel.opcodes["UTMASTG"] > 0, kernel.name
    assert len(tiles) > 1


def test_warps_are_specialised_where_tma_loads():
    for kernel in products("matmul/hopper/wgmma_tma.cu"):
        assert kernel.opcodes["USETMAXREG"] == 2
        assert kernel.opcodes["UTMALDG"] == 6
        assert kernel.opcodes["UTMALDG.MULTICAST"] == 0


def test_no_kernel_keeps_registers_in_local_memory():
    for kernel in KERNELS:
        assert kernel.opcodes["LDL"] == kernel.opcodes["STL"] == 0, kernel.name
