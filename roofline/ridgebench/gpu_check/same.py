"""Prints how far four runs of one binary differ, measured in the order A B B A: the differences are noise."""

import math
from pathlib import Path

from ridgebench.command_line import OK, Parser
from ridgebench.records import load_run


def main(arguments: list[str]) -> int:
    parser = Parser(prog="same", description=__doc__)
    parser.add_argument("runs", nargs=4, type=Path, metavar="DIR", help="results directories A1 B1 B2 A2")
    runs = [load_run(folder).by_id for folder in parser.parse_args(arguments).runs]
    for name in sorted(set.intersection(*map(set, runs))):
        rows = [run[name] for run in runs]
        if all(row.drawable for row in rows):
            a1, b1, b2, a2 = times = [row.time_median_s for row in rows]
            ratio = math.sqrt(b1 * b2 / (a1 * a2))
            print(f"{name:70} B/A {ratio:.4f}  spread {max(times) / min(times) - 1:.2%}")
    return OK
