"""Reads workloads, a line of JSON each: the sizes of the variable axes, and where each input comes from.

Sources of the form: docs/flashinfer-trace/workload.mdx of flashinfer-ai/flashinfer-bench, whose lines may have the workload
below a key of that name, and docs/workload.md of NVIDIA/SOL-ExecBench.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

from ridgebench.base.files import ResultsError, decoded, lines_of, parse_json
from ridgebench.base.text import quoted
from ridgebench.problems.definition import Definition

_KINDS = ("random", "scalar", "safetensors", "custom")
_LARGEST = 2**40  # kLargestSize of kernels/common/shape.hpp


@dataclass(frozen=True)
class Workload:
    """`found` is the object of the file, which a trace repeats."""

    uuid: str
    axes: dict[str, int]
    inputs: dict[str, dict[str, Any]]
    found: Mapping[str, Any]

    @property
    def fixed(self) -> list[str]:
        """The inputs whose values the workload states: they are the same in each launch."""
        return [name for name, entry in self.inputs.items() if entry["type"] in ("safetensors", "custom")]


def _axes(given: Any, definition: Definition, origin: str) -> dict[str, int]:
    sizes = given if isinstance(given, dict) else {}
    wanted = [name for name, text in definition.axes.items() if text is None]
    for name in wanted:
        size = sizes.get(name)
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _LARGEST:
            raise ResultsError(f"{origin}: axes.{name} is {quoted(size)}; allowed: a whole number from 1 to 2^40")
    found = {name: sizes[name] for name in wanted}
    try:
        every = definition.sizes(found)
    except ResultsError as error:
        raise ResultsError(f"{origin}: {error}") from None
    for name, size in sizes.items():
        if name not in every:
            raise ResultsError(f"{origin}: unknown axis {quoted(name)}; allowed: {', '.join(every)}")
        if size != every[name]:
            raise ResultsError(f"{origin}: axes.{name} is {quoted(size)}; allowed: {every[name]}, as the definition says")
    return found


def _input(name: str, entry: Any, definition: Definition, origin: str) -> dict[str, Any]:
    tensor = next(tensor for tensor in definition.inputs if tensor.name == name)
    kind = entry.get("type") if isinstance(entry, dict) else None
    if kind not in _KINDS:
        raise ResultsError(f"{origin}: inputs.{name}.type is {quoted(kind)}; allowed: {', '.join(_KINDS)}")
    if (kind == "scalar") != (tensor.shape is None):
        raise ResultsError(f"{origin}: inputs.{name} is {kind}; allowed: scalar for an input whose shape is null, and only there")
    if kind == "scalar" and not isinstance(entry.get("value"), (int, float)):
        raise ResultsError(f"{origin}: inputs.{name}.value is {quoted(entry.get('value'))}; allowed: a number")
    if kind == "custom" and definition.custom is None:
        raise ResultsError(f"{origin}: inputs.{name} is custom; allowed: a definition with custom_inputs_entrypoint")
    if kind == "safetensors" and not all(isinstance(entry.get(key), str) for key in ("path", "tensor_key")):
        raise ResultsError(f"{origin}: inputs.{name} lacks path or tensor_key; allowed: both, as texts")
    return entry


def _workload(found: Any, definition: Definition, origin: str) -> Workload:
    if isinstance(found, dict) and isinstance(found.get("workload"), dict):
        found = found["workload"]
    if not isinstance(found, dict) or not isinstance(found.get("inputs"), dict):
        raise ResultsError(f"{origin}: no workload; allowed: an object with uuid, axes and inputs")
    if not isinstance(found.get("uuid"), str) or not found["uuid"]:
        raise ResultsError(f"{origin}: uuid is {quoted(found.get('uuid'))}; allowed: a text")
    names = [tensor.name for tensor in definition.inputs]
    if set(found["inputs"]) != set(names):
        raise ResultsError(f"{origin}: inputs are {', '.join(map(quoted, found['inputs']))}; allowed: {', '.join(names)}")
    inputs = {name: _input(name, found["inputs"][name], definition, origin) for name in names}
    return Workload(found["uuid"], _axes(found.get("axes", {}), definition, origin), inputs, found)


def read_workloads(path: Path, definition: Definition) -> list[Workload]:
    """Raises ResultsError with one line that names the file and the line."""
    found = [_workload(parse_json(decoded(line, origin), origin), definition, origin)
             for origin, line in lines_of(path, "workloads")]
    if not found:
        raise ResultsError(f"{path}: it has no workload")
    uuids = [workload.uuid for workload in found]
    for uuid in uuids:
        if uuids.count(uuid) > 1:
            raise ResultsError(f"{path}: the workload {quoted(uuid)} comes twice")
    return found
