"""A wheel: the Python package with the installed tree beside it, and the tag that says which glibc it needs."""

import importlib.util
import shutil
import signal
import subprocess
import sys
import zipfile
from types import ModuleType

import pytest
from build_folder import BUILD, run, skip_if_sanitized
from golden import ROOT

MAIN = "import sys; from ridgebench.base.installed import main; sys.exit(main())"


@pytest.fixture(scope="module", name="packages")
def packages_fixture(prefix, tmp_path_factory):
    """The folder site-packages of an environment into which pip installed the wheel."""
    folder = tmp_path_factory.mktemp("environment") / "lib" / "python3.x" / "site-packages"
    shutil.copytree(ROOT / "roofline" / "ridgebench", folder / "ridgebench", ignore=shutil.ignore_patterns("__pycache__"))
    run("cmake", "--install", BUILD, "--prefix", folder / "ridgebench" / "tree", "--component", "ridgebench")
    return folder


def python(packages, *words, code: int = 0):
    variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    return run(sys.executable, *words, code=code, env=variables, cwd="/")


def test_the_module_is_the_program(packages):
    tree = packages / "ridgebench" / "tree"
    assert python(packages, "-m", "ridgebench", "--cmake-prefix").stdout == f"{tree}\n"
    assert (tree / "lib" / "cmake" / "ridgebench" / "ridgebenchConfig.cmake").is_file()
    assert not (tree / "share" / "ridgebench" / "roofline" / "ridgebench").exists()  # only once in a wheel
    for start in (("-m", "ridgebench"), ("-c", MAIN)):
        assert "TFLOP/s" in python(packages, *start, "predict", "matmul", "n:4096", "--format", "bf16", "--on", "h100").stdout
        assert "'title'" in python(packages, *start, "schema", "record").stdout.replace('"', "'")
        assert "unknown command" in python(packages, *start, "nonsense", code=2).stderr


def test_the_program_uses_the_environment_that_it_is_in(packages):
    interpreter = packages.parents[2] / "bin" / "python3"
    interpreter.parent.mkdir()
    interpreter.write_text(f'#!/bin/sh\necho "of the environment"\nexec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    program = packages / "ridgebench" / "tree" / "bin" / "ridgebench"
    done = run(program, "schema", env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}, cwd="/")
    assert done.stdout.startswith("of the environment\n") and "record" in done.stdout


def test_the_package_finds_the_library_and_the_data(packages):
    code = "from ridgebench.kernels import library; from ridgebench.data import data_sheets as d; print(library.find(), any(d.FOLDER.iterdir()))"
    assert python(packages, "-c", code).stdout.split() == [str(packages / "ridgebench" / "tree" / "lib" / "libridgebench.so"), "True"]


def test_the_package_has_the_table_of_peaks_and_its_types(packages):
    code = "import ridgebench as r; print(r.peak('h100', 'bf16').value, r.predict('matmul', 'n:4096', format='bf16', on='h100')['bound'])"
    assert python(packages, "-c", code).stdout == "989500000000000.0 compute\n"
    assert (packages / "ridgebench" / "py.typed").is_file()


def test_a_signal_reaches_the_program(packages, tmp_path):
    skip_if_sanitized(packages / "ridgebench" / "tree" / "lib" / "libridgebench.so")
    command = [sys.executable, "-c", MAIN, "run", "--device", "cpu", "--filter", "^relu/naive/fp32", "--budget", "60"]
    with subprocess.Popen([*command, "--out", tmp_path / "run"], env={"PYTHONPATH": str(packages)}, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "run").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    assert process.returncode == 3


@pytest.fixture(scope="module", name="backend")
def backend_fixture():
    core = ModuleType("scikit_build_core")
    core.build = ModuleType("scikit_build_core.build")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, core.__name__, core)
        patch.setitem(sys.modules, core.build.__name__, core.build)
        specification = importlib.util.spec_from_file_location("backend", ROOT / "scripts" / "wheel" / "ridgebench_wheel.py")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        yield module


@pytest.mark.parametrize(
    ("program", "tag"),
    [
        (b"GLIBC_2.2.5\0GLIBC_2.34\0", "manylinux_2_34_"),
        (b"GLIBC_2.17\0", "manylinux_2_34_"),
        (b"GLIBC_2.34\0GLIBC_2.38\0", "manylinux_2_38_"),
        (b"GLIBC_2.34\0libfmt.so.9\0", ""),
        (b"GLIBC_2.34\0GLIBCXX_3.4.30\0", ""),
        (b"GLIBC_2.34\0make _GLIBCXX_REGEX_STATE_LIMIT larger\0", "manylinux_2_34_"),  # a message of libstdc++
    ],
)
def test_the_tag_names_the_glibc_that_is_needed(backend, tmp_path, program, tag):
    wheel = tmp_path / "ridgebench.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("ridgebench/tree/bin/ridgebench", b"\x7fELF" + program)
        archive.writestr("ridgebench/notes.txt", b"GLIBC_2.99\0")
    found = backend.platform_tag(wheel)
    assert found.startswith(tag) and bool(found) == bool(tag)


@pytest.mark.parametrize(("number", "machine"), [(62, "x86_64"), (183, "aarch64")])
def test_the_tag_names_the_machine_of_the_program(backend, tmp_path, number, machine):
    wheel = tmp_path / "ridgebench.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("ridgebench/tree/bin/ridgebench", b"\x7fELF".ljust(18, b"\0") + number.to_bytes(2, "little") + b"GLIBC_2.34\0")
    assert backend.platform_tag(wheel) == f"manylinux_2_34_{machine}"
