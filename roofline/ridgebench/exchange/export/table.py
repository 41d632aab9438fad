"""The tidy table of runs: one line per record, one column per key that holds a single value.

The columns follow from results/schema/record.schema.json in its order, so that every table has the same ones. A key
ends in its unit. `roof` and `verify` become columns of their own, the shape a text and its dimensions m, n, k.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Collection

from ridgebench.base.files import ResultsError
from ridgebench.base.text import clean, cut
from ridgebench.data.doubts import why_unfinished
from ridgebench.data.records import Run, load_run, schema_of, shape_text

_DIMENSIONS = ("m", "n", "k")  # of the built-in operations; a shape with others has them in its text
_BY_HAND = ("schema", "shape", "samples_s", "clocks_hz", "telemetry", "flags")
_MAIN = ("op", "technique", "format", "shape", "regime", "device", "origin", "status", "time_median_s",
         "flops_per_s", "bytes_per_s", "fraction_of_measured_roof", "mfu")
_Value = Any  # str, float, int, bool or None


@dataclass(frozen=True)
class Table:
    """Lines of cells by the name of their column. columns: the kind of each, string, number, integer or boolean."""

    columns: dict[str, str]
    rows: list[dict[str, _Value]]
    main: tuple[str, ...]  # the columns that a page has room for; CSV and Parquet have every one


def _kind(schema: dict[str, Any]) -> str:
    """string, number, integer or boolean; empty for a list or an object."""
    if "enum" in schema:
        return "string"
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    name = next(one for one in names if one != "null")
    return name if name in ("string", "number", "integer", "boolean") else ""


def columns_of(properties: dict[str, Any], by_hand: Collection[str]) -> dict[str, str]:
    """The name and the kind of each single value in a schema's properties, and of those in an object of it."""
    found: dict[str, str] = {}
    for key, schema in properties.items():
        if key not in by_hand:
            parts = {f"{key}_{inner}": part for inner, part in schema.get("properties", {}).items()}
            inner = {key: schema} if _kind(schema) else parts
            found |= {name: _kind(one) for name, one in inner.items() if _kind(one)}
    return found


def cells_of(record: dict[str, Any], by_hand: Collection[str]) -> dict[str, _Value]:
    """The values of a record by the names of columns_of()."""
    cells: dict[str, _Value] = {}
    for key, value in record.items():
        if isinstance(value, dict) and key not in by_hand:
            cells |= {f"{key}_{inner}": one for inner, one in value.items()}
        elif key not in by_hand:
            cells[key] = value
    return cells


def typed(cells: dict[str, _Value], columns: dict[str, str], origin: Any) -> dict[str, _Value]:
    """A line of a table with these columns. Raises ResultsError, which names `origin`, for a number that no double holds."""
    try:
        return {name: _typed(cells.get(name), wanted) for name, wanted in columns.items()}
    except OverflowError:
        raise ResultsError(f"{origin}: holds a number beyond double precision") from None


@cache
def columns() -> dict[str, str]:
    """The name of each column and its kind."""
    found = {"run": "string", "model": "string"}
    properties = schema_of("record")["properties"]
    for key, schema in properties.items():
        if key == "shape":
            found |= {"shape": "string", **{f"shape_{name}": "integer" for name in _DIMENSIONS}}
        elif key == "samples_s":
            found["samples"] = "integer"
        elif key == "flags":
            found |= {"flags": "string", "doubted": "boolean", "unfinished": "boolean"}
        else:
            found |= columns_of({key: schema}, _BY_HAND)
    return found


def _cells(record: dict[str, Any], run: str, model: Any, environment: dict[str, Any]) -> dict[str, _Value]:
    """The cells of a record by their columns. Whether a roof moved is null of an older run, which does not record it."""
    doubted = environment.get("doubted")
    cells = {"run": run, "model": model, "shape": shape_text(record["shape"]), "samples": len(record["samples_s"])}
    cells |= {f"shape_{name}": record["shape"].get(name) for name in _DIMENSIONS}
    cells |= {"flags": " ".join(record["flags"]), "doubted": None if doubted is None else record["id"] in doubted}
    cells["unfinished"] = bool(why_unfinished(environment))
    return cells | cells_of(record, _BY_HAND)


def _typed(value: Any, wanted: str) -> _Value:
    if value is None:
        return None
    return {"number": float, "integer": int, "string": str, "boolean": bool}[wanted](value)


def load(folder: Path) -> Run:
    """A run whose rows have their records in `turns`. Raises ResultsError."""
    return load_run(folder, turns_of=lambda record, environment: record)


def table_of(runs: list[Run]) -> Table:
    """All records of runs of load(). Raises ResultsError."""
    rows = []
    for run in runs:
        models = {device["name"]: cut(device["model"]) for device in run.environment["devices"]}
        name = clean(run.folder.resolve().name)
        cells = (_cells(clean(row.turns), name, models.get(row.device), run.environment) for row in run.rows)
        rows += [typed(one, columns(), run.folder) for one in cells]
    main = _MAIN + ("power_state",) * any(row["power_state"] for row in rows)  # a host has none, and two of a GPU are two clocks
    return Table(columns(), rows, main)
