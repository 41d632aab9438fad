"""The epilogues of the persistent Hopper products: a consumer does not wait for global memory while it stores."""

from cubins import Kernel
from machine_code import needs_cuda, products
from sass import instructions_of

PRODUCTS = "matmul/hopper/wgmma_persistent.cu"
STORES = ("STS", "STSM", "STG")
TENSOR = ("HGMMA", "QGMMA")
LDGSTS = 0x1AE  # cp.async
LONGEST_CHAIN = 1


def chain(sequence: list[str]) -> int:
    """Links of load, use and store that follow each other: loads from global memory wait for the stores before."""
    accesses = [name for name in sequence if name == "LDG" or name in STORES]
    return 1 + sum(one in STORES and other == "LDG" for one, other in zip(accesses, accesses[1:]))


def test_a_chain_is_as_long_as_loads_follow_stores():
    assert chain(["LDG", "MUFU", "STG"] * 3) == 3
    assert chain(["LDG", "LDG", "MUFU", "STSM", "STSM"]) == 1
    assert chain(["LDS", "MUFU", "STSM"] * 3) == 1


def with_gelu() -> list[Kernel]:
    found = [kernel for kernel in products(PRODUCTS) if "BiasGelu" in kernel.name]
    assert found
    return found


@needs_cuda
def test_no_chain_of_load_use_and_store_is_long():
    for kernel in products(PRODUCTS):
        assert chain(kernel.sequence) <= LONGEST_CHAIN, kernel.name


@needs_cuda
def test_biases_are_on_their_way_before_the_tile_is_multiplied():
    for kernel in with_gelu():
        body = instructions_of(kernel)
        copies = [i.address for i in body if i.bits(0, 9) == LDGSTS]
        products_start = next(i.address for i in body if i.name in TENSOR)
        assert len(copies) == 1 and copies[0] < products_start, kernel.name
        assert kernel.opcodes["LDG"] == 0 and kernel.opcodes["LDS"] > 0, kernel.name


@needs_cuda
def test_a_product_without_biases_copies_none():
    plain = [kernel for kernel in products(PRODUCTS) if "BiasGelu" not in kernel.name]
    assert plain
    for kernel in plain:
        assert not any(i.bits(0, 9) == LDGSTS for i in instructions_of(kernel)), kernel.name
