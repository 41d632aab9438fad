"""Reads what a run wrote, environment.json, records.jsonl and counters.jsonl: the only reader in Python.

results/schema describes the files. Every problem is a ResultsError of one line that names file, line and key.
"""

import json
import math
import sys
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Callable, Mapping, Optional

from ridgebench.base.command_line import ROOT, ROW_FAILED, USAGE
from ridgebench.base.files import ResultsError, decoded, lines_of, malformed, parse_json, read, wrong
from ridgebench.base.text import clean

SCHEMAS = ROOT / "results" / "schema"
DUELS_FILE = "duels.jsonl"
STEP_FILE = "step.jsonl"
_OTHER_RESULTS = {DUELS_FILE: "duels", STEP_FILE: "a step", "soak.jsonl": "a soak"}  # files of a folder that is no run
SLACK = 1e-9  # of a number that follows from others: JSON keeps doubles to the last bit, another compiler rounds otherwise
BROKEN = ("wrong", "suspect", "invalid", "failed")  # statuses of rows that should have a time and have none, worst first


@dataclass(frozen=True)
class Row:
    """A record: the keys that a command needs, under their names (SI base units). One with a default may be absent."""

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
    time_ci_low_s: Optional[float]
    time_ci_high_s: Optional[float]
    time_p10_s: Optional[float]
    time_p90_s: Optional[float]
    flops_per_s: Optional[float]
    bytes_per_s: Optional[float]
    clock_hz: Optional[float]
    bound: Optional[str]
    mfu: Optional[float]
    fraction_of_roof_at_clock: Optional[float]
    fraction_of_measured_roof: Optional[float]
    roof: Optional[dict[str, Any]]
    verify: Optional[dict[str, Any]]
    telemetry: dict[str, Any]
    flags: list[str]
    burst: Optional[bool] = None
    cycles_median: Optional[float] = None
    early: Optional[bool] = None
    power_state: Optional[str] = None
    nvml_clock_excess_hz: Optional[float] = None
    isolated: Optional[bool] = None  # of an own kernel
    roof_unknown: Optional[str] = None
    choice: Optional[str] = None
    model_l2_to_sm_bytes: Optional[float] = None
    model_dram_bytes: Optional[float] = None
    fingerprint: Optional[str] = None
    held_back_by: Optional[str] = None
    loaded_from: Optional[str] = None
    early_unknown: Optional[str] = None
    raised: float = 1.0  # the keys of a judged row (docs/method/judged.md) from here: ridgebench.data.judged has them
    raised_by: Optional[str] = None
    is_roof: bool = False
    least_time_s: Optional[float] = None
    limited_by: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    cut_by_budget: bool = False
    served_by_cache: bool = False
    turns: Any = None  # what load_run's `turns_of` made of the samples
    dram_bytes: Optional[float] = None  # from counters.jsonl

    @property
    def drawable(self) -> bool:
        """A kernel row whose number was verified; only such a row becomes a point."""
        return self.role == "kernel" and self.status == "ok"

    @property
    def dram_over_model(self) -> Optional[float]:
        """What DRAM moved over what the technique's model expects at least."""
        return self.dram_bytes / self.model_dram_bytes if self.dram_bytes and self.model_dram_bytes else None

    @property
    def external(self) -> bool:
        """True if another tool measured the row; its status is then `unverified`."""
        return self.origin == "external"

    @property
    def case(self) -> str:
        """The id without the device."""
        return self.id.rpartition("@")[0] or self.id

    @property
    def naive(self) -> bool:
        """The technique in three lines that every ladder begins with."""
        return self.technique == "naive"

    @property
    def raiser(self) -> Optional[str]:
        """The row that raised this ceiling's roof; the ceiling raises its own if it was faster in a second look."""
        return "a second look" if self.raised_by == self.id else self.raised_by

    @property
    def rate(self) -> Optional[float]:
        """FLOP/s or, where a row has no FLOPs, bytes/s."""
        return self.flops_per_s or self.bytes_per_s

    def reading(self, key: str) -> Optional[float]:
        """A reading of the meters over the samples, such as power_w (docs/record.md); None if it is unknown or not above 0."""
        window = self.telemetry.get("window")
        found = window.get(key) if isinstance(window, dict) else None
        return found if type(found) in (int, float) and found > 0 else None

    @property
    def relative_error(self) -> Optional[float]:
        """Largest |output - reference| over its tolerance; None: not checked, or infinite."""
        return self.verify["error"] if self.verify else None

    @cached_property
    def series(self) -> tuple[str, str, str, str]:
        """One implementation over all its sizes."""
        return (self.op, self.technique, self.format, str(self.shape.get("layout", "")))


