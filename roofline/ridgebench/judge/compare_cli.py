"""Describes two stored runs: the differences of one device, or any two side by side. `ridgebench gate` judges."""

import argparse
import sys
from pathlib import Path

from ridgebench.base.command_line import OK, CommandError, Parser, fail
from ridgebench.base.files import ResultsError
from ridgebench.data.records import load_run

from .consistent import load
from .output import add_report_options, finish
from .report import Report
from .side_by_side import side_by_side
from .stored_runs import describe
from .stored_files import describe_files, is_stored

_PROGRAM = "compare"


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog=_PROGRAM, description=__doc__)
    parser.add_argument("results", nargs=2, type=Path, metavar="DIR", help="results: baseline, candidate; a "
        "folder of ridgebench run, a JSON file of Google Benchmark or nvbench, or a folder of such files, one a process")
    parser.add_argument("--describe", action="store_true", help="print them side by side; they may be of two devices")
    add_report_options(parser)
    options = parser.parse_args(arguments)
    if options.describe and (options.json or options.allow_mismatch):
        parser.error("--describe takes two results directories and no other option")
    return options


def _show_both(folders: list[Path]) -> int:
    """Prints two runs side by side: no verdict, so any two may be given."""
    try:
        sys.stdout.write(side_by_side(*map(load_run, folders)))
    except CommandError as error:
        return fail(str(error), error.code, _PROGRAM)
    return OK


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    if options.describe:
        return _show_both(options.results)
    stored = [is_stored(path) for path in options.results]

    def make() -> Report:
        if all(stored):
            return describe_files(tuple(options.results), options.allow_mismatch)
        if any(stored):
            raise ResultsError(f"{options.results[stored.index(True)]} is of another program than the other side; allowed: two results of one program")
        return describe(*map(load, options.results), options.allow_mismatch)

    return finish(make, options, _PROGRAM)
