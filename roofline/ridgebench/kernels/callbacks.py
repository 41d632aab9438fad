"""Operations and kernels of the user as the callbacks of harness/c/ridgebench.h."""

import ctypes
import math
import traceback
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ridgebench.base.arithmetic import evaluate
from ridgebench.base.text import one_line
from ridgebench.kernels import library as c
from ridgebench.kernels.arrays import arrays_of, current
from ridgebench.kernels.library import KernelError
from ridgebench.kernels.operation import Kernel, Operation
from ridgebench.kernels.signature import READ, Operand

_EXACT = {"int32": np.int64, "bool": np.bool_}  # inputs of a reference that are no float64


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


def _filled(into: np.ndarray, result: Any, operand: Operand, what: str) -> None:
    """Copies what a reference returned."""
    found = np.asarray(result)
    if found.dtype.kind not in "fiub":
        raise TypeError(f"it returned {what} of type {type(result).__name__}, {found.dtype}; allowed: real numbers")
    if found.shape != into.shape:
        raise ValueError(f"it returned {what} of shape {found.shape}; {operand.name} has shape {into.shape}")
    into[...] = found


def _given(pointer: int, operand: Operand, sizes: Mapping[str, int]) -> np.ndarray:
    """An input of a reference."""
    array = _doubles(pointer, operand.shape(sizes))
    kind = _EXACT.get(operand.format or "")
    return array if kind is None else array.astype(kind)


def _results(found: Any, outputs: Sequence[Operand]) -> Sequence[Any]:
    """The results of a reference, one for each output."""
    if len(outputs) == 1:
        return [found]
    if isinstance(found, (tuple, list)) and len(found) == len(outputs):
        return found
    raise TypeError(f"it returned {type(found).__name__}; allowed: a tuple of {len(outputs)} outputs, "
                    f"{', '.join(output.name for output in outputs)}")


def reference_callback(operation: Operation) -> Any:
    """The library's outputs are in the order of the operands, the reference's in that of the signature."""
    inputs, outputs = operation.signature.inputs, operation.signature.outputs
    places = [one for one in operation.signature.operands if one.access != READ]

    def reference(_user: Any, sizes: Any, numbers: Any, given: Any, values: Any, norms: Any, has_norms: Any,
                  message: int) -> int:
        try:
            known = operation.sizes(sizes[: len(operation.dimensions)])
            arrays = [_given(given[i], operand, known) for i, operand in enumerate(inputs)]
            found = operation.reference(*arrays, **operation.numbers(numbers))
            for operand, result in zip(outputs, _results(found, outputs)):
                place, shape = places.index(operand), operand.shape(known)
                paired = isinstance(result, tuple) and len(result) == 2
                _filled(_doubles(values[place], shape), result[0] if paired else result, operand, "values")
                if paired:
                    _filled(_doubles(norms[place], shape), result[1], operand, "norms")
                has_norms[place] = paired
            return 0
        except BaseException as error:  # nothing may cross the library, a KeyboardInterrupt neither
            _explain(error, operation.reference, message)
            return -1

    return c.REFERENCE(reference)


def amounts_callback(operation: Operation) -> Any:
    def amounts(_user: Any, sizes: Any, numbers: Any, flops: Any, terms: Any, more_bytes: Any, message: int) -> int:
        try:
            known = sizes[: len(operation.dimensions)]
            for into, what in ((flops, "flops"), (terms, "terms"), (more_bytes, "more_bytes")):
                into[0] = operation.amount(what, known, numbers)
            return 0
        except BaseException as error:
            _explain(error, None, message)
            return -1

    return c.AMOUNTS(amounts)


def extents_callback(operation: Operation) -> Any:
    def extents(_user: Any, sizes: Any, _numbers: Any, found: Any, message: int) -> int:
        try:
            known = operation.sizes(sizes[: len(operation.dimensions)])
            for i, operand in enumerate(operation.signature.operands):
                low, high = (_limit(bound, known, operand) for bound in (operand.values.low, operand.values.high))
                found[i] = c.CExtent(operand.elements(known), operand.values.kind, low, high)
            return 0
        except BaseException as error:
            _explain(error, None, message)
            return -1

    return c.EXTENTS(extents)


def _limit(given: Union[float, str], sizes: Mapping[str, int], operand: Operand) -> float:
    try:
        return float(evaluate(given, sizes) if isinstance(given, str) else given)
    except (TypeError, ValueError) as error:
        raise KernelError(f"the values of {operand.name} have the bound {given!r}: {error}") from None


class Launches:
    """The callbacks of one kernel. A set of buffers that is bound is a call without arguments in `calls`."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.calls: list[Optional[Callable[[], None]]] = []
        self.callbacks = {"bind": c.BIND(self.bind), "launch": c.LAUNCH(self.launch), "release": c.RELEASE(self.release)}

    def bind(self, _user: Any, number_format: bytes, sizes: Any, numbers: Any, operands: Any, stream: Optional[int],
             message: int) -> int:
        try:
            kernel, found = self.kernel, []
            known = kernel.operation.sizes(sizes[: len(kernel.operation.dimensions)])
            for i, operand in enumerate(kernel.operation.signature.operands):
                found.append((operands[i], operand.format or number_format.decode(), operand.shape(known), operand.access != READ))
            arrays = arrays_of(kernel.library, found, stream)
            outputs = [array for array, (*_, written) in zip(arrays, found) if written]
            context = None if stream is None else current(kernel.library, stream)
            self.calls.append(_bound(kernel.function, arrays, outputs, kernel.operation.numbers(numbers), context))
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


def _bound(function: Callable[..., Any], arrays: Sequence[Any], outputs: Sequence[Any], numbers: Mapping[str, float],
           context: Any) -> Callable[[], None]:
    """The call of a kernel on its arrays, in the context if there is one."""

    def call() -> None:
        result = function(*arrays, **numbers)
        # `out=` of NumPy and torch returns the output.
        if result is not None and not any(result is output for output in outputs):
            raise TypeError(f"the kernel returned a {type(result).__name__}; it must write into its outputs and "
                            "return nothing")

    def call_there() -> None:
        with context:
            call()

    return call if context is None else call_there


def empty_launch() -> Any:
    """A launch that goes the way of all others, to a kernel that does nothing."""
    launches = Launches(None)
    launches.calls.append(_bound(lambda: None, (), (), {}, None))
    return c.EMPTY_LAUNCH(lambda _user: launches.launch(None, 0, 0))
