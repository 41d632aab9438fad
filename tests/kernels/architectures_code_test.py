"""The portable kernels on GPUs that a build has no code for: compute capabilities 10.0 and 12.0.

For those the driver compiles the PTX of 9.0 that a build carries. ptxas does the same here, for every portable kernel
but those of layouts nn and tn, whose copies alone differ. It takes some 30 s.
"""

import re
from functools import lru_cache
from pathlib import Path

import pytest
from build_folder import NVCC, run
from cubins import Kernel, kernels_of, kernels_of_cubin
from golden import ROOT
from machine_code import OBJECTS, faults, namespace_of, needs_cuda

PORTABLE = [path for path in OBJECTS if "kernels_cuda.dir" in str(path)]
PTX = re.compile(rb"\n\.version \d[^\0]*?\.target (\w+)[^\0]*")
ENTRY = re.compile(rb"\n(?:\.visible |\.weak )?\.entry (\w+).*?\n\}(?=\n)", re.DOTALL)
OTHER_LAYOUTS = re.compile(rb"LayoutE[12]E")  # kernels/common/shape.hpp: nt, nn, tn
NEW = (100, 120)

pytestmark = [needs_cuda, pytest.mark.skipif(NVCC is None, reason="no nvcc")]


def ptx_of(path: Path) -> bytes:
    (match,) = PTX.finditer(path.read_bytes())
    assert match[1] == b"sm_90", "PTX of another target runs on fewer GPUs"
    return match[0]


@lru_cache(maxsize=None)
def compiled(path: Path, capability: int, folder: Path) -> tuple[list[Kernel], str]:
    """The kernels that ptxas makes of an object's PTX, and its messages."""
    ptx = ENTRY.sub(lambda entry: b"\n" if OTHER_LAYOUTS.search(entry[1]) else entry[0], ptx_of(path))
    source, cubin = folder / f"{path.name}.ptx", folder / f"{path.name}.{capability}.cubin"
    source.write_bytes(ptx)
    done = run(Path(NVCC).with_name("ptxas"), "-v", f"-arch=sm_{capability}", "-o", cubin, source)
    return kernels_of_cubin(cubin.read_bytes(), 0), done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ptx")


def object_with(name: str) -> Path:
    (found,) = (path for path in PORTABLE if namespace_of(name).encode() in ptx_of(path))
    return found


@pytest.mark.parametrize("path", PORTABLE, ids=lambda path: path.name)
def test_every_portable_kernel_comes_as_ptx_that_later_gpus_take(path: Path) -> None:
    entries = {entry[1].decode() for entry in ENTRY.finditer(ptx_of(path))}
    assert entries and {kernel.name for kernel in kernels_of(path)} <= entries


@pytest.mark.parametrize("capability", NEW)
@pytest.mark.parametrize("path", PORTABLE, ids=lambda path: path.name)
def test_ptxas_takes_the_portable_kernels_and_spills_nothing(path: Path, capability: int, folder: Path) -> None:
    kernels, log = compiled(path, capability, folder)
    assert kernels and faults(log) == []
    assert all(kernel.opcodes["LDL"] == kernel.opcodes["STL"] == 0 for kernel in kernels)


@pytest.mark.parametrize("name", ["matmul/mma_sync.cu", "ceilings/tensor_mma_sync.cu"])
def test_mma_sync_multiplies_fp8_on_12_0_and_is_emulated_on_10_0(name: str, folder: Path) -> None:
    def of(capability: int) -> list[Kernel]:
        kernels, _ = compiled(object_with(name), capability, folder)
        own = [k for k in kernels if namespace_of(name) in k.name and re.search(r"FormatE[45]Eh", k.name)]
        assert own, "kernels of fp8"
        return own

    assert all(k.opcodes["QMMA"] > 0 == k.opcodes["HMMA"] for k in of(120))
    assert all(k.opcodes["HMMA"] > 0 == k.opcodes["QMMA"] for k in of(100))


def test_the_front_end_makes_of_them_what_it_makes_for_9_0() -> None:
    for path in [*ROOT.glob("kernels/**/*.cu"), *ROOT.glob("kernels/**/*.cuh")]:
        for known in re.findall(r"__CUDA_ARCH__ *(?:<|>=|>) *(\d+)", path.read_text("utf-8")):
            assert int(known) <= 900, f"{path.name} has code for a GPU that no test compiles"


def test_a_file_with_code_by_architecture_compiles_for_both(tmp_path: Path) -> None:
    targets = [f"-gencode=arch=compute_{capability},code=sm_{capability}" for capability in NEW]
    source = ROOT / "kernels/ceilings/tensor_mma_sync.cu"
    options = ["-std=c++20", "--expt-relaxed-constexpr", "--diag-suppress=445", f"-I{ROOT}", *targets]
    run(NVCC, *options, "-fatbin", "-o", tmp_path / "both.fatbin", source)
