"""Stored baselines: files that grow by a line per row and promoted run, and what they come from.

results/baselines/<model>/<driver branch>-<CUDA>/<machine>/<method version>.jsonl holds the rows of one machine. In a
baseline of a model, <machine> is `model`, the ids have no device, and each line names its machine. The file
`.environment.json` next to it holds what must agree.
"""

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional

import numpy as np

from ridgebench.base.command_line import INCOMPARABLE, CommandError
from ridgebench.base.files import ResultsError, decoded, lines_of, malformed, parse_json, read, write_at_once
from ridgebench.base.printers import json_text
from ridgebench.base.text import short
from ridgebench.base.units import counted
from ridgebench.data.doubts import cached
from ridgebench.data.records import Row, Run, read_environment
from ridgebench.judge.comparable import branch, device_entries, differences
from ridgebench.judge.judge import external_cause

from .known_bits import KnownBits, bits_of

_SCHEMA = "ridgebench.baseline/1"
FEWEST_RUNS = 10  # of a machine, or machines of a model, from which a new run is judged
OF_MODEL = "model"  # in place of the machine in a path
_SUFFIX = ".environment.json"
# Keys that may differ in a baseline of a model, whose runs come from several builds. The report notes them.
BUILDS = ("build.compiler", "build.flags", "build.cuda", "libraries")


class _Entry(NamedTuple):
    """A row of one run. machine, power_state and cached are None in the lines of an older baseline; a host has no state.

    bits: None for a row without a fingerprint. cached: caches may have served the row.
    """

    run_id: str
    started: str
    machine: Optional[str]
    seconds: float
    power_state: Optional[str] = None
    bits: Optional[KnownBits] = None
    cached: Optional[bool] = None


def slug(text: str) -> str:
    """A name as part of a path."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split()) or "unknown"


def machine_of(environment: dict[str, Any]) -> str:
    """Identifies what was measured: the GPU, several GPUs together, or the host."""
    hashes = sorted(device["uuid_hash"] for device in environment["devices"] if device["uuid_hash"])
    if len(hashes) > 1:
        return hashlib.sha256("".join(hashes).encode()).hexdigest()[:16]
    return hashes[0] if hashes else environment["host"]["hostname_hash"] or "unknown"


def _software_of(device: dict[str, Any]) -> str:
    if device["backend"] == "cpu":
        return "host"
    return f"{slug(branch('driver', device['driver']) or 'unknown')}-{device['cuda'] or 'unknown'}"


def _place(environment: dict[str, Any], machine: str) -> Path:
    """The path below results/baselines, by the first device."""
    device = environment["devices"][0]
    name = slug(device["model"] or "unknown")
    if device["backend"] == "cpu":
        name = f"{name}-{device['threads']}-threads"
    return Path(name) / _software_of(device) / slug(machine) / f"{environment['method_version']}.jsonl"


def environment_path(path: Path) -> Path:
    return path.with_suffix(_SUFFIX)


@dataclass(frozen=True)
class Baseline:
    """The entries of each row, and the environment with which a run must agree."""

    path: Path
    rows: dict[str, list[_Entry]]
    environment: dict[str, Any]

    @cached_property
    def of_model(self) -> bool:
        return not any("@" in name for name in self.rows)

    @cached_property
    def entries(self) -> list[_Entry]:
        return [entry for entries in self.rows.values() for entry in entries]

    def independent(self, name: str, state: Optional[str] = None, by_caches: Optional[bool] = None) -> list[_Entry]:
        """The entries of a row: of every run of a machine, of the newest run of each machine of a model.

        Those of one power state, where enough of them have it to judge by: two states are two clocks. by_caches: only those that
        caches may have served, or only the others.
        """
        entries = [entry for entry in self.rows[name] if None in (by_caches, entry.cached) or entry.cached == by_caches]
        if self.of_model:
            entries = list({e.machine: e for e in sorted(entries, key=lambda e: e.started)}.values())
        alike = [entry for entry in entries if entry.power_state == state]
        return alike if state is not None and len(alike) >= FEWEST_RUNS else entries

    def sample(self, name: str, state: Optional[str] = None, by_caches: Optional[bool] = None) -> np.ndarray:
        """The times of these entries, in seconds."""
        return np.array([entry.seconds for entry in self.independent(name, state, by_caches)])

    def bits(self, name: str) -> list[tuple[Optional[str], Optional[KnownBits]]]:
        """The machines and bits of a row's entries, the oldest first."""
        return [(entry.machine, entry.bits) for entry in sorted(self.rows[name], key=lambda entry: entry.started)]

    def origin(self) -> str:
        """Where the numbers come from, in words."""
        runs, machines = ({getattr(e, key) for e in self.entries} for key in ("run_id", "machine"))
        days = sorted(entry.started[:10] for entry in self.entries)
        device = self.environment["devices"][0]
        software = f", driver branch {branch('driver', device['driver'])}, CUDA {device['cuda']}" if device["driver"] else ""
        span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
        size = f"{counted(len(runs), 'run')} of {counted(len(machines), 'machine')}"
        return f"{size}{software}, method {self.environment['method_version']}, {span}"


def _entry_of(told: Any) -> tuple[str, _Entry]:
    """The row's name and the entry of a line. Raises KeyError, TypeError or ValueError."""
    seconds = told["time_median_s"]
    if told["schema"] != _SCHEMA or not 0 < seconds < math.inf:
        raise ValueError(f"not a line of {_SCHEMA}")
    machine, state, fingerprint, choice = (
        None if told.get(key) is None else str(told[key]) for key in ("machine", "power_state", "fingerprint", "choice")
    )
    bits = KnownBits(fingerprint, choice, str(told["program"])) if fingerprint else None
    by_caches = None if told.get("served_by_cache") is None else bool(told["served_by_cache"])
    return str(told["id"]), _Entry(str(told["run_id"]), str(told["started"]), machine, float(seconds), state, bits, by_caches)


