"""Reads a student's answers and compares them with the right ones."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

from ridgebench.base.errors import USAGE, CommandError
from ridgebench.base.files import read
from ridgebench.base.text import quoted
from ridgebench.exchange.importers.units import BYTES, FLOPS, TIMES, find

from .questions import Question

_TOLERANCE = 0.02  # of the right number: an answer of two or three digits
_LINE = re.compile(r"(\d{1,4})\s*[:.)]\s*(.*)")
_NUMBER = re.compile(r"([+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(.*)")
_UNITS = {
    "B": BYTES | {unit.lower(): scale for unit, scale in BYTES.items()},  # a question about bytes does not mean bits by gb
    # The tables of importers have no plural, because a tool's GFLOPS is a rate.
    "FLOP": FLOPS | {f"{unit}s": scale for unit, scale in FLOPS.items() if unit.endswith("flop")},
    "s": TIMES | {"min": 60.0, "h": 3600.0},
    "days": {"day": 1.0, "days": 1.0, "d": 1.0},
    "FLOP/B": {f"{work}/{data}": 1.0 for work in ("flop", "flops") for data in ("b", "B", "byte", "bytes")},
    "": {"%": 0.01},
}


@dataclass(frozen=True)
class _Mark:
    """Points of an answer."""

    given: str  # empty if the sheet has no answer
    points: int
    why: str  # empty if the answer is right


def read_answers(path: Path) -> dict[int, str]:
    """The answers by number, from lines such as `3: 1.67 ms`. Raises CommandError for a line that is none of these."""
    answers: dict[int, str] = {}
    for number, line in enumerate(read(path, "a file of answers").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        found = _LINE.fullmatch(text)
        if not found:
            raise CommandError(f"{path}:{number}: {quoted(text)}; allowed: NUMBER: ANSWER, such as 3: 1.67 ms", USAGE)
        if int(found[1]) in answers:
            raise CommandError(f"{path}:{number}: question {int(found[1])} has a second answer; allowed: one", USAGE)
        answers[int(found[1])] = found[2].strip()
    return answers


def _value(text: str, unit: str) -> Optional[float]:
    """The number of an answer in the question's unit, which may be left out; None for another text."""
    found = _NUMBER.fullmatch(text)
    if not found:
        return None
    scale = 1.0 if not found[2] else find(_UNITS[unit], found[2])
    return None if scale is None else float(found[1].replace(",", "")) * scale


def _is_right(answer: Union[float, str], given: float) -> bool:
    return isinstance(answer, (int, float)) and abs(given - answer) <= _TOLERANCE * abs(answer)


def mark(question: Question, given: str) -> _Mark:
    """Compares an answer with the right one: a choice by its word, a number within _TOLERANCE."""
    if not given:
        return _Mark("", 0, "no answer")
    if question.choices:
        words = given.lower()
        if words not in question.choices:
            return _Mark(given, 0, f"allowed: {', '.join(question.choices)}")
        return _Mark(given, question.points, "") if words == question.answer else _Mark(given, 0, "wrong")
    value = _value(given, question.unit)
    if value is None:
        return _Mark(given, 0, f"allowed: a number in {question.unit}" if question.unit else "allowed: a number, also with %")
    return _Mark(given, question.points, "") if _is_right(question.answer, value) else _Mark(given, 0, "wrong")
