"""A user's description of an operation and of a kernel. The library checks names, formats and sizes."""

import inspect
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from ridgebench.kernels.library import KernelError
from ridgebench.kernels.signature import Signature, Values, parse

_Amount = Union[float, Callable[..., float]]  # a number, or a function of the dimensions by name
_LIBRARIES = ("numpy", "torch", "cupy")


@dataclass(frozen=True)
class Operation:
    """An operation that kernels compute; made by operation()."""

    name: str
    signature: Signature
    dimensions: tuple[str, ...]
    attributes: Mapping[str, float]
    reference: Callable[..., Any]
    flops: _Amount
    terms: _Amount
    more_bytes: _Amount
    formats: tuple[str, ...]
    engine: str

    def sizes(self, sizes: Sequence[int]) -> dict[str, int]:
        return dict(zip(self.dimensions, sizes))

    def numbers(self, attributes: Sequence[float]) -> dict[str, float]:
        """The values of the attributes by name."""
        return {name: attributes[i] for i, name in enumerate(self.attributes)}

    def amount(self, what: str, sizes: Sequence[int], attributes: Sequence[float] = ()) -> float:
        """`flops`, `terms` or `more_bytes` of a launch at these sizes."""
        given, known = getattr(self, what), self.sizes(sizes)
        try:
            return float(given(**known, **_taken(given, self.numbers(attributes))) if callable(given) else given)
        except Exception as error:
            raise KernelError(f"{what} of {self.name} at {known}: {type(error).__name__}: "
                              f"{error}; allowed: a number, or a function of {', '.join(self.dimensions)}") from None


def _taken(function: Callable[..., Any], numbers: dict[str, float]) -> dict[str, float]:
    """Those of the attributes that a function takes."""
    parameters = inspect.signature(function).parameters if numbers else {}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return numbers
    return {name: value for name, value in numbers.items() if name in parameters}


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

    def __call__(self, *arrays: Any, **attributes: float) -> Any:
        return self.function(*arrays, **attributes)


def _names(given: Union[str, Sequence[str]], what: str) -> tuple[str, ...]:
    """One name, or several."""
    found = (given,) if isinstance(given, str) else given
    if isinstance(found, (list, tuple)) and found and all(isinstance(name, str) for name in found):
        return tuple(found)
    raise KernelError(f"{what} is {given!r}; allowed: a name, or a list of names")


def operation(name: str, signature: str, reference: Callable[..., Any], *, flops: _Amount, terms: _Amount = 1,
              formats: Union[str, Sequence[str]] = "fp32", engine: str = "fma",
              values: Optional[Mapping[str, Values]] = None, attributes: Optional[Mapping[str, float]] = None,
              more_bytes: _Amount = 0) -> Operation:
    """Describes an operation, for instance `operation("scale", "x[n] -> y[n]", lambda x: 2 * x, flops=lambda n: n)`.

    signature   inputs -> outputs, each a name with its dimensions, which may be numbers and arithmetic: `x[2*m,64]`. A
                name on both sides is updated in place. The bytes of a launch follow from it
    reference   takes the inputs as float64 arrays of these shapes, already rounded to their formats (int32 as int64, bool
                as bool), and the attributes by name. It returns the output, or all of them as a tuple, each an array
                or a pair: the array, and the 2-norms of the terms whose sums its elements are
    flops       of a launch: a number, or a function of the dimensions, and of attributes, by name
    terms       of the sum that an element is, in the same way; the tolerance grows with its root. 1: no sum
    formats     fp32, fp16, bf16, fp8_e4m3, fp8_e5m2, fp64, int8: of the operands without a format of their own, which may
                also be int32 and bool
    engine      the fastest that may do the arithmetic: fma, tensor (products of matrices), memory or sfu
    values      of inputs by name, in place of `fill`: uniform(low, high) or integers_below(bound)
    attributes  numbers that the operation needs besides sizes and operands, such as eps, with their defaults
    more_bytes  that a launch reads besides the operands, as tables of its own, in the way of `flops`
    """
    if not isinstance(name, str) or not isinstance(signature, str):
        raise KernelError(f"operation({name!r}, {signature!r}, ...): name and signature are texts")
    if not callable(reference):
        raise KernelError(f"the reference of {name} is {reference!r}; allowed: a function of its inputs")
    parsed = parse(signature, name, dict(values or {}))
    numbers = dict(attributes or {})
    for label, value in numbers.items():
        if not isinstance(label, str) or isinstance(value, bool) or not isinstance(value, (int, float)):
            raise KernelError(f"attribute {label!r} of {name} is {value!r}; allowed: a name with a number")
    return Operation(name, parsed, parsed.dimensions, numbers, reference, flops, terms, more_bytes, _names(formats, "formats"),
                     engine)


def kernel(of: Operation, *, name: Optional[str] = None, library: str = "numpy",
           formats: Union[str, Sequence[str], None] = None, engine: Optional[str] = None,
           arithmetic: Optional[str] = None, error: float = 0) -> Callable[[Callable[..., Any]], Kernel]:
    """A decorator: the function gets an array per operand, inputs first, and the attributes by name. It writes its results
    into the outputs.

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
