"""Operations and kernels of the user as the callbacks of harness/c/ridgebench.h."""

import ctypes
import math
import traceback
from pathlib import Path
from typing import Any, Callable, Optional, Sequence

import numpy as np

from ridgebench.base.text import one_line
from ridgebench.kernels import library as c
from ridgebench.kernels.arrays import arrays_of, current
from ridgebench.kernels.library import KernelError
from ridgebench.kernels.operation import Kernel, Operation


def raised(error: BaseException, file: Optional[str]) -> str:
    """The exception, and its line in the user's file."""
    text = f"{type(error).__name__}: {error}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{text} ({Path(file or '').name}:{lines[-1]})" if lines else text


def _explain(error: BaseException, function: Any, message: int) -> None:
    """Writes what a callback raised to the buffer of the library."""
    text = str(error) if isinstance(error, KernelError) else raised(error, _file_of(function))
    data = one_line(text).encode("utf-8", "replace")[: c.MESSAGE_BYTES - 1]
    ctypes.memmove(message, data + b"\0", len(data) + 1)


def _file_of(function: Any) -> Optional[str]:
    return getattr(getattr(function, "__code__", None), "co_filename", None)


def _doubles(pointer: int, shape: Sequence[int]) -> np.ndarray:
    return np.frombuffer((ctypes.c_double * math.prod(shape)).from_address(pointer)).reshape(shape)


def _filled(into: np.ndarray, result: Any, operation: Operation, what: str) -> None:
    """Copies what a reference returned."""
    found = np.asarray(result)
    if found.dtype.kind not in "fiub":
        raise TypeError(f"it returned {what} of type {type(result).__name__}, {found.dtype}; allowed: real numbers")
    if found.shape != into.shape:
        raise ValueError(f"it returned {what} of shape {found.shape}; {operation.operands[-1].name} has shape {into.shape}")
    into[...] = found


def reference_callback(operation: Operation) -> Any:
    def reference(_user: Any, sizes: Any, inputs: Any, values: int, norms: int, message: int) -> int:
        try:
            shapes = [operation.shape_of(operand, sizes) for operand in operation.operands]
            arrays = [_doubles(inputs[i], shape) for i, shape in enumerate(shapes[:-1])]
            result = operation.reference(*arrays)
            has_norms = isinstance(result, tuple) and len(result) == 2
            _filled(_doubles(values, shapes[-1]), result[0] if has_norms else result, operation, "values")
            if has_norms:
                _filled(_doubles(norms, shapes[-1]), result[1], operation, "norms")
            return int(has_norms)
        except BaseException as error:  # nothing may cross the library, a KeyboardInterrupt neither
            _explain(error, operation.reference, message)
            return -1

    return c.REFERENCE(reference)


def amounts_callback(operation: Operation) -> Any:
    def amounts(_user: Any, sizes: Any, flops: Any, terms: Any, message: int) -> int:
        try:
            known = sizes[: len(operation.dimensions)]
            flops[0], terms[0] = operation.amount("flops", known), operation.amount("terms", known)
            return 0
        except BaseException as error:
            _explain(error, None, message)
            return -1

    return c.AMOUNTS(amounts)


class Launches:
    """The callbacks of one kernel. A set of buffers that is bound is a call without arguments in `calls`."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.calls: list[Optional[Callable[[], None]]] = []
        self.callbacks = {"bind": c.BIND(self.bind), "launch": c.LAUNCH(self.launch), "release": c.RELEASE(self.release)}

    def bind(self, _user: Any, number_format: bytes, sizes: Any, operands: Any, stream: Optional[int], message: int) -> int:
        try:
            kernel, found = self.kernel, []
            for i, operand in enumerate(kernel.operation.operands):
                written = operand is kernel.operation.operands[-1]
                shape = kernel.operation.shape_of(operand, sizes)
                found.append((operands[i], operand.format or number_format.decode(), shape, written))
            arrays = arrays_of(kernel.library, found, stream)
            self.calls.append(_bound(kernel.function, arrays, None if stream is None else current(kernel.library, stream)))
            return len(self.calls) - 1
        except BaseException as error:
            _explain(error, None, message)
            return -1

    def launch(self, _user: Any, index: int, message: int) -> int:
        try:
            self.calls[index]()
            return 0
        except BaseException as error:
            _explain(error, self.kernel.function, message)
            return -1

    def release(self, _user: Any, index: int) -> None:
        self.calls[index] = None


def _bound(function: Callable[..., Any], arrays: Sequence[Any], context: Any) -> Callable[[], None]:
    """The call of a kernel on its arrays, in the context if there is one."""
    output = arrays[-1] if arrays else None

    def call() -> None:
        result = function(*arrays)
        # `out=` of NumPy and torch returns the output.
        if result is not None and result is not output:
            raise TypeError(f"the kernel returned a {type(result).__name__}; it must write into its last argument and "
                            "return nothing")

    def call_there() -> None:
        with context:
            call()

    return call if context is None else call_there


def empty_launch() -> Any:
    """A launch that goes the way of all others, to a kernel that does nothing."""
    launches = Launches(None)
    launches.calls.append(_bound(lambda: None, (), None))
    return c.EMPTY_LAUNCH(lambda _user: launches.launch(None, 0, 0))
