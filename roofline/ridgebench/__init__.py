"""Reads the results that ridgebench wrote: figures, comparisons, tables, counters. It measures nothing itself: measure()
hands own kernels to the C++ library."""

from importlib import import_module
from typing import Any

# Names of the package that its readers do not need, and the modules that have them.
_LAZY = {name: "ridgebench.kernels" for name in ("KernelError", "decode", "encode", "kernel", "measure", "operation")}
_LAZY["load"] = "ridgebench.exchange.export.frame"


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'ridgebench' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
