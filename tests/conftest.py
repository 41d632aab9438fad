"""Keeps Matplotlib's cache out of the home directory, and what a machine tells libraries out of the tests.

A shell starts a command in the background with SIGINT and SIGQUIT ignored, and its children inherit that: tests that send these
signals would wait forever.
"""

import os
import signal
import tempfile

import pytest

for name in list(os.environ):
    if name.startswith(("OPENBLAS_", "GOTO_", "MKL_", "ONEDNN_", "DNNL_", "MKLDNN_")):
        del os.environ[name]

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

cache = tempfile.TemporaryDirectory(prefix="ridgebench-matplotlib-")  # removed at the end
os.environ.setdefault("MPLCONFIGDIR", cache.name)


@pytest.fixture
def program(monkeypatch):
    """Commands in Python ask the program of the tests, as where it started them."""
    from ridgebench.base import command_line
    from ridgebench.data.program import ask, binary

    monkeypatch.setattr(command_line, "BINARY", os.environ["RIDGEBENCH"])
    for cached in (ask, binary):
        cached.cache_clear()
    yield
    for cached in (ask, binary):
        cached.cache_clear()
