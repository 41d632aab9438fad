#!/usr/bin/env python3
"""How the host's kernels, libraries and ceilings compare, and how well processes agree.

    scripts/crosscheck/ratios.py BINARY > ratios.json    a quarter of an hour; with hundreds of MB of cache, hours
    scripts/crosscheck/ratios.py BINARY --parts programs --openblas SOURCES > ratios.json
    scripts/crosscheck/ratios.py BINARY --parts spread --budget 360 > ratios.json    half an hour
    scripts/crosscheck/page.py ratios.json ...           the same as Markdown

Each pair runs in two processes at once, in turns of a few samples (sides.py), so that what happens to the machine
happens to both. The ratio is A's speed over B's, in FLOP/s or, against a memory ceiling, in byte/s: the median of
five such blocks, with the lowest and highest. Parts:

    programs   the DRAM ceilings and OpenBLAS's sgemm with programs that share no code with the suite: stream.c and,
               where installed, likwid-bench, which takes no turns; Google Benchmark's plain loop (sgemm_loop.cpp),
               numpy under timeit (sgemm_numpy.py) and, where its sources are, OpenBLAS's own benchmark
    pairs      the fastest hand-written row of each operation and format with libraries and ceilings
    spread     whole quick runs, in turn as well: how far the medians of a row disagree
"""

import argparse
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[2]))

from roofline.plot.interpreter import require_packages  # noqa: E402

require_packages("numpy")

import programs  # noqa: E402
from sides import BLOCKS, Side, compare, in_turn, records, row_side, run_command  # noqa: E402
from compare.runs import log_ratio_of_neighbours, turns_of  # noqa: E402  (scripts/compare, on the path by sides)

PARTS = ("programs", "pairs", "spread")
PROCESSES = 5
CEILINGS = "^(dram_|fma_|tensor_)"
DRAM = {"relu": "dram_copy", "gelu": "dram_copy", "dot": "dram_read", "matvec": "dram_read"}
LARGE = "^matmul/[a-z0-9_]+/(fp32|bf16)/m:2048/n:2048/k:2048/"


