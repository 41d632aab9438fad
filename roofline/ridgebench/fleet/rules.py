"""The rules of a fleet: what its owner wants of each model of GPU, in a file of JSON (docs/operate/fleet.md).

`ridgebench doctor --rules` checks the file and judges settings. The least rates of rows are judged here.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Iterator, Mapping

from ridgebench.base.command_line import CommandError
from ridgebench.base.files import parse_json, read
from ridgebench.base.text import quoted
from ridgebench.base.units import and_more, rate
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


def _pattern(path: Path, text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text.removeprefix("-"))
    except re.error as error:
        raise CommandError(f"{path}: rates of {quoted(text)}: {error}; allowed: a regular expression of ids") from None


def _slow_rows(gpu: Gpu, rates: Mapping[str, Mapping[str, float]], path: Path) -> Iterator[str]:
    """The rows below their least rates. Raises CommandError for a rule in another unit than the row's."""
    for text, rule in rates.items():
        pattern = _pattern(path, text)
        ((key, least),) = rule.items()
        for (pass_, row), reading in sorted(gpu.readings.items()):
            if reading.rate is None or reading.status != "ok" or bool(pattern.search(row)) == text.startswith("-"):
                continue
            if reading.unit != _UNITS[key]:
                other = next(name for name, unit in _UNITS.items() if unit == reading.unit)
                raise CommandError(f"{path}: rates of {quoted(text)} are {key}, and {row} has {reading.unit}; allowed: {other}")
            if reading.rate < least:
                yield f"{row} ({pass_}) has {_text(reading.rate, key)}, the rules want {_text(least, key)}"


def judge_rates(fleet: Fleet, rules: Mapping[str, Any], path: Path) -> Fleet:
    """The fleet, whose GPUs have a finding where rows are slower than the rules of their model allow."""
    gpus = []
    for gpu in fleet.gpus:
        of_model = rules.get(str(gpu.model), rules.get(_ANY_MODEL, {}))
        slow = list(_slow_rows(gpu, of_model.get("rates", {}), path))
        more = (Health(False, slow[0] + and_more(len(slow) - 1, "rows: ")),) if slow else ()
        gpus.append(replace(gpu, health=(*gpu.health, *more)))
    return replace(fleet, gpus=gpus)
