"""The rules of a fleet: what its owner wants of each model of GPU, in a file of JSON (docs/operate/fleet.md).

`ridgebench doctor --rules` checks the file and judges settings. The least rates of rows are judged here.
"""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Iterable, Iterator, Mapping

from ridgebench.base.command_line import CommandError
from ridgebench.base.files import parse_json, read
from ridgebench.base.patterns import Pattern
from ridgebench.base.text import quoted
from ridgebench.base.units import counted, rate
from ridgebench.data import program

from .gpu import Fleet, Gpu
from .health import Health

_ANY_MODEL = "*"
_UNITS = {"flops_per_s": "FLOP/s", "bytes_per_s": "byte/s"}


def read_rules(path: Path) -> dict[str, Any]:
    """The rules by model. Raises ResultsError with doctor's line for a file that it refuses."""
    with TemporaryDirectory() as scratch:  # doctor needs a GPU to judge
        made_up = Path(scratch) / "environment.json"
        made_up.write_text(json.dumps({"devices": [{"backend": "cuda", "name": "cuda:0"}]}), "utf-8")
        program.asked("doctor", "--recorded", str(made_up), "--rules", str(path))
    return dict(parse_json(read(path), str(path)))


def _text(value: float, key: str) -> str:
    return rate(value, _UNITS[key].replace("byte", "B"))


def _chosen(rates: Iterable[str], rows: Iterable[str], path: Path) -> dict[str, set[str]]:
    """The ids that each expression chooses; after a leading minus, those that it does not match. Raises CommandError."""
    known, found = set(rows), {}
    for text in rates:
        pattern = Pattern(text.removeprefix("-"), f"{path}: the key of rates")
        matched = {row for row in known if pattern.search(row)}
        found[text] = known - matched if text.startswith("-") else matched
    return found


def _slow_rows(gpu: Gpu, rates: Mapping[str, Mapping[str, float]], chosen: Mapping[str, set[str]], path: Path) -> Iterator[str]:
    """The rows below their least rates. Raises CommandError for a rule in another unit than the row's."""
    for text, rule in rates.items():
        ((key, least),) = rule.items()
        for (pass_, row), reading in sorted(gpu.readings.items()):
            if reading.rate is None or reading.status != "ok" or row not in chosen[text]:
                continue
            if reading.unit != _UNITS[key]:
                other = next(name for name, unit in _UNITS.items() if unit == reading.unit)
                raise CommandError(f"{path}: rates of {quoted(text)} are {key}, and {row} has {reading.unit}; allowed: {other}")
            if reading.rate < least:
                yield f"{row} ({pass_}) has {_text(reading.rate, key)}, the rules want {_text(least, key)}"


def _key_of(gpu: Gpu, rules: Mapping[str, Any]) -> str:
    """The key of the rules for a GPU; empty for a host, which has no rules."""
    if gpu.host:
        return ""
    return str(gpu.model) if str(gpu.model) in rules else _ANY_MODEL


def idle_rates(fleet: Fleet, rules: Mapping[str, Any], path: Path) -> list[str]:
    """A line for each least rate that chooses no row of the GPUs that have it, such as one with a misspelt id. Raises CommandError."""
    rows: dict[str, set[str]] = {}
    for gpu in fleet.gpus:
        rows.setdefault(_key_of(gpu, rules), set()).update(row for _, row in gpu.readings)
    every = [(model, text) for model, of_model in rules.items() if rows.get(model) for text in of_model.get("rates", {})]
    return [f"{path}: rates of {quoted(text)} choose no row of {'the GPUs' if model == _ANY_MODEL else quoted(model)}"
            for model, text in every if not _chosen([text], rows[model], path)[text]]


def absent_models(fleet: Fleet, rules: Mapping[str, Any], path: Path) -> list[str]:
    """A line for each model of the rules that no GPU is, where GPUs of another model have no rules of their own: a name may be misspelt."""
    models = {str(gpu.model) for gpu in fleet.gpus if not gpu.host}
    others = sorted(models - set(rules))
    return [f"{path}: no GPU of the fleet is {quoted(model)}; without rules of their own are {', '.join(map(quoted, others))}"
            for model in rules if others and model not in (*models, _ANY_MODEL)]


def judge_rates(fleet: Fleet, rules: Mapping[str, Any], path: Path) -> Fleet:
    """The fleet, whose GPUs have a finding where rows are slower than the rules of their model allow. A host has no rules."""
    rates = {model: of_model.get("rates", {}) for model, of_model in rules.items()}
    chosen = _chosen({text for of_model in rates.values() for text in of_model}, {row for gpu in fleet.gpus for _, row in gpu.readings}, path)
    gpus = []
    for gpu in fleet.gpus:
        slow = list(_slow_rows(gpu, rates.get(_key_of(gpu, rules), {}), chosen, path))
        rest = f"; {counted(len(slow) - 1, 'more row')} below the least rate" if len(slow) > 1 else ""
        more = (Health(False, slow[0] + rest),) if slow else ()
        gpus.append(replace(gpu, health=(*gpu.health, *more)))
    return replace(fleet, gpus=gpus)
