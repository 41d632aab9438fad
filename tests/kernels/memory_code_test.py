"""Machine code of the kernels that memory limits: how many bytes they keep in flight on an SM of each compute
capability, and how many instructions a number costs."""

import re

import pytest
from cubins import Kernel, function_of
from machine_code import SM_LIMITS, is_fp8, kernels, needs_cuda, registers_on, resident_threads
from sass import innermost_loop, instructions_of, wide_accesses

pytestmark = needs_cuda

VECTOR_BYTES = 16
MOST_WANTED = 64 << 10  # on an SM; CUB's tuning_transform.cuh wants 48 KiB for an H200
STREAMS = ["relu/vec16.cu", "gelu/vec16.cu", "ceilings/dram.cu"]


def test_resident_threads_are_what_an_occupancy_calculator_gives():
    assert resident_threads(90, 256, 32) == 2048
    assert resident_threads(90, 256, 33) == 1536
    assert resident_threads(86, 1024, 32) == 1024  # a third of the SM stays empty
    assert resident_threads(86, 512, 32) == 1536


def threads_of(kernel: str) -> int:
    """Threads per block, the first template argument."""
    return int(re.search(r"ILi(\d+)E", kernel)[1])


@pytest.mark.parametrize("name", STREAMS)
def test_every_form_is_compiled_and_a_thread_handles_one_vector(name):
    forms = set()
    for kernel in kernels(name):
        if function_of(kernel.name) == "dram_read":
            continue
        forms.add(threads_of(kernel.name))
        body = instructions_of(kernel)
        wide = "".join(body[at].name[0] for at in wide_accesses(body))
        arrays = 2 if "Triad" in kernel.name else 0 if "Constant" in kernel.name else 1
        assert wide == "L" * arrays + "S", kernel.name
    assert forms == ({256, 512} if name == "gelu/vec16.cu" else {256, 512, 1024})


@pytest.mark.parametrize("capability", SM_LIMITS)
@pytest.mark.parametrize("name", STREAMS)
def test_registers_leave_room_for_all_threads_of_an_sm(name, capability):
    used = {k: count for k, count in registers_on(name, capability).items() if function_of(k) != "dram_read"}
    full = SM_LIMITS[capability][0]
    chosen = {kernel: count for kernel, count in used.items() if full % threads_of(kernel) == 0}
    assert chosen
    for kernel, registers in chosen.items():
        assert resident_threads(capability, threads_of(kernel), registers) == full, kernel


# Threads of a block, and vectors that each has loaded before it uses the first.
@pytest.mark.parametrize("capability", SM_LIMITS)
@pytest.mark.parametrize(
    "name, part, threads, vectors",
    [
        ("dot/one_pass.cu", "", 512, 8),
        ("dot/two_pass.cu", "dot_two_passI", 256, 8),
        ("matvec/row_per_block.cu", "ILi256E", 256, 4),
        ("matvec/row_per_block.cu", "ILi1024E", 1024, 4),
        ("matvec/row_per_warp.cu", "", 256, 4),
        ("ceilings/dram.cu", "dram_readILi512E", 512, 4),
        ("ceilings/dram.cu", "dram_readILi1024E", 1024, 4),
    ],
)
def test_sums_keep_enough_in_flight_for_every_device(name, part, threads, vectors, capability):
    used = [registers for kernel, registers in registers_on(name, capability).items() if part in kernel]
    assert used
    in_flight = resident_threads(capability, threads, max(used)) * vectors * VECTOR_BYTES
    assert in_flight >= MOST_WANTED


def test_dram_read_loads_four_vectors_before_it_adds_the_first():
    for kernel in kernels("ceilings/dram.cu", "dram_read"):
        if kernel.capability == 90:
            loop = innermost_loop(instructions_of(kernel), "FADD", 16)
            loads = wide_accesses(loop)
            assert len(loads) == 4 and max(loads) < [i.name for i in loop].index("FADD")


def converts_fp8(kernel: Kernel) -> bool:
    return is_fp8(kernel) and kernel.opcodes["F2FP"] > 0  # not so before compute capability 8.9


# At 4.3 TB/s read and written, 132 SMs at 1.755 GHz handle 9.3 numbers per clock each: they start 128 instructions of
# a thread and 16 special functions in that time, 13.8 and 1.7 per number.
def test_gelu_in_fp8_takes_six_instructions_per_number():
    found = [kernel for kernel in kernels("gelu/vec16.cu") if converts_fp8(kernel)]
    assert len({kernel.name for kernel in found}) == 2 * 2  # of two formats and two blocks
    for kernel in found:
        body = instructions_of(kernel)
        load, store = wide_accesses(body)
        between = body[load + 1 : store]
        assert len(between) / 16 <= 6
        assert sum(i.name == "MUFU" for i in between) == 16


# Four rows share the conversion of x: per 64 numbers of A that is 32 + 8 conversions of two. fp8_e5m2 needs none.
# Besides, the kernel handles a number of each row and of x after the last vector, and writes bf16.
def test_matvec_in_fp8_converts_x_once_for_four_rows():
    conversions = []
    for kernel in kernels("matvec/row_per_block.cu", "ILi256ELi4E"):
        assert kernel.opcodes["FFMA"] == 64 + 4
        if kernel.opcodes["F2FP"] > 1:  # not before compute capability 8.9
            conversions.append(kernel.opcodes["F2FP"] - (4 + 1 + 1))
    assert set(conversions) == {0, 40}
