"""Scripts started by a Python without packages go on under .venv's, or say what is missing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3] / "roofline" / "plot" / "interpreter.py"
SCRIPT = """\
from roofline.plot.interpreter import require_packages

require_packages("numpy", "scipy", "matplotlib", "jsonschema")
print("went on")
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with nothing in it but a script and the module."""
    (tmp_path / "roofline" / "plot").mkdir(parents=True)
    shutil.copy(SOURCE, tmp_path / "roofline" / "plot")
    (tmp_path / "draw.py").write_text(SCRIPT)
    return tmp_path


def start(tree: Path, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, *options, "draw.py", "--roof", "h100 sxm"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True)


def test_a_python_with_the_packages_goes_on(tree):
    assert start(tree).stdout == "went on\n"


def test_without_packages_and_environment_it_names_both(tree):
    done = start(tree, "-S")  # without site-packages
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("draw: ") and done.stderr.count("\n") == 1
    assert "lacks numpy, scipy, matplotlib, jsonschema; scripts/setup.sh installs them" in done.stderr


def test_the_environment_takes_the_same_command(tree):
    python = tree / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 4\n')
    python.chmod(0o755)
    done = start(tree, "-S")
    assert (done.returncode, done.stdout) == (4, "-S|draw.py|--roof|h100 sxm|")
