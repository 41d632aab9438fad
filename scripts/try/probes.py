#!/usr/bin/env python3
"""Measures what the probes cost a quick run of this host: pairs of runs with and without them, in turns.

    scripts/try/probes.py [--program FILE] [--pairs 6]

Prints the seconds of each run, and the mean share of a run that the probes take, with its 95 % interval by Student's t.
Needs a quiet machine and scipy. The rows are those of relu, dot and matmul by three techniques: 39 with their ceilings.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from scipy.stats import t

ROOT = Path(__file__).resolve().parents[2]
ROWS = ("--op", "relu,dot,matmul", "--technique", "naive,streaming,packed")


def seconds_of(program: Path, probes: int) -> float:
    """Seconds of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", "--device", "cpu", "--profile", "quick", "--seed", "1", *ROWS, "--out", f"{folder}/results"]
        began = time.monotonic()
        subprocess.run(command, env=os.environ | {"RIDGEBENCH_PROBES": str(probes)}, capture_output=True, check=True)
        return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/ridgebench")
    parser.add_argument("--pairs", type=int, default=6)
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error(f"--pairs {options.pairs}; allowed: 2 or more")
    shares = []
    for pair in range(options.pairs):
        took = {probes: seconds_of(options.program, probes) for probes in ((1, 0) if pair % 2 == 0 else (0, 1))}
        shares.append(100 * (1 - took[0] / took[1]))
        print(f"with {took[1]:.1f} s, without {took[0]:.1f} s: {shares[-1]:.1f} %", flush=True)
    half = t.ppf(0.975, len(shares) - 1) * statistics.stdev(shares) / len(shares) ** 0.5
    print(f"probes take {statistics.mean(shares):.1f} % +- {half:.1f} %; median {statistics.median(shares):.1f} %")


if __name__ == "__main__":
    main()
