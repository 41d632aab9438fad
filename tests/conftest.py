"""Makes the project and the tests' helpers importable; Matplotlib's cache stays out of the home."""

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
cache = tempfile.TemporaryDirectory(prefix="ridgebench-matplotlib-")  # removed at the end
os.environ.setdefault("MPLCONFIGDIR", cache.name)
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "scripts"), str(ROOT)]
