"""Keeps Matplotlib's cache out of the home directory."""

import os
import tempfile

cache = tempfile.TemporaryDirectory(prefix="ridgebench-matplotlib-")  # removed at the end
os.environ.setdefault("MPLCONFIGDIR", cache.name)
