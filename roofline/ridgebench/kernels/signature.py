"""The signature of an operation: operands with formats, dimensions and values, as in `x[m,n], w[n] -> y[m,n]`."""

import math
import re
from dataclasses import dataclass
from typing import Mapping, Optional, Union

from ridgebench.base.arithmetic import evaluate, names_in
from ridgebench.kernels.library import KernelError

READ, _WRITTEN, _UPDATED = range(3)  # `access` of ridgebench_operand
_OPERAND = re.compile(r"\s*(\w+)\s*(?::\s*(\w+)\s*)?\[([^\[\]]*)\]\s*(?:,|$)")
_MOST_WHOLE = 2**63 - 1
_Number = Union[float, str]  # a number, or an expression of dimensions


@dataclass(frozen=True)
class Values:
    """The values of an operand that is read: those of `kind` of ridgebench_extent."""

    kind: int
    low: _Number
    high: _Number


_FILL = Values(0, 0, 0)


def uniform(low: _Number, high: _Number) -> Values:
    """Numbers from `low` to below `high`, before they are rounded to the operand's format."""
    return Values(1, low, high)


def integers_below(bound: _Number) -> Values:
    """Whole numbers from 0 to below `bound`, a number or an expression of dimensions."""
    return Values(2, 0, bound)


@dataclass(frozen=True)
class Operand:
    """An array in row-major order. `format`: None is the format of the case. `dimensions` are expressions."""

    name: str
    format: Optional[str]
    dimensions: tuple[str, ...]
    access: int
    values: Values = _FILL

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Raises KernelError where a dimension is not a whole number of at least 1."""
        return tuple(self._size(text, sizes) for text in self.dimensions)

    def elements(self, sizes: Mapping[str, int]) -> int:
        """Their number; -1 where the sizes do not fit each other."""
        try:
            return min(math.prod(self.shape(sizes)), _MOST_WHOLE)
        except KernelError:
            return -1

    def _size(self, text: str, sizes: Mapping[str, int]) -> int:
        try:
            value = evaluate(text, sizes)
        except ValueError as error:
            raise KernelError(f"dimension {text} of {self.name}: {error}") from None
        if value != int(value) or value < 1:
            raise KernelError(f"dimension {text} of {self.name} is {value:g}; allowed: a whole number of at least 1")
        return int(value)


@dataclass(frozen=True)
class Signature:
    """The operands in the order of a kernel's arguments, and the outputs in the order of the reference's results."""

    operands: tuple[Operand, ...]
    outputs: tuple[Operand, ...]

    @property
    def inputs(self) -> list[Operand]:
        return [operand for operand in self.operands if operand.access != _WRITTEN]

    @property
    def dimensions(self) -> tuple[str, ...]:
        texts = [text for operand in self.operands for text in operand.dimensions]
        return tuple(dict.fromkeys(name for text in texts for name in names_in(text)))


def _found(text: str, name: str) -> list[tuple[str, Optional[str], tuple[str, ...]]]:
    found, rest = [], text
    while rest.strip():
        match = _OPERAND.match(rest)
        if not match:
            break
        found.append((match[1], match[2], tuple(part.strip() for part in match[3].split(",") if part.strip())))
        rest = rest[match.end():]
    if rest.strip() or not found:
        raise KernelError(f"'{rest.strip()}' in the signature of {name} is not an operand; allowed: x[m,n], or x:fp32[m,n] "
                          "for a format of its own")
    for operand, _, dimensions in found:
        for dimension in dimensions:
            try:
                names_in(dimension)
            except ValueError as error:
                raise KernelError(f"dimension '{dimension}' of {operand} in the signature of {name}: {error}") from None
    return found


def _values_of(operand: str, number_format: Optional[str], given: Mapping[str, Values], name: str) -> Values:
    values = given.get(operand)
    if values is None and number_format == "bool":
        return integers_below(2)
    if values is None and number_format == "int32":
        raise KernelError(f"operand {operand} of {name} is int32 and has no values; allowed: values={{'{operand}': "
                          "ridgebench.integers_below(bound)}")
    if values is not None and not isinstance(values, Values):
        raise KernelError(f"the values of {operand} are {values!r}; allowed: ridgebench.uniform() or ridgebench.integers_below()")
    return values or _FILL


def parse(text: str, name: str, values: Mapping[str, Values]) -> Signature:
    """Reads `inputs -> outputs`. An operand of both sides is updated in place. Raises KernelError."""
    left, arrow, right = text.partition("->")
    if not arrow:
        raise KernelError(f"the signature '{text}' of {name} has no arrow; allowed: inputs -> outputs")
    read, written = _found(left, name), _found(right, name)
    for one in written:
        if any(one[0] == other[0] and one != other for other in read):
            raise KernelError(f"operand {one[0]} of {name} differs on both sides of the arrow; allowed: the same format and "
                              "dimensions for one that is updated in place")
    updated = {one[0] for one in read} & {one[0] for one in written}
    operands = [Operand(*one, _UPDATED if one[0] in updated else READ, _values_of(*one[:2], values, name)) for one in read]
    operands += [Operand(*one, _WRITTEN) for one in written if one[0] not in updated]
    for unknown in set(values) - {one[0] for one in read}:
        raise KernelError(f"values of {unknown!r}, which {name} does not read; allowed: {', '.join(one[0] for one in read)}")
    by_name = {operand.name: operand for operand in operands}
    return Signature(tuple(operands), tuple(by_name[one[0]] for one in written))
