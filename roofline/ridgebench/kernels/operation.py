"""A user's description of an operation and of a kernel. The library checks names, formats and sizes."""

import re
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

from ridgebench.kernels.library import KernelError

_Amount = Union[float, Callable[..., float]]  # a number, or a function of the dimensions by name
_LIBRARIES = ("numpy", "torch", "cupy")
_OPERAND = re.compile(r"\s*(\w+)\s*(?::\s*(\w+)\s*)?\[([^\[\]]*)\]\s*(?:,|$)")


@dataclass(frozen=True)
class _Operand:
    """An array in row-major order. `format`: None is the format of the case."""

    name: str
    format: Optional[str]
    dimensions: tuple[str, ...]


@dataclass(frozen=True)
class Operation:
    """An operation that kernels compute; made by operation()."""

    name: str
    operands: tuple[_Operand, ...]  # the output last
    dimensions: tuple[str, ...]
    reference: Callable[..., Any]
    flops: _Amount
    terms: _Amount
    formats: tuple[str, ...]
    engine: str

    def shape_of(self, operand: _Operand, sizes: Sequence[int]) -> tuple[int, ...]:
        known = dict(zip(self.dimensions, sizes))
        return tuple(known[name] for name in operand.dimensions)

    def amount(self, what: str, sizes: Sequence[int]) -> float:
        """`flops` or `terms` of a launch at these sizes."""
        given = getattr(self, what)
        try:
            return float(given(**dict(zip(self.dimensions, sizes))) if callable(given) else given)
        except Exception as error:
            raise KernelError(f"{what} of {self.name} at {dict(zip(self.dimensions, sizes))}: {type(error).__name__}: "
                              f"{error}; allowed: a number, or a function of {', '.join(self.dimensions)}") from None


@dataclass(frozen=True)
class Kernel:
    """A technique of an operation; made by kernel()."""

    operation: Operation
    function: Callable[..., Any]
    name: str
    library: str
    formats: tuple[str, ...]
    engine: str
    arithmetic: Optional[str]
    error: float

    def __call__(self, *arrays: Any) -> Any:
        return self.function(*arrays)


def _names(given: Union[str, Sequence[str]], what: str) -> tuple[str, ...]:
    """One name, or several."""
    found = (given,) if isinstance(given, str) else given
    if isinstance(found, (list, tuple)) and found and all(isinstance(name, str) for name in found):
        return tuple(found)
    raise KernelError(f"{what} is {given!r}; allowed: a name, or a list of names")


def _operands_of(text: str, name: str) -> list[_Operand]:
    found, rest = [], text
    while rest.strip():
        match = _OPERAND.match(rest)
        if not match:
            break
        dimensions = tuple(part.strip() for part in match[3].split(",") if part.strip())
        found.append(_Operand(match[1], match[2], dimensions))
        rest = rest[match.end():]
    if rest.strip() or not found:
        raise KernelError(f"'{rest.strip()}' in the signature of {name} is not an operand; allowed: x[m,n], or x:fp32[m,n] "
                          "for a format of its own")
    return found


def operation(name: str, signature: str, reference: Callable[..., Any], *, flops: _Amount, terms: _Amount = 1,
              formats: Union[str, Sequence[str]] = "fp32", engine: str = "fma") -> Operation:
    """Describes an operation, for instance `operation("scale", "x[n] -> y[n]", lambda x: 2 * x, flops=lambda n: n)`.

    signature  inputs -> output, each a name with its dimensions; the bytes of a launch follow from it
    reference  takes the inputs as float64 arrays of these shapes, already rounded to their formats, and returns the
               output, or the output and the 2-norms of the terms whose sums its elements are
    flops      of a launch: a number, or a function of the dimensions by name
    terms      of the sum that an element is, in the same way; the tolerance grows with its root. 1: no sum
    formats    fp32, fp16, bf16, fp8_e4m3, fp8_e5m2: of the operands without a format of their own
    engine     the fastest that may do the arithmetic: fma, tensor (products of matrices), memory or sfu
    """
    if not isinstance(name, str) or not isinstance(signature, str):
        raise KernelError(f"operation({name!r}, {signature!r}, ...): name and signature are texts")
    if not callable(reference):
        raise KernelError(f"the reference of {name} is {reference!r}; allowed: a function of its inputs")
    inputs, arrow, output = signature.partition("->")
    if not arrow:
        raise KernelError(f"the signature '{signature}' of {name} has no arrow; allowed: inputs -> output")
    written = _operands_of(output, name)
    if len(written) != 1:
        raise KernelError(f"the signature '{signature}' of {name} has {len(written)} outputs; allowed: 1")
    operands = (*_operands_of(inputs, name), *written)
    dimensions = tuple(dict.fromkeys(d for operand in operands for d in operand.dimensions))
    return Operation(name, operands, dimensions, reference, flops, terms, _names(formats, "formats"), engine)


def kernel(of: Operation, *, name: Optional[str] = None, library: str = "numpy",
           formats: Union[str, Sequence[str], None] = None, engine: Optional[str] = None,
           arithmetic: Optional[str] = None, error: float = 0) -> Callable[[Callable[..., Any]], Kernel]:
    """A decorator: the function, called with one array per operand, writes its result into the last one.

    name        of the technique; default: the function's
    library     of the arrays: numpy (on the host), torch (on the host or a GPU) or cupy (on a GPU)
    formats     default: all of the operation
    engine      that does the arithmetic; default: the operation's
    arithmetic  format of the products; default: fp32, and with engine tensor the format of the case
    error       largest error of an approximate function (exp, tanh), relative to the norm of the reference
    """
    if not isinstance(of, Operation):
        raise KernelError(f"kernel({of!r}): allowed: what ridgebench.operation() returned")
    if library not in _LIBRARIES:
        raise KernelError(f"unknown library {library!r}; allowed: {', '.join(_LIBRARIES)}")
    chosen = engine or of.engine

    def wrap(function: Callable[..., Any]) -> Kernel:
        if not callable(function):
            raise KernelError(f"a kernel of {of.name} is {function!r}; allowed: a function of its operands")
        return Kernel(of, function, name or getattr(function, "__name__", ""), library,
                      of.formats if formats is None else _names(formats, "formats"), chosen,
                      arithmetic or (None if chosen == "tensor" else "fp32"), error)

    return wrap
