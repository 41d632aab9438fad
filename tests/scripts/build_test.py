"""scripts/build.sh: which compiler and which generator it hands to CMake."""

import pytest
from stub_tools import CLANG, GCC, Machine


@pytest.fixture(name="machine")
def machine_fixture(tmp_path):
    machine = Machine(tmp_path)
    machine.add_compilers()
    return machine


def build(machine: Machine, **variables: str) -> tuple[str, str]:
    """The compiler and the arguments that CMake was given."""
    done = machine.call("build.sh", "release", "-DA=B", **variables)
    assert done.returncode == 0, done.stderr
    return machine.calls("CXX=")[-1].removeprefix("CXX="), machine.calls("cmake --preset")[-1]


COMPILERS = [
    ({"g++": GCC.format(version="12.2.0"), "g++-14": GCC.format(version="14.2.0")}, "g++"),
    ({"g++": GCC.format(version="10.2.1"), "g++-11": GCC.format(version="11.3.0")}, "g++-11"),
    ({"g++": GCC.format(version="8.5.0"), "clang++-16": CLANG.format(version="16.0.6")}, "clang++-16"),
    ({"g++": GCC.format(version="8.5.0"), "clang++": CLANG.format(version="14.0.6")}, ""),  # CMake names what it finds
]


@pytest.mark.parametrize(("tools", "chosen"), COMPILERS)
def test_an_old_compiler_gives_way_to_a_newer_one(machine, tools, chosen):
    for name, script in tools.items():
        machine.add(name, script)
    assert build(machine)[0] == chosen


def test_clang_without_openmp_is_passed_over(machine):
    machine.add("g++", GCC.format(version="10.2.1"))
    machine.add("clang++-17", CLANG.format(version="17.0.6") + '\n[ "$1" = --version ]')
    assert build(machine)[0] == ""


def test_cxx_is_respected(machine):
    assert build(machine, CXX="my-g++ -m64")[0] == "my-g++ -m64"


def test_make_builds_without_ninja_and_a_build_folder_keeps_its_generator(machine):
    (machine.tools / "ninja").unlink()
    assert "-G Unix Makefiles" in build(machine)[1]
    cache = machine.root / "build/release/CMakeCache.txt"
    cache.write_text("CMAKE_GENERATOR:INTERNAL=Unix Makefiles\n")
    machine.add("ninja")
    assert "-G Unix Makefiles" in build(machine)[1]
    cache.unlink()
    assert "-G Ninja" in build(machine)[1]


def test_the_cmake_of_pip_comes_first(machine):
    machine.add_cmake("3.18.4")
    machine.add_file(machine.root / ".venv/bin/cmake", f"#!/bin/sh\n{(machine.tools / 'cmake').read_text()}"
                     .replace("3.18.4", "4.0.2"))
    assert "-DA=B" in build(machine)[1]


@pytest.mark.parametrize("version", ["3.21.9", None])
def test_an_old_cmake_and_none_are_one_line(machine, version):
    (machine.tools / "cmake").unlink()
    if version:
        machine.add_cmake(version)
    done = machine.call("build.sh")
    assert (done.returncode, done.stderr.count("\n")) == (8, 1)
    assert "CMake 3.22 or newer is missing" in done.stderr


def test_the_program_is_built_without_the_library_until_the_folder_has_one(machine):
    assert machine.call("build.sh", "--program", "release", "-DA=B").returncode == 0
    assert "--target ridgebench " in machine.calls("cmake --build")[-1] and "-DA=B" in machine.calls("cmake --preset")[-1]
    (machine.root / "build" / "release" / "libridgebench.so").touch()
    assert machine.call("build.sh", "--program", "release").returncode == 0
    assert "--target all " in machine.calls("cmake --build")[-1]
    assert machine.call("build.sh").returncode == 0
    assert "--target all " in machine.calls("cmake --build")[-1]


def test_a_target_is_built_by_the_same_generator(machine):
    assert machine.call("build.sh", "--target", "fuzz_targets", "fuzz").returncode == 0
    assert "cmake --build build/fuzz --target fuzz_targets " in machine.calls("cmake --build")[-1]
    assert "-G Ninja" in machine.calls("cmake --preset fuzz")[-1]
    (machine.root / "build" / "fuzz" / "libridgebench.so").touch()
    assert machine.call("build.sh", "--target", "fuzz_targets", "fuzz").returncode == 0
    assert "--target fuzz_targets " in machine.calls("cmake --build")[-1]


@pytest.mark.parametrize("words", [[], ["--program"], [""]])
def test_a_target_without_a_name_is_refused(machine, words):
    done = machine.call("build.sh", "--target", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "allowed: the name of a target" in done.stderr
    assert machine.calls("cmake --build") == []


def test_ccache_gets_files_without_precompiled_headers(machine):
    assert "PRECOMPILE" not in build(machine)[1]
    machine.add("ccache")
    assert "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON" in build(machine)[1]
