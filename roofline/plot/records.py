"""Reads environment.json and records.jsonl, which results/schema describes."""

import json
import math
import sys
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Optional

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from .quick_schema import Check, compile_schema

SCHEMAS = Path(__file__).resolve().parents[2] / "results" / "schema"


class ResultsError(Exception):
    """Input that cannot be drawn; the text is one line that names file, line and key."""


@dataclass(frozen=True)
class Row:
    """The keys of a record that a figure needs, under their own names (SI base units)."""

    id: str
    op: str
    technique: str
    device: str
    origin: str
    role: str
    saturates: Optional[str]
    level: Optional[int]
    engine: str
    format: str
    arithmetic: str
    accumulator: str
    shape: dict[str, Any]
    regime: str
    status: str
    reason: Optional[str]
    flops: float
    bytes: float
    intensity_flop_per_byte: Optional[float]
    written_fraction: float
    time_median_s: Optional[float]
    time_p10_s: Optional[float]
    time_p90_s: Optional[float]
    flops_per_s: Optional[float]
    bytes_per_s: Optional[float]
    bound: Optional[str]
    fraction_of_measured_roof: Optional[float]
    roof: Optional[dict[str, Any]]
    verify: Optional[dict[str, Any]]
    dram_bytes: Optional[float] = None  # as a profiler counted them; in no record

    @property
    def drawable(self) -> bool:
        """A kernel row whose number was verified; only such a row becomes a point."""
        return self.role == "kernel" and self.status == "ok"

    @property
    def naive(self) -> bool:
        """The lecture's three lines, where every ladder begins."""
        return self.technique == "naive"

    @property
    def relative_error(self) -> Optional[float]:
        """Largest |output - reference| over its tolerance; None: not checked, or infinite."""
        return self.verify["error"] if self.verify else None

    @cached_property
    def series(self) -> tuple[str, str, str, str]:
        """One implementation over shape."""
        return (self.op, self.technique, self.format, str(self.shape.get("layout", "")))


KEYS = [field.name for field in fields(Row) if field.name != "dram_bytes"]


@dataclass(frozen=True)
class Run:
    environment: dict[str, Any]
    rows: list[Row]
    torn: bool  # the last line was cut off while being written


def clean(value: Any) -> Any:
    """Replaces what no figure file can hold: control characters and lone surrogates."""
    if isinstance(value, str):
        if value.isprintable():
            return value
        text = value.encode("utf-8", "replace").decode("utf-8")
        return "".join(c if c.isprintable() else " " for c in text)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


@cache
def schema(name: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


@cache
def quick_check(name: str) -> Check:
    return compile_schema(schema(name))


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


def reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parse(text: str, name: str, origin: str) -> dict[str, Any]:
    """One JSON object that obeys the schema, or a ResultsError that begins with origin.

    Its texts are those of the file: to be cleaned before they are shown.
    """
    try:
        value = json.loads(text, parse_constant=reject_constant)
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{origin}: not JSON: {error}") from None
    if not quick_check(name)(value):
        problem = best_match(validator(name).iter_errors(value))
        where = "".join(f"{key}: " for key in map(str, problem.absolute_path))
        raise ResultsError(f"{origin}: {clean(where + problem.message)[:200]}")
    return value


def read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise ResultsError(f"{path}: not found; is this a results directory?") from None
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from None


def require_finite(row: Row, origin: str) -> None:
    """Raises ResultsError for a number such as 1e999, which JSON allows and no double holds."""
    for key, value in vars(row).items():
        if isinstance(value, (int, float)) and not abs(value) <= sys.float_info.max:
            raise ResultsError(f"{origin}: {key} is beyond double precision")


def parse_rows(text: str, path: Path) -> tuple[list[Row], bool]:
    """All rows, and whether an unfinished last line was left out.

    A killed run may leave its last line without an end; every finished row is still good.
    A row measured again (a resumed run) replaces the earlier one of the same id.
    """
    *lines, rest = text.split("\n")
    torn = bool(rest.strip())
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            record = parse(line, "record", f"{path}:{number}")
            row = Row(**clean({key: record[key] for key in KEYS}))
            require_finite(row, f"{path}:{number}")
            rows[row.id] = row
    return list(rows.values()), torn


def read_counters(path: Path) -> dict[str, float]:
    """DRAM bytes by row, where scripts/counters.py measured them."""
    found = {}
    for number, line in enumerate(read(path).splitlines() if path.exists() else [], 1):
        try:
            told = json.loads(line, parse_constant=reject_constant)
            if told["dram_bytes"] is not None:
                found[str(told["id"])] = float(told["dram_bytes"])
                if not 0 < found[str(told["id"])] < math.inf:
                    raise ValueError("dram_bytes is no number above 0")
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ResultsError(f"{path}:{number}: no counters: {error!r}"[:300]) from None
    return found


def load_run(folder: Path) -> Run:
    """Reads a results directory; raises ResultsError for anything that is missing or malformed."""
    environment_path, records_path = folder / "environment.json", folder / "records.jsonl"
    environment = clean(parse(read(environment_path), "environment", f"{environment_path}:1"))
    rows, torn = parse_rows(read(records_path), records_path)
    if not rows:
        raise ResultsError(f"{records_path}: no finished record in it")
    counted = read_counters(folder / "counters.jsonl")
    rows = [replace(row, dram_bytes=counted[row.id]) if row.id in counted else row for row in rows]
    return Run(environment, rows, torn)
