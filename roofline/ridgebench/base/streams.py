"""Standard streams that work wherever they lead: any locale, nowhere, a pipe without a reader, a full disk."""

import codecs
import io
import logging
import os
import signal
import sys
import warnings

from . import memory
from .command_line import INTERNAL, INTERRUPTED, ROW_FAILED, CommandError, code_of, fail

_PLAIN = {"±": "+-", "µ": "u", "×": "x", "·": "*", "–": "-", "—": "-", "…": "...", "≤": "<=", "≥": ">=", "→": "->"}
_PLAIN |= dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", ("^0", "^1", "^2", "^3", "^4", "^5", "^6", "^7", "^8", "^9", "^-")))


def _plain(error: UnicodeError) -> tuple[str, int]:
    """An error handler of codecs: what represents characters that the stream's encoding lacks."""
    return "".join(_PLAIN.get(c, "?") for c in error.object[error.start : error.end]), error.end


def _keep_open() -> None:
    """Leads closed streams to nowhere: the next file that is opened would get their number, and what they print."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))


class _Notes(io.FileIO):
    """Standard error. A note that a full disk takes is lost, and the command goes on."""

    def write(self, data) -> int:  # type: ignore[no-untyped-def, override]
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[super().write(rest) or len(rest) :]  # None: a pipe that is full and does not wait
        except OSError:
            pass
        return len(data)


def prepare() -> None:
    """Prepares the streams of a command."""
    _keep_open()
    if sys.stderr is sys.__stderr__:  # and not what a test reads
        encoding = sys.stderr.encoding
        sys.stderr = io.TextIOWrapper(_Notes(2, "w", closefd=False), encoding, line_buffering=True, write_through=True)
    codecs.register_error("ridgebench.plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="ridgebench.plain")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as other programs: `| head -1` ends it without a word
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its notices of caches and fonts are no results of ours
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def lost(error: OSError, program: str) -> int:
    """The exit code of a command whose output could not be written, or that could not use a file."""
    if error.filename is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again at its end
    return fail(f"{error.filename or 'standard output'}: {error.strerror or error}", code_of(error), program)


ENDING = (CommandError, OSError, KeyboardInterrupt)  # what ends a command with a line of its own


def ended(error: BaseException, program: str, kept: str = "") -> int:
    """The exit code of a command that one of ENDING ends, after its line; `kept` says what an interruption leaves."""
    if isinstance(error, KeyboardInterrupt):
        return fail("; ".join(filter(None, ("interrupted", kept))), INTERRUPTED, program)
    return lost(error, program) if isinstance(error, OSError) else fail(str(error), code_of(error), program)


def unexpected(error: Exception, program: str) -> int:
    """The exit code of a command that another error ends, after its line: too little memory, or a mistake of this package."""
    lack = memory.lacking(error)
    if lack is not None:
        return fail(lack, ROW_FAILED, program)
    return fail(f"internal error: {type(error).__name__}: {error}", INTERNAL, program)


def finish(code: int, program: str) -> int:
    """The exit code of a command; another one if its output could not be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return lost(error, program)
    return code
