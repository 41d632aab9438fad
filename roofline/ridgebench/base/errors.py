"""Exit codes, and errors of one line: what every module may raise."""

import errno
import os

from .text import one_line

# Exit codes; docs/commands.md lists them. STALE: --check found a page that is not current.
OK, STALE, USAGE, INTERRUPTED, REGRESSION, INCOMPARABLE, ROW_FAILED, DEVICE_LOST, INTERNAL = range(9)
UNDECIDED = INTERRUPTED


class CommandError(Exception):
    """Ends a command; the text is one line, `code` the exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


class RequestError(CommandError, ValueError):
    """An argument that a function of the package cannot take; the text is one line that says what is allowed."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(one_line(message), code)


def what_failed(error: Exception) -> str:
    """The text of an error; of one of the system the file and what is wrong with it, without its number."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def code_of(error: Exception) -> int:
    """The exit code of a command that this error ends."""
    if isinstance(error, OSError):
        return INTERRUPTED if error.errno == errno.ENOSPC else USAGE  # a full disk: what was finished is kept
    return getattr(error, "code", USAGE)
