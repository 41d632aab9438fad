"""A problem in a folder that `import problem` made: an operation, its reference as a kernel, and solutions as kernels.

The process that computes references imports this and the reference. The sources of a solution are imported by its first
launch, which only the process that launches makes.
"""

import sys
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Mapping, Sequence

from ridgebench.base.arithmetic import evaluate
from ridgebench.base.files import ResultsError
from ridgebench.base.text import quoted
from ridgebench.kernels.operation import Kernel, Operation, kernel, operation
from ridgebench.kernels.signature import Values, uniform
from ridgebench.problems.definition import FORMATS, WORKLOAD, Definition, Tensor, name_of, read_definition
from ridgebench.problems.inputs import Inputs, dimension_sizes
from ridgebench.problems.problem_files import DEFINITION, SOLUTION, WORKLOADS
from ridgebench.problems.solution import Solution, read_solution
from ridgebench.problems.tensors import as_numpy, in_double, number, results_of
from ridgebench.problems.work import flops_of, is_product, other_count, terms_of
from ridgebench.problems.workload import Workload, read_workloads

REFERENCE = "reference"  # the technique that is the problem's own reference
# The largest error of a solution relative to the norm of the reference, by the narrowest format of an output: exponentials
# in fp32, and four roundings of intermediate results to a narrow format. A comparison proves something below 0.5 only.
_ERRORS = {"fp64": 1e-12, "fp32": 1e-5, "fp16": 4 * 2.0**-11, "bf16": 4 * 2.0**-8, "fp8_e4m3": 4 * 2.0**-4, "fp8_e5m2": 3 * 2.0**-3}
_REFERENCE_ERROR = 0.4  # the reference is right by definition, in whatever type it computes
_INTEGERS = (-1024, 1024)  # of random int32 inputs, as both projects have them


def _returns(found: Any, outputs: Sequence[Tensor], places: Sequence[Any], exact: bool) -> None:
    """Copies what a function returned to the outputs of the harness; `exact`: only from the same types."""
    for output, place, result in zip(outputs, places, results_of(found, outputs)):
        shape = tuple(getattr(result, "shape", ()))
        if shape != tuple(place.shape):
            raise ValueError(f"it returned {output.name} of shape {shape}; allowed: {tuple(place.shape)}")
        if exact and getattr(result, "dtype", place.dtype) != place.dtype:
            raise TypeError(f"it returned {output.name} of type {result.dtype}; allowed: {place.dtype}")
        place[...] = result


