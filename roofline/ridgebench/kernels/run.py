"""A run of libridgebench.so, and texts for it."""

import ctypes
from pathlib import Path
from typing import Any, Optional, Sequence

from ridgebench.base.command_line import OK, ROW_FAILED
from ridgebench.kernels import library as c
from ridgebench.kernels.arrays import backend_of, stored
from ridgebench.kernels.callbacks import Launches, amounts_callback, extents_callback, reference_callback
from ridgebench.kernels.library import KernelError
from ridgebench.kernels.operation import Kernel, Operation


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
        callbacks = extents_callback(operation), reference_callback(operation), amounts_callback(operation)
        all_of = operation.signature.operands
        operands = (c.COperand * len(all_of))(*(c.COperand(encoded(one.name), encoded(stored(one.format)), one.access)
                                                for one in all_of))
        attributes = (c.CAttribute * len(operation.attributes))(
            *(c.CAttribute(encoded(label), value) for label, value in operation.attributes.items()))
        self.kept += [callbacks, operands, attributes]
        self.call("ridgebench_add_operation", ctypes.byref(c.COperation(
            encoded(operation.name), joined(operation.dimensions), attributes, len(attributes), joined(operation.formats),
            encoded(operation.engine), operands, len(operands), *callbacks, operation.more_bytes != 0, None)))

    def add_shape(self, operation: Operation, shape: str) -> None:
        self.call("ridgebench_add_shape", encoded(operation.name), encoded(shape))

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

    def add(self, kernels: Sequence[Kernel], shapes: Sequence[str], device: str) -> None:
        """Adds kernels, and their operations at each of the shapes."""
        for each in kernels:
            if not isinstance(each, Kernel):
                raise KernelError(f"{each!r} is not a kernel; allowed: functions that ridgebench.kernel() wrapped")
        for operation in {id(each.operation): each.operation for each in kernels}.values():
            self.add_operation(operation)
            for shape in shapes:
                self.add_shape(operation, shape)
        for each in kernels:
            self.add_kernel(each, device)

    def measure(self, request: Any) -> Path:
        self.call("ridgebench_measure", ctypes.byref(request))
        return Path(self.library.ridgebench_folder(self.handle).decode())


def encoded(text: Optional[str]) -> Optional[bytes]:
    """A text for the library; None stays None."""
    if text is None:
        return None
    if not isinstance(text, str) or "\0" in text:
        raise KernelError(f"{text!r} is not a text; allowed: a str without NUL")
    return text.encode("utf-8", "surrogateescape")


def joined(parts: Sequence[str]) -> bytes:
    return b",".join(encoded(part) for part in parts)
