"""What every processor runs at start-up, and whatever the linker may pick from any file, stays within x86-64-v2.

A file compiled for a newer instruction set also holds start-up code and weak functions (inline ones, templates). The
linker keeps one copy of a weak function, whichever file it came from: one built for AVX2 or AVX-512 would end the
program on an older processor.
"""

import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="instruction sets are chosen on x86-64 only"
)

# Start-up functions as GCC and Clang name them; their sections are left out of `weak`.
START_UP = re.compile(r"^(_GLOBAL__sub_I_|_GLOBAL__I_|__cxx_global_var_init|_Z41__static_initialization_and_destruction_0)")
WIDE_REGISTER = re.compile(r"%[yz]mm\d+|%k[1-7]\b")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")


def objects(build: Path) -> list[Path]:
    return [o for level in (3, 4) for o in sorted((build / f"CMakeFiles/ridgebench_kernels_v{level}.dir").rglob("*.o"))]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def weak_functions(symbols: str) -> set[str]:
    """Names of the weak symbols in what `nm` prints: address, type, name."""
    return {line.split()[2] for line in symbols.splitlines() if len(line.split()) == 3 and line.split()[1] in "WVu"}


def functions_with_wide_registers(disassembly: Iterable[str]) -> Iterator[str]:
    function, reported = None, None
    for line in disassembly:
        if match := FUNCTION.match(line):
            function = match[1]
        elif function != reported and WIDE_REGISTER.search(line):
            reported = function
            yield function


def offenders(obj: Path) -> list[str]:
    weak = weak_functions(output("nm", "--defined-only", str(obj)))
    wide = functions_with_wide_registers(output("objdump", "-d", "--no-show-raw-insn", str(obj)).splitlines())
    return [f"{obj.name}: {name}" for name in wide if name in weak or START_UP.match(name)]


def test_start_up_and_shared_code_needs_no_new_instruction_set():
    build = Path(os.environ["RIDGEBENCH_BUILD"])
    found = objects(build)
    assert found, f"no object of ridgebench_kernels_v3 or _v4 under {build}"
    assert [line for obj in found for line in offenders(obj)] == []


REGION = re.compile(r'#include "kernels/common/cpu/target_begin(?:_v4|_sve)?\.hpp"(.*?)#include "kernels/common/cpu/target_end\.hpp"', re.DOTALL)


def shared_headers_in_regions(root: Path) -> list[str]:
    """Headers that a file includes inside a region although code outside regions uses them too. GCC would compile
    their templates for the region's instruction set, the registration that runs at start-up among them."""
    return [
        f"{path.relative_to(root)} includes {header}"
        for path in sorted((root / "kernels").rglob("*.cpp"))
        for region in REGION.findall(path.read_text(encoding="utf-8"))
        for header in re.findall(r'#include "([^"]+)"', region)
        if not header.startswith(("kernels/common/cpu/", "kernels/matmul/host/"))
    ]


def test_a_region_includes_only_its_own_code():
    assert shared_headers_in_regions(Path(__file__).resolve().parents[1]) == []


def test_a_shared_header_in_a_region_is_found(tmp_path):
    (tmp_path / "kernels/relu").mkdir(parents=True)
    (tmp_path / "kernels/relu/fast.cpp").write_text(
        '#include "kernels/common/cpu/target_begin_v4.hpp"\n#include "kernels/common/registry.hpp"\n'
        '#include "kernels/common/cpu/map.hpp"\n#include "kernels/common/cpu/target_end.hpp"\n'
        '#include "kernels/common/error.hpp"\n'
    )
    assert shared_headers_in_regions(tmp_path) == ["kernels/relu/fast.cpp includes kernels/common/registry.hpp"]


def test_the_kernels_themselves_use_the_new_instruction_set():
    """Else the test above would look at objects that were compiled for nothing new."""
    for level in (3, 4):
        folder = Path(os.environ["RIDGEBENCH_BUILD"]) / f"CMakeFiles/ridgebench_kernels_v{level}.dir"
        wide = [
            name
            for obj in folder.rglob("*.o")
            for name in functions_with_wide_registers(output("objdump", "-d", str(obj)).splitlines())
        ]
        assert wide, f"no function of ridgebench_kernels_v{level} uses a wide register"


@pytest.mark.parametrize("level", [3, 4])
def test_the_fma_ceiling_multiplies_and_adds_in_one_instruction(level):
    folder = Path(os.environ["RIDGEBENCH_BUILD"]) / f"CMakeFiles/ridgebench_kernels_v{level}.dir"
    code = output("objdump", "-d", str(folder / "kernels/ceilings/fma.cpp.o"))
    assert re.search(r"vfn?m(add|sub)[0-9]+ps", code)


def test_a_violation_is_found(tmp_path):
    source = tmp_path / "kernel.cpp"
    source.write_text(
        "#pragma GCC push_options\n#pragma GCC target(\"avx2\")\n"
        "template <class T> void scale(T* x) { for (int i = 0; i < 1024; ++i) x[i] *= T(3); }\n"
        "static float table[1024];\n"
        "static const bool started = (scale(table), true);\n"
        "void kernel(float* x) { scale(x); }\n"
        "#pragma GCC pop_options\n"
    )
    compiler = os.environ.get("CXX", "g++")
    obj = tmp_path / "kernel.o"
    flags = ["-O3", "-fno-inline", "-c", str(source), "-o", str(obj)]
    subprocess.run([compiler, *flags], check=True)
    assert [line for line in offenders(obj) if "scale" in line]
