"""The epilogues of products with bias and GeLU: a thread does not wait for global memory while it stores."""

import pytest
from cubins import Kernel, function_of
from machine_code import KERNELS, needs_cuda, products

PRODUCTS = "matmul/hopper/wgmma_persistent.cu"
STORES = ("STS", "STSM", "STG")
TENSOR = ("HGMMA", "QGMMA")
LONGEST_CHAIN = 1
# A thread of the naive product has one result, and the other one finishes what a library has stored.
ONE_RESULT = ("matmul_naive", "matmul_gelu_unfused_epilogue")


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


# On any GPU. A code that the compiler lays out in another order than it runs may seem to have a longer chain.
@needs_cuda
@pytest.mark.parametrize("name", ["matmul_register_tile", "matmul_mma_sync", "matmul_ffma_tma", "matmul_wgmma_pingpong"])
def test_a_thread_loads_its_biases_before_it_stores(name: str):
    with_bias = [kernel for kernel in KERNELS if "BiasGelu" in kernel.name and function_of(kernel.name) == name]
    assert with_bias
    for kernel in with_bias:
        assert chain([i for i in kernel.sequence if i in ("LDG", "STG")]) <= 8, kernel.name


@needs_cuda
def test_no_other_kernel_adds_biases():
    tested = {"matmul_register_tile", "matmul_mma_sync", "matmul_ffma_tma", "matmul_wgmma_pingpong", "matmul_wgmma_persistent"}
    assert {function_of(kernel.name) for kernel in KERNELS if "BiasGelu" in kernel.name} == {*tested, *ONE_RESULT}
