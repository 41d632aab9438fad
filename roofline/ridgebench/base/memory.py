"""Too little memory for a command, above all under a limit of the address space (ulimit -v)."""

import resource
import sys
from typing import Optional

# With less, the OpenBLAS of numpy tries for ever to get its first buffer.
_LEAST_FOR_NUMPY = 400 << 20
_LIMIT = resource.getrlimit(resource.RLIMIT_AS)[0]
_IS_LIMITED = _LIMIT != resource.RLIM_INFINITY


class _NoNumpy:
    """Refuses to import numpy."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        del path, target
        if name == "numpy":
            raise MemoryError


def prepare() -> None:
    """Turns a command that would hang for lack of address space into one that ends with MemoryError."""
    if _IS_LIMITED and _LIMIT < _LEAST_FOR_NUMPY:
        sys.meta_path.insert(0, _NoNumpy)


def lacking(error: Exception) -> Optional[str]:
    """The line for an error that too little memory caused; None for another error."""
    unmapped = isinstance(error, ImportError) and "failed to map segment" in str(error)  # as the dynamic loader says it
    if not isinstance(error, MemoryError) and not (unmapped and _IS_LIMITED):
        return None
    limit = f": ulimit -v leaves {_LIMIT >> 20} MiB of address space; allowed: more, such as 2048 MiB"
    return f"too little memory{limit if _IS_LIMITED else ''}"
