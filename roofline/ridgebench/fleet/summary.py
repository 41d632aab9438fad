"""`fleet collect`: writes fleet.json, and prints the states on one screen."""

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Optional

from ridgebench.base.command_line import INCOMPARABLE, OK, REGRESSION, ROW_FAILED
from ridgebench.base.printers import aligned
from ridgebench.base.text import cut, one_line
from ridgebench.base.units import counted

from .collect import collect
from .gpu import DONE, DUPLICATE, FAILED, MISSING, STALE, STARTED, Fleet, Gpu
from .jobs.hostlist import folded
from .fleet_file import NAME, counts, expected, text_of, write

_SHOWN = 12  # lines about single GPUs
_LONGEST_NAMES = 80  # characters of the names of nodes in a line
# A larger code is worse, because Slurm reports the largest one of a job's steps.
_EXIT_CODES = {DONE: OK, MISSING: REGRESSION, DUPLICATE: INCOMPARABLE, STALE: INCOMPARABLE, FAILED: ROW_FAILED, STARTED: ROW_FAILED}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fleet", type=Path, metavar="DIR", help="folder of a fleet, or any tree with results folders")
    parser.add_argument("--json", action="store_true", help="print what fleet.json holds, in place of the summary")


def exit_code(fleet: Fleet) -> int:
    return max((_EXIT_CODES[gpu.state] for gpu in fleet.gpus), default=OK)


def summary(fleet: Fleet) -> str:
    """The states with their nodes, and the reasons of the first GPUs that are not done."""
    total, wanted = len(fleet.gpus), expected(fleet)
    seen = sum(gpu.state != MISSING for gpu in fleet.gpus)
    covers = f"{seen} of {wanted} expected" if wanted is not None else f"{total}, and how many should be there is unknown"
    nodes = {state: list(dict.fromkeys(gpu.node for gpu in fleet.gpus if gpu.state == state)) for state in counts(fleet)}
    table = [[state, str(count), cut(folded(nodes[state]), _LONGEST_NAMES)] for state, count in counts(fleet).items()]
    lines = [f"GPUs: {covers}", *aligned(table, right=(1,))]
    reasons: dict[tuple[str, str, Optional[str]], list[Gpu]] = defaultdict(list)
    for gpu in fleet.gpus:
        if gpu.state != DONE:
            reasons[gpu.state, gpu.node, gpu.reason].append(gpu)
    for (state, node, reason), gpus in list(reasons.items())[:_SHOWN]:
        numbers = ",".join(str(gpu.index) for gpu in gpus if gpu.index is not None)
        lines.append(f"{state} {node}{f' GPU {numbers}' if numbers else ''}: {reason}")
    if len(reasons) > _SHOWN:
        lines.append(f"and {counted(len(reasons) - _SHOWN, 'more reason')}, in {NAME}")
    return "\n".join(lines) + "\n"


def main(options: argparse.Namespace) -> int:
    fleet = collect(options.fleet)
    text = text_of(fleet)
    path = write(fleet, text)
    sys.stdout.write(text if options.json else f"{summary(fleet)}{one_line(str(path))}\n")
    return exit_code(fleet)
