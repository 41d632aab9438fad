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
from .power_limits import KEPT, Curve, Range, curves

_PROGRAM = "roofline-energy"


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog=_PROGRAM, description=__doc__)
    parser.add_argument("results", nargs="+", type=Path, metavar="DIR", help="results directories of one GPU model, one for each limit")
    parser.add_argument("--filter", metavar="REGEX", help="only rows whose id matches, such as '^matmul/'")
    parser.add_argument("--json", action="store_true", help="print strict JSON")
    return parser.parse_args(arguments)


def _json_of(curve: Curve) -> dict[str, Any]:
    knee, keeps = curve.near_best, curve.near_keeps
    points = [{"power_limit_w": p.limit_w, "flops_per_s": p.flops_per_s, "flops_per_s_ci_low": p.rates[0], "flops_per_s_ci_high": p.rates[1],
               "power_w": p.power_w, "flops_per_joule": p.flops_per_joule, "flops_per_joule_ci_low": p.interval[0],
               "flops_per_joule_ci_high": p.interval[1]} for p in curve.points]
    return {"id": curve.name, "most_flops_per_joule_w": curve.best.limit_w,
            "knee_w": None if knee.beyond else curve.best.limit_w, "knee_ci_low_w": knee.low_w, "knee_ci_high_w": knee.high_w,
            "knee_may_lie": knee.beyond, "keeps_speed_w": curve.keeps.limit_w, "keeps_speed_ci_low_w": keeps.low_w,
            "keeps_speed_ci_high_w": keeps.high_w, "keeps_speed_may_lie": keeps.beyond, "points": points}


def _within(found: Range, limit_w: float) -> str:
    """' (500 to 550 W within the intervals)'; empty if only the limit itself is within them, or limits beyond all that were tried."""
    low, high = found.low_w, found.high_w
    if low is high is None:
        return " (all limits that were tried are within the intervals)"
    if {low, high} <= {limit_w, None}:
        return ""
    shown = f"{low:g} to {high:g} W" if low and high else f"up to {high:g} W" if high else f"from {low:g} W on"
    return f" ({shown} within the intervals)"


def _knee_of(curve: Curve) -> str:
    knee, limit_w = curve.near_best, curve.best.limit_w
    end = {"below": "lowest", "above": "highest"}.get(knee.beyond or "")
    beyond = f", the {end} limit that was tried: the knee may lie {knee.beyond} it" if end else ""
    return f"most FLOP per joule: {limit_w:g} W{beyond}{_within(knee, limit_w)}"


def _keeps_of(curve: Curve) -> str:
    keeps, limit_w = curve.near_keeps, curve.keeps.limit_w
    beyond = ", the lowest limit that was tried: a lower one may keep it, too" if keeps.beyond else ""
    return f"{100 * KEPT:g} % of the highest rate: from {limit_w:g} W on{beyond}{_within(keeps, limit_w)}"


def _lines_of(curve: Curve) -> list[str]:
    """The table of a row, and what it says."""
    most = curve.fastest.flops_per_s
    table = [["limit", "power", "rate", "of the highest", "FLOP per joule", "+-"]]
    for p in curve.points:
        table.append([f"{p.limit_w:g} W", f"{digits(p.power_w)} W", rate(p.flops_per_s, "FLOP/s"), f"{percent(p.flops_per_s / most)} %",
                      rate(p.flops_per_joule, "FLOP/J"), f"{100 * p.error:.2g} %"])  # fmt: skip
    return [clean(curve.name), *aligned(table, right=range(6)), _knee_of(curve), _keeps_of(curve), ""]


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
