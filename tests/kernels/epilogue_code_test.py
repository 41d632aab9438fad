"""The epilogues of the persistent Hopper products: a consumer does not wait for global memory while it stores."""

from cubins import Kernel
from machine_code import needs_cuda, products

PRODUCTS = "matmul/hopper/wgmma_persistent.cu"
STORES = ("STS", "STSM", "STG")
TENSOR = ("HGMMA", "QGMMA")
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
        first_product = min(kernel.sequence.index(name) for name in TENSOR if name in kernel.sequence)
        assert kernel.sequence[:first_product].count("LDGSTS") == kernel.opcodes["LDGSTS"] == 1, kernel.name
        assert kernel.opcodes["LDG"] == 0, kernel.name


@needs_cuda
def test_a_product_without_biases_copies_none():
    plain = [kernel for kernel in products(PRODUCTS) if "BiasGelu" not in kernel.name]
    assert plain and all(kernel.opcodes["LDGSTS"] == 0 for kernel in plain)
