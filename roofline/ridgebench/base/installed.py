"""The tree of the program, its library and its CMake package, where pip installed them with this package."""

import os
import sys
from pathlib import Path
from typing import NoReturn, Optional, Sequence

from .command_line import ROOT, TREE, USAGE, fail


def program() -> Optional[Path]:
    """The program that pip installed, else that of the checkout; None without one."""
    for path in (TREE / "bin" / "ridgebench", ROOT / "build" / "ridgebench"):
        if path.is_file():
            return path
    return None


def execute(path: Path, arguments: Sequence[str]) -> NoReturn:
    """Replaces this process by the program, which runs its commands in Python by this interpreter."""
    os.environ.setdefault("RIDGEBENCH_PYTHON", sys.executable)
    sys.stdout.flush()
    os.execv(path, ["ridgebench", *arguments])


def main() -> int:
    """The command `ridgebench` of an environment."""
    path = program()
    if path is None:
        return fail(f"there is no program: scripts/build.sh in {ROOT} builds it, `pip install {ROOT}` installs it", USAGE, "ridgebench")
    execute(path, sys.argv[1:])
