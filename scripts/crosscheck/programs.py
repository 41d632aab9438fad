"""Programs that share no code with the suite, each beside the row that it should agree with."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from sides import Side, program_side

Pair = tuple[Side, Side, str]  # a row, a program, the unit of both
Row = Callable[..., Side]  # of a record, its unit and further options of run
FLOAT_BYTES = 4
# Several sums in the widest registers: one sum after the other reads a fifth slower here.
STREAM_FLAGS = (
    "-O3 -march=native -ffast-math -fopenmp -mprefer-vector-width=512 -funroll-loops "
    "-fvariable-expansion-in-unroller"
).split()
# Kernels of likwid-bench with streaming stores, and how many arrays each has.
LIKWID = {"read": ("load", 1), "write": ("store_mem", 1), "copy": ("copy_mem", 2), "triad": ("stream_mem", 3)}
N = 1024  # of the matrices
SGEMM = f"^matmul/openblas/fp32/m:{N}/n:{N}/k:{N}/layout:nt/warm@"
WARM = ("--profile", "standard", "--regime", "warm")


def built(source: Path, program: Path, compiler: str, *options: str) -> str:
    subprocess.run([compiler, source, "-o", program, *options], check=True)
    return str(program)


def own(name: str) -> Path:
    return Path(__file__).with_name(name)


def widest() -> str:
    """Of likwid-bench's kernels, those of the widest registers here."""
    flags = Path("/proc/cpuinfo").read_text().split()
    return next((name for flag, name in (("avx512f", "avx512"), ("avx", "avx")) if flag in flags), "sse")


def bandwidth(ceilings: list[dict], folder: Path, row: Row, threads: int) -> list[Pair]:
    """The DRAM ceilings with stream.c and, where it is installed, with likwid-bench."""
    stream = built(own("stream.c"), folder / "stream", "gcc", *STREAM_FLAGS)
    pairs = []
    for record in (r for r in ceilings if r["op"].startswith("dram_")):
        name = record["op"].removeprefix("dram_")
        mebibytes = record["shape"]["n"] * FLOAT_BYTES >> 20  # of an array, as the row has them
        words = [stream, str(mebibytes), "nt", "20", name]
        others = [program_side(f"stream.c {name}", rf"^{name} .*median +([0-9.]+)", *words)]
        if shutil.which("likwid-bench"):
            kernel, arrays = LIKWID[name]
            kernel += f"_{widest()}"
            size = f"N:{mebibytes * arrays << 10}kB:{threads}"
            words = ["likwid-bench", "-t", kernel, "-w", size]
            others.append(program_side(f"likwid-bench {kernel}", r"^MByte/s:\s+([0-9.]+)", *words, scale=1e-3))
        pairs += [(row(record, "GB/s"), other, "GB/s") for other in others]
    return pairs


def products(record: dict, folder: Path, row: Row, openblas: Path | None) -> list[Pair]:
    """OpenBLAS's sgemm as ridgebench times it, and as others do."""
    loop = built(own("sgemm_loop.cpp"), folder / "sgemm_loop", "g++", "-O2", "-lbenchmark", "-lopenblas", "-lpthread")
    median = r'real_time_median"(?:.|\n)*?"GFLOP/s": ([0-9.e+-]+)'
    others = [
        program_side("Google Benchmark's loop", median, loop, str(N), "30", "--benchmark_format=json"),
        program_side("numpy, timeit", r"^median ([0-9.]+)", sys.executable, str(own("sgemm_numpy.py"))),
    ]
    if openblas:
        shutil.copy(own("openblas_common.h"), folder / "common.h")
        gemm = built(openblas / "benchmark" / "gemm.c", folder / "gemm", "gcc", "-O2", f"-I{folder}", "-lopenblas")
        shape = [f"OPENBLAS_PARAM_{letter}={N}" for letter in "MNK"]
        words = ["env", *shape, "OPENBLAS_TRANSA=T", "OPENBLAS_TRANSB=N", "OPENBLAS_LOOPS=3", gemm, "1", "30"]
        others.append(program_side("OpenBLAS's benchmark/gemm.c", r"([0-9.]+) MFlops", *words, scale=1e-3))
    return [(row(record, "GFLOP/s", *WARM), other, "GFLOP/s") for other in others]