@dataclass(frozen=True)
class Problem:
    """The contents of a folder."""

    folder: Path
    definition: Definition
    workloads: tuple[Workload, ...]

    @cached_property
    def inputs(self) -> Inputs:
        return Inputs(self.folder, self.definition, self.workloads)

    @property
    def numbers(self) -> list[Tensor]:
        return [tensor for tensor in self.definition.inputs if tensor.shape is None]

    @cached_property
    def fixed(self) -> list[Tensor]:
        """The inputs that workloads state, so that the harness does not fill them."""
        names = {name for workload in self.workloads for name in workload.fixed}
        return [tensor for tensor in self.definition.inputs if tensor.name in names]

    @property
    def fixed_note(self) -> str:
        """Names the tensors that no probe varies, because a solution gets the same ones in each launch; empty without any."""
        names = ", ".join(tensor.name for tensor in self.fixed)
        return names and (f"fixed by the workloads: {names}; no probe varies them, so that a solution may keep what it makes of them, and "
                          "its rows have the flag fixed_inputs")

    @cached_property
    def filled(self) -> list[Tensor]:
        return [tensor for tensor in self.definition.inputs if tensor.shape is not None and tensor not in self.fixed]

    @cached_property
    def operation(self) -> Operation:
        definition = self.definition
        flops = flops_of(definition)
        amounts = [self._amount(text) for text in (flops or "0", terms_of(definition))]
        known = [FORMATS[tensor.dtype] for tensor in (*self.filled, *definition.outputs)]
        case = next((one for one in known if one not in ("int32", "bool")), "fp32")
        return operation(
            name_of(definition.name), self._signature(), self._reference, flops=amounts[0], terms=amounts[1], formats=case,
            engine=self._engine, values=self._values(), attributes=self._attributes(),
            more_bytes=(lambda **named: self.inputs.fixed_bytes(int(named[WORKLOAD]))) if self.fixed else 0)

    @property
    def _engine(self) -> str:
        if flops_of(self.definition) is None:
            return "memory"
        return "tensor" if is_product(self.definition) else "fma"

    def _amount(self, text: str) -> Callable[..., float]:
        lowered = self.definition.in_dimensions(text)
        return lambda **sizes: float(evaluate(lowered, sizes))

    def _dimensions(self, tensor: Tensor) -> str:
        return ",".join(self.definition.in_dimensions(axis) for axis in tensor.shape or ())

    def _signature(self) -> str:
        texts = [f"{name_of(tensor.name)}:{FORMATS[tensor.dtype]}[{self._dimensions(tensor)}]"
                 for tensor in (*self.filled, *self.definition.outputs)]
        return ", ".join(texts[:len(self.filled)]) + " -> " + ", ".join(texts[len(self.filled):])

    def _values(self) -> Mapping[str, Values]:
        return {name_of(tensor.name): uniform(*_INTEGERS) for tensor in self.filled if tensor.dtype == "int32"}

    def _attributes(self) -> Mapping[str, float]:
        first = self.workloads[0].inputs
        found = {name_of(tensor.name): float(first[tensor.name]["value"]) for tensor in self.numbers}
        return {**found, **({WORKLOAD: 0} if self.fixed else {})}

    def shape(self, workload: Workload) -> str:
        """The text of the shape of a workload."""
        parts = [f"{name}:{size}" for name, size in dimension_sizes(self.definition, workload).items()]
        parts += [f"{name_of(tensor.name)}:{float(workload.inputs[tensor.name]['value'])!r}" for tensor in self.numbers]
        return "/".join(parts + ([f"{WORKLOAD}:{self.workloads.index(workload)}"] if self.fixed else []))

    def _arguments(self, given: list[Any], numbers: Mapping[str, float]) -> list[Any]:
        """The arguments of a function of the problem: the inputs in the order of the definition."""
        tensors = dict(zip((tensor.name for tensor in self.filled), given))
        fixed = self.inputs.fixed(int(numbers[WORKLOAD])) if self.fixed else {}
        return [number(tensor, numbers[name_of(tensor.name)]) if tensor.shape is None
                else tensors.get(tensor.name, fixed.get(tensor.name)) for tensor in self.definition.inputs]

    def _reference(self, *arrays: Any, **numbers: float) -> Any:
        """In double precision where the reference takes it, else in the types of the definition."""
        torch, run = self.definition.uses_torch, self.inputs.function("run")
        doubles = [in_double(array, tensor, torch) for array, tensor in zip(arrays, self.filled)]
        try:
            found = run(*self._arguments(doubles, numbers))
        except Exception:
            typed = self.inputs.typed(doubles, self.filled)
            found = run(*self._arguments(typed, numbers))
        results = [as_numpy(result) for result in results_of(found, self.definition.outputs)]
        return results[0] if len(results) == 1 else tuple(results)

    def kernel(self, name: str, function: Callable[..., Any], error: float) -> Kernel:
        wide = self.operation.formats[0] in ("fp32", "fp64")
        engine = "fma" if self._engine == "tensor" and wide else self._engine
        return kernel(self.operation, name=name, library="torch" if self.definition.uses_torch else "numpy", engine=engine,
                      arithmetic=self.operation.formats[0] if wide else None, error=error)(function)

    @property
    def reference_kernel(self) -> Kernel:
        """The reference, in the types of the definition, as a kernel that is timed."""

        def reference(*arrays: Any, **numbers: float) -> None:
            given, places = list(arrays[: len(self.filled)]), list(arrays[len(self.filled):])
            _returns(self.inputs.function("run")(*self._arguments(given, numbers)), self.definition.outputs, places, False)

        return self.kernel(REFERENCE, reference, _REFERENCE_ERROR)

    def solution_kernel(self, solution: Solution, folder: Path) -> Kernel:
        """A solution whose sources lie in `folder`. Its first launch imports them."""
        functions: list[Callable[..., Any]] = []

        def launch(*arrays: Any, **numbers: float) -> None:
            if not functions:
                functions.append(_imported(folder, solution))
            given, places = list(arrays[: len(self.filled)]), list(arrays[len(self.filled):])
            arguments = self._arguments(given, numbers)
            if solution.passes_outputs:
                functions[0](*arguments, *places)
            else:
                _returns(functions[0](*arguments), self.definition.outputs, places, True)

        formats = [FORMATS[output.dtype] for output in self.definition.outputs]
        name = name_of(solution.name)
        return self.kernel(f"solution_{name}" if name == REFERENCE else name, launch, max(_ERRORS.get(one, 0) for one in formats))


def _imported(folder: Path, solution: Solution) -> Callable[..., Any]:
    path = folder / solution.file
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(path.parent))
    exec(compile(solution.sources[solution.file], str(path), "exec"), module.__dict__)
    return getattr(module, solution.function)


def open_problem(folder: Path) -> Problem:
    """The problem that `import problem` wrote to a folder. Raises ResultsError."""
    definition = read_definition(folder / DEFINITION)
    found = Problem(folder, definition, tuple(read_workloads(folder / WORKLOADS, definition)))
    for workload in found.workloads:
        other_count(definition, definition.sizes(workload.axes))  # raises ResultsError for FLOPs that are not above 0
    if not found.filled:
        raise ResultsError(f"{folder}: every input is fixed, so that a solution could keep its answers; allowed: a workload with a "
                           "random input")
    for tensor in found.fixed:
        if random := [workload.uuid for workload in found.workloads if tensor.name not in workload.fixed]:
            raise ResultsError(f"{folder}: {tensor.name} is random in the workload {quoted(random[0])} and fixed in another; allowed: "
                               "one of both in all workloads of a file")
    for tensor in (*found.filled, *definition.outputs):
        if tensor.dtype not in FORMATS:
            raise ResultsError(f"{folder}: {tensor.name} is {tensor.dtype}; allowed: {', '.join(FORMATS)}, and any type of an input that "
                               "a workload states")
    return found


def checksum(folder: Path, solution: Path) -> str:
    """That of what a solution is measured with: definition, workloads and the solution itself."""
    whole = sha256()
    for file in (folder / DEFINITION, folder / WORKLOADS, solution):
        whole.update(sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def open_solution(folder: Path, sources: Path, checked: str) -> list[Kernel]:
    """The reference of a problem and a solution of it, as kernels. Raises ResultsError, also where a file changed."""
    if checksum(folder, sources / SOLUTION) != checked:
        raise ResultsError(f"{folder}: the problem or {SOLUTION} changed; allowed: `ridgebench run --solution` once more")
    problem, solution = open_problem(folder), read_solution(sources / SOLUTION)
    return [problem.reference_kernel, problem.solution_kernel(solution, sources)]
