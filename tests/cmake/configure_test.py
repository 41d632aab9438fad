"""CMake honours the user's choices and says in one message what it cannot use."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from build_folder import NVCC
from golden import ROOT

CMAKE = shutil.which("cmake")
pytestmark = pytest.mark.skipif(CMAKE is None, reason="no cmake")


def cmake(*arguments, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess:
    command = [CMAKE, *map(str, arguments)]
    how = {"capture_output": True, "text": True, "check": False, "cwd": cwd}
    return subprocess.run(command, env=os.environ | variables, **how)


def message(result: subprocess.CompletedProcess) -> str:
    """The text of the error, without CMake's line breaks."""
    assert result.returncode != 0, result.stdout
    return re.sub(r"\s+", " ", result.stderr)


def script(folder: Path, *lines: str, **variables: str) -> subprocess.CompletedProcess:
    """Runs lines of CMake beside the project's functions, without configuring it."""
    text = [f"include({ROOT}/cmake/{name}.cmake)" for name in ("cuda_architectures", "cuda_toolkit", "supported")]
    (folder / "script.cmake").write_text("\n".join(["cmake_minimum_required(VERSION 3.22)", *text, *lines]))
    return cmake("-P", folder / "script.cmake", cwd=folder, **variables)


def test_a_file_that_gets_properties_must_exist(tmp_path):
    name = "include({}/cmake/source_files.cmake)".format(ROOT)
    set_it = "set_properties_of_files(FILES script.cmake {} PROPERTIES COMPILE_OPTIONS -O3)"
    text = message(script(tmp_path, name, set_it.format("moved.cpp")))
    assert f"{tmp_path} has no file 'moved.cpp', for which CMake sets properties" in text


@pytest.fixture(name="nvcc")
def nvcc_fixture(tmp_path):
    """A fake nvcc that knows three architectures; `write` gives it another text."""

    def write(text: str) -> Path:
        (tmp_path / "nvcc").write_text("#!/bin/sh\n" + text)
        (tmp_path / "nvcc").chmod(0o755)
        return tmp_path / "nvcc"

    write('[ "$1" != --list-gpu-code ] || printf "sm_75\\nsm_90\\nsm_120\\n"\n')
    return write


@pytest.mark.parametrize(
    ("chosen", "hopper"),
    [
        ("75", False),
        ("90", True),
        ("90a", True),
        ("90-virtual", True),
        ("75;90a-real", True),
        ("120", False),
        ("120f", False),
        ("all-major", True),
        ("all", True),
        ("native", True),
    ],
)
def test_architectures_of_the_user_are_honoured(chosen, hopper, nvcc, tmp_path):
    choose = f'choose_cuda_architectures("{tmp_path}/nvcc" chosen)'
    report = ['has_hopper("${chosen}" "90-real" hopper)', 'message("${chosen} ${hopper}")']
    expected = f"{chosen} {'ON' if hopper else 'OFF'}\n"
    option = f'set(CMAKE_CUDA_ARCHITECTURES "{chosen}")'
    assert script(tmp_path, option, choose, *report).stderr == expected
    assert script(tmp_path, choose, *report, CUDAARCHS=chosen).stderr == expected


@pytest.mark.parametrize("chosen", ["70", "75;sm_90", "hopper", "90b", ""])
def test_architectures_that_nvcc_cannot_compile_for_are_refused(chosen, nvcc, tmp_path):
    choose = f'choose_cuda_architectures("{tmp_path}/nvcc" chosen)'
    text = message(script(tmp_path, f'set(CMAKE_CUDA_ARCHITECTURES "{chosen}")', choose))
    assert "allowed" in text and "CMAKE_CUDA_ARCHITECTURES" in text
    if chosen:
        assert f"'{chosen.rsplit(';', maxsplit=1)[-1]}'" in text and "75 90 120" in text


