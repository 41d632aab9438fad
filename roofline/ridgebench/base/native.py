"""Finds libridgebench.so, loads it, and calls it for the answers that need no device. Loading it needs no other package."""

import ctypes
import json
import os
import threading
from ctypes import POINTER, c_char_p, c_int32, c_void_p
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Optional, Sequence

from . import command_line
from .errors import RequestError
from .installation import ROOT, TREE

INTERFACE = 3  # RIDGEBENCH_INTERFACE of harness/c/ridgebench.h
_NAME = "libridgebench.so"
_VARIABLE = "RIDGEBENCH_LIBRARY"  # names the file, where it is neither installed nor built in the checkout
_INSTALLED = ("", "lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu")  # under a prefix
_LOCK = threading.Lock()  # one thread at a time uses the library

# The functions of the header that answer(), below, calls; kernels/library.py declares the others.
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "ridgebench_interface": (c_int32, []),
    "ridgebench_new": (c_void_p, []),
    "ridgebench_free": (None, [c_void_p]),
    "ridgebench_message": (c_char_p, [c_void_p]),
    "ridgebench_ask": (c_int32, [c_void_p, POINTER(c_char_p), c_int32]),
    "ridgebench_answer": (c_char_p, [c_void_p]),
}


def _inside(*prefixes: Path) -> Optional[Path]:
    """The library below the first of the prefixes that has one."""
    paths = (prefix / folder / _NAME for prefix in prefixes for folder in _INSTALLED)
    return next((path for path in paths if path.is_file()), None)


def find(error: type[RequestError] = RequestError) -> Path:
    """Returns the library of the program that started this process. Otherwise the one that RIDGEBENCH_LIBRARY names, the installed
    one, or the newest in build/ of the checkout. Raises `error` if none is found."""
    binary = Path(command_line.BINARY).resolve()
    if command_line.BINARY and (own := _inside(binary.parent, binary.parent.parent)):
        return own
    if named := os.environ.get(_VARIABLE):
        if Path(named).is_file():
            return Path(named)
        raise error(f"{_VARIABLE}={named} is not a file; allowed: the path of {_NAME}")
    if installed := _inside(TREE, *islice(Path(__file__).resolve().parents, 6)):
        return installed
    built = list((ROOT / "build").glob(f"*/{_NAME}"))
    if built:
        return max(built, key=lambda path: path.stat().st_mtime)
    raise error(f"{_NAME} is neither installed nor built; scripts/build.sh in {ROOT} builds it, or {_VARIABLE} names the file")


def load(signatures: dict[str, tuple[Any, list[Any]]], error: type[RequestError] = RequestError) -> Any:
    """Returns the library with these functions. Raises `error` if none is found, or one of another version."""
    path = find(error)
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, arguments) in signatures.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as problem:
        raise error(f"{path} cannot be loaded: {problem}") from None
    if (interface := loaded.ridgebench_interface()) != INTERFACE:
        raise error(f"{path} has interface {interface}; this package needs {INTERFACE}: build both from one commit")
    return loaded


@cache
def _library() -> Any:
    return load(SIGNATURES)


def answer(words: Sequence[str]) -> dict[str, Any]:
    """Returns the answer of `ridgebench WORDS --json` to predict, plan, or info with --on. Raises RequestError with the command's line."""
    library = _library()
    texts = [word.encode("utf-8", "surrogateescape") for word in words]
    if any(b"\0" in text for text in texts):
        raise RequestError("a word contains a zero byte; allowed: texts without one")
    with _LOCK:
        run = library.ridgebench_new()
        if not run:
            raise MemoryError
        try:
            code = library.ridgebench_ask(run, (c_char_p * len(texts))(*texts), len(texts))
            if code != 0:
                raise RequestError(library.ridgebench_message(run).decode("utf-8", "replace"), code)
            told: dict[str, Any] = json.loads(library.ridgebench_answer(run))
            return told
        finally:
            library.ridgebench_free(run)
