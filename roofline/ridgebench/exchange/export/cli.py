"""Writes the rows of runs, or the parts and the memory of steps, as a table: CSV, Markdown, Parquet, or metrics for Prometheus."""

import argparse
import sys
from pathlib import Path

from ridgebench.base.command_line import OK, Parser
from ridgebench.base.files import write_named
from ridgebench.data.steps import holds_step

from . import frame, results, step_tables, text, trace

_FORMATS = {"csv": text.to_csv, "md": text.to_markdown}


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="export", description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS_DIR")
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--csv", dest="kind", action="store_const", const="csv", help="every column")
    kinds.add_argument("--md", dest="kind", action="store_const", const="md", help="the main columns, for a page")
    kinds.add_argument("--parquet", dest="kind", action="store_const", const="parquet", help="every column; needs -o")
    kinds.add_argument("--prom", dest="kind", action="store_const", const="prom", help="Prometheus's text format")
    kinds.add_argument("--trace", dest="kind", action="store_const", const="trace",
                       help="of `run --solution`: traces as FlashInfer-trace and SOL-ExecBench have them")
    parser.add_argument("--rows", choices=step_tables.ROWS,
                        help="of folders of a step: its parts (default), the step, or its memory at each launch")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="default: standard output")
    options = parser.parse_args(arguments)
    if options.kind == "parquet" and options.out is None:
        parser.error("--parquet needs -o FILE")
    if options.kind == "prom" and options.rows:
        parser.error("--prom has the metrics of a step and of its parts; allowed: --rows with --csv, --md or --parquet")
    if options.kind == "trace" and options.rows:
        parser.error("--rows with --trace; allowed: --rows with --csv, --md or --parquet")
    if options.out is not None and options.out.exists() and not options.out.is_file():
        parser.error(f"-o {options.out} is not a regular file; allowed: a new file or one to replace")
    return options


def _metrics(folders: list[Path]) -> str:
    if any(map(holds_step, folders)):
        return text.steps_to_prometheus(*results.rows_of_steps(folders))
    return text.to_prometheus(results.table_of(folders, None).rows)


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    if options.kind == "parquet":
        write_named(options.out, frame.parquet(results.table_of(options.results, options.rows)))
        return OK
    prom = options.kind == "prom"
    if options.kind == "trace":
        written = "".join(trace.to_traces(run) for run in results.runs(options.results))
    else:
        written = _metrics(options.results) if prom else _FORMATS[options.kind](results.table_of(options.results, options.rows))
    if options.out:
        write_named(options.out, written)
    else:
        sys.stdout.write(written)
    return OK
