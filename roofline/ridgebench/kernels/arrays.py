"""Buffers of the harness as arrays of NumPy, torch or CuPy, without a copy, and the harness's stream made current."""

import ctypes
import math
from contextlib import nullcontext
from typing import Any, Callable, Optional, Sequence

import numpy as np

from ridgebench.kernels.library import KernelError, storage

_TORCH = {"fp32": "float32", "tf32": "float32", "tf32x3": "float32", "fp16": "float16", "bf16": "bfloat16",
          "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2", "fp64": "float64", "int8": "int8", "int32": "int32",
          "bool": "bool"}
_OF_OPERANDS = {"int32": np.int32, "bool": np.bool_}  # formats of no case


def stored(number_format: Optional[str]) -> Optional[str]:
    """The format of the harness that holds an operand's: 0 and 1 of bool are numbers of int8."""
    return "int8" if number_format == "bool" else number_format


def _dtype(number_format: str) -> np.dtype:
    return np.dtype(_OF_OPERANDS.get(number_format) or storage(number_format))


def _numpy_array(pointer: int, number_format: str, shape: Sequence[int], written: bool) -> np.ndarray:
    dtype = _dtype(number_format)
    memory = (ctypes.c_char * (math.prod(shape) * dtype.itemsize)).from_address(pointer)
    array = np.frombuffer(memory, dtype).reshape(shape)
    array.flags.writeable = written
    return array


def _torch_array(pointer: int, number_format: str, shape: Sequence[int], stream: Optional[int]) -> Any:
    import torch

    dtype = getattr(torch, _TORCH[number_format], None)
    if dtype is None:
        raise KernelError(f"torch {torch.__version__} has no type for {number_format}")
    # Neither way has a type for bf16 and fp8: the bytes get theirs afterwards.
    size = math.prod(shape) * _dtype(number_format).itemsize
    if stream is None:
        memory = torch.from_numpy(np.frombuffer((ctypes.c_char * size).from_address(pointer), np.uint8))
    else:
        memory = torch.as_tensor(_CudaBytes(pointer, size), device="cuda")
    return memory.view(dtype).reshape(tuple(shape))


def _cupy_array(pointer: int, number_format: str, shape: Sequence[int]) -> Any:
    import cupy

    dtype = _dtype(number_format)
    memory = cupy.cuda.UnownedMemory(pointer, math.prod(shape) * dtype.itemsize, None)
    return cupy.ndarray(tuple(shape), dtype, cupy.cuda.MemoryPointer(memory, 0))


class _CudaBytes:
    """Device memory by the CUDA array interface, version 3."""

    def __init__(self, pointer: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (pointer, False), "version": 3}


def arrays_of(library: str, operands: Sequence[tuple[int, str, Sequence[int], bool]], stream: Optional[int]) -> list[Any]:
    """One array per operand: its pointer, format, shape, and whether the kernel writes it. `stream`: None on a host."""
    if library == "numpy":
        return [_numpy_array(*operand) for operand in operands]
    if library == "torch":
        return [_torch_array(pointer, number_format, shape, stream) for pointer, number_format, shape, _ in operands]
    return [_cupy_array(pointer, number_format, shape) for pointer, number_format, shape, _ in operands]


def current(library: str, stream: Optional[int]) -> Any:
    """A context, to be entered often, in which the library launches into the harness's stream."""
    if stream is None:
        return nullcontext()
    if library == "torch":
        import torch

        return _TorchStream(torch, torch.cuda.ExternalStream(stream))
    import cupy

    return cupy.cuda.ExternalStream(stream)


class _TorchStream:
    """torch.cuda.stream() as a context that can be entered more than once."""

    def __init__(self, torch: Any, stream: Any) -> None:
        self.make: Callable[[], Any] = lambda: torch.cuda.stream(stream)

    def __enter__(self) -> None:
        self.entered = self.make()
        self.entered.__enter__()

    def __exit__(self, *what: Any) -> None:
        self.entered.__exit__(*what)


def backend_of(library: str, device: str) -> str:
    """cpu or cuda: where a kernel on the library's arrays runs, for a --device as `run` has it."""
    if library != "torch":
        return "cpu" if library == "numpy" else "cuda"
    if device in ("", "all"):
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"
    return "cpu" if device == "cpu" else "cuda"