@pytest.mark.parametrize(("chosen", "cmake_version", "since"), [("native", "3.23.5", "3.24"), ("all", "3.22.1", "3.23")])
def test_words_for_architectures_need_a_cmake_that_knows_them(chosen, cmake_version, since, nvcc, tmp_path):
    lines = [f'set(CMAKE_CUDA_ARCHITECTURES "{chosen}")', f'choose_cuda_architectures("{tmp_path}/nvcc" chosen)']
    text = message(script(tmp_path, f"set(CMAKE_VERSION {cmake_version})", *lines))
    assert f"has '{chosen}', for which CMake {cmake_version} is too old ({since} is needed); allowed: numbers" in text
    assert script(tmp_path, f"set(CMAKE_VERSION {since})", *lines).returncode == 0


VERSION = 'if [ "$1" = --version ]; then echo "release 12.0, V12.0.140"; exit 0; fi\n'
# As CUDA 12.0 refuses GCC 13.
TOO_NEW = (
    "In file included from cuda_runtime.h:83: host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions "
    "later than 12 are not supported! The nvcc flag '-allow-unsupported-compiler' can be used to override this check."
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('echo "nvcc: no such library" >&2; exit 127\n', "--version fails (127). nvcc: no such library"),
        ("exit 0\n", "--version fails"),
        ('echo "release 11.8, V11.8.89"\n', "is of CUDA 11.8, which is too old"),
        (VERSION + 'echo "unsupported GNU version" >&2; exit 1\n', "cannot compile with the host compiler g++-99: unsupported GNU"),
        (
            VERSION + f'printf "one\\n%s\\ntwo\\n" "{TOO_NEW}" >&2; exit 1\n',
            "cannot compile with the host compiler g++-99: unsupported GNU version! gcc versions later than 12 are not "
            "supported! Name one that it takes with -DCMAKE_CUDA_HOST_COMPILER=PATH.",
        ),
    ],
)
def test_a_toolkit_that_cannot_be_used_is_named_with_the_way_out(text, problem, nvcc, tmp_path):
    path = nvcc(text)
    said = message(script(tmp_path, f"require_usable_nvcc({path} g++-99)"))
    assert f"{path} {problem}" in said
    assert "-DRIDGEBENCH_CUDA=OFF" in said and "-DRIDGEBENCH_NVCC=PATH" in said


def test_the_oldest_toolkit_is_12_0(nvcc, tmp_path):
    result = script(tmp_path, f"require_usable_nvcc({nvcc(VERSION)} g++-99)")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("version", "readable", "option"),
    [
        ("12.0.140", "OFF", "-Xfatbin=-compress-all"),
        ("12.6.85", "ON", "--no-compress"),
        ("12.8.61", "ON", "--compress-mode=none"),
        ("13.0.48", "OFF", "--compress-mode=size"),
    ],
)
def test_cubins_are_compressed_unless_tests_read_them(version, readable, option, tmp_path):
    call = f"cubin_compression({version} {readable} option)"
    assert script(tmp_path, call, 'message("${option}")').stderr == f"{option}\n"


def test_the_nvcc_that_the_environment_names_is_used(nvcc, tmp_path):
    path = nvcc('echo "release 11.2, V11.2.2"\n')
    (tmp_path / "toolkit/bin").mkdir(parents=True)
    (tmp_path / "toolkit/bin/nvcc").symlink_to(path)
    arguments = ("-S", ROOT, "-B", tmp_path / "build", "-DRIDGEBENCH_TESTS=OFF")
    assert f"{path} is of CUDA 11.2" in message(cmake(*arguments, CUDACXX=str(path)))
    if not shutil.which("nvcc", path="/usr/bin"):
        shutil.rmtree(tmp_path / "build")
        folders = {"CUDACXX": "", "CUDA_HOME": f"{tmp_path}/toolkit", "CUDA_PATH": "/nowhere", "PATH": "/usr/bin:/bin"}
        assert f"{tmp_path}/toolkit/bin/nvcc is of CUDA 11.2" in message(cmake(*arguments, **folders))


