"""The tidy table of results: one line per record, one column per key that holds a single value.

The columns follow from results/schema/record.schema.json in its order, so that every table has the same ones. A key
ends in its unit. `roof` and `verify` become columns of their own, the shape a text and its dimensions m, n, k.
"""

from functools import cache
from pathlib import Path
from typing import Any

from ridgebench.doubts import why_unfinished
from ridgebench.files import ResultsError
from ridgebench.records import Run, load_run, schema_of, shape_text
from ridgebench.text import clean, cut

_DIMENSIONS = ("m", "n", "k")  # of the built-in operations; a shape with others has them in its text
_BY_HAND = ("schema", "shape", "samples_s", "clocks_hz", "telemetry", "flags")
_Value = Any  # str, float, int, bool or None


def _kind(schema: dict[str, Any]) -> str:
    """string, number, integer or boolean; empty for a list or an object."""
    if "enum" in schema:
        return "string"
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    name = next(one for one in names if one != "null")
    return name if name in ("string", "number", "integer", "boolean") else ""


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
        elif key not in _BY_HAND:
            parts = {f"{key}_{inner}": part for inner, part in schema.get("properties", {}).items()}
            inner = {key: schema} if _kind(schema) else parts
            found |= {name: _kind(one) for name, one in inner.items() if _kind(one)}
    return found


def _line(record: dict[str, Any], run: str, model: Any, environment: dict[str, Any]) -> dict[str, _Value]:
    """The cells of a record by their columns. Whether a roof moved is null of an older run, which does not record it."""
    doubted = environment.get("doubted")
    cells = {"run": run, "model": model, "shape": shape_text(record["shape"]), "samples": len(record["samples_s"])}
    cells |= {f"shape_{name}": record["shape"].get(name) for name in _DIMENSIONS}
    cells |= {"flags": " ".join(record["flags"]), "doubted": None if doubted is None else record["id"] in doubted}
    cells["unfinished"] = bool(why_unfinished(environment))
    for key, value in record.items():
        if isinstance(value, dict) and key not in _BY_HAND:
            cells |= {f"{key}_{inner}": one for inner, one in value.items()}
        elif key not in _BY_HAND:
            cells[key] = value
    return {name: _typed(cells.get(name), wanted) for name, wanted in columns().items()}


def _typed(value: Any, wanted: str) -> _Value:
    if value is None:
        return None
    return {"number": float, "integer": int, "string": str, "boolean": bool}[wanted](value)


def load(folder: Path) -> Run:
    """A run whose rows have their records in `turns`. Raises ResultsError."""
    return load_run(folder, turns_of=lambda record, environment: record)


def lines(run: Run) -> list[dict[str, _Value]]:
    """All records of a run of load(). Raises ResultsError."""
    models = {device["name"]: cut(device["model"]) for device in run.environment["devices"]}
    name = clean(run.folder.resolve().name)
    try:
        return [_line(clean(row.turns), name, models.get(row.device), run.environment) for row in run.rows]
    except OverflowError:
        raise ResultsError(f"{run.folder}: holds a number beyond double precision") from None
