"""Programs that a test compiles to compare their machine code."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NVCC = shutil.which("nvcc") or next((path for path in ("/usr/local/cuda/bin/nvcc",) if os.path.exists(path)), None)
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

HEADER = "__device__ __forceinline__ float weight(float x) { return 0.5f * x; }\n"
KERNELS = """#include "weight.cuh"
__device__ __noinline__ float helper(float x) { return x * x + 1.5f; }
__device__ float table[4] = {1, 2, 3, 4};
namespace { __global__ void hidden(float* y) { y[threadIdx.x] += table[threadIdx.x % 4]; } }
template <int N> __global__ void scale(float* y) { y[threadIdx.x] *= N; }
__global__ void weigh(float* y) { y[threadIdx.x] = weight(y[threadIdx.x]); }
__global__ void calls(float* y) { y[threadIdx.x] = helper(y[threadIdx.x]); }
int main() {
  float* p;
  cudaMalloc(&p, 1024);
  hidden<<<1, 64>>>(p);
  scale<3><<<1, 64>>>(p);
  weigh<<<1, 64>>>(p);
  calls<<<1, 64>>>(p);
  return cudaDeviceSynchronize();
}
"""
LISTED = {"hidden": "(anonymous namespace)::hidden(float*)", "scale": "void scale<3>(float*)", "weigh": "weigh(float*)", "calls": "calls(float*)"}
ARCHITECTURES = ("-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]")


def build(folder: Path, *, kernels: str = KERNELS, header: str = HEADER, flags: tuple[str, ...] = ARCHITECTURES) -> Path:
    """A CUDA program in a folder of its own."""
    folder.mkdir(parents=True)
    (folder / "kernels.cu").write_text(kernels)
    (folder / "weight.cuh").write_text(header)
    subprocess.run([NVCC, *flags, "kernels.cu", "-o", "program"], cwd=folder, check=True, capture_output=True)
    return folder / "program"


def build_host(folder: Path, sources: dict[str, str], flags: tuple[str, ...] = ("-O2",)) -> Path:
    """The folder of objects, and a program, of C++ sources."""
    folder.mkdir(parents=True)
    for name, text in sources.items():
        (folder / name).write_text(text)
        if name.endswith(".cpp"):
            subprocess.run(["g++", *flags, "-c", name], cwd=folder, check=True)
    subprocess.run(["g++", *(f"{name[:-4]}.o" for name in sources if name.endswith(".cpp")), "-o", "program"], cwd=folder, check=True)
    return folder
