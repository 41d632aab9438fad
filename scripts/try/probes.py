#!/usr/bin/env python3
"""Measures what the probes cost a quick run of this host: pairs of runs with and without them, in turns.

    scripts/try/probes.py [--program FILE] [--pairs 6]

Prints the seconds and the CPU seconds of each run, and the mean share of both that the probes take, with its 95 % interval by Student's t.
CPU seconds suffer less from other programs. Needs a quiet machine and scipy. The rows are those of relu, dot and matmul by three techniques: 39 with their ceilings.
"""

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from scipy.stats import t

ROOT = Path(__file__).resolve().parents[2]
ROWS = ("--op", "relu,dot,matmul", "--technique", "naive,streaming,packed")


def cpu_seconds() -> float:
    """Of all ended processes that this one started, in their own code and in the system."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds_of(program: Path, probes: int) -> dict[str, float]:
    """Seconds and CPU seconds of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", "--device", "cpu", "--profile", "quick", "--seed", "1", *ROWS, "--out", f"{folder}/results"]
        began, used = time.monotonic(), cpu_seconds()
        subprocess.run(command, env=os.environ | {"RIDGEBENCH_PROBES": str(probes)}, capture_output=True, check=True)
        return {"s": time.monotonic() - began, "CPU s": cpu_seconds() - used}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/ridgebench")
    parser.add_argument("--pairs", type=int, default=6)
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error(f"--pairs {options.pairs}; allowed: 2 or more")
    shares: dict[str, list[float]] = {"s": [], "CPU s": []}
    for pair in range(options.pairs):
        took = {probes: seconds_of(options.program, probes) for probes in ((1, 0) if pair % 2 == 0 else (0, 1))}
        for unit, values in shares.items():
            values.append(100 * (1 - took[0][unit] / took[1][unit]))
            print(f"with {took[1][unit]:.1f} {unit}, without {took[0][unit]:.1f} {unit}: {values[-1]:.1f} %", flush=True)
    for unit, values in shares.items():
        half = t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
        print(f"probes take {statistics.mean(values):.1f} % +- {half:.1f} % of the {unit}; median {statistics.median(values):.1f} %")


if __name__ == "__main__":
    main()