_COMPUTED = ("raised", "raised_by", "is_roof", "least_time_s", "limited_by", "doubted", "cut_by_budget", "served_by_cache", "turns",
             "dram_bytes")
KEYS = [f.name for f in fields(Row) if f.default is MISSING]
OPTIONAL_KEYS = [f.name for f in fields(Row) if f.default is not MISSING and f.name not in _COMPUTED]


@dataclass(frozen=True)
class Run:
    """A results directory; `torn`: the last line was cut off while it was written."""

    folder: Path
    environment: dict[str, Any]
    rows: list[Row]
    torn: bool
    judgement: Any = None  # of ridgebench.data.judged, where a command needs it

    @cached_property
    def by_id(self) -> dict[str, Row]:
        """The rows of a comparison: all but the ceilings that were measured again as a control."""
        return {row.id: row for row in self.rows if row.role != "control"}


@cache
def schema_of(name: str) -> dict[str, Any]:
    """The JSON schema of this name. A caller must not change it."""
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


_OF_A_BATCH = ("b", "lda", "ldb", "ldc")  # sizes that only some shapes of a product have


def of_a_batch(shape: Mapping[str, Any]) -> dict[str, Any]:
    """The batch and the leading dimensions of a product; of another shape none."""
    product = {"m", "n", "k"} <= shape.keys()
    return {name: shape[name] for name in _OF_A_BATCH if product and name in shape}


def named_sizes(shape: Mapping[str, Any]) -> str:
    """', b 8, lda 96' of a product and ', skew 1, empty 8' of attributes, which a size without names would confuse."""
    attributes = {name: value for name, value in shape.items() if isinstance(value, float)}
    return "".join(f", {name} {value:g}" for name, value in {**of_a_batch(shape), **attributes}.items())


def shape_text(shape: Mapping[str, Any]) -> str:
    """The text form of {"m": 4096, "n": 1024}. The number of an attribute may be whole."""
    return "/".join(f"{name}:{str(value).removesuffix('.0')}" for name, value in shape.items())


@cache
def validators(name: str) -> list[Callable[[Any], Any]]:
    """Functions that raise JsonSchemaValueException for a value that breaks the schema; none without fastjsonschema.

    The first one checks each key by itself, the second one the rules between keys.
    """
    try:
        import fastjsonschema
    except ModuleNotFoundError:
        print("ridgebench: fastjsonschema is missing; results are read unchecked (scripts/setup.sh installs it)",
              file=sys.stderr)
        return []
    keys = dict(schema_of(name))
    rules = {"allOf": keys.pop("allOf", [])}
    return [fastjsonschema.compile(keys), fastjsonschema.compile(rules)]


def _problem(error: Any) -> str:
    """The fault in a JsonSchemaValueException, with the keys that lead to it and the value."""
    value, allowed = repr(error.value)[:100], error.rule_definition
    if error.rule == "required":
        what = f"{next(key for key in allowed if key not in error.value)!r} is a required property"
    elif error.rule in ("type", "enum"):
        what = f"{value} is not {'of type' if error.rule == 'type' else 'one of'} {allowed!r}"
    else:
        what = f"{value} breaks the rule {error.rule} {allowed!r}"
    return "".join(f"{key}: " for key in error.path[1:]) + what


def parse(text: str, schema: str, origin: str) -> Any:
    """JSON that obeys the schema of this name, or a ResultsError that begins with `origin`.

    The texts in it are those of the file: clean() comes before they are shown.
    """
    value = parse_json(text, origin)
    try:
        for check in validators(schema):
            check(value)
    except ValueError as error:  # JsonSchemaValueException is one
        raise ResultsError(f"{origin}: {clean(_problem(error))[:200]}") from None
    return value


class Contradiction(ValueError):
    """Two keys of a record say different things, as `ridgebench verify` finds them."""

    code = ROW_FAILED


def require_equal(record: Mapping[str, Any], key: str, follows: float) -> None:
    """Raises Contradiction where a key is missing, or is not the number that follows from other keys."""
    if record[key] is None or not math.isclose(record[key], follows, rel_tol=SLACK):
        stated = "null" if record[key] is None else f"{record[key]:.10g}"
        raise Contradiction(f"{record['id']}: {key} is {stated}, but other values give {follows:.10g}")


def require_rates(record: Mapping[str, Any]) -> None:
    """Raises Contradiction where a rate of a timed row is not its work over its time; without work it may be null."""
    for rate, work in (("flops_per_s", "flops"), ("bytes_per_s", "bytes")):
        if record[work] or record[rate] is not None:
            require_equal(record, rate, record[work] / record["time_median_s"])


