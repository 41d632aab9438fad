"""Names in machine code: what the compiler adds that says nothing about the code, and how people read a name."""

import ctypes
import re
from functools import lru_cache
from typing import Any, Optional

# nvcc names what is local to a file by hashes of its path and content: _INTERNAL_1b2c3d4e_7_file_cu_5a6b7c8d,
# _GLOBAL__N__1b2c3d4e_7_file_cu_5a6b7c8d. In a mangled name the length of such a part comes before it.
_HASHED = re.compile(r"(\d*)(?:(_INTERNAL)|_GLOBAL__N_)_(?:[0-9a-f]{8}_)?\d+_\w+?_[0-9a-f]{8}")
_HASHED_BYTES = re.compile(_HASHED.pattern.encode())
_INTERNAL, _ANONYMOUS = "_INTERNAL", "_GLOBAL__N_1"  # the latter as other compilers write it


def _without_hash(match: re.Match[str]) -> str:
    part = _INTERNAL if match[2] else _ANONYMOUS
    return f"{len(part)}{part}" if match[1] else part


def plain(name: str) -> str:
    """The name without hashes of the file that it comes from."""
    return _HASHED.sub(_without_hash, name) if "_INTERNAL_" in name or "_GLOBAL__N__" in name else name


def without_hashes(data: bytes) -> bytes:
    """Bytes of a program whose texts have no such hashes. The length stays."""
    return _HASHED_BYTES.sub(lambda match: bytes(len(match[0])), data)


def parts(name: str) -> str:
    """Names of namespaces and functions as a mangled name holds them: 'cuda::relu_naive' is '4cuda10relu_naive'."""
    return "".join(f"{len(part)}{part}" for part in name.split("::"))


@lru_cache(maxsize=1)
def _library() -> Optional[Any]:
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        library.__cxa_demangle.restype = ctypes.c_void_p
        library.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        return library.__cxa_demangle, free
    except (OSError, AttributeError):
        return None


@lru_cache(maxsize=4096)
def readable(name: str) -> str:
    """The name as in the source, 'scale<3>(float*, float)'; the mangled name where the C++ library is missing."""
    calls = _library()
    if calls is None or not name.startswith("_Z"):
        return name
    demangle, free = calls
    found = demangle(name.encode(), None, None, None)
    if not found:
        return name
    try:
        return ctypes.string_at(found).decode("utf-8", "replace")
    finally:
        free(found)
