"""What tests of machine code share: the kernels of this build and the compiler's messages about them."""

import os
import re
from pathlib import Path

import pytest
from cubins import Kernel, function_of, kernels_of, mangled
from golden import ROOT

BUILD = Path(os.environ["RIDGEBENCH_BUILD"])
OBJECTS = [
    path
    for part in ("cuda", "hopper")
    for path in sorted(BUILD.glob(f"CMakeFiles/ridgebench_kernels_{part}.dir/**/*.cu.o"))
]
needs_cuda = pytest.mark.skipif(not OBJECTS, reason="built without CUDA")


def namespace_of(source: str) -> str:
    """The namespace of a file's kernels in mangled names: kernels/relu/vec16.cu has ridgebench::cuda::relu_vec16."""
    parts = source.split("/")
    return mangled("cuda", f"{parts[0]}_{Path(source).stem}")


# An object holds the kernels of one file or of several. The folder tile has no kernels that a technique launches.
SOURCES = {
    path.relative_to(ROOT / "kernels").as_posix(): path.read_text()
    for path in ROOT.glob("kernels/**/*.cu")
    if path.parent.name != "tile"
}
KERNELS = [kernel for path in OBJECTS for kernel in kernels_of(path)]
LOGS = {path.name: path.with_name(path.name + ".ptxas").read_text() for path in OBJECTS}
SPILL = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
SERIALISED = re.compile(r"C75\d\d")
USED = re.compile(r"function '(\w+)' for 'sm_(\d+)'\n(?:.*\n){1,3}?.*Used (\d+) registers")
REGISTERS_PER_SM = 65536  # from 8.0 to 12.0
# Threads and blocks that an SM holds. Source: CUDA C++ Programming Guide.
SM_LIMITS = {80: (2048, 32), 86: (1536, 16), 89: (1536, 24), 90: (2048, 32), 100: (2048, 32), 120: (1536, 24)}


def faults(log: str) -> list[str]:
    """What ptxas says of spilled registers and of tensor instructions that it serialised."""
    spills = [match[0] for match in SPILL.finditer(log) if match[2] != "0" or match[3] != "0"]
    return [match[0] for match in SERIALISED.finditer(log)] + spills


def kernels(name: str, part: str = "") -> list[Kernel]:
    """The kernels of a file whose mangled names contain `part`."""
    found = [kernel for kernel in KERNELS if namespace_of(name) in kernel.name and part in kernel.name]
    assert found, f"no kernel {part} in {name}"
    return found


def products(name: str) -> list[Kernel]:
    """The same without the kernels that fill matrices to tune on."""
    return [kernel for kernel in kernels(name) if function_of(kernel.name).startswith("matmul_wgmma")]


def registers_on(name: str, capability: int) -> dict[str, int]:
    """The registers of each kernel of a file, of the code that runs on a compute capability, or is compiled for it."""
    code = {86: 80, 100: 90, 120: 90}.get(capability, capability)
    used = [match for log in LOGS.values() for match in USED.findall(log)]
    return {k: int(registers) for k, sm, registers in used if int(sm) == code and namespace_of(name) in k}


def resident_threads(capability: int, threads: int, registers: int) -> int:
    most_threads, most_blocks = SM_LIMITS[capability]
    return min(most_threads // threads, most_blocks, REGISTERS_PER_SM // (threads * -(-registers // 8) * 8)) * threads


def registers_of(name: str) -> list[tuple[str, int]]:
    """The kernels of a file, and the registers of each on compute capability 9.0."""
    return list(registers_on(name, 90).items())


def is_fp8(kernel: Kernel) -> bool:
    return re.search(r"StoredILNS_6FormatE[45]Eh", kernel.name) is not None