@pytest.mark.parametrize("wanted", ["AUTO", "ON"])
def test_the_host_half_is_built_alone_only_where_asked(wanted, nvcc, tmp_path):
    path = nvcc('echo "release 11.8, V11.8.89"\n')
    arguments = ("-S", ROOT, "-B", tmp_path / "build", f"-DRIDGEBENCH_NVCC={path}", "-DRIDGEBENCH_TESTS=OFF")
    assert "is too old" in message(cmake(*arguments, f"-DRIDGEBENCH_CUDA={wanted}"))


def test_host_kernels_are_for_all_levels_or_for_this_processor(tmp_path):
    arguments = ("-S", ROOT, "-B", tmp_path / "build", "-DRIDGEBENCH_TESTS=OFF", "-DRIDGEBENCH_CUDA=OFF")
    assert "RIDGEBENCH_HOST_LEVELS is 'mine'; allowed: all, native" in message(cmake(*arguments, "-DRIDGEBENCH_HOST_LEVELS=mine"))
    assert cmake(*arguments, "-DRIDGEBENCH_HOST_LEVELS=native").returncode == 0
    only = re.findall(r"RIDGEBENCH_ONLY_ISA=\w+", (tmp_path / "build/compile_commands.json").read_text())
    isas = set(re.findall(r"RIDGEBENCH_ISA=(\w+)", (tmp_path / "build/compile_commands.json").read_text()))
    assert not only or {f"RIDGEBENCH_ONLY_ISA={isa}" for isa in isas} == set(only)
    assert cmake(*arguments, "-DRIDGEBENCH_HOST_LEVELS=all").returncode == 0
    commands = (tmp_path / "build/compile_commands.json").read_text()
    assert "RIDGEBENCH_ONLY_ISA" not in commands and set(re.findall(r"RIDGEBENCH_ISA=(\w+)", commands)) >= isas


def test_a_build_folder_of_another_processor_gets_the_level_of_this_one(tmp_path):
    arguments = ("-S", ROOT, "-B", tmp_path / "build", "-DRIDGEBENCH_TESTS=OFF", "-DRIDGEBENCH_CUDA=OFF", "-DRIDGEBENCH_HOST_LEVELS=native")

    def level() -> set[str]:
        assert cmake(*arguments).returncode == 0
        return set(re.findall(r"RIDGEBENCH_ONLY_ISA=\w+", (tmp_path / "build/compile_commands.json").read_text()))

    first, cache = level(), tmp_path / "build/CMakeCache.txt"
    text = cache.read_text()
    stale = re.sub(r"(RIDGEBENCH_NATIVE_LEVEL:INTERNAL)=.*", r"\1=9", text)
    assert (stale != text) == bool(first)
    cache.write_text(stale)
    assert level() == first


COMPILERS = [
    ("GNU", "10.2.1", 8, "/opt/c++ (GNU 10.2.1) is too old: ridgebench needs GCC 11 or clang 16, or newer"),
    ("Clang", "15.0.7", 8, "/opt/c++ (Clang 15.0.7) is too old: ridgebench needs GCC 11 or clang 16, or newer"),
    ("GNU", "12.2.0", 4, "/opt/c++ (GNU 12.2.0) compiles for 32 bit: ridgebench needs a 64-bit target"),
    ("GNU", "11.1.0", 8, None),
    ("Clang", "16.0.0", 8, None),
    ("IntelLLVM", "2023.1.0", 8, None),
]