def read_rows(path: Path) -> dict[str, list[_Entry]]:
    """The entries by row. Raises ResultsError."""
    rows: dict[str, list[_Entry]] = {}
    seen = set()
    for origin, line in lines_of(path, "a baseline"):
        told = parse_json(decoded(line, origin), origin)
        try:
            name, entry = _entry_of(told)
        except (KeyError, TypeError, ValueError) as error:
            raise malformed(origin, error) from None
        if (name, entry.run_id, entry.machine) in seen:
            raise ResultsError(f"{origin}: {name} of run {entry.run_id} comes twice")
        seen.add((name, entry.run_id, entry.machine))
        rows.setdefault(name, []).append(entry)
    if not rows:
        raise ResultsError(f"{path}: holds no row")
    return rows


def read_baseline(path: Path) -> Baseline:
    """Raises ResultsError."""
    return Baseline(path, read_rows(path), read_environment(environment_path(path)))


def _lines_of_rows(rows: list[Row], environment: dict[str, Any], machine: str) -> list[str]:
    """A line of the file per row that is ok."""
    same = {key: environment[key] for key in ("run_id", "started")} | {"machine": machine}
    kept = [row for row in rows if row.status == "ok" and external_cause(row) is None]
    lines = []
    for row in kept:
        bits = bits_of(row, environment)
        line = {"schema": _SCHEMA, "id": row.id} | same
        line |= {"time_median_s": row.time_median_s, "power_state": row.power_state, "served_by_cache": cached(row)}
        lines.append(json.dumps(line | (bits._asdict() if bits else {})))
    return lines


class _Part(NamedTuple):
    """Entries that a run adds to one baseline."""

    run: Run
    environment: dict[str, Any]
    rows: list[Row]


def device_parts(run: Run) -> Iterator[_Part]:
    """A part per device, whose rows have ids without the device."""
    for name, device in device_entries(run.environment).items():
        rows = [replace(row, id=row.case) for row in run.by_id.values() if row.device == name]
        yield _Part(run, run.environment | {"devices": [device]}, rows)


def _runs_in(path: Path) -> set[str]:
    """The runs that a baseline has; none before it exists."""
    return {entry.run_id for entries in read_rows(path).values() for entry in entries} if path.exists() else set()


def _require_new(runs: list[Run], known: set[str]) -> None:
    """Raises ResultsError for a run that a baseline has already, or that is given twice."""
    ids = [run.environment["run_id"] for run in runs]
    for run_id in ids:
        if run_id in known or ids.count(run_id) > 1:
            raise ResultsError(f"run {run_id} is in the baseline already or is given twice")


def _reference_of(path: Path, parts: list[_Part], allowed: tuple[str, ...]) -> dict[str, Any]:
    """The environment of a baseline. Raises CommandError for a part that differs in a key that must agree."""
    reference = read_environment(environment_path(path)) if path.exists() else parts[0].environment
    for part in parts:
        if hard := differences(named_alike(reference), named_alike(part.environment), list(allowed))[0]:
            raise CommandError(f"NOT_COMPARABLE: {part.run.folder}: {'; '.join(map(short, hard))}", INCOMPARABLE)
    return reference


def _add(path: Path, parts: list[_Part], reference: dict[str, Any]) -> None:
    """Adds parts to a baseline, or founds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = path.exists()
    if not known:
        write_at_once(environment_path(path), json_text(reference))
    before = read(path, "a baseline") if known else ""
    lines = [line for p in parts for line in _lines_of_rows(p.rows, p.environment, machine_of(p.environment))]
    write_at_once(path, before + "".join(f"{line}\n" for line in lines))


def named_alike(environment: dict[str, Any]) -> dict[str, Any]:
    """The environment; a single device gets a name without its index."""
    devices = environment["devices"]
    return environment | {"devices": [devices[0] | {"name": "device"}]} if len(devices) == 1 else environment


def promote_machine(runs: list[Run], root: Path) -> Path:
    """Adds runs to the baseline of their machine, or founds one with FEWEST_RUNS or more; returns its path."""
    machines = {machine_of(run.environment) for run in runs}
    if len(machines) > 1:
        raise ResultsError(f"the runs are of {len(machines)} machines; allowed: one, or --model for a baseline of the model")
    path = root / _place(runs[0].environment, *machines)
    known = _runs_in(path)
    _require_new(runs, known)
    if len(known) + len(runs) < FEWEST_RUNS:
        raise ResultsError(f"{counted(len(runs), 'run')}; a baseline needs {FEWEST_RUNS} or more; --model describes by fewer")
    parts = [_Part(run, run.environment, list(run.by_id.values())) for run in runs]
    _add(path, parts, _reference_of(path, parts, ()))
    return path


def promote_model(runs: list[Run], root: Path) -> list[Path]:
    """Adds runs, of any number and machines, to the baselines of their models; returns the paths."""
    places: dict[Path, list[_Part]] = {}
    for run in runs:
        for part in device_parts(run):
            places.setdefault(root / _place(part.environment, OF_MODEL), []).append(part)
    for path, parts in places.items():
        _require_new(list({id(part.run): part.run for part in parts}.values()), _runs_in(path))
    references = {path: _reference_of(path, parts, BUILDS) for path, parts in places.items()}
    for path, parts in places.items():
        _add(path, parts, references[path])
    return list(places)
