"""Reads a definition: axes, inputs, outputs and a reference, in the form that FlashInfer-trace and SOL-ExecBench share.

Sources of the form: docs/flashinfer-trace/definition.mdx of flashinfer-ai/flashinfer-bench, docs/definition.md of
NVIDIA/SOL-ExecBench.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional

from ridgebench.base.arithmetic import evaluate, names_in
from ridgebench.base.files import ResultsError, parse_json, read
from ridgebench.base.text import quoted

# Number types and the formats of the harness that hold them.
FORMATS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8_e4m3",
           "float8_e5m2": "fp8_e5m2", "int32": "int32", "int8": "int8", "bool": "bool"}
WORKLOAD = "workload"  # the attribute that chooses the workload of fixed inputs
_LONGEST_NAME = 64  # of an operation, kLongestName of harness/c/texts.cpp
_AXES = {"const": "value", "var": None, "expr": "expression"}


@dataclass(frozen=True)
class Tensor:
    """An input or an output. `shape` has names of axes; None is one number of Python."""

    name: str
    shape: Optional[tuple[str, ...]]
    dtype: str


@dataclass(frozen=True)
class Definition:
    """`axes`: the expression of each axis that is not variable, else None; all names are as in the file."""

    name: str
    op_type: str
    axes: dict[str, Optional[str]]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    reference: str
    custom: Optional[str]  # the function of the reference that makes custom inputs
    flops: Optional[str]  # an expression of axes: a key of ours

    @property
    def dimensions(self) -> list[str]:
        """The axes that are dimensions of the operation: the variable ones, or the constants where no axis is variable."""
        variable = [name for name, text in self.axes.items() if text is None]
        return variable or [name for name, text in self.axes.items() if text is not None and not names_in(text)]

    def size_of(self, axis: str, variable: Mapping[str, int]) -> int:
        """The size of an axis by the sizes of the variable axes. Raises ResultsError unless it is a whole number of at least 1."""
        text = self.axes[axis]
        if text is None:
            return variable[axis]
        try:
            size = evaluate(text, {name: self.size_of(name, variable) for name in names_in(text)})
        except ValueError as error:
            raise ResultsError(f"axes.{axis} of {self.name}: {error}") from None
        if size != int(size) or size < 1:
            raise ResultsError(f"axes.{axis} of {self.name}, {text}, is {size:g}; allowed: a whole number of at least 1")
        return int(size)

    def sizes(self, variable: Mapping[str, int]) -> dict[str, int]:
        """The sizes of all axes. Raises ResultsError."""
        return {axis: self.size_of(axis, variable) for axis in self.axes}

    def in_dimensions(self, text: str, within: tuple[str, ...] = ()) -> str:
        """An expression of axes as one of dimensions, whose names are in lower case. Raises ResultsError for a circle."""

        def replaced(match: re.Match[str]) -> str:
            axis = match[0]
            if axis in self.dimensions:
                return name_of(axis)
            if axis in within:
                raise ResultsError(f"axis {quoted(axis)} of {self.name} depends on itself; allowed: an expression of other axes")
            return f"({self.in_dimensions(self.axes[axis] or '', (*within, axis))})"

        return re.sub(r"[A-Za-z_]\w*", replaced, text)

    @property
    def uses_torch(self) -> bool:
        """True if the tensors are torch's, by the imports of the reference; else they are NumPy's."""
        tree = ast.parse(self.reference)
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        names = [alias.name for node in imports for alias in node.names] + [getattr(node, "module", None) or "" for node in imports]
        return any(name.split(".")[0] == "torch" for name in names)


def name_of(text: str) -> str:
    """A name that operations, dimensions and kernels may have: a-z, 0-9 and _, a letter first."""
    found = re.sub(r"[^a-z0-9_]+", "_", text.lower()).strip("_")
    found = found if found[:1].isalpha() else f"n{found}"
    return "axis_layout" if found == "layout" else found[:_LONGEST_NAME]


class _Reader:
    """Values of an object in a file, each checked."""

    def __init__(self, found: Any, origin: str) -> None:
        if not isinstance(found, dict):
            raise ResultsError(f"{origin} is {quoted(found)}; allowed: an object")
        self.found, self.origin = found, origin

    def text(self, key: str, default: Optional[str] = None) -> str:
        value = self.found.get(key, default)
        if not isinstance(value, str) or (not value and default is None):
            raise ResultsError(f"{self.origin}: {key} is {quoted(value)}; allowed: a text")
        return value

    def objects(self, key: str) -> dict[str, "_Reader"]:
        value = self.found.get(key)
        if not isinstance(value, dict) or not value:
            raise ResultsError(f"{self.origin}: {key} is {quoted(value)}; allowed: an object with an entry or more")
        return {name: _Reader(entry, f"{self.origin}: {key}.{name}") for name, entry in value.items()}


def _axis(axis: _Reader) -> Optional[str]:
    kind = axis.found.get("type")
    if kind not in _AXES:
        raise ResultsError(f"{axis.origin}: type is {quoted(kind)}; allowed: {', '.join(_AXES)}")
    if kind == "var":
        return None
    value = axis.found.get(_AXES[kind])
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if kind == "const" and not whole:
        raise ResultsError(f"{axis.origin}: value is {quoted(value)}; allowed: a whole number of at least 1")
    return str(value) if kind == "const" else axis.text("expression")


def _expression(text: str, axes: dict[str, Optional[str]], origin: str) -> str:
    try:
        unknown = set(names_in(text)) - set(axes)
    except ValueError as error:
        raise ResultsError(f"{origin}: {error}") from None
    if unknown:
        raise ResultsError(f"{origin}: unknown axis {quoted(sorted(unknown)[0])}; allowed: {', '.join(axes)}")
    return text


def _tensor(name: str, entry: _Reader, axes: dict[str, Optional[str]]) -> Tensor:
    shape = entry.found.get("shape", ())
    if shape is not None and not (isinstance(shape, list) and all(isinstance(axis, str) for axis in shape)):
        raise ResultsError(f"{entry.origin}: shape is {quoted(shape)}; allowed: a list of axes, or null for one number")
    for axis in shape or ():
        _expression(axis, axes, f"{entry.origin}: shape")
    return Tensor(name, None if shape is None else tuple(shape), entry.text("dtype"))


def _check_reference(source: str, entry: Optional[str], origin: str) -> None:
    try:
        functions = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ResultsError(f"{origin}: reference is not Python: {error}") from None
    for wanted in filter(None, ("run", entry)):
        if wanted not in functions:
            raise ResultsError(f"{origin}: reference has no function {wanted}; allowed: a top-level function of that name")


def _check_names(definition: Definition, origin: str) -> None:
    """Names of axes and numbers share the names of a shape, and tensors those of operands."""
    numbers = [tensor.name for tensor in definition.inputs if tensor.shape is None]
    for what, names in (("axes and scalar inputs", [*definition.axes, *numbers]),
                        ("inputs and outputs", [tensor.name for tensor in (*definition.inputs, *definition.outputs)])):
        found = [name_of(name) for name in names]
        found += [WORKLOAD] if what.startswith("axes") else []
        for name in names:
            if found.count(name_of(name)) > 1:
                raise ResultsError(f"{origin}: {what} have the name {quoted(name_of(name))} twice, in lower case; allowed: "
                                   "names that differ there")


def read_definition(path: Path) -> Definition:
    """Raises ResultsError with one line that names the file and the key."""
    origin = str(path)
    top = _Reader(parse_json(read(path, "a definition"), origin), origin)
    axes = {name: _axis(axis) for name, axis in top.objects("axes").items()}
    for name, text in axes.items():
        if text is not None:
            _expression(text, axes, f"{origin}: axes.{name}")
    inputs, outputs = (tuple(_tensor(name, entry, axes) for name, entry in top.objects(key).items()) for key in ("inputs", "outputs"))
    custom, flops = top.found.get("custom_inputs_entrypoint") or None, top.found.get("flops")
    found = Definition(top.text("name"), top.text("op_type", ""), axes, inputs, outputs, top.text("reference"),
                       custom if custom is None else top.text("custom_inputs_entrypoint"),
                       None if flops is None else _expression(str(flops), axes, f"{origin}: flops"))
    _check_reference(found.reference, found.custom, origin)
    _check_names(found, origin)
    for name, text in axes.items():
        found.in_dimensions(text or name, (name,) if text else ())  # refuses a circle
    return found