def _require_consistent(record: Mapping[str, Any]) -> None:
    """Raises Contradiction for a timed row whose rates do not follow, or whose interval has swapped bounds."""
    if record["status"] != "ok":
        return
    if not 0 < record["time_ci_low_s"] <= record["time_median_s"] <= record["time_ci_high_s"]:
        raise Contradiction(f"{record['id']}: time_ci_low_s, time_median_s and time_ci_high_s are not in this order, above 0")
    require_rates(record)


def _make_row(record: Any, origin: str) -> Row:
    """The row of a record. Raises ResultsError for a missing key, and Contradiction."""
    try:
        values = {key: record[key] for key in KEYS}
        values |= {key: record[key] for key in OPTIONAL_KEYS if key in record}
        row = Row(**clean(values))
        _require_consistent(record)
    except (KeyError, TypeError) as error:
        raise ResultsError(f"{origin}: not a record: {wrong(error)}") from None
    return row


def other_results(folder: Path) -> Optional[str]:
    """'duels' or 'a step' of a folder that holds these and no run; else None."""
    if (folder / "records.jsonl").exists():
        return None
    return next((holds for name, holds in _OTHER_RESULTS.items() if (folder / name).exists()), None)


def read_rows(path: Path, turns_of: Optional[Callable[[dict], Any]] = None) -> tuple[list[Row], bool]:
    """All finished rows, and whether an unfinished last line was left out.

    A killed run may leave its last line without an end. An id that comes twice is refused.
    """
    if holds := other_results(path.parent):
        raise ResultsError(f"{path.parent} holds {holds}; allowed: a folder that `ridgebench run` wrote")
    rows: dict[str, Row] = {}
    for origin, line in lines_of(path):
        if not line.endswith(b"\n"):
            return list(rows.values()), True
        try:
            record = parse(decoded(line, origin), "record", origin)
            row = _make_row(record, origin)
            if row.id in rows:
                raise ResultsError(f"{origin}: {row.id} comes twice")
            rows[row.id] = replace(row, turns=turns_of(record)) if turns_of else row
        except ValueError as error:  # Contradiction, and of turns_of
            raise ResultsError(f"{origin}: {error}", getattr(error, "code", USAGE)) from None
    return list(rows.values()), False


def read_counters(path: Path) -> dict[str, float]:
    """DRAM bytes by row, where `ridgebench counters` measured them."""
    found: dict[str, float] = {}
    seen: set[str] = set()
    for origin, line in lines_of(path) if path.exists() else []:
        counted = parse_json(decoded(line, origin), origin)
        try:
            if counted["id"] in seen:
                raise ResultsError(f"{origin}: {counted['id']} comes twice")
            seen.add(counted["id"])
            if counted["dram_bytes"] is not None:
                value = found[str(counted["id"])] = float(counted["dram_bytes"])
                if not 0 < value < math.inf:
                    raise ValueError("dram_bytes needs to be a number above 0")
        except (KeyError, TypeError, ValueError) as error:
            raise malformed(origin, error, "no counters") from None
    return found


def read_environment(path: Path) -> dict[str, Any]:
    """The object of an environment.json, as it is in the file."""
    return parse(read(path), "environment", f"{path}:1")


def date_of(environment: Mapping[str, Any]) -> str:
    """The day on which a run began, as 2026-11-22; empty if it is unknown."""
    return (environment["started"] or "")[:10]


def commit_of(environment: Mapping[str, Any], most: int = 7) -> str:
    """The first characters of the commit that a run was built from, or 'unknown'."""
    return (environment["commit"] or "unknown")[:most]


def load_run(folder: Path, turns_of: Optional[Callable[[dict, dict], Any]] = None) -> Run:
    """Reads a results directory; raises ResultsError for anything that is missing or malformed.

    `turns_of(record, environment)` keeps what a caller needs of the samples; a ValueError says what is wrong with them.
    """
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "not found"
        raise ResultsError(f"{folder}: {what}; allowed: a results directory")
    environment = clean(read_environment(folder / "environment.json"))
    path = folder / "records.jsonl"
    rows, torn = read_rows(path, partial(turns_of, environment=environment) if turns_of else None)
    if not rows:
        torn_hint = f"; its only line was cut off, `ridgebench run --resume {folder}` measures it" if torn else ""
        raise ResultsError(f"{path}: no finished record in it{torn_hint}")
    known = {device["name"] for device in environment["devices"]}
    for name in sorted({row.device for row in rows} - known):
        raise ResultsError(f"{folder / 'environment.json'}: devices lacks {name!r}, which has records")
    counted = read_counters(folder / "counters.jsonl")
    rows = [replace(row, dram_bytes=counted[row.id]) if row.id in counted else row for row in rows]
    return Run(folder, environment, rows, torn)
