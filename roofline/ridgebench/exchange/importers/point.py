"""Shared by the readers of foreign files: a point, and errors that name file and row."""

import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional

from ridgebench.base.files import ResultsError, parse_lenient
from ridgebench.base.text import quoted

# 1e-15 s to 1e9 s, and 1e-9 to 1e21 bytes or FLOPs: what is outside was read in a wrong unit.
_LEAST_TIME, _MOST_TIME, _LEAST_WORK, _MOST_WORK = 1e-15, 1e9, 1e-9, 1e21
MOST_SAMPLES = 100_000
LONGEST_NAME = 1000
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)  # no nan, no inf


@dataclass
class Point:
    """One measurement of another tool, in SI base units. What the tool did not say is None or empty."""

    origin: str  # file and place, which open every message
    name: str
    times_s: list[float]  # per launch
    is_mean: bool = False  # the time is a mean: the tool reports no median
    flops: Optional[float] = None
    bytes: Optional[float] = None
    counted: set[str] = field(default_factory=set)  # "flops", "bytes": what a profiler counted
    rates: dict[str, float] = field(default_factory=dict)  # "flops", "bytes": per second, beside the time or in its place
    operation: Optional[str] = None
    technique: Optional[str] = None
    format: Optional[str] = None
    shape: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)  # settings that the id has only if points of one id differ in them
    unread: dict[str, str] = field(default_factory=dict)  # cells of columns that --columns leaves out
    regime: str = "steady"
    device: int = 0


@dataclass
class Imported:
    """The points of a file, what it says of its devices, and its rows that are not points."""

    points: list[Point]
    models: dict[int, str] = field(default_factory=dict)  # name of a device by its number
    backend: Optional[str] = None  # "cpu" or "cuda", where the file says what it measured
    left_out: list[str] = field(default_factory=list)  # one line each
    notes: list[str] = field(default_factory=list)  # what makes all points doubtful

    def name_device(self, device: int, model: str, origin: str) -> None:
        """Names a device. Raises ResultsError if the file gave its number another name: its rows are of two devices."""
        known = self.models.setdefault(device, model)
        if known != model:
            raise bad(origin, f"device {device} is {quoted(model)}, and {quoted(known)} before; allowed: one model for a device in a file")

    @contextmanager
    def row(self) -> Iterator[None]:
        """Leaves a row out whose block raises a ResultsError: one bad row does not end a file."""
        try:
            yield
        except ResultsError as error:
            self.left_out.append(str(error))


class WrongForm(ResultsError):
    """A file that is not in a form which the reader of its tool takes. `import` names the options that write such a form."""


def bad(origin: str, what: str) -> ResultsError:
    return ResultsError(f"{origin}: {what}")


def document(text: str, origin: str) -> dict[str, Any]:
    """The object of a text in JSON. Raises ResultsError, and WrongForm for a text of another kind, such as a table."""
    try:
        return parse_lenient(text, origin)
    except ResultsError as error:
        raise error if text.lstrip()[:1] in ("{", "[") else WrongForm(str(error)) from None


def objects(value: dict, key: str, origin: str, optional: bool = False) -> list[dict]:
    """The list of objects at a key; an optional one may be absent or null. Raises ResultsError."""
    found = value.get(key)
    if optional and found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise bad(origin, f"{key} is not a list of objects")
    return found


def named(value: dict, key: str, origin: str) -> str:
    """The text at a key, which is not empty. Raises ResultsError."""
    name = value.get(key)
    if not isinstance(name, str) or not name:
        raise bad(origin, f"an entry without {key}")
    return name


def number(text: Any, origin: str, what: str) -> float:
    """A finite number of a text or a JSON number. Raises ResultsError."""
    if isinstance(text, str) and _NUMBER.fullmatch(text.strip()):
        text = float(text)
    if isinstance(text, bool) or not isinstance(text, (int, float)) or not abs(text) <= sys.float_info.max:
        raise bad(origin, f"{what} is {quoted(text)}; allowed: a number")
    return float(text)


def time(value: float, origin: str, what: str) -> float:
    if not _LEAST_TIME <= value <= _MOST_TIME:
        raise bad(origin, f"{what} is {value:g} s; allowed: {_LEAST_TIME:g} to {_MOST_TIME:g}")
    return value


def work(value: float, origin: str, what: str) -> float:
    if value != 0 and not _LEAST_WORK <= value <= _MOST_WORK:
        raise bad(origin, f"{what} is {value:g}; allowed: 0, or {_LEAST_WORK:g} to {_MOST_WORK:g}")
    return value


def whole(value: float) -> float:
    """The whole number next to a product of rate and time that differs from it only by rounding."""
    return float(round(value)) if abs(value - round(value)) <= 1e-9 * value else value


def device_number(value: Any, origin: str) -> int:
    text = str(value)
    if not re.fullmatch("[0-9]{1,3}", text):
        raise bad(origin, f"device is {quoted(text)}; allowed: 0 to 999")
    return int(text)


def size(value: Any) -> Optional[int]:
    """The value as a dimension of a shape; None if it is not a whole number from 1 to 2^40."""
    text = str(value)
    return int(text) if re.fullmatch(r"[0-9]{1,13}", text) and 1 <= int(text) <= 2**40 else None


def shape_of(axes: dict[str, Any]) -> dict[str, int]:
    """The axes of a benchmark that can be dimensions: names of letters and digits, sizes that are whole numbers."""
    sizes = {re.sub(r"\W+", "_", name).strip("_"): size(value) for name, value in axes.items()}
    return {name: value for name, value in sizes.items() if name and name != "layout" and value}
