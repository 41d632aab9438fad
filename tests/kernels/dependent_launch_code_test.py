"""Kernels that start before the kernel ahead has ended touch global memory only after griddepcontrol.wait (ACQBULK)."""

import pytest
from cubins import Kernel, function_of
from machine_code import KERNELS, needs_cuda
from sass import BYTES, instructions_of

ACCESSES = ("LDG", "LDGSTS", "STG", "UTMALDG", "UTMASTG")
GUARD_AT, ALWAYS = 12, 7  # predicate of an instruction

pytestmark = needs_cuda


def accesses_before(kernel: Kernel, wait: str) -> set[int]:
    """Addresses of the accesses to global memory that some path reaches without an instruction called `wait`."""
    code = {instruction.address: instruction for instruction in instructions_of(kernel)}
    seen, found, unread = set(), set(), [0]
    while unread:
        address = unread.pop()
        if address in seen or address not in code:
            continue
        seen.add(address)
        instruction = code[address]
        always = instruction.bits(GUARD_AT, 4) == ALWAYS
        if instruction.name in ACCESSES:
            found.add(address)
        if instruction.name == "BRA":
            unread.append(instruction.target)
        if not (always and instruction.name in ("BRA", "EXIT", wait)):
            unread.append(address + BYTES)
    return found


DEPENDENT = [kernel for kernel in KERNELS if "PREEXIT" in kernel.sequence]


def test_the_persistent_products_launch_dependents():
    names = {function_of(kernel.name) for kernel in DEPENDENT}
    assert {"matmul_wgmma_persistent", "matmul_wgmma_pingpong", "matmul_wgmma_tf32x3", "matmul_ffma_tma"} <= names


@pytest.mark.parametrize("name", sorted({function_of(kernel.name) for kernel in DEPENDENT}))
def test_no_access_to_global_memory_precedes_the_wait(name):
    for kernel in (kernel for kernel in DEPENDENT if function_of(kernel.name) == name):
        reachable = accesses_before(kernel, "no instruction")
        assert len(reachable) == sum(opcode in ACCESSES for opcode in kernel.sequence), kernel.name
        assert not accesses_before(kernel, "ACQBULK"), kernel.name
