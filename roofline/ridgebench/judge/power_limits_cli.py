"""Find the power limit with the most FLOP per joule, in runs that were made at several limits."""

import argparse
import sys
from pathlib import Path
from typing import Any

from ridgebench.base.command_line import OK, CommandError, Parser, fail
from ridgebench.base.patterns import Pattern
from ridgebench.base.printers import aligned, json_text
from ridgebench.base.text import clean
from ridgebench.base.units import digits, percent, rate

from .consistent import load
from .power_limits import KEPT, Curve, curves

_PROGRAM = "roofline-energy"


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog=_PROGRAM, description=__doc__)
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="results directories of one GPU model, one for each limit")
    parser.add_argument("--filter", metavar="REGEX", help="only rows whose id matches, such as '^matmul/'")
    parser.add_argument("--json", action="store_true", help="print strict JSON")
    return parser.parse_args(arguments)


def _json_of(curve: Curve) -> dict[str, Any]:
    low, high = curve.near_best
    points = [{"power_limit_w": p.limit_w, "flops_per_s": p.flops_per_s, "power_w": p.power_w, "flops_per_joule": p.flops_per_joule,
               "flops_per_joule_ci_low": p.interval[0], "flops_per_joule_ci_high": p.interval[1]} for p in curve.points]
    return {"id": curve.name, "knee_w": curve.best.limit_w, "knee_ci_low_w": low, "knee_ci_high_w": high,
            "keeps_speed_w": curve.keeps.limit_w, "points": points}


def _lines_of(curve: Curve) -> list[str]:
    """The table of a row, and what it says."""
    most = max(point.flops_per_s for point in curve.points)
    table = [["limit", "power", "rate", "of the highest", "FLOP per joule", "+-"]]
    for p in curve.points:
        table.append([f"{p.limit_w:g} W", f"{digits(p.power_w)} W", rate(p.flops_per_s, "FLOP/s"), f"{percent(p.flops_per_s / most)} %",
                      rate(p.flops_per_joule, "FLOP/J"), f"{100 * p.error:.2g} %"])  # fmt: skip
    low, high = curve.near_best
    near = f" ({low:g} to {high:g} W within the intervals)" if low < high else ""
    return [clean(curve.name), *aligned(table, right=range(6)), f"most FLOP per joule: {curve.best.limit_w:g} W{near}",
            f"{100 * KEPT:g} % of the highest rate: from {curve.keeps.limit_w:g} W on", ""]


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    try:
        found, notes = curves([load(folder) for folder in options.results])
        if options.filter is not None:
            pattern = Pattern(options.filter, "--filter")
            found = [curve for curve in found if pattern.search(curve.name)]
            if not found:
                raise CommandError(f"--filter {options.filter}: no row of the runs matches")
    except CommandError as error:
        return fail(str(error), error.code, _PROGRAM)
    for note in notes:
        print(f"{_PROGRAM}: note: {note}", file=sys.stderr)
    if options.json:
        sys.stdout.write(json_text({"schema": "urn:ridgebench:roofline_energy:1", "rows": [_json_of(curve) for curve in found]}))
    else:
        sys.stdout.write("\n".join(line for curve in found for line in _lines_of(curve)))
    return OK