@pytest.mark.parametrize(("compiler", "version", "pointer", "problem"), COMPILERS)
def test_a_compiler_that_cannot_build_the_sources_gets_one_line(compiler, version, pointer, problem, tmp_path):
    values = {"COMPILER": "/opt/c++", "COMPILER_ID": compiler, "COMPILER_VERSION": version}
    lines = [f"set(CMAKE_CXX_{name} {value})" for name, value in values.items()]
    result = script(tmp_path, *lines, f"set(CMAKE_SIZEOF_VOID_P {pointer})", "require_supported_compiler()")
    if problem is None:
        assert result.returncode == 0, result.stderr
    else:
        assert problem in result.stderr and len(message(result)) > len(problem)


def test_no_file_asks_for_a_newer_cmake_than_the_oldest():
    presets = json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))
    assert presets["version"] <= 3, "CMake 3.22 reads version 3"
    files = [ROOT / "CMakeLists.txt", *ROOT.glob("*/**/*.cmake"), *ROOT.glob("*/**/CMakeLists.txt")]
    texts = [path.read_text("utf-8") for path in files if "build" not in path.relative_to(ROOT).parts]
    assert set(re.findall(r"cmake_minimum_required\(VERSION ([^)]*)\)", "".join(texts))) == {"3.22"}


def test_a_build_elsewhere_links_nothing_into_the_sources(tmp_path):
    result = cmake("-S", ROOT, "-B", tmp_path, "-G", "Ninja", "-DRIDGEBENCH_CUDA=OFF", "-DRIDGEBENCH_TESTS=OFF")
    assert result.returncode == 0, result.stderr
    assert "create_symlink" not in (tmp_path / "build.ninja").read_text()


@pytest.mark.parametrize(("kind", "links"), [("Release", True), ("Debug", False)])
def test_no_build_with_sanitizers_becomes_the_one_to_measure_with(kind, links, tmp_path):
    for part in ROOT.iterdir():
        if part.name != "build":
            (tmp_path / part.name).symlink_to(part)
    options = ("-DRIDGEBENCH_CUDA=OFF", "-DRIDGEBENCH_TESTS=OFF", f"-DCMAKE_BUILD_TYPE={kind}")
    result = cmake("-S", tmp_path, "-B", tmp_path / "build" / "x", "-G", "Ninja", *options)
    assert result.returncode == 0, result.stderr
    assert ("create_symlink x/ridgebench" in (tmp_path / "build" / "x" / "build.ninja").read_text()) == links


def test_a_folder_may_have_characters_of_a_regular_expression(tmp_path):
    folder = tmp_path / "g++ (1"
    result = cmake("-S", ROOT, "-B", folder, "-G", "Ninja", "-DRIDGEBENCH_CUDA=OFF", "-DRIDGEBENCH_TESTS=ON")
    assert result.returncode == 0, result.stderr
    build = (folder / "build.ninja").read_text()
    assert "unity_harness_measure_cxx" in build
    assert ("unity_kernels_relu_cxx" in build) == ("ridgebench_emulated_kernels" in build)


def test_a_compiler_without_openmp_gets_a_hint(tmp_path):
    without = ("-DRIDGEBENCH_CUDA=OFF", "-DRIDGEBENCH_TESTS=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON")
    text = message(cmake("-S", ROOT, "-B", tmp_path / "build", *without))
    assert re.search(r"has no OpenMP: (use g\+\+|install its library \(Debian: libomp-\d+-dev\))", text)


@pytest.mark.skipif(NVCC is None, reason="no nvcc")
def test_a_real_toolkit_compiles_for_what_was_chosen_and_warnings_are_no_errors(tmp_path):
    options = ("-DRIDGEBENCH_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=75", "-DRIDGEBENCH_TESTS=OFF")
    result = cmake("-S", ROOT, "-B", tmp_path, "-G", "Ninja", f"-DRIDGEBENCH_NVCC={NVCC}", *options)
    assert result.returncode == 0, result.stderr
    build = (tmp_path / "build.ninja").read_text()
    assert set(re.findall(r"arch=compute_(\w+)", build)) == {"75"}
    assert "/hopper/" not in build.replace("/hopper/*.cu", "")
    assert "-Werror" not in build and "--Werror" not in build
