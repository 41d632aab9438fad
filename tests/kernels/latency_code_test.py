"""Machine code of the pointer chases: nothing but loads, each of which takes its address from the one before it."""

import pytest
from cubins import Kernel, function_of
from machine_code import kernels, needs_cuda
from sass import Instruction, innermost_loop, instructions_of

pytestmark = needs_cuda

UNROLLED = 16
CHASES = [("global", "LDG"), ("own_block", "LDS"), ("hopper/other_block", "LD")]
LOADS = {"LD", "LDG", "LDS", "LDL"}


def chases(name: str) -> list[Kernel]:
    return [k for k in kernels(f"latency/{name}.cu") if function_of(k.name) != "pointer_chase_link"]


def breaks(loads: list[Instruction]) -> list[int]:
    """Addresses of the loads of a loop that do not wait for the load before them, around the loop."""
    address = [load.bits(24, 8) for load in loads]
    before = [load.destination for load in loads[-1:] + loads[:-1]]
    return [load.address for load, own, made in zip(loads, address, before) if own != made]


def chain(kernel: Kernel, name: str) -> list[Instruction]:
    """The turn of an unrolled loop whose loads wait for each other, with what stands between its loads."""
    body = instructions_of(kernel)
    places = [at for at, i in enumerate(body) if i.name in LOADS]
    for first, last in zip(places, places[UNROLLED - 1 :]):
        loads = [i for i in body[first : last + 1] if i.name in LOADS]
        if {i.name for i in loads} == {name} and not breaks(loads):
            return body[first : last + 1]
    return []


@pytest.mark.parametrize("name, load", CHASES)
def test_a_chase_is_loads_that_wait_for_each_other_and_little_else(name, load):
    found = chases(name)
    assert {kernel.capability for kernel in found} >= ({80, 89, 90} if load != "LD" else {90})
    for kernel in found:
        turn = chain(kernel, load)
        assert UNROLLED <= len(turn) <= UNROLLED + 3, kernel.name  # the counter and its comparison


# loops() reads branches of 9.0 alone.
@pytest.mark.parametrize("name, load", CHASES)
def test_the_loop_has_no_other_load(name, load):
    for kernel in chases(name):
        if kernel.capability == 90:
            loop = innermost_loop(instructions_of(kernel), load, UNROLLED)
            assert [i.name for i in loop if i.name in LOADS] == [load] * UNROLLED, kernel.name


def test_independent_loads_are_found():
    def load(address: int, destination: int, source: int) -> Instruction:
        return Instruction(address, 0x181 | destination << 16 | source << 24)

    assert breaks([load(0, 4, 2), load(16, 2, 4)]) == []
    assert breaks([load(0, 4, 2), load(16, 6, 2)]) == [0, 16]
