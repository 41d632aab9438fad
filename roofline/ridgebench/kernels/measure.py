"""measure(): hands operations and kernels to the C++ harness, as callbacks, and reads the records that it wrote."""

import ctypes
import gc
import math
import sys
import traceback
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from ridgebench.command_line import OK, ROW_FAILED, one_line
from ridgebench.kernels import library as c
from ridgebench.kernels.arrays import arrays_of, backend_of, current
from ridgebench.kernels.library import KernelError
from ridgebench.kernels.operation import Kernel, Operation
from ridgebench.records import Row, read_rows, shape_text

Shape = Union[str, Mapping[str, int]]


def explain(error: BaseException, function: Any, message: int) -> None:
    """Writes what a callback raised, and where in the user's file, to the buffer of the library."""
    text = f"{type(error).__name__}: {error}"
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if lines:
        text += f" ({Path(file).name}:{lines[-1]})"
    data = one_line(text).encode("utf-8", "replace")[: c.MESSAGE_BYTES - 1]
    ctypes.memmove(message, data + b"\0", len(data) + 1)


def doubles(pointer: int, shape: Sequence[int]) -> np.ndarray:
    return np.frombuffer((ctypes.c_double * math.prod(shape)).from_address(pointer)).reshape(shape)


def filled(into: np.ndarray, result: Any, operation: Operation, what: str) -> None:
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
            arrays = [doubles(inputs[i], shape) for i, shape in enumerate(shapes[:-1])]
            result = operation.reference(*arrays)
            has_norms = isinstance(result, tuple) and len(result) == 2
            filled(doubles(values, shapes[-1]), result[0] if has_norms else result, operation, "values")
            if has_norms:
                filled(doubles(norms, shapes[-1]), result[1], operation, "norms")
            return int(has_norms)
        except BaseException as error:  # nothing may cross the library, a KeyboardInterrupt neither
            explain(error, operation.reference, message)
            return -1

    return c.REFERENCE(reference)


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
            self.calls.append(bound(kernel.function, arrays, None if stream is None else current(kernel.library, stream)))
            return len(self.calls) - 1
        except BaseException as error:
            explain(error, None, message)
            return -1

    def launch(self, _user: Any, index: int, message: int) -> int:
        try:
            self.calls[index]()
            return 0
        except BaseException as error:
            explain(error, self.kernel.function, message)
            return -1

    def release(self, _user: Any, index: int) -> None:
        self.calls[index] = None


def bound(function: Callable[..., Any], arrays: Sequence[Any], context: Any) -> Callable[[], None]:
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


