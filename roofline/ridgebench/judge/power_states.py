"""Two power states are two clocks: what is said where a comparison or a mean has times of both."""

from collections import Counter
from typing import Iterable, Optional

from ridgebench.data.records import Row

from .report import with_words

DIFFER = "power states differ"


def differ(states: Iterable[Optional[str]]) -> str:
    """'power states differ: capped 3, full_clock 2'; empty if the known ones are alike. A host has none."""
    known = Counter(state for state in states if state)
    found = ", ".join(f"{state} {count}" for state, count in sorted(known.items()))
    return f"{DIFFER}: {found}" if len(known) > 1 else ""


def with_word(reason: Optional[str], rows: Iterable[Row]) -> Optional[str]:
    """The reason of a verdict, and after it that the rows differ in their power state. Other tools' readings have none."""
    return with_words(reason, differ(getattr(row, "power_state", None) for row in rows))
