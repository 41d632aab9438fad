"""The folder of the build under test: how it compiles a file and links a program, and what may be missing in it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from golden import ROOT

BUILD = Path(os.environ.get("RIDGEBENCH_BUILD", ROOT / "build" / "release"))
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def run(*command, code: int = 0, **how) -> subprocess.CompletedProcess:
    """Runs a command that must end with this exit code."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == code, f"{shlex.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done


def dynamic(binary: Path, tag: str) -> list[str]:
    """The texts that the dynamic section of a program or a shared library has for this tag."""
    return re.findall(rf"\({tag}\).*\[(.*)\]", run("readelf", "-dW", binary).stdout)


def needs_build() -> None:
    if not (BUILD / "compile_commands.json").exists():
        pytest.skip(f"{BUILD} is not a build folder")


def needs_emulator() -> None:
    needs_build()
    if not (BUILD / "generated" / "emulated").exists():
        pytest.skip("the emulator is not part of this build")


def skip_if_sanitized(library: Path) -> None:
    """Skips a test, or a whole file of tests, that loads a library into Python."""
    if b"__asan_init" in library.read_bytes():
        pytest.skip("Python cannot load a library with sanitizers", allow_module_level=True)


def command_of(like: str) -> list[str]:
    """How the build compiles the file whose path ends so, without its precompiled headers, which no overlay changes."""
    commands = json.loads((BUILD / "compile_commands.json").read_text("utf-8"))
    files = {each["file"]: each["command"] for each in commands if ("emulated" in each["file"]) == ("emulated" in like)}
    words = shlex.split(next(command for file, command in files.items() if file.endswith(like)))
    reads = ("-include", "-include-pch", "-Xclang")  # GCC has the first one, clang all of them
    return [word for word in words if word not in reads and "/cmake_pch." not in word]


def compiled(source: Path, like: str, overlay: Path, *options: str) -> Path:
    """The object of a file, compiled as the build compiles a similar one, warnings included.

    The compiler searches the folder `overlay` before the project.
    """
    command = command_of(like)
    output = source.with_suffix(".o")
    command[command.index("-o") + 1] = str(output)
    command[command.index("-c") + 1] = str(source)
    first = next(i for i, word in enumerate(command) if word.startswith("-"))
    run(*command[:first], f"-I{overlay}", *command[first:], *options, cwd=BUILD)
    return output


def emulated(source: Path, output: Path, overlay: Path, *options: str) -> Path:
    """The object of a CUDA source that was rewritten for the emulator into the file `output`."""
    run(sys.executable, ROOT / "tests" / "emulator" / "rewrite.py", source, output)
    like = "emulated/tests/emulator/emulator_test.cpp"  # the build compiles it alone
    return compiled(output, like, overlay, *options)


def linked(target: str, objects: list[Path], output: Path) -> Path:
    """A program of the build with more objects."""
    steps = run("ninja", "-C", BUILD, "-t", "commands", target).stdout.splitlines()[-1].split(" && ")
    (link,) = [shlex.split(step) for step in steps if " -o " in step and target in step]
    link[link.index("-o") + 1] = str(output)
    run(link[0], *objects, *link[1:], cwd=BUILD)
    return output


@pytest.fixture(scope="session", name="prefix")
def prefix_fixture(tmp_path_factory) -> Path:
    """An installed tree that was moved after its installation."""
    if not (BUILD / "cmake_install.cmake").exists() or not list(BUILD.rglob("libridgebench.a")):
        pytest.skip(f"{BUILD} is not a finished build")
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD, "--prefix", folder / "first")
    return Path(shutil.move(folder / "first", folder / "moved"))