class Run:
    """A run of the library."""

    def __init__(self) -> None:
        self.library = c.library()
        self.handle = self.library.ridgebench_new()
        self.kept: list[Any] = []  # callbacks, which the library calls later

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_what: Any) -> None:
        self.library.ridgebench_free(self.handle)

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function; raises KernelError for every code but those of a finished run."""
        code = getattr(self.library, function)(self.handle, *arguments)
        if code not in (OK, ROW_FAILED):
            raise KernelError(self.library.ridgebench_message(self.handle).decode("utf-8", "replace"), code)
        return code

    def add_operation(self, operation: Operation) -> None:
        callback = reference_callback(operation)
        operands = (c.COperand * len(operation.operands))()
        for i, operand in enumerate(operation.operands):
            operands[i] = c.COperand(encoded(operand.name), encoded(operand.format), joined(operand.dimensions),
                                     operand is operation.operands[-1])
        self.kept += [callback, operands]
        self.call("ridgebench_add_operation", ctypes.byref(c.COperation(
            encoded(operation.name), joined(operation.dimensions), joined(operation.formats), encoded(operation.engine),
            operands, len(operands), callback, None)))

    def add_shape(self, operation: Operation, shape: Shape) -> None:
        text = encoded(shape if isinstance(shape, str) else text_of(shape))
        name, sizes = encoded(operation.name), (ctypes.c_int64 * len(operation.dimensions))()
        self.call("ridgebench_read_shape", name, text, sizes)
        self.call("ridgebench_add_shape", name, text, operation.amount("flops", sizes), operation.amount("terms", sizes))

    def add_kernel(self, kernel: Kernel, device: str) -> None:
        launches = Launches(kernel)
        self.kept.append(launches)
        try:
            technique = c.CTechnique(
                encoded(kernel.operation.name), encoded(kernel.name), encoded(backend_of(kernel.library, device)),
                joined(kernel.formats), encoded(kernel.engine), encoded(kernel.arithmetic), kernel.error,
                launches.callbacks["bind"], launches.callbacks["launch"], launches.callbacks["release"], None)
        except (TypeError, AttributeError) as error:
            raise KernelError(f"kernel {kernel.name} of {kernel.operation.name}: {error}") from None
        self.call("ridgebench_add_technique", ctypes.byref(technique))

    def measure(self, request: Any) -> Path:
        self.call("ridgebench_measure", ctypes.byref(request))
        return Path(self.library.ridgebench_folder(self.handle).decode())


def encoded(text: Optional[str]) -> Optional[bytes]:
    """A text for the library; None stays None."""
    if text is None:
        return None
    if not isinstance(text, str) or "\0" in text:
        raise KernelError(f"{text!r} is no text; allowed: a str without NUL")
    return text.encode("utf-8", "surrogateescape")


def joined(parts: Sequence[str]) -> bytes:
    return b",".join(encoded(part) for part in parts)


def text_of(shape: Any) -> str:
    """The text form of {"m": 4096, "n": 1024}."""
    if not isinstance(shape, Mapping):
        raise KernelError(f"the shape {shape!r} is no shape; allowed: 'm:4096/n:1024' or a dict of sizes")
    return shape_text(shape)


def empty_launch() -> Any:
    """A launch that goes the way of all others, to a kernel that does nothing."""
    launches = Launches(None)
    launches.calls.append(bound(lambda: None, (), None))
    return c.EMPTY_LAUNCH(lambda _user: launches.launch(None, 0, 0))


def number(value: Any, what: str, most: float) -> float:
    if isinstance(value, (int, float)) and 0 <= value <= most:
        return value
    raise KernelError(f"{what} is {value!r}; allowed: a number from 0 to {most:g}")


def listed(value: Any) -> list[Any]:
    """One thing, or a list of them."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def measure(kernels: Union[Kernel, Sequence[Kernel]], shapes: Union[Shape, Sequence[Shape]], *, device: str = "",
            out: Union[str, Path] = "", seconds: float = 0, seed: int = 1, fill: str = "normal",
            regimes: Union[str, Sequence[str]] = ()) -> list[Row]:
    """Verifies, measures and judges kernels at each shape ("m:4096/n:1024", or a dict of sizes) as `ridgebench run` does.

    Prints the table and returns the records, those of the ceilings included. The other arguments are the options of
    `run`: --device, --out (the results folder), --budget, --seed, --fill and --regime. Raises KernelError, with one
    line and the exit code, where nothing was measured or the run ended early; a row that is wrong or failed raises
    nothing: its `status` and `reason` say so.
    """
    all_kernels = listed(kernels)
    for each in all_kernels:
        if not isinstance(each, Kernel):
            raise KernelError(f"{each!r} is no kernel; allowed: functions that ridgebench.kernel() wrapped")
    operations = list({id(each.operation): each.operation for each in all_kernels}.values())
    floor = empty_launch()
    words = (ctypes.c_char_p * len(sys.argv))(*(encoded(word) for word in sys.argv))
    request = c.CRequest(
        device=encoded(device), folder=encoded(str(out)), fill=encoded(fill), regimes=joined(listed(regimes)),
        seconds=number(seconds, "seconds", 1e9), seed=int(number(seed, "seed", 2**53)), command_line=words,
        command_line_count=len(words), empty_launch=floor, user=None)
    with Run() as run:
        for each in operations:
            run.add_operation(each)
            for shape in listed(shapes):
                run.add_shape(each, shape)
        for each in all_kernels:
            run.add_kernel(each, device)
        sys.stdout.flush()
        collecting = gc.isenabled()
        gc.disable()  # a collection would be part of a launch
        try:
            folder = run.measure(request)
        finally:
            if collecting:
                gc.enable()
    rows = read_rows(folder / "records.jsonl")[0]
    own = [row for row in rows if row.op in {operation.name for operation in operations}]
    if own and all(row.status == "skipped" for row in own):
        raise KernelError(f"nothing was measured; {own[0].id}: {own[0].reason}", ROW_FAILED)
    return rows
