"""The tables of measured steps: a line for each step, for each of its parts, or for each launch with the memory that lives then.

The columns follow from results/schema/step.schema.json. A key ends in its unit. `run` is the folder's name and `device_model` the
device's model, because `model` is that of a decode step.
"""

from functools import cache
from typing import Any, Callable

from ridgebench.base.text import clean, cut
from ridgebench.data.records import schema_of, shape_text
from ridgebench.data.steps import KINDS, Step, StepFolder

from .table import Table, cells_of, columns_of, typed

_OF_FOLDER = {"run": "string", "device_model": "string"}
_OF_STEP = ("id", "step", "device", "format", "status")  # which tell the lines of several steps apart
_BY_HAND = ("schema", "techniques", "samples_s", "parts", "ceilings", "timeline", "flags")


@cache
def _properties() -> dict[str, Any]:
    return schema_of("step")["properties"]


@cache
def _part_properties() -> dict[str, Any]:
    return _properties()["parts"]["items"]["properties"]


def _step_columns() -> dict[str, str]:
    return _OF_FOLDER | columns_of(_properties(), _BY_HAND) | {"samples": "integer", "flags": "string"}


def _of_step() -> dict[str, str]:
    return _OF_FOLDER | columns_of({key: _properties()[key] for key in _OF_STEP}, ())


def _part_columns() -> dict[str, str]:
    own = columns_of(_part_properties(), ("shape",)).items()
    return _of_step() | {"part": "string", "shape": "string"} | {name: kind for name, kind in own if name != "name"}


def _memory_columns() -> dict[str, str]:
    counts = ("live_bytes", *(f"{kind}_bytes" for kind in KINDS), "predicted_bytes")
    return _of_step() | {"launch": "integer", "phase": "string"} | dict.fromkeys(counts, "integer")


def _step_cells(step: Step) -> list[dict[str, Any]]:
    record = step.record
    return [cells_of(record, _BY_HAND) | {"samples": len(record["samples_s"]), "flags": " ".join(record["flags"])}]


def _part_cells(step: Step) -> list[dict[str, Any]]:
    of_step = {key: step.record[key] for key in _OF_STEP}
    return [of_step | one | {"part": one["name"], "shape": shape_text(one["shape"])} for one in step.record["parts"]]


def _memory_cells(step: Step) -> list[dict[str, Any]]:
    of_step = {key: step.record[key] for key in _OF_STEP}
    nothing = {f"{kind}_bytes": 0 for kind in KINDS}
    return [
        of_step | nothing | {f"{kind}_bytes": count for kind, count in moment.live.items()}
        | {"launch": launch, "phase": moment.phase, "live_bytes": sum(moment.live.values()), "predicted_bytes": moment.predicted}
        for launch, moment in enumerate(step.timeline)
    ]  # fmt: skip


# The contents that --rows names: the columns, the lines of a step, and the columns for a page.
_TABLES: dict[str, tuple[Callable[[], dict[str, str]], Callable[[Step], list[dict[str, Any]]], tuple[str, ...]]] = {
    "parts": (_part_columns, _part_cells, ("part", "phase", "operation", "shape", "technique", "launches", "time_s", "roof_s")),
    "step": (_step_columns, _step_cells, ("id", "status", "time_s", "sum_of_operations_s", "sum_of_roofs_s", "mfu", "peak_bytes")),
    "memory": (_memory_columns, _memory_cells, ("launch", "phase", "live_bytes", *(f"{kind}_bytes" for kind in KINDS))),
}
ROWS = tuple(_TABLES)


def table_of(folders: list[StepFolder], rows: str) -> Table:
    """The steps of the folders, their parts or their memory. Raises ResultsError."""
    columns, cells, main = _TABLES[rows]
    lines = []
    for found in folders:
        models = {device["name"]: cut(device["model"]) for device in found.environment["devices"]}
        name = clean(found.folder.resolve().name)
        for step in found.steps:
            of_folder = {"run": name, "device_model": models.get(step.record["device"])}
            lines += [typed(of_folder | one, columns(), found.folder) for one in cells(step)]
    return Table(columns(), lines, main)
