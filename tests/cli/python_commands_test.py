"""The binary runs the commands of the Python package, from a checkout and from an installed tree."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import BINARY, OK, ROOT, USAGE, environment, refused, ridgebench
from ridgebench.__main__ import COMMANDS

HERE = environment(RIDGEBENCH_PYTHON=sys.executable)


def run(binary: Path, *arguments, env=HERE, **options) -> subprocess.CompletedProcess:
    return subprocess.run([binary, *arguments], capture_output=True, text=True, check=False, env=env, **options)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A tree as `cmake --install` leaves it, with a package of one module; returns the binary."""
    package = tmp_path / "share" / "ridgebench" / "roofline" / "ridgebench"
    (package / "base").mkdir(parents=True)
    for name in ("__init__.py", "base/__init__.py", "base/command_line.py"):
        (package / name).touch()
    shutil.copy(ROOT / "roofline" / "ridgebench" / "launch.py", package)
    (package / "__main__.py").write_text("import json\n\n\ndef start(words):\n    print(json.dumps(words))\n    return 5\n")
    binary = tmp_path / "bin" / "ridgebench"
    binary.parent.mkdir()
    try:
        os.link(BINARY, binary)
    except OSError:
        shutil.copy(BINARY, binary)
    return binary


def test_help_lists_every_command_of_the_package():
    shown = ridgebench("--help").stdout
    for name, (_, what) in COMMANDS.items():
        assert any(line.split()[:1] == [name] and what.split()[0] in line for line in shown.splitlines()), name
    for name in COMMANDS:
        assert f", {name}" in ridgebench("measure").stderr


def test_arguments_and_exit_codes_pass_through(installed):
    done = run(installed, "plot", "--a b", "", "-h", "é")
    assert (done.returncode, done.stdout, done.stderr) == (5, '["plot", "--a b", "", "-h", "\\u00e9"]\n', "")


def test_the_checkouts_own_package_answers(tmp_path):
    done = run(BINARY, "plot", "--help", cwd=tmp_path)
    assert done.returncode == OK and done.stdout.startswith("usage: ridgebench plot ")
    done = run(BINARY, "plot", tmp_path / "absent", cwd=tmp_path)
    assert done.returncode == USAGE and done.stderr.startswith("plot: ") and done.stderr.count("\n") == 1


def test_files_of_the_current_folder_are_no_modules(installed, tmp_path):
    for name in ("json.py", "ridgebench.py"):
        (tmp_path / name).write_text("raise SystemExit(1)\n")
    assert run(installed, "plot", cwd=tmp_path).returncode == 5


def test_no_package_is_one_line(installed):
    shutil.rmtree(installed.parents[1] / "share")
    refused(run(installed, "plot"), "the Python package ridgebench is missing", "share/ridgebench/roofline")


def test_no_python_is_one_line(installed):
    refused(run(installed, "plot", env={"PATH": "/nowhere"}), "cannot run python3", "`plot` needs Python 3.9")
    refused(run(installed, "plot", env=environment(RIDGEBENCH_PYTHON="/no/such")), "cannot run /no/such")


def test_an_old_python_is_one_line(installed, tmp_path):
    old = tmp_path / "old"
    as_old = "import runpy, sys; sys.version_info = (3, 6, 9); runpy.run_path(sys.argv[1], run_name='__main__')"
    old.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{as_old}" "$@"\n')
    old.chmod(0o755)
    done = run(installed, "plot", env=environment(RIDGEBENCH_PYTHON=str(old)))
    assert done.returncode == USAGE and "is Python 3.6; allowed: 3.9 or newer" in done.stderr
