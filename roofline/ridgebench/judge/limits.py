"""The limits of a gate: those of its preset, tolerances of single rows, and losses that are allowed.

A file states the latter two. It is TOML; a key is a regular expression that is searched in the names of rows, and the
first one that matches a row counts:

    [tolerance]
    "^BM_Sort/" = 0.03                                        # a share, or a text: "3 %"
    "/threads:" = { tolerance = "5 %", margin = "8 %" }
    [allow]
    "^BM_Parse" = { reason = "safer parser", until = 2027-03-31 }
"""

import datetime
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.command_line import CommandError
from ridgebench.base.files import ResultsError, parse_toml, read
from ridgebench.base.patterns import Pattern
from ridgebench.base.text import clean

from . import gate
from .report import ALLOWED, MISSING, Report, with_words

_FORGIVEN = (gate.WORSE, MISSING, gate.UNDECIDED)  # a row that went wrong is not
TOLERANCES = "tolerances.toml"  # of a machine, in the folder of its baseline
_SECTIONS = ("tolerance", "allow")
_TOLERANCE_KEYS, _ALLOW_KEYS = ("tolerance", "margin"), ("reason", "until")


@dataclass(frozen=True)
class _Tolerance:
    """The limits of the rows that match, as shares.

    Without a margin it lies as far above the tolerance as the preset's does.
    """

    pattern: Pattern
    tolerance: float
    margin: Optional[float] = None


@dataclass(frozen=True)
class _Allowance:
    """A loss that is known; until: the last day on which it is allowed."""

    pattern: Pattern
    reason: str
    until: Optional[datetime.date] = None

    @property
    def expired(self) -> bool:
        return self.until is not None and datetime.datetime.now(datetime.timezone.utc).date() > self.until


@dataclass(frozen=True)
class Limits:
    """The limits of a comparison; `pairs` is the most that it measures."""

    preset: str = "standard"
    pairs: int = gate.LOOKS[-1]
    ends: tuple[int, ...] = ()  # pairs after which the time of the session ended
    tolerances: list[_Tolerance] = field(default_factory=list)
    allowances: list[_Allowance] = field(default_factory=list)

    @property
    def looks(self) -> tuple[int, ...]:
        return gate.looks_within(self.pairs)

    @cached_property
    def of_most(self) -> gate.Preset:
        """The limits of rows that no tolerance names."""
        return replace(gate.PRESETS[self.preset], looks=self.looks, ends=self.ends)

    def of(self, name: str) -> gate.Preset:
        """The limits of a row."""
        preset = self.of_most
        found = first(self.tolerances, name)
        if found is None:
            return preset
        margin = found.margin or found.tolerance + preset.margin - preset.tolerance
        return replace(preset, tolerance=found.tolerance, margin=margin)

    def allow(self, report: Report) -> None:
        """Marks the rows of a report whose loss is allowed, and notes each rule that matches no row."""
        for row in report.rows:
            found = first(self.allowances, row.id)
            if found is None or row.verdict not in _FORGIVEN:
                continue
            if found.expired:
                row.reason = with_words(row.reason, f"its allowance ended on {found.until}")
                continue
            until = f" until {found.until}" if found.until else ""
            row.reason = with_words(f"{row.verdict}, allowed{until}: {found.reason}", row.reason or "")
            row.verdict = ALLOWED
        report.sort()
        for rule in (*self.tolerances, *self.allowances):
            if report.rows and not any(rule.pattern.search(row.id) for row in report.rows):
                report.notes.append(f"the tolerances name '{rule.pattern.text}', which matches no row")


def separating(name: str, share: float) -> Limits:
    """The limits of one row: surely above this share it is WORSE, surely below it SAME."""
    return Limits(tolerances=[_Tolerance(Pattern(f"^{re.escape(name)}$", "row"), share, share)])


def first(rules: list, name: str) -> Any:
    """The first rule that matches the name; None without one."""
    return next((rule for rule in rules if rule.pattern.search(name)), None)


def _share(value: Any, what: str) -> float:
    """A number or a text in per cent as a share. Raises ValueError."""
    number = value
    if isinstance(value, str) and value.rstrip().endswith("%"):
        try:
            number = float(value.rstrip()[:-1]) / 100
        except ValueError:
            pass
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < 1:
        raise ValueError(f"{what} is {value!r}; allowed: a share below 1, or a text such as '3 %'")
    return float(number)


def _require_known(keys: Any, allowed: tuple[str, ...], where: str) -> None:
    if not isinstance(keys, dict):
        raise ValueError(f"{where} is not a table; allowed: a table with {' and '.join(allowed)}")
    for key in keys:
        if key not in allowed:
            raise ValueError(f"{where} has the unknown key {key!r}; allowed: {', '.join(allowed)}")


def tolerance(pattern: str, value: Any) -> _Tolerance:
    """A line of [tolerance]. Raises ValueError."""
    if not isinstance(value, dict):
        return _Tolerance(Pattern(pattern, "tolerance of"), _share(value, f"the tolerance of {pattern!r}"))
    _require_known(value, _TOLERANCE_KEYS, f"tolerance of {pattern!r}")
    if "tolerance" not in value:
        raise ValueError(f"{pattern!r} has no tolerance")
    found = _share(value["tolerance"], f"the tolerance of {pattern!r}")
    margin = _share(value["margin"], f"the margin of {pattern!r}") if "margin" in value else None
    if margin is not None and margin <= found:
        raise ValueError(f"the margin of {pattern!r} is {margin:g}; allowed: more than its tolerance, {found:g}")
    return _Tolerance(Pattern(pattern, "tolerance of"), found, margin)


def _allowance(pattern: str, value: Any) -> _Allowance:
    """A line of [allow]. Raises ValueError."""
    _require_known(value, _ALLOW_KEYS, f"allow of {pattern!r}")
    reason, until = value.get("reason"), value.get("until")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"allow of {pattern!r} has no reason")
    if isinstance(until, datetime.datetime) or not isinstance(until, (datetime.date, type(None))):
        raise ValueError(f"until of {pattern!r} is {until!r}; allowed: a date, 2027-03-31 without quotes")
    return _Allowance(Pattern(pattern, "allow of"), reason, until)


def read_limits(path: Optional[Path], preset: str = "standard") -> Limits:
    """The limits with the rules of a file. Raises ResultsError, which names the file and the key."""
    if path is None:
        return Limits(preset)
    rules = parse_toml(read(path, "a file of tolerances"), str(path))
    try:
        _require_known(rules, _SECTIONS, "the file")
        for section in _SECTIONS:
            if not isinstance(rules.get(section, {}), dict):
                raise ValueError(f"{section} is not a table; allowed: [{section}] and lines below it")
        tolerances = [tolerance(*line) for line in rules.get("tolerance", {}).items()]
        allowances = [_allowance(*line) for line in rules.get("allow", {}).items()]
    except (CommandError, ValueError) as error:
        raise ResultsError(f"{path}: {clean(str(error))}") from None
    return Limits(preset, tolerances=tolerances, allowances=allowances)


def limits_for(path: Path, tolerances: Optional[Path], preset: str) -> Limits:
    """The limits for a baseline, by the file that is given, else by the one in its folder."""
    own = path.parent / TOLERANCES
    return read_limits(tolerances or (own if own.exists() else None), preset)
