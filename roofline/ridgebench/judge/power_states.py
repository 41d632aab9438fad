"""The word on power states in the reason of a verdict."""

from typing import Iterable, Optional

from ridgebench.data.power_states import differ
from ridgebench.data.records import Row

from .report import with_words


def with_word(reason: Optional[str], rows: Iterable[Row]) -> Optional[str]:
    """The reason of a verdict, and after it that the rows differ in their power state. Other tools' readings have none."""
    return with_words(reason, differ(getattr(row, "power_state", None) for row in rows))
