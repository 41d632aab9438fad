"""Machine code of the operations of a step: the bytes that each element costs, and how many are in flight on an SM."""

import re
from collections import Counter

import pytest
from command_line import ridgebench, strict_json
from cubins import WIDTH_AT, WIDTH_BITS, Kernel
from golden import ROOT
from machine_code import SM_LIMITS, kernels, needs_cuda, registers_on, resident_threads
from sass import Instruction, instructions_of, loops

pytestmark = needs_cuda

BYTES_OF_WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}  # of a load or a store, by its code
ELEMENTWISE = ("add", "swiglu", "relu_backward", "gelu_backward", "zero")
RULES = {"sgd": "3Sgd", "momentum": "8Momentum", "lion": "4Lion", "adamw": "5AdamW"}
FORMS = {"": 0, "_master": 1, "_narrow_gradients": 2}  # the suffix of an operation, and kernels/optimizer/updates.hpp's Storage
PACKED = [*ELEMENTWISE, *(rule + form for rule in RULES for form in FORMS)]
# Bytes in flight on an SM hide the latency of memory if they are its bandwidth times the latency: an SM of an H200
# moves 4.8 TB/s / 132, and 780 ns are more than twice the latency that was measured there.
WANTED = 28 << 10
LEAST = 16 << 10  # of attention, whose running sums take the registers
PAGE = (ROOT / "docs" / "step_operations.md").read_text("utf-8")


def width(instruction: Instruction) -> int:
    return BYTES_OF_WIDTH[instruction.bits(WIDTH_AT, WIDTH_BITS)]


def accesses(kernel: Kernel) -> Counter:
    """The loads from global memory and the stores of a kernel, by name and bytes."""
    return Counter((i.name, width(i)) for i in instructions_of(kernel) if i.name in ("LDG", "STG"))


def outstanding(body: list[Instruction]) -> int:
    """The most bytes that a thread has loaded of which no instruction has waited for any, in a straight stretch of code."""
    pending: Counter = Counter()
    most = 0
    for instruction in body:
        for board in [board for board in pending if instruction.waits_for(board)]:
            del pending[board]
        if instruction.name == "LDG":
            pending[instruction.write_board] += width(instruction)
            most = max(most, sum(pending.values()))
    return most


def in_loops(body: list[Instruction]) -> int:
    """The same within the loops that hold no other one."""
    found = loops(body)
    inner = [loop for loop in found if not any(set(other) < set(loop) for other in found)]
    return max(map(outstanding, inner))


def packed(operation: str, of: str) -> list[Kernel]:
    """The kernels of an operation's vec16, for arrays of 16 bits or of 32."""
    narrow = of == "bf16"
    if operation in ELEMENTWISE:
        return [one for one in kernels(f"{operation}/vec16.cu") if ("StoredI" in one.name) == narrow]
    rule = next(rule for rule in RULES if operation.startswith(rule))
    storage = FORMS[operation.removeprefix(rule)]
    found = kernels("optimizer/vec16.cu", RULES[rule])
    return [one for one in found if f"StorageE{storage}E" in one.name and ("StoredI" in one.name) == narrow]


def bytes_of_element(operation: str, of: str) -> int:
    """The compulsory bytes, as the program counts them."""
    answer = strict_json(ridgebench("predict", operation, "n:1000", "--format", of, "--on", "h100-sxm", "--json").stdout)
    return round(answer["bytes"] / 1000)


def pack_of(kernel: Kernel) -> tuple[int, Counter]:
    """The elements of a pack, and the accesses to packs; single elements after the last pack have narrower ones."""
    every = accesses(kernel)
    packs = Counter({key: count for key, count in every.items() if key[1] >= 8})
    single = sum(bytes_ * count for (_, bytes_), count in every.items() if bytes_ < 8)
    return round(sum(bytes_ * count for (_, bytes_), count in packs.items()) / single), packs


