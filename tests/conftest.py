"""Keeps Matplotlib's cache out of the home directory, and what a machine tells libraries out of the tests."""

import os
import tempfile

for name in list(os.environ):
    if name.startswith(("OPENBLAS_", "GOTO_", "MKL_", "ONEDNN_", "DNNL_", "MKLDNN_")):
        del os.environ[name]

cache = tempfile.TemporaryDirectory(prefix="ridgebench-matplotlib-")  # removed at the end
os.environ.setdefault("MPLCONFIGDIR", cache.name)
