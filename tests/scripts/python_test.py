"""scripts/python.sh: which Python it starts, from any directory; what a command says where a library is missing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from golden import GOLDEN, ROOT

FAKE = '#!/bin/sh\n[ "$1" != -c ] || exit 0\nprintf "%s|" "$@"\necho "$PYTHONPATH"\nexit 4\n'


@pytest.fixture(name="tree")
def tree_fixture(tmp_path: Path) -> Path:
    """A project with nothing in it but the entry points."""
    root = tmp_path / "a project"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    return root


def fake(path: Path) -> Path:
    """A Python that prints its arguments and the path of its modules."""
    path.parent.mkdir(parents=True)
    path.write_text(FAKE)
    path.chmod(0o755)
    return path


def start(script: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHON", "PYTHONPATH")} | variables
    return subprocess.run([script, *map(str, arguments)], cwd="/", env=environment, capture_output=True, text=True)


def test_the_environment_of_the_project_comes_first(tree):
    fake(tree / ".venv" / "bin" / "python")
    done = start(tree / "scripts" / "python.sh", "-m", "ridgebench", "plot", "a b", "--roof")
    assert (done.returncode, done.stdout) == (4, f"{tree}/roofline/ridgebench/launch.py||plot|a b|--roof|\n")


def test_without_one_it_is_the_paths_python3(tree):
    folder = fake(tree / "bin" / "python3").parent
    done = start(tree / "scripts" / "python.sh", "-m", "ridgebench", "counters", PATH=f"{folder}:/usr/bin:/bin", PYTHONPATH="/else")
    assert (done.returncode, done.stdout) == (4, f"{tree}/roofline/ridgebench/launch.py||counters|/else\n")


def test_python_names_another(tree):
    fake(tree / ".venv" / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    other = fake(tree / "other" / "python")
    assert start(tree / "scripts" / "python.sh", "-m", "ridgebench", "stream", PYTHON=str(other)).returncode == 4


@pytest.mark.parametrize("script", ["exit 1", "exit 127"])
def test_an_old_python_and_none_are_one_line(tree, script):
    python = fake(tree / "bin" / "python3")
    python.write_text(f"#!/bin/sh\n{script}\n")
    done = start(tree / "scripts" / "python.sh", "-m", "ridgebench", "plot", PYTHON=str(python))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ridgebench: {python} is not Python 3.9 or newer") and done.stderr.count("\n") == 1


def test_commands_keep_their_exit_codes_from_any_directory(tmp_path):
    done = start(ROOT / "scripts" / "python.sh", "-m", "ridgebench", "plot", tmp_path, PYTHON=sys.executable)
    assert done.returncode == 2 and done.stderr.startswith("plot: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["plot", "compare", "gate", "baseline", "tables"])
def test_a_missing_library_is_one_line(command):
    # -S: without site-packages
    done = start(ROOT / "scripts" / "python.sh", "-S", "-m", "ridgebench", command, GOLDEN, GOLDEN, PYTHON=sys.executable)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{command}: {os.path.normpath(sys.executable)} lacks ") and done.stderr.count("\n") == 1
    assert re.search(r"; `pip install 'ridgebench\[(plot|gate)\]'` or, in a checkout, scripts/setup.sh installs it\n$", done.stderr)


def test_an_unknown_command_is_refused():
    done = start(ROOT / "scripts" / "python.sh", "-m", "ridgebench", "draw", PYTHON=sys.executable)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown command 'draw'; allowed: plot, report, slides, exercises, playground, compare, " in done.stderr and done.stderr.count("\n") == 1


def test_help_lists_the_commands():
    done = start(ROOT / "scripts" / "python.sh", "-m", "ridgebench", "--help", PYTHON=sys.executable)
    assert done.returncode == 0 and "\n  plot " in done.stdout and "\n  counters " in done.stdout
