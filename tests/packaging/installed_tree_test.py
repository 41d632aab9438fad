"""An installed tree runs where it was moved to, and a release starts on any Linux with glibc 2.34."""

import json
import os
import platform
import re
import subprocess
import sys

import pytest
from build_folder import BUILD, dynamic, run, skip_if_sanitized
from golden import GOLDEN

NEWEST_GLIBC = (2, 34)
OF_DEBIAN_12 = (2, 36)
# What every system with glibc has, and what a release has beside it.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
RELEASE = EVERYWHERE | {"libgomp.so.1"}
MEGABYTES = 40
BARE = {"PATH": "/usr/bin:/bin", "RIDGEBENCH_PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1"}
WITH_LIBRARIES = BARE | {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}


@pytest.fixture(scope="module", params=["bin/ridgebench", "lib*/libridgebench.so"], name="binary")
def binary_fixture(prefix, request):
    (path,) = prefix.glob(request.param)
    return path


def needs_release() -> None:
    if "RIDGEBENCH_RELEASE:BOOL=ON" not in (BUILD / "CMakeCache.txt").read_text("utf-8"):
        pytest.skip("the build is for this machine")


def ask(prefix, *words, code: int = 0):
    return run(prefix / "bin" / "ridgebench", *words, code=code, env=WITH_LIBRARIES, cwd="/")


def test_the_program_has_its_data_sheets(prefix):
    answer = json.loads(ask(prefix, "predict", "matmul", "n:4096", "--format", "bf16", "--on", "h100", "--json").stdout)
    assert answer["bound"] == "compute"
    assert "matmul/naive" in ask(prefix, "list", "--device", "cpu").stdout


def test_a_moved_tree_measures_and_draws(prefix, tmp_path):
    rows = ("--device", "cpu", "--filter", "^relu/naive/fp32", "--budget", "1", "--out", tmp_path / "run")
    ask(prefix, "run", *rows)
    ask(prefix, "plot", tmp_path / "run")
    assert list((tmp_path / "run" / "figures").glob("*.svg"))


def test_the_installed_package_has_its_schemas_and_keeps_results_out_of_the_tree(prefix):
    assert json.loads(ask(prefix, "schema", "record").stdout)["title"]
    package = prefix / "share" / "ridgebench" / "roofline"
    code = "from ridgebench.data import data_sheets; from ridgebench.base import command_line; print(command_line.RESULTS, any(data_sheets.FOLDER.iterdir()))"
    assert run(sys.executable, "-c", code, env=BARE | {"PYTHONPATH": str(package)}).stdout == "results True\n"
    code = "import ridgebench; print(ridgebench.peak('NVIDIA L4', 'fp8').value)"
    assert run(sys.executable, "-c", code, env=BARE | {"PYTHONPATH": str(package)}).stdout == "242500000000000.0\n"


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("bash-completion/completions/ridgebench", ("completion", "bash")),
        ("zsh/site-functions/_ridgebench", ("completion", "zsh")),
    ],
)
def test_the_pages_are_those_that_the_program_prints(prefix, file, words):
    assert (prefix / "share" / file).read_text("utf-8") == ask(prefix, *words).stdout


def test_python_without_its_packages_is_one_line(prefix, tmp_path):
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    variables = WITH_LIBRARIES | {"RIDGEBENCH_PYTHON": str(python)}
    done = subprocess.run([prefix / "bin" / "ridgebench", "plot", GOLDEN], env=variables, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and " lacks matplotlib; `pip install 'ridgebench[plot]'` " in done.stderr


def test_the_loader_searches_only_beside_the_binary(binary):
    (folder,) = dynamic(binary, "RUNPATH")
    assert folder.startswith("$ORIGIN/") and ":" not in folder
    assert not dynamic(binary, "RPATH")


def test_no_symbol_is_newer_than_glibc_2_34(binary):
    skip_if_sanitized(binary)
    if tuple(map(int, platform.libc_ver()[1].split("."))) > OF_DEBIAN_12:
        pytest.skip("the compiler takes newer symbols of this system's glibc")
    text = run("readelf", "-VW", binary).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_([\d.]+)", text)}
    assert versions and max(versions)[:2] <= NEWEST_GLIBC


def test_a_release_needs_what_every_system_has(binary, prefix):
    needs_release()
    assert set(dynamic(binary, "NEEDED")) <= RELEASE
    assert "GLIBCXX" not in run("readelf", "-VW", binary).stdout
    assert list(prefix.glob("lib*/ridgebench/libgomp.so.1"))
    assert binary.stat().st_size < MEGABYTES * 1e6


def test_a_release_has_the_licenses_of_the_libraries_in_it(prefix):
    needs_release()
    folders = (prefix / "share" / "ridgebench" / "licenses").iterdir()
    found = {folder.name: [file.stat().st_size > 500 for file in folder.iterdir()] for folder in folders}
    assert found == dict.fromkeys(("CLI11", "benchmark", "fmt", "nlohmann_json", "re2"), [True])


def test_a_release_loads_the_openmp_runtime_beside_it(prefix):
    needs_release()
    done = run(prefix / "bin" / "ridgebench", "--version", env=BARE | {"LD_DEBUG": "libs"})
    assert re.search(rf"calling init: {re.escape(str(prefix))}\S*/libgomp\.so\.1", done.stderr)