def run(binary: str, folder: Path, *options: str) -> list[dict]:
    """Records of one run."""
    command = [binary, "run", "--device", "cpu", "--out", str(folder), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return records(folder)


def best_hand(rows: list[dict]) -> dict | None:
    hand = [r for r in rows if r["origin"] == "hand" and r["technique"] != "naive"]
    return min(hand, key=lambda r: r["time_median_s"], default=None)


def pairs_of(rows: list[dict]) -> list[tuple[dict, dict, str]]:
    """The best hand-written row of each operation and format with each library and with its ceiling."""
    ok = [r for r in rows if r["status"] == "ok" and r["regime"] == "steady"]
    ceilings = [r for r in ok if r["role"] == "ceiling"]
    groups: dict[tuple, list[dict]] = {}
    for r in ok:
        if r["role"] == "kernel":
            groups.setdefault((r["op"], r["format"], *r["shape"].values()), []).append(r)
    pairs = []
    for group in groups.values():
        best = best_hand(group)
        if best is None:
            continue
        pairs += [(best, r, "GFLOP/s") for r in group if r["origin"] == "library"]
        for ceiling in ceilings:
            same = ceiling["saturates"] == best["engine"] and ceiling["format"] == best["arithmetic"]
            if ceiling["op"] == DRAM.get(best["op"]):
                pairs.append((best, ceiling, "GB/s"))
            elif best["op"].startswith("matmul") and same:
                pairs.append((best, ceiling, "GFLOP/s"))
    return sorted(pairs, key=lambda pair: (pair[0]["op"], pair[0]["format"], pair[1]["id"]))


def openblas_variables(environment: dict) -> dict[str, str]:
    """What a run told its OpenBLAS, for that of the other programs."""
    found = environment["environment_variables"]
    return {key: found[key] for key in found if key.startswith("OPENBLAS_")}


class Measurement:
    """What was asked of one binary; its runs lie in a folder."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder, self.ceilings = options, folder, folder / "ceilings"
        found = run(options.binary, self.ceilings, "--filter", CEILINGS)
        self.measured = [r for r in found if r["role"] == "ceiling"]
        self.environment = json.loads((self.ceilings / "environment.json").read_text())
        os.environ |= openblas_variables(self.environment)

    def row(self, record: dict, unit: str, *options: str) -> Side:
        return row_side(self.options.binary, record, unit, str(self.ceilings), *options)

    def pairs(self) -> list[programs.Pair]:
        """Of the quick profile's rows and, at twice its size, of some of matmul's."""
        found = []
        for name, pattern, options in (
            ("quick", self.options.filter, ()),
            ("large", LARGE, ("--profile", "standard")),
        ):
            given = ("--filter", pattern, "--ceilings", str(self.ceilings), *options)
            rows = run(self.options.binary, self.folder / name, *given)
            kernels = [r for r in rows if r["role"] == "kernel"]
            found += [
                (self.row(a, unit, *options), self.row(b, unit, *options), unit)
                for a, b, unit in pairs_of(self.measured + kernels)
            ]
        return found

    def programs(self) -> list[programs.Pair]:
        threads = self.environment["devices"][0]["threads"]
        pairs = programs.bandwidth(self.measured, self.folder, self.row, threads)
        options = ("--filter", programs.SGEMM, "--budget", "1", *programs.WARM)
        for record in run(self.options.binary, self.folder / "sgemm", *options):
            if record["role"] == "kernel" and record["status"] == "ok":
                pairs += programs.products(record, self.folder, self.row, self.options.openblas)
        return pairs


def compare_all(pairs: list[programs.Pair], part: str) -> list[dict]:
    results = []
    for a, b, unit in pairs:
        results.append({"part": part, "a": a.name, "b": b.name, "unit": unit} | compare(a, b))
        print(f"{results[-1]['ratio']:.3f}  {a.name} / {b.name}", file=sys.stderr)
    return results


def agreeing(binary: str, folder: Path, memory_bytes: int, seconds: float | None) -> list[Path]:
    """Results of several quick runs of all rows, in turn, of so many seconds each.

    Each is limited to its share of the memory: what one has mapped and not yet used would look free to another.
    """
    options = ["--budget", str(seconds)] if seconds else []
    limited = ["prlimit", f"--as={memory_bytes * 9 // 10 // PROCESSES}"]
    sides = [
        Side(f"run {i + 1}", lambda each: [*limited, *run_command(binary, each, *options)], lambda _: 0.0)
        for i in range(PROCESSES)
    ]
    return [each / "run" for each in in_turn(sides, folder)]


def spread(values: list[float]) -> float:
    return max(values) / min(values) - 1


def median_of_batches(record: dict) -> float:
    """Had each batch been timed as one sample: the mean of those that it has."""
    batches = zip(*[iter(record["samples_s"])] * record["samples_per_batch"])
    return statistics.median(map(statistics.fmean, batches))


def spread_of_neighbours(measured: list[dict], samples_per_turn: int | None) -> float:
    """The largest between two runs, compared as the gate does; a turn of None samples is a whole batch."""
    turns = [turns_of(record, samples_per_turn) for record in measured]
    return math.expm1(max(abs(log_ratio_of_neighbours(*pair)) for pair in itertools.combinations(turns, 2)))


def spread_of(runs: list[list[dict]], samples_per_turn: int | None) -> list[dict]:
    """Of every row's median over the runs, in seconds and in cycles of the clock held, of its neighbouring turns and, where
    batches have several samples, of theirs."""
    rows: dict[str, list[dict]] = {}
    for r in (r for run in runs for r in run if r["status"] == "ok"):
        rows.setdefault(r["id"], []).append(r)
    found = []
    for name, measured in sorted(rows.items()):
        if len(measured) < len(runs):
            continue
        row = {"id": name, "bound": measured[0]["bound"], "spread": spread([r["time_median_s"] for r in measured])}
        if all(r["clock_hz"] for r in measured):
            row["spread_in_cycles"] = spread([r["time_median_s"] * r["clock_hz"] for r in measured])
        row["spread_of_neighbours"] = spread_of_neighbours(measured, samples_per_turn)
        if all(r["samples_per_batch"] > 1 for r in measured):
            row["spread_of_batches"] = spread(list(map(median_of_batches, measured)))
        found.append(row)
    return found


def measure(options: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as text:
        measurement = Measurement(options, Path(text))
        pairs, spreads = [], []
        if "programs" in options.parts:
            pairs += compare_all(measurement.programs(), "programs")
        if "pairs" in options.parts:
            pairs += compare_all(measurement.pairs(), "pairs")
        if "spread" in options.parts:
            (Path(text) / "runs").mkdir()
            memory_bytes = measurement.environment["devices"][0]["memory_bytes"]
            folders = agreeing(options.binary, Path(text) / "runs", memory_bytes, options.budget)
            told = json.loads((folders[0] / "environment.json").read_text())
            spreads = spread_of(list(map(records, folders)), told.get("samples_per_turn"))
    environment = measurement.environment
    keys = ("started", "commit", "dirty", "libraries", "environment_variables")
    return {
        **{key: environment[key] for key in keys},
        "device": environment["devices"][0],
        "blocks": BLOCKS,
        "processes": PROCESSES,
        "pairs": pairs,
        "budget_s": options.budget,
        "spread": spreads,
    }


def parts(text: str) -> list[str]:
    chosen = text.split(",")
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown part '{unknown[0]}'; allowed: {', '.join(PARTS)}")
    return chosen


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ratios.py", description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="an absolute path of ridgebench")
    parser.add_argument("--parts", type=parts, default=PARTS, metavar="PARTS", help=f"of {','.join(PARTS)}; default: all")
    parser.add_argument("--filter", default="", metavar="REGEX", help="of the part pairs: rows of the quick profile")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="of each run of the part spread; default: the quick profile's")
    parser.add_argument("--openblas", type=Path, metavar="SOURCES", help="a folder, as `apt-get source openblas` leaves it")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    print(json.dumps(measure(parse(sys.argv[1:])), indent=1))
