"""The Python that scripts/setup.sh prepared, for scripts that may be started by another one.

The `python3` on the PATH is often not the system's (pyenv, conda) and lacks the packages. To be
called by a script before it imports any of them.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

ENVIRONMENT = Path(__file__).resolve().parents[2] / ".venv"
USAGE = 2


def require_packages(*names: str) -> None:
    """Goes on where all are installed; else starts the same command under .venv, or ends it."""
    missing = [name for name in names if find_spec(name) is None]
    if not missing:
        return
    python = ENVIRONMENT / "bin" / "python"
    if python.exists() and Path(sys.prefix) != ENVIRONMENT:
        os.execv(python, [str(python), *sys.orig_argv[1:]])
    program = Path(sys.argv[0]).stem
    print(f"{program}: {sys.executable} lacks {', '.join(missing)}; scripts/setup.sh installs them", file=sys.stderr)
    sys.exit(USAGE)
