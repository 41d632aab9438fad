"""Machine code of the kernels that memory limits: how many bytes they keep in flight on an SM of each compute
capability, and how many instructions a number costs. bytes_in_flight_test.cpp has what each device wants."""

import re

import pytest
from cubins import Kernel, function_of
from machine_code import LOGS, is_fp8, kernels, namespace_of, needs_cuda
from sass import innermost_loop, instructions_of, wide_accesses

pytestmark = needs_cuda

VECTOR_BYTES = 16
REGISTERS_PER_SM = 65536  # from 8.0 to 12.0
# Threads and blocks that an SM holds. Source: CUDA C++ Programming Guide.
SM_LIMITS = {80: (2048, 32), 86: (1536, 16), 89: (1536, 24), 90: (2048, 32), 100: (2048, 32), 120: (1536, 24)}
MOST_WANTED = 64 << 10  # what a B200 wants in flight
USED = re.compile(r"function '(\w+)' for 'sm_(\d+)'\n(?:.*\n){1,3}?.*Used (\d+) registers")
STREAMS = ["relu/vec16.cu", "gelu/vec16.cu", "ceilings/dram.cu"]


def registers_of(name: str, capability: int) -> dict[str, int]:
    """The registers of each kernel of a file, of the code that runs on a compute capability, or is compiled for it."""
    code = {86: 80, 100: 90, 120: 90}.get(capability, capability)
    used = [match for log in LOGS.values() for match in USED.findall(log)]
    return {k: int(registers) for k, sm, registers in used if int(sm) == code and namespace_of(name) in k}


def resident_threads(capability: int, threads: int, registers: int) -> int:
    most_threads, most_blocks = SM_LIMITS[capability]
    return min(most_threads // threads, most_blocks, REGISTERS_PER_SM // (threads * -(-registers // 8) * 8)) * threads


def test_resident_threads_are_what_an_occupancy_calculator_gives():
    assert resident_threads(90, 256, 32) == 2048
    assert resident_threads(90, 256, 33) == 1536
    assert resident_threads(86, 1024, 32) == 1024  # a third of the SM stays empty
    assert resident_threads(86, 512, 32) == 1536


def form_of(kernel: str) -> tuple[int, int]:
    """Vectors per thread and threads per block, the first two template arguments."""
    vectors, threads = re.search(r"ILi(\d+)ELi(\d+)E", kernel).groups()
    return int(vectors), int(threads)


def streaming(name: str) -> list[Kernel]:
    return [kernel for kernel in kernels(name) if function_of(kernel.name) != "dram_read"]


@pytest.mark.parametrize("name", STREAMS)
def test_every_form_is_compiled_and_its_loads_come_before_its_first_store(name):
    forms = set()
    for kernel in streaming(name):
        vectors, threads = form_of(kernel.name)
        forms.add((vectors, threads))
        wide = "".join(i.name[0] for i in instructions_of(kernel) if i.name in ("LDG", "STG") and i.bits(73, 3) == 6)
        arrays = 2 if "Triad" in kernel.name else 0 if "Constant" in kernel.name else 1
        assert wide.endswith("L" * (arrays * vectors) + "S" * vectors), kernel.name
    one = {(1, 512)} if name == "gelu/vec16.cu" else {(1, 512), (1, 1024)}
    assert forms == one | {(2, 512), (4, 256)}


# choose_vectors counts on an SM full of threads, or on three quarters of them with four vectors per thread.
@pytest.mark.parametrize("capability", SM_LIMITS)
@pytest.mark.parametrize("name", STREAMS)
def test_an_sm_keeps_in_flight_what_the_choice_says(name, capability):
    used = {k: count for k, count in registers_of(name, capability).items() if function_of(k) != "dram_read"}
    assert {form_of(kernel) for kernel in used} >= {(1, 512), (2, 512), (4, 256)}
    for kernel, registers in used.items():
        vectors, threads = form_of(kernel)
        if SM_LIMITS[capability][0] % threads != 0:
            continue  # never chosen there
        loads = vectors * (2 if "Triad" in kernel else 1)
        in_flight = resident_threads(capability, threads, registers) * loads * VECTOR_BYTES
        most = SM_LIMITS[capability][0] // 4 * (3 if vectors == 4 else 4)
        assert in_flight >= most // threads * threads * vectors * VECTOR_BYTES, kernel


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
    used = [registers for kernel, registers in registers_of(name, capability).items() if part in kernel]
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


def body(kernel: Kernel) -> int:
    """Instructions without the padding at the end."""
    count = len(kernel.sequence)
    nop = 0x918
    words = instructions_of(kernel)
    while words[count - 1].bits(0, 12) == nop:
        count -= 1
    return count


# At 4.3 TB/s read and written, 132 SMs at 1.755 GHz handle 9.3 numbers per clock each: they start 128 instructions of
# a thread and 16 special functions in that time, 13.8 and 1.7 per number.
def test_gelu_in_fp8_takes_six_instructions_per_number():
    by_type: dict[str, dict[int, list[Kernel]]] = {}
    for kernel in kernels("gelu/vec16.cu"):
        if converts_fp8(kernel):
            vectors, _ = form_of(kernel.name)
            element = re.search(r"FormatE(\d)E", kernel.name)[1]
            by_type.setdefault(element, {}).setdefault(vectors, []).append(kernel)
    assert len(by_type) == 2
    for forms in by_type.values():
        assert len(forms[2]) == len(forms[4]) >= 1
        for two, four in zip(forms[2], forms[4]):
            numbers = 16 * (4 - 2)
            assert (body(four) - body(two)) / numbers <= 6
            assert four.opcodes["MUFU"] - two.opcodes["MUFU"] == numbers


# Four rows share the conversion of x: per 64 numbers of A that is 32 + 8 conversions of two. fp8_e5m2 needs none.
# Besides, the kernel handles a number of each row and of x after the last vector, and writes bf16.
def test_matvec_in_fp8_converts_x_once_for_four_rows():
    conversions = []
    for kernel in kernels("matvec/row_per_block.cu", "ILi256ELi4E"):
        assert kernel.opcodes["FFMA"] == 64 + 4
        if kernel.opcodes["F2FP"] > 1:  # not before compute capability 8.9
            conversions.append(kernel.opcodes["F2FP"] - (4 + 1 + 1))
    assert set(conversions) == {0, 40}
