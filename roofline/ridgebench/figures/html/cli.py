"""Makes one HTML page of one or several runs: roofline, table, provenance. It needs no network and no other file."""

import argparse
import warnings
from pathlib import Path

from ridgebench.base.command_line import OK, Parser
from ridgebench.base.files import write_at_once, write_named
from ridgebench.base.text import clean
from ridgebench.base.units import counted


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="report", description=__doc__)
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS_DIR", help="one or several runs")
    parser.add_argument("--on", metavar="SHEET", action="append", default=[],
                        help="overlay the roofs of a data sheet (h200), of a sheet's file or of a results directory; "
                             "may be repeated")
    parser.add_argument("--points", metavar="DIR", type=Path, action="append", default=[],
                        help="also show what `ridgebench import` made of another tool's file; may be repeated")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="default: report.html in the first RESULTS_DIR")
    options = parser.parse_args(arguments)
    if options.out is not None and options.out.exists() and not options.out.is_file():
        parser.error(f"-o {clean(str(options.out))} is not a regular file; allowed: a new file or one to replace")
    return options


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    from . import page, sources  # Matplotlib and the figures take a second to load; --help does without

    out = options.out or options.results[0] / "report.html"
    with warnings.catch_warnings():  # a name that Matplotlib's font lacks is not a fault of the page
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        content = sources.gather(options.results, options.on, options.points)
        text = page.document(content)
    (write_named if options.out else write_at_once)(out, text)  # a folder from elsewhere may hold a link
    ceilings = sum(len(run.view.verified_ceilings) for run in content.runs)
    parts = [counted(len(content.runs), "run"), counted(len(content.rows), "row"), counted(ceilings, "ceiling")]
    print(f"{clean(str(out))}: {', '.join(parts)}")
    return OK
