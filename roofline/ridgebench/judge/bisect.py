"""The search for the commit that made a row slower: pure functions on commits and verdicts.

The commits are a line of history: number 0 is the good one, the last number the bad one. A loss L separates the two. A
commit between them is bad if it surely lost more than half of it, ln(1 + L) / 2, and good if it surely lost less. A
loss of several steps leads to the commit with which more than half of it had come.
"""

import math
from dataclasses import dataclass
from typing import Optional

from . import gate

GOOD, BAD, UNDECIDED, SKIPPED = "GOOD", "BAD", "UNDECIDED", "SKIPPED"
_SIDES = {gate.WORSE: BAD, gate.SAME: GOOD, gate.BETTER: GOOD}


@dataclass(frozen=True)
class CommitVerdict:
    """The facts on a commit. Changes are of time against the good commit, as shares; None if it was not timed."""

    verdict: str
    change: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None
    pairs: int = 0
    reason: Optional[str] = None


def halfway(change: float) -> float:
    """The loss, as a share, that lies halfway to this one on the scale of log ratios."""
    return math.expm1(math.log1p(change) / 2)


def side_of(verdict: str) -> str:
    """The side of a commit by the gate's verdict; SKIPPED for one that says nothing of its time."""
    return UNDECIDED if verdict == gate.UNDECIDED else _SIDES.get(verdict, SKIPPED)


def limits_of(tested: dict[int, CommitVerdict], last: int) -> tuple[int, int]:
    """The last commit that is good, and the first that is bad."""
    good = max((number for number, found in tested.items() if found.verdict == GOOD), default=0)
    bad = min((number for number, found in tested.items() if found.verdict == BAD), default=last)
    return good, bad


def next_commit(tested: dict[int, CommitVerdict], last: int) -> Optional[int]:
    """The untested commit nearest to the middle between the limits; None if none is left."""
    good, bad = limits_of(tested, last)
    left = [number for number in range(good + 1, bad) if number not in tested]
    return min(left, key=lambda number: (abs(2 * number - good - bad), number), default=None)


def error_rate(tests: int) -> float:
    """An upper bound of the probability that the search ends at a wrong commit: each test is wrong with ALPHA at most."""
    return min(1.0, tests * gate.ALPHA)
