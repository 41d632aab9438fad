"""Writes the rows of results directories as a table: CSV, Markdown, Parquet, or metrics for Prometheus."""

import argparse
import sys
from pathlib import Path

from ridgebench.command_line import OK, Parser
from ridgebench.each_once import each_once
from ridgebench.export import frame, table, text
from ridgebench.files import ResultsError, write_named

_FORMATS = {"csv": text.to_csv, "md": text.to_markdown, "prom": text.to_prometheus}


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="export", description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS_DIR")
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--csv", dest="kind", action="store_const", const="csv", help="every column")
    kinds.add_argument("--md", dest="kind", action="store_const", const="md", help="the main columns, for a page")
    kinds.add_argument("--parquet", dest="kind", action="store_const", const="parquet", help="every column; needs -o")
    kinds.add_argument("--prom", dest="kind", action="store_const", const="prom", help="Prometheus's text format")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="default: standard output")
    options = parser.parse_args(arguments)
    if options.kind == "parquet" and options.out is None:
        parser.error("--parquet needs -o FILE")
    if options.out is not None and options.out.exists() and not options.out.is_file():
        parser.error(f"-o {options.out} is not a regular file; allowed: a new file or one to replace")
    return options


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    rows = [row for run in each_once(options.results, table.load) for row in table.lines(run)]
    keys = [(row["run"], row["id"]) for row in rows]
    if len(set(keys)) < len(keys):
        raise ResultsError("two of the folders have one name and rows in common; allowed: folders of different names")
    if options.kind == "parquet":
        write_named(options.out, frame.parquet(rows))
    elif options.out:
        write_named(options.out, _FORMATS[options.kind](rows))
    else:
        sys.stdout.write(_FORMATS[options.kind](rows))
    return OK
