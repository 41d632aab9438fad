"""FLOPs and terms of a definition, as expressions of its axes. FLOPs are those that it states, or those of an operation of
this suite that its op_type names (docs/conventions.md, docs/step_operations.md). Otherwise they are unknown.
"""

from typing import Callable, Mapping, Optional

from ridgebench.base.arithmetic import evaluate
from ridgebench.base.files import ResultsError
from ridgebench.problems.definition import Definition, Tensor

# FLOPs for each element of the output, and the number of inputs, which have its shape.
_ELEMENTWISE = {"add": (1, 2), "relu": (1, 1), "gelu": (20, 1), "swiglu": (5, 2)}
_DOUBTED = 0.1  # as of an import's rows


def _product(axes: list[str]) -> str:
    return "*".join(f"({axis})" for axis in axes) or "1"


def _tensors(definition: Definition) -> list[Tensor]:
    return [tensor for tensor in definition.inputs if tensor.shape is not None]


def _gemm(d: Definition) -> Optional[str]:
    """2 for each product; scales and a bias of one axis do not count."""
    wide = [tensor for tensor in _tensors(d) if len(tensor.shape or ()) >= 2]
    if len(wide) != 2 or len(d.outputs) != 1:
        return None
    first, second, out = (list(tensor.shape or ()) for tensor in (*wide, d.outputs[0]))
    summed = [axis for axis in first if axis in second and axis not in out]
    plain = all(len(set(shape)) == len(shape) for shape in (first, second, out))
    if not plain or len(summed) != 1 or set(out) != {*first, *second} - {*summed}:
        return None
    return f"2*{_product([*out, *summed])}"


def _rmsnorm(d: Definition) -> Optional[str]:
    """4 for each element and 3 for each row."""
    tensors = _tensors(d)
    if len(tensors) != 2 or len(d.outputs) != 1:
        return None
    x, weight = (list(tensor.shape or ()) for tensor in tensors)
    if len(x) < 2 or weight != x[-1:] or list(d.outputs[0].shape or ()) != x:
        return None
    return f"4*{_product(x)} + 3*{_product(x[:-1])}"


def _softmax(d: Definition) -> Optional[str]:
    tensors = _tensors(d)
    if len(tensors) != 1 or len(d.outputs) != 1 or tensors[0].shape != d.outputs[0].shape:
        return None
    return f"5*{_product(list(tensors[0].shape or ()))}"


def _rope(d: Definition) -> Optional[str]:
    """3 for each element that is rotated."""
    shapes = [tensor.shape for tensor in _tensors(d)]
    if any(len(out.shape or ()) < 3 or out.shape not in shapes for out in d.outputs):
        return None
    return "3*(" + " + ".join(_product(list(out.shape or ())) for out in d.outputs) + ")"


def _attention_decode(d: Definition) -> Optional[str]:
    """Of one query for each sequence: 4 for each element of a head, and 5 for each score."""
    by_name = {tensor.name: list(tensor.shape or ()) for tensor in _tensors(d)}
    q, k, v = (by_name.get(name, []) for name in "qkv")
    if set(by_name) != {"q", "k", "v"} or len(q) != 3 or len(k) != 4 or k != v or list(d.outputs[0].shape or ()) != q:
        return None
    batch, heads, width = q
    tokens = [axis for axis in k if axis not in q]  # with fewer heads of the cache, nothing tells them from the tokens
    if {*k} != {batch, heads, width, *tokens} or len(tokens) != 1:
        return None
    return f"(4*({width}) + 5)*{_product([batch, heads, *tokens])}"


def _elementwise(d: Definition) -> Optional[str]:
    flops, inputs = _ELEMENTWISE[d.op_type]
    tensors = _tensors(d)
    if len(d.outputs) != 1 or len(tensors) != inputs or any(tensor.shape != d.outputs[0].shape for tensor in tensors):
        return None
    return f"{flops}*{_product(list(d.outputs[0].shape or ()))}"


_FORMULAS: dict[str, Callable[[Definition], Optional[str]]] = {
    "gemm": _gemm, "matmul": _gemm, "rmsnorm": _rmsnorm, "softmax": _softmax, "rope": _rope, "attention_decode": _attention_decode,
    **{name: _elementwise for name in _ELEMENTWISE},
}


def is_product(definition: Definition) -> bool:
    return _FORMULAS.get(definition.op_type) is _gemm and _gemm(definition) is not None


def flops_of(definition: Definition) -> Optional[str]:
    """None where they are unknown."""
    formula = _FORMULAS.get(definition.op_type)
    return definition.flops or (formula(definition) if formula else None)


def other_count(definition: Definition, sizes: Mapping[str, int]) -> Optional[tuple[float, float]]:
    """The FLOPs that a definition states and those of the suite's operation at these sizes of all axes, if they differ by a tenth.

    Raises ResultsError for stated FLOPs that are not above 0.
    """
    if definition.flops is None:
        return None
    formula = _FORMULAS.get(definition.op_type)
    own = formula(definition) if formula else None
    try:
        stated = float(evaluate(definition.flops, sizes))
    except ValueError as error:
        raise ResultsError(f"flops of {definition.name}: {error}") from None
    if not stated > 0:
        raise ResultsError(f"flops of {definition.name} are {stated:g}; allowed: a number above 0, or no key flops")
    right = float(evaluate(own, sizes)) if own else stated
    return (stated, right) if abs(stated - right) > _DOUBTED * right else None


def terms_of(definition: Definition) -> str:
    """The terms of a sum: the axes of inputs that no output has, and the last axes of inputs of two axes or more.

    That is too many where a last axis is not summed; the tolerance grows with the root.
    """
    kept = {axis for out in definition.outputs for axis in out.shape or ()}
    summed = [axis for tensor in _tensors(definition) for axis in tensor.shape or () if axis not in kept]
    last = [tensor.shape[-1] for tensor in _tensors(definition) if len(tensor.shape or ()) > 1]
    return _product([*dict.fromkeys(summed), *dict.fromkeys(axis for axis in last if axis not in summed)])
