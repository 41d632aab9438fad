#!/usr/bin/env python3
"""Stored baselines and drift of a machine; --help tells how. compare.py judges code instead."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "baseline"
sys.path.insert(1, str(ROOT))

from roofline.plot.interpreter import require_packages  # noqa: E402

require_packages("numpy", "scipy", "matplotlib", "jsonschema")

from compare import baseline, cli, drift, picture  # noqa: E402  (the package beside this file)
from compare.report import INCOMPARABLE, OK, USAGE  # noqa: E402
from compare.runs import load  # noqa: E402
from roofline.plot.records import ResultsError  # noqa: E402


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = cli.Parser(prog="baseline.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    promote = commands.add_parser("promote", help="make runs the baseline of their machine")
    add = promote.add_argument
    add("runs", nargs="+", type=Path, metavar="DIR")
    add("--into", type=Path, default=ROOT / "results" / "baselines", metavar="DIR")
    check = commands.add_parser("check", help="one new run against a baseline")
    check.add_argument("baseline", type=Path, metavar="FILE.jsonl")
    check.add_argument("run", type=Path, metavar="DIR")
    cli.add_report_options(check)
    add = commands.add_parser("drift", help="trends over many runs of a machine").add_argument
    add("runs", nargs="+", type=Path, metavar="DIR")
    add("--picture", type=Path, metavar="FILE", help=".svg, .png or .pdf")
    return parser.parse_args(arguments)


def show_drift(options: argparse.Namespace) -> None:
    runs = [load(folder) for folder in options.runs]
    if options.picture:
        picture.require_format(options.picture)
    found, changes = drift.trends(runs), drift.breaks(runs)
    if options.picture:
        drift.write(runs, found, changes, options.picture)
    sys.stdout.write(drift.text(found, changes))


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    if options.command == "check":
        limits = options.preset, options.allow_mismatch
        return cli.finish(
            lambda: baseline.check(options.baseline, load(options.run), *limits), options, PROGRAM
        )
    try:
        if options.command == "promote":
            runs = [load(folder) for folder in options.runs]
            print(f"{baseline.promote(runs, options.into)}: {len(runs)} runs promoted")
        else:
            show_drift(options)
    except (ResultsError, OSError) as error:
        return cli.fail(str(error), USAGE, PROGRAM)
    except baseline.NotComparable as error:
        return cli.fail(f"NOT_COMPARABLE: {error}", INCOMPARABLE, PROGRAM)
    return OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
