"""Programs that import the package are checked against its types: it has py.typed, and its public modules pass mypy."""

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[4] / "roofline" / "ridgebench"
CHECKED = ("base/installation.py", "base/errors.py", "base/native.py", "peaks")
USER = """
import ridgebench

found: ridgebench.Peak = ridgebench.peak("NVIDIA H200", "bf16", sparse=False)
rate: float | None = found.value
share: ridgebench.Mfu = ridgebench.mfu(1e15, 1.0, "h200", gpus=8)
names: list[str] = [device.name for device in ridgebench.devices()]
time: dict[str, object] = ridgebench.predict("matmul", m=4096, on="h200")
"""
WRONG = ("ridgebench.peak('h200')", "ridgebench.mfu(1.0, 1.0, 'h200', gpus='8')", "ridgebench.peak('h200', 'bf16').flops", "ridgebench.peek")


def mypy(*words) -> subprocess.CompletedProcess:
    pytest.importorskip("mypy")
    options = ("--strict", "--follow-imports=silent", "--no-incremental", "--cache-dir=/dev/null", "--python-version=3.10")
    return subprocess.run([sys.executable, "-m", "mypy", *options, *words], capture_output=True, text=True, check=False, cwd=PACKAGE.parent)


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").read_bytes() == b""


def test_the_modules_of_the_table_pass_the_check():
    done = mypy(*(PACKAGE / name for name in CHECKED))
    assert done.returncode == 0, done.stdout


def test_a_program_is_checked(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(USER)
    wrong.write_text("import ridgebench\n" + "".join(f"{line}\n" for line in WRONG))
    done = mypy(right)
    assert done.returncode == 0, done.stdout
    done = mypy(wrong)
    found = {line.split(":")[1] for line in done.stdout.splitlines() if ": error: " in line}
    assert found >= {str(2 + at) for at in range(len(WRONG))}, done.stdout
