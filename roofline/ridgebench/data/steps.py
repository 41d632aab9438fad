"""Reads step.jsonl, which `ridgebench step` wrote."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import ResultsError, decoded, lines_of
from ridgebench.base.text import clean

from .records import STEP_FILE, parse, read_environment

# Kinds of memory from the bottom of a picture to its top, and what a person calls them; the long-lived ones lie below.
KINDS = {
    "parameters": "parameters",
    "optimizer": "optimizer",
    "cache": "keys and values",  # of decoding, which has no optimizer
    "gradients": "gradients",
    "input": "input and labels",
    "loss": "loss",
    "output": "results",
    "activations": "activations",
    "activation_gradients": "gradients of activations",
}


@dataclass(frozen=True)
class Part:
    """The launches of a step that do the same for different layers, measured by themselves."""

    name: str
    phase: str
    operation: str
    time_s: float
    flops: float
    roof_s: Optional[float]
    sheet_s: Optional[float]


@dataclass(frozen=True)
class _Moment:
    """Live bytes while a launch runs, by kind, and their predicted sum; None in older records."""

    phase: str
    live: dict[str, int]
    predicted: Optional[int]


@dataclass(frozen=True)
class Step:
    """A measured step. Times are in seconds; a step that is not ok has none."""

    id: str
    record: dict[str, Any]
    parts: list[Part]
    timeline: list[_Moment]

    @property
    def ok(self) -> bool:
        return self.record["status"] == "ok"


@dataclass(frozen=True)
class StepFolder:
    folder: Path
    environment: dict[str, Any]
    steps: list[Step]


def holds_step(folder: Path) -> bool:
    return (folder / STEP_FILE).is_file()


def _step(record: dict[str, Any]) -> Step:
    parts = [Part(**{key: one[key] for key in Part.__dataclass_fields__}) for one in record["parts"]]
    timeline = [_Moment(one["phase"], one["live"], one.get("predicted_bytes")) for one in record["timeline"]]
    return Step(record["id"], record, parts, timeline)


def load_steps(folder: Path) -> StepFolder:
    """The steps of a results folder; raises ResultsError for what is missing or malformed."""
    environment = clean(read_environment(folder / "environment.json"))
    steps = [_step(clean(parse(decoded(line, origin), "step", origin))) for origin, line in lines_of(folder / STEP_FILE)]
    if not steps:
        raise ResultsError(f"{folder / STEP_FILE}: no step; allowed: a folder that `ridgebench step` wrote")
    return StepFolder(folder, environment, steps)
