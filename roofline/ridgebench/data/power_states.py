"""Two power states are two clocks: what is said where a comparison or a sum has times of both."""

from collections import Counter
from typing import Iterable, Optional

DIFFER = "power states differ"


def differ(states: Iterable[Optional[str]]) -> str:
    """'power states differ: capped 3, full_clock 2'; empty if the known ones are alike. A host has none."""
    known = Counter(state for state in states if state)
    found = ", ".join(f"{state} {count}" for state, count in sorted(known.items()))
    return f"{DIFFER}: {found}" if len(known) > 1 else ""
