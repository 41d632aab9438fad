"""The CUDA kernel of docs/own_kernels.md: nvcc builds the project, and the emulator runs the kernel on the host."""

import json
import re
import shutil

import pytest
from build_folder import NVCC, emulated, linked, needs_emulator, run
from golden import ROOT
from project import FILES, write_project


@pytest.mark.skipif(NVCC is None, reason="no nvcc")
def test_nvcc_builds_the_project(prefix, tmp_path):
    lists = FILES["CMakeLists.txt"].replace("LANGUAGES CXX", "LANGUAGES CXX CUDA")
    lists = re.sub(r"^ridgebench_add_kernels.*\n", "", lists, flags=re.MULTILINE) + "ridgebench_add_kernels(mine row_softmax.cu existing.cu)\n"
    project = write_project(tmp_path / "mine", FILES | {"CMakeLists.txt": lists})
    options = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_CUDA_ARCHITECTURES=90a")
    run("cmake", "-S", project, "-B", project / "build", *options)
    run("cmake", "--build", project / "build")
    library = project / "build" / "libmine.so"
    assert b"row_softmax_block_per_row" in library.read_bytes() and b"sm_90a" in library.read_bytes()
    listed = run(prefix / "bin" / "ridgebench", "list", "--device", "cpu", "--load", library, "--json")
    ids = [case["id"] for case in json.loads(listed.stdout)["cases"]]
    found = [case for case in json.loads(listed.stdout)["cases"] if case["op"] == "row_softmax"]
    assert [(case["id"], case["supported"]) for case in found] == [
        ("row_softmax/block_per_row/fp32@cuda", False), ("row_softmax/block_per_row/bf16@cuda", False),
        ("row_softmax/existing/bf16@cuda", False)]
    assert len(ids) > len(found)


def test_a_cu_without_cuda_is_refused(prefix, tmp_path):
    lists = FILES["CMakeLists.txt"].replace("row_softmax.cpp", "row_softmax.cu", 1)
    project = write_project(tmp_path / "mine", FILES | {"CMakeLists.txt": lists})
    said = run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", code=1).stderr
    assert "row_softmax.cu needs CUDA; allowed: project(... LANGUAGES CXX CUDA)" in re.sub(r"\s+", " ", said)


@pytest.mark.parametrize("file, tests", [("row_softmax.cu", 2), ("existing.cu", 1)])
def test_the_kernel_is_right_on_the_emulator(file, tests, tmp_path):
    needs_emulator()
    source = write_project(tmp_path / "mine") / file
    headers = tmp_path / "include" / "ridgebench"
    headers.mkdir(parents=True)
    shutil.copy(ROOT / "kernels" / "common" / "interface" / "kernel.hpp", headers)
    compiled = emulated(source, source.with_name(f"{source.stem}_emulated.cpp"), headers.parent, f"-I{source.parent}")
    program = linked("ridgebench_emulated_tests", [compiled], tmp_path / "emulated_tests")
    said = run(program, "--gtest_filter=row_softmax.*").stdout
    assert re.search(rf"^\[  PASSED  \] {tests} tests?\.$", said, re.MULTILINE), said[-2000:]
