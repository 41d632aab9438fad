"""Shared by every comparison: its options, the files of its report, and its end after a failure."""

import argparse
import sys
from pathlib import Path
from typing import Callable, Optional

from ridgebench.base.command_line import fail
from ridgebench.base.files import ResultsError, write_named
from ridgebench.base.interruption import came
from ridgebench.base.printers import json_text
from ridgebench.base.streams import ENDING, ended, lost, unexpected
from ridgebench.base.text import short

from . import gate
from .comparable import ALLOWED
from .report import Report, text

MOST_MINUTES = 10080  # a week
_STDOUT = Path("-")  # --json without a file


def add_verdict_options(parser: argparse.ArgumentParser) -> None:
    """Adds what every comparison has that gives verdicts."""
    parser.add_argument("--preset", choices=sorted(gate.PRESETS), default="standard")
    add_report_options(parser)


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Adds what every comparison has: keys that may differ, and where its report goes."""
    add = parser.add_argument
    add("--allow-mismatch", action="append", default=[], choices=ALLOWED, metavar="KEY",
        help="compare although this key differs")
    add("--json", nargs="?", type=Path, const=_STDOUT, metavar="FILE",
        help="write the report as JSON; without FILE it is all that standard output gets")


def require_writable(path: Optional[Path]) -> None:
    """Raises ResultsError for a report that cannot be written, before anything is measured."""
    if path is None or path == _STDOUT:
        return
    known = path.exists()
    try:
        path.open("a", encoding="utf-8").close()
        if not known:
            path.unlink()
    except OSError as error:
        allowed = "allowed: a file in a folder that exists and that may be written"
        raise ResultsError(f"{path}: {error.strerror}; {allowed}") from None


def print_report(report: Report) -> None:
    sys.stdout.write(text(report))


def finish(
    make: Callable[[], Report], options: argparse.Namespace, program: str,
    show: Callable[[Report], None] = print_report, write: Callable[[Report], None] = lambda report: None,
    kept: str = "",
) -> int:
    """Makes, writes and shows a report; every failure is one line and its exit code.

    A report that cannot be written is shown all the same, and the larger exit code counts. `kept` says what an
    interruption leaves.
    """
    code = 0
    try:
        require_writable(options.json)
        report = make()
        document = json_text(report.as_json())
        try:  # first: showing it fails on a closed pipe
            write(report)
            if options.json not in (None, _STDOUT):
                write_named(options.json, document)
        except OSError as error:
            code = lost(error, program)
        if options.json == _STDOUT:
            sys.stdout.write(document)
        else:
            show(report)
    except ENDING as error:
        return ended(error, program, kept)
    except Exception as error:  # anything else: one line and the code that says so
        if came():
            return ended(KeyboardInterrupt(), program, kept)
        return unexpected(error, program)
    if report.not_comparable:
        why = "; ".join(map(short, report.not_comparable))
        return fail(f"NOT_COMPARABLE: {why} (--allow-mismatch KEY compares all the same)", report.exit_code, program)
    return max(report.exit_code, code)
