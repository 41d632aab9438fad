"""The states of a GPU in a report: severities, exit codes, and what stands behind a verdict."""

from dataclasses import dataclass, field
from typing import NamedTuple, Optional

from ridgebench.base.command_line import INCOMPARABLE, INTERRUPTED, OK, REGRESSION, ROW_FAILED

from ..gpu import DUPLICATE, FAILED, MISSING, STALE, STARTED, Gpu

INFO, WARN, FAIL = "INFO", "WARN", "FAIL"
# States that a comparison adds to those of the files. FINE replaces DONE.
FINE, SLOW, FAST, WRONG, NOT_COMPARABLE = "OK", "SLOW", "FAST", "WRONG", "NOT_COMPARABLE"
UNHEALTHY, INCOMPLETE = "UNHEALTHY", "INCOMPLETE"  # by doctor or by what the rows recorded; rows are absent
# Gravest first: the exit code that a state leads to, and its severity. SLOW, FAST and UNHEALTHY have two of each (code_of).
STATES = {
    WRONG: (ROW_FAILED, FAIL),
    FAILED: (ROW_FAILED, FAIL),
    STARTED: (ROW_FAILED, FAIL),
    UNHEALTHY: (ROW_FAILED, FAIL),
    MISSING: (REGRESSION, FAIL),
    INCOMPLETE: (REGRESSION, WARN),
    DUPLICATE: (INCOMPARABLE, WARN),
    STALE: (INCOMPARABLE, WARN),
    NOT_COMPARABLE: (INCOMPARABLE, WARN),
    SLOW: (REGRESSION, WARN),
    FAST: (OK, INFO),
    FINE: (OK, INFO),
}
SLOW_ONCE = INTERRUPTED  # the code of a slow GPU that was not measured again: undecided
_MILD = {UNHEALTHY: REGRESSION, FAST: INCOMPARABLE}  # the codes of these states with severity WARN
_AGAIN = (FAILED, STARTED, MISSING, INCOMPLETE, STALE, DUPLICATE, WRONG)  # a further attempt may change these states


class Mark(NamedTuple):
    """A GPU in a column. ratio: to the median of its peers; sheet: share of the data sheet, NaN if unknown."""

    column: int
    ratio: float
    z: float
    sheet: float


@dataclass
class Verdict:
    """The report's verdict on a GPU. slow: the columns that decide; worst: the lowest column, of any GPU that is judged."""

    gpu: Gpu
    state: str
    severity: str
    reason: str = ""
    next: str = ""
    worst: Optional[Mark] = None
    slow: list[Mark] = field(default_factory=list)
    confirmed: bool = False
    of_node: bool = False  # slow only as its whole node is
    notes: list[str] = field(default_factory=list)


def code_of(verdict: Verdict) -> int:
    if verdict.severity == WARN and verdict.state in _MILD:
        return _MILD[verdict.state]
    return SLOW_ONCE if verdict.state == SLOW and not verdict.confirmed else STATES[verdict.state][0]


def measured_again(verdict: Verdict) -> bool:
    """True if `fleet submit --again` measures the GPU."""
    return verdict.state in _AGAIN or (verdict.state == SLOW and not verdict.confirmed)