@pytest.mark.parametrize("of", ["bf16", "fp32"])
@pytest.mark.parametrize("operation", PACKED)
def test_a_thread_moves_the_compulsory_bytes_of_its_pack_and_no_others(operation, of):
    if of == "fp32" and operation.endswith(tuple(form for form in FORMS if form)):
        pytest.skip("has arrays of 16 bits only")
    compulsory = bytes_of_element(operation, of)
    found = packed(operation, of)
    assert {kernel.capability for kernel in found} == {80, 89, 90}
    for kernel in found:
        elements, packs = pack_of(kernel)
        assert elements in (4, 8) and sum(width_ * count for (_, width_), count in packs.items()) == elements * compulsory, kernel.name
        assert sum(width_ * count for (_, width_), count in accesses(kernel).items()) == (elements + 1) * compulsory, kernel.name


def resident(name: str, kernel: str, threads: int, capability: int = 90) -> int:
    return resident_threads(capability, threads, registers_on(name, capability)[kernel])


def in_flight(operation: str, of: str = "bf16") -> int:
    """Bytes of the packs that the threads of an SM of 9.0 load before they use the first: the fewest of all forms."""
    name = f"{operation if operation in ELEMENTWISE else 'optimizer'}/vec16.cu"
    found = [kernel for kernel in packed(operation, of) if kernel.capability == 90]
    return min(outstanding(instructions_of(one)) * resident(name, one.name, int(re.search(r"ILi(\d+)E", one.name)[1])) for one in found)


@pytest.mark.parametrize("operation", [one for one in PACKED if one != "zero"])
def test_packs_keep_enough_in_flight(operation):
    assert in_flight(operation) >= WANTED


# Threads of a block, and what the name of a kernel in bf16 has.
ROWS = {
    "softmax": ("softmax/online.cu", "ILi256E", 256),
    "cross_entropy": ("cross_entropy/online.cu", "ILi256E", 256),
    "rmsnorm": ("rmsnorm/vec16.cu", "ILi256E", 256),
    "rope": ("rope/vec16.cu", "ILi8E", 256),
    "transpose_copy": ("transpose_copy/shared_tile.cu", "", 256),
    "attention_decode, 1 head": ("attention_decode/split.cu", "ILi4ELi1E", 128),
    "attention_decode, 4 heads": ("attention_decode/split.cu", "ILi4ELi4E", 128),
    "attention_decode, 8 heads": ("attention_decode/split.cu", "ILi4ELi8E", 128),
}


def rows_in_flight(operation: str) -> int:
    name, part, threads = ROWS[operation]
    (kernel,) = (one for one in kernels(name, part) if one.capability == 90 and "FormatE3E" in one.name)
    body = instructions_of(kernel)
    each = outstanding(body) if operation == "transpose_copy" else in_loops(body)
    return each * resident(name, kernel.name, threads)


@pytest.mark.parametrize("operation", ROWS)
def test_rows_keep_enough_in_flight(operation):
    assert rows_in_flight(operation) >= (LEAST if "attention" in operation else WANTED)


def table_of_page(heading: str) -> list[list[str]]:
    lines = PAGE[PAGE.index(heading) :].splitlines()
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]


def kib(count: int) -> str:
    return f"{count / 1024:.3g} KiB"


def text_of(packs: Counter, name: str) -> str:
    return " + ".join(f"{count} x {bytes_}" for (kind, bytes_), count in sorted(packs.items(), reverse=True) if kind == name) or "-"


def test_the_page_has_these_numbers():
    found = []
    for operation in PACKED:
        kernel = next(one for one in packed(operation, "bf16") if one.capability == 90)
        elements, packs = pack_of(kernel)
        flight = kib(in_flight(operation)) if operation != "zero" else "-"
        found.append([operation, str(elements), text_of(packs, "LDG"), text_of(packs, "STG"), str(bytes_of_element(operation, "bf16")), flight])
    assert table_of_page("| operation | elements of a pack")[: len(found)] == found
    assert dict(table_of_page("| operation by rows")) == {operation: kib(rows_in_flight(operation)) for operation in ROWS}
