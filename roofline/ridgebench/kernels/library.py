"""Declares the functions of libridgebench.so that measure own kernels, as harness/c/ridgebench.h does."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int32, c_int64, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ridgebench.base import native
from ridgebench.base.errors import INTERNAL, RequestError

MESSAGE_BYTES = 1024  # RIDGEBENCH_MESSAGE_BYTES
SERVING = False  # whether the program started this process, to serve the kernels of a file


class KernelError(RequestError):
    """A request that cannot be measured; the text is one line, `code` the exit code of docs/commands.md."""


class CExtent(ctypes.Structure):
    _fields_ = [("elements", c_int64), ("values", c_int32), ("low", c_double), ("high", c_double)]


_SIZES, _ATTRIBUTES = POINTER(c_int64), POINTER(c_double)
EXTENTS = CFUNCTYPE(c_int32, c_void_p, _SIZES, _ATTRIBUTES, POINTER(CExtent), c_void_p)
REFERENCE = CFUNCTYPE(c_int32, c_void_p, _SIZES, _ATTRIBUTES, POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p),
                      POINTER(c_int32), c_void_p)
AMOUNTS = CFUNCTYPE(c_int32, c_void_p, _SIZES, _ATTRIBUTES, POINTER(c_double), POINTER(c_double), POINTER(c_double), c_void_p)
BIND = CFUNCTYPE(c_int64, c_void_p, c_char_p, _SIZES, _ATTRIBUTES, POINTER(c_void_p), c_void_p, c_void_p)
LAUNCH = CFUNCTYPE(c_int32, c_void_p, c_int64, c_void_p)
RELEASE = CFUNCTYPE(None, c_void_p, c_int64)
EMPTY_LAUNCH = CFUNCTYPE(c_int32, c_void_p)


class COperand(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("format", c_char_p), ("access", c_int32)]


class CAttribute(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class COperation(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dimensions", c_char_p), ("attributes", POINTER(CAttribute)),
                ("attribute_count", c_int32), ("formats", c_char_p), ("engine", c_char_p), ("operands", POINTER(COperand)),
                ("operand_count", c_int32), ("extents", EXTENTS), ("reference", REFERENCE), ("amounts", AMOUNTS),
                ("reads_more", c_int32), ("user", c_void_p)]


class CTechnique(ctypes.Structure):
    _fields_ = [("operation", c_char_p), ("name", c_char_p), ("backend", c_char_p), ("formats", c_char_p),
                ("engine", c_char_p), ("arithmetic", c_char_p), ("approximation_error", c_double), ("bind", BIND),
                ("launch", LAUNCH), ("release", RELEASE), ("user", c_void_p)]


class CRequest(ctypes.Structure):
    _fields_ = [("device", c_char_p), ("folder", c_char_p), ("fill", c_char_p), ("regimes", c_char_p),
                ("seconds", c_double), ("seed", c_uint64), ("command_line", POINTER(c_char_p)),
                ("command_line_count", c_int32), ("empty_launch", EMPTY_LAUNCH), ("user", c_void_p)]


SIGNATURES = {
    **native.SIGNATURES,
    "ridgebench_folder": (c_char_p, [c_void_p]),
    "ridgebench_add_operation": (c_int32, [c_void_p, POINTER(COperation)]),
    "ridgebench_add_technique": (c_int32, [c_void_p, POINTER(CTechnique)]),
    "ridgebench_add_shape": (c_int32, [c_void_p, c_char_p, c_char_p]),
    "ridgebench_serve": (c_int32, [c_void_p, EMPTY_LAUNCH, c_void_p]),
    "ridgebench_measure": (c_int32, [c_void_p, POINTER(CRequest)]),
    "ridgebench_decode": (c_int32, [c_char_p, c_void_p, c_int64, c_void_p]),
    "ridgebench_encode": (c_int32, [c_char_p, c_void_p, c_int64, c_void_p]),
}


def find() -> Path:
    """The library, by the order of native.find(). Raises KernelError where there is none."""
    return native.find(KernelError)


@cache
def library() -> Any:
    """The loaded library. Raises KernelError where there is none or where it is of another version."""
    return native.load(SIGNATURES, KernelError)


_STORAGE = {"fp32": np.float32, "tf32": np.float32, "tf32x3": np.float32, "fp16": np.float16, "bf16": np.uint16,
            "fp8_e4m3": np.uint8, "fp8_e5m2": np.uint8, "fp64": np.float64, "int8": np.int8}


def storage(number_format: str) -> Any:
    """The NumPy type that holds a format: its own where NumPy has it, else unsigned integers with its bits."""
    try:
        return _STORAGE[number_format]
    except (KeyError, TypeError):
        raise KernelError(f"unknown format {number_format!r}; allowed: {', '.join(_STORAGE)}") from None


def decode(bits: np.ndarray, number_format: str) -> np.ndarray:
    """The numbers, in float32, that an array of a format's bits holds (bf16: uint16, fp8: uint8); fp64 in float64."""
    bits = np.ascontiguousarray(bits, storage(number_format))
    numbers = np.empty(bits.shape, np.float64)
    _check(library().ridgebench_decode(number_format.encode(), bits.ctypes.data, bits.size, numbers.ctypes.data))
    return numbers if number_format == "fp64" else numbers.astype(np.float32)


def encode(numbers: np.ndarray, number_format: str) -> np.ndarray:
    """The bits of numbers, rounded to float32 (not for fp64) and then to the format as the hardware rounds."""
    numbers = np.ascontiguousarray(numbers, np.float64)
    bits = np.empty(numbers.shape, storage(number_format))
    _check(library().ridgebench_encode(number_format.encode(), numbers.ctypes.data, numbers.size, bits.ctypes.data))
    return bits


def _check(code: int) -> None:
    """Raises KernelError for a conversion that failed, which no known format does."""
    if code != 0:
        raise KernelError("the library does not know the format", INTERNAL)
