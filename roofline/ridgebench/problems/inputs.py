"""The inputs of a problem that a workload states, and the functions of its reference."""

import random
import sys
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Sequence

import numpy as np

from ridgebench.base.arithmetic import evaluate
from ridgebench.base.files import ResultsError
from ridgebench.problems.definition import Definition, Tensor, name_of
from ridgebench.problems.safetensors import read_tensor
from ridgebench.problems.tensors import in_own_type
from ridgebench.problems.workload import Workload


def dimension_sizes(definition: Definition, workload: Workload) -> dict[str, int]:
    """The dimensions of the operation, in lower case."""
    return {name_of(axis): definition.size_of(axis, workload.axes) for axis in definition.dimensions}


class Inputs:
    """Each process makes the same fixed inputs: those of files, and custom ones from a seed."""

    def __init__(self, folder: Path, definition: Definition, workloads: Sequence[Workload]) -> None:
        self.folder, self.definition, self.workloads = folder, definition, workloads
        self._made: dict[int, dict[str, Any]] = {}

    @cached_property
    def _module(self) -> ModuleType:
        module = ModuleType("reference of the problem")
        module.__file__ = str(self.folder / "reference.py")
        sys.modules[module.__name__] = module
        exec(compile(self.definition.reference, module.__file__, "exec"), module.__dict__)
        return module

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the reference. Raises what the reference raises while it is imported."""
        return getattr(self._module, name)

    def typed(self, given: Sequence[Any], tensors: Sequence[Tensor]) -> list[Any]:
        return [in_own_type(one, tensor, self.definition.uses_torch) for one, tensor in zip(given, tensors)]

    def fixed(self, index: int) -> dict[str, Any]:
        """The fixed inputs of a workload by name, in the library of the problem. Raises ResultsError."""
        if index not in self._made:
            if not 0 <= index < len(self.workloads):
                raise ResultsError(f"workload {index}; allowed: 0 to {len(self.workloads) - 1}")
            self._made[index] = self._make(index)
        return self._made[index]

    def fixed_bytes(self, index: int) -> float:
        """The bytes of the fixed inputs, each read once."""
        if not self.workloads[index].fixed:
            return 0
        return float(sum(_bytes(value) for value in self.fixed(index).values()))

    def _make(self, index: int) -> dict[str, Any]:
        workload, tensors = self.workloads[index], {tensor.name: tensor for tensor in self.definition.inputs}
        found: dict[str, Any] = {}
        custom = [name for name in workload.fixed if workload.inputs[name]["type"] == "custom"]
        if custom:
            made = self._custom(index, workload)
            found.update({name: made[name] for name in custom})
        for name in workload.fixed:
            entry = workload.inputs[name]
            if entry["type"] == "safetensors":
                found[name] = read_tensor(self.folder / entry["path"], entry["tensor_key"])
        typed = {name: in_own_type(value, tensors[name], self.definition.uses_torch) for name, value in found.items()}
        sizes = self.definition.sizes(workload.axes)
        for name, value in typed.items():
            wanted = tuple(int(evaluate(axis, sizes)) for axis in tensors[name].shape or ())
            if tuple(value.shape) != wanted:
                raise ResultsError(f"{self.folder}: {name} of workload {workload.uuid} has shape {tuple(value.shape)}; allowed: {wanted}")
        return typed

    def _custom(self, index: int, workload: Workload) -> dict[str, Any]:
        random.seed(index)
        np.random.seed(index)
        device: Any = "cpu"
        if self.definition.uses_torch:
            import torch

            torch.manual_seed(index)
            device = torch.device("cpu")
        scalars = {name: entry["value"] for name, entry in workload.inputs.items() if entry["type"] == "scalar"}
        return self.function(self.definition.custom or "")({**self.definition.sizes(workload.axes), **scalars}, device)


def _bytes(value: Any) -> int:
    return value.nbytes if isinstance(value, np.ndarray) else value.numel() * value.element_size()
