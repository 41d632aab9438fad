"""Regular expressions of users. Python's `re` backtracks: nested repeats may take longer than anyone waits.

Every search has a limit of processor time, which all searches with one expression share. The program's own filter is
RE2, which needs no limit.
"""

import re
import signal
from contextlib import contextmanager
from typing import Iterator, Optional

from .command_line import CommandError

LIMIT_S = 2.0  # of processor time: a million names with an expression that does not backtrack take less
_SHOWN = 100  # characters of an expression in a message


class _Late(Exception):
    """The limit has passed."""


@contextmanager
def _at_most(seconds: float) -> Iterator[list[float]]:
    """Raises _Late in the block after this processor time; puts what is left of it into the list.

    `re` looks for signals while it searches. Only the main thread receives them, and only commands search.
    """
    left = [0.0]

    def late(*_: object) -> None:
        raise _Late

    before = signal.signal(signal.SIGVTALRM, late)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            yield left
        finally:
            left[0] = signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0]
    finally:
        signal.signal(signal.SIGVTALRM, before)


class Pattern:
    """An expression, and the processor time that its searches may still take."""

    def __init__(self, text: str, what: str) -> None:
        """`what` opens the messages: "--filter". Raises CommandError for a text that is not a regular expression."""
        self.text = text
        self._shown = f"{what} {text[:_SHOWN]!r}{'...' * (len(text) > _SHOWN)}"
        self._left_s = LIMIT_S
        try:
            self._expression = re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise CommandError(f"{self._shown} is not a regular expression: {error}") from None
        self.groups = tuple(self._expression.groupindex)

    def search(self, name: str) -> Optional[re.Match]:
        """The first match in the name. Raises CommandError once all searches took longer than LIMIT_S."""
        try:
            with _at_most(self._left_s) as left:
                match = self._expression.search(name)
        except _Late:
            raise CommandError(
                f"{self._shown} takes more than {LIMIT_S:g} s to search; allowed: an expression without repeats within "
                "repeats, such as (a+)+"
            ) from None
        self._left_s = min(self._left_s, max(left[0], 1e-6))  # the system adds a tick to what is left
        return match
