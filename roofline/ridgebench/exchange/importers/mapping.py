"""The file of --map: what the points of a foreign file are.

    [[point]]
    name = 'gemm.*/(?P<m>[0-9]+)'   # a regular expression, searched in the point's name
    operation = "matmul"
    technique = "my_gemm"
    format = "bf16"
    shape = "m:{m}/n:4096/k:4096"    # {m}: a named group of the expression; also in operation, technique and format
    flops = "2*m*n*k"                # a number, or arithmetic on dimensions and groups; per launch
    bytes = 1e6

The first entry that matches counts. What it does not say stays as the foreign file has it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.arithmetic import evaluate
from ridgebench.base.files import parse_toml, read
from ridgebench.base.patterns import Pattern
from ridgebench.base.text import LONGEST_QUOTED, cut, quoted
from ridgebench.data.records import schema_of

from . import number_formats
from .point import Point, bad, size, work

_TEXTS = ("name", "operation", "technique", "format", "shape", "regime")
_FILLED = ("operation", "technique", "format", "shape")  # whose {places} are filled with groups of the name
_PLACE = re.compile(r"\{([^{}]*)\}")
_KEYS = (*_TEXTS, "flops", "bytes")
_RECORD = schema_of("record")["properties"]
_REGIMES = _RECORD["regime"]["enum"]
_LAYOUTS = _RECORD["shape"]["properties"]["layout"]["enum"]


@dataclass(frozen=True)
class _Entry:
    origin: str
    pattern: Pattern
    values: dict[str, Any]


def shape(text: str, origin: str) -> dict[str, Any]:
    """`m:64/n:64/k:64/layout:nt` as a dictionary. Raises ResultsError."""
    found: dict[str, Any] = {}
    for part in text.split("/"):
        name, _, value = part.partition(":")
        known = value in _LAYOUTS if name == "layout" else size(value) is not None
        if not known or not re.fullmatch(r"[A-Za-z]\w{0,59}", name) or name in found:
            raise bad(origin, f"shape {quoted(text)}; allowed: name:size with sizes from 1 to 2^40 joined by /, and "
                              f"layout:{'|'.join(_LAYOUTS)}")
        found[name] = value if name == "layout" else int(value)
    return found


def _amount(value: Any, names: dict[str, float], origin: str, what: str) -> float:
    """A number, or the value of an expression, per launch."""
    if isinstance(value, str):
        try:
            value = evaluate(value, names)
        except ValueError as error:
            raise bad(origin, f"{what}: {error}") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise bad(origin, f"{what} is {quoted(value)}; allowed: a number or arithmetic")
    return work(float(value), origin, what)


def entry(values: Any, origin: str) -> _Entry:
    if not isinstance(values, dict):
        raise bad(origin, "no table; allowed: [[point]] with keys")
    for key, value in values.items():
        if key not in _KEYS:
            raise bad(origin, f"unknown key {quoted(key)}; allowed: {', '.join(_KEYS)}")
        if key in _TEXTS and not isinstance(value, str):
            raise bad(origin, f"{key} is {quoted(value)}; allowed: a text")
    if values.get("regime", "steady") not in _REGIMES:
        raise bad(origin, f"regime is {quoted(values['regime'])}; allowed: {', '.join(_REGIMES)}")
    if "name" not in values:
        raise bad(origin, "name is missing: the regular expression that selects the points")
    pattern = Pattern(values["name"], f"{origin}: name")
    for key in _FILLED:
        _check_places(values.get(key, ""), pattern.groups, f"{origin}: {key}")
    if not _PLACE.search(values.get("format", "")) and number_formats.find(values.get("format", "fp32")) is None:
        raise bad(origin, f"unknown format {quoted(values['format'])}; allowed: {number_formats.allowed()}")
    return _Entry(origin, pattern, values)


def _check_places(text: str, groups: tuple[str, ...], what: str) -> None:
    """Raises ResultsError for a {place} that no group of the expression fills."""
    for name in _PLACE.findall(text):
        if name not in groups:
            allowed = ", ".join(f"{{{group}}}" for group in groups) or "none, as name has no group (?P<word>...)"
            raise bad(what, f"{{{cut(name, LONGEST_QUOTED)}}} is not a named group of name; allowed: {allowed}")
    if re.search("[{}]", _PLACE.sub("", text)):
        raise bad(what, f"{quoted(text)} has a brace without its pair")


def load(path: Optional[Path]) -> list[_Entry]:
    if path is None:
        return []
    table = parse_toml(read(path, "a map of points"), str(path))
    entries = table.pop("point", [])
    if table or not isinstance(entries, list) or not entries:
        raise bad(str(path), f"{', '.join(table)[:60] or 'nothing'} in it; allowed: tables [[point]]")
    return [entry(values, f"{path}: point {index}") for index, values in enumerate(entries, 1)]


def apply(point: Point, entries: list[_Entry]) -> tuple[Optional[_Entry], dict[str, str]]:
    """The first entry that matches a point's name, with the texts of its groups."""
    for one in entries:
        match = one.pattern.search(point.name)
        if match:
            return one, {key: value or "" for key, value in match.groupdict().items()}
    return None, {}


def fill(point: Point, one: _Entry, groups: dict[str, str]) -> None:
    """Adds to a point what an entry says. Raises ResultsError."""
    values = {**one.values, **{key: _PLACE.sub(lambda m: groups[m[1]], one.values[key]) for key in _FILLED if key in one.values}}
    for key in ("operation", "technique", "format", "regime"):
        setattr(point, key, values.get(key, getattr(point, key)))
    if "shape" in values:
        point.shape = shape(values["shape"], f"{one.origin}: {point.name[:100]}")
    sizes = {**point.shape, **{key: int(value) for key, value in groups.items() if size(value) is not None}}
    names = {key: float(value) for key, value in sizes.items() if key != "layout"}
    names = {**{key.lower(): value for key, value in names.items()}, **names}  # a column M is also the m of 2*m*n*k
    for key in ("flops", "bytes"):
        if key in values:
            setattr(point, key, _amount(values[key], names, one.origin, key))
            point.counted.discard(key)
            if point.times_s:
                point.rates.pop(key, None)  # follows from the count that the map replaces
