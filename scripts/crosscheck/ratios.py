"""How the host's kernels, libraries and ceilings compare, and how well processes agree.

    scripts/crosscheck/ratios.py BINARY > ratios.json              a quarter of an hour; with hundreds of MB of cache, more
    scripts/crosscheck/ratios.py BINARY --programs > ratios.json   the pairs with other programs alone
    scripts/crosscheck/ratios.py --page ratios.json                the same as Markdown

Each pair runs in two processes at once, in turns of one sample (sides.py), so that what happens to the machine
happens to both. The ratio is A's speed over B's, in FLOP/s or, against a memory ceiling, in byte/s: the median of
five such blocks, with the lowest and highest. The DRAM ceilings are paired with stream.c, and OpenBLAS's sgemm with
Google Benchmark's plain loop (sgemm_loop.cpp) and with numpy under timeit (sgemm_numpy.py): programs that share no
code with the suite. Whole quick runs, in turn as well, then give the spread of every row's median.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sides import BLOCKS, Side, compare, in_turn, program_side, records, row_side, run_command

PROCESSES = 5
FLOAT_BYTES = 4
CEILINGS = "^(dram_|fma_|tensor_)"
DRAM = {"relu": "dram_copy", "gelu": "dram_copy", "dot": "dram_read", "matvec": "dram_read"}
# Several sums in the widest registers: one sum after the other reads a fifth slower here.
STREAM_FLAGS = (
    "-O3 -march=native -ffast-math -fopenmp -mprefer-vector-width=512 -funroll-loops "
    "-fvariable-expansion-in-unroller"
).split()
LARGE = "^matmul/[a-z]+/(fp32|bf16)/m:2048/n:2048/k:2048/"
Row = Callable[..., Side]
SGEMM = "^matmul/openblas/fp32/m:1024/n:1024/k:1024/layout:nt/warm@"


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


def built(source: str, folder: Path, compiler: str, *options: str) -> str:
    program = folder / Path(source).stem
    command = [compiler, Path(__file__).with_name(source), "-o", program, *options]
    subprocess.run(command, check=True)
    return str(program)


def independent(binary: str, measured: list[dict], folder: Path, row: Row) -> list[tuple[Side, Side, str]]:
    """The DRAM ceilings and OpenBLAS's sgemm, each with programs of others or of their own."""
    stream = built("stream.c", folder, "gcc", *STREAM_FLAGS)
    pairs = []
    for r in measured:
        if r["role"] == "ceiling" and r["op"].startswith("dram_"):
            name = r["op"].removeprefix("dram_")
            mebibytes = r["shape"]["n"] * FLOAT_BYTES >> 20  # of an array, as the row has them
            words = [stream, str(mebibytes), "nt", "20", name]
            side = program_side(f"stream.c {name}", rf"^{name} .*median +([0-9.]+)", *words)
            pairs.append((row(r, "GB/s"), side, "GB/s"))
    warm = ["--profile", "standard", "--regime", "warm"]
    found = run(binary, folder / "sgemm", "--filter", SGEMM, "--budget", "1", *warm)
    loop = built("sgemm_loop.cpp", folder, "g++", "-O2", "-lbenchmark", "-lopenblas", "-lpthread")
    numpy = str(Path(__file__).with_name("sgemm_numpy.py"))
    for r in (r for r in found if r["role"] == "kernel" and r["status"] == "ok"):
        own = row(r, "GFLOP/s", *warm)
        words = [loop, "1024", "30", "--benchmark_format=json"]
        median = r'real_time_median"(?:.|\n)*?"GFLOP/s": ([0-9.e+-]+)'
        plain = program_side("Google Benchmark's loop", median, *words)
        pairs.append((own, plain, "GFLOP/s"))
        timed = program_side("numpy, timeit", r"^median ([0-9.]+)", sys.executable, numpy)
        pairs.append((own, timed, "GFLOP/s"))
    return pairs


def openblas_variables(results: Path) -> dict[str, str]:
    """What a run told its OpenBLAS, for that of the other programs."""
    environment = json.loads((results / "environment.json").read_text())
    found = environment["environment_variables"]
    return {key: found[key] for key in found if key.startswith("OPENBLAS_")}


def compare_all(binary: str, quick: list[dict], folder: Path) -> list[dict]:
    """Every pair that the rows here allow; of ceilings alone, those with other programs."""
    ceilings = str(folder / "ceilings")
    measured = run(binary, Path(ceilings), "--filter", CEILINGS)
    os.environ |= openblas_variables(folder / "ceilings")

    def row(r: dict, unit: str, *options: str) -> Side:
        return row_side(binary, r, unit, ceilings, *options)

    sides = [(row(a, unit), row(b, unit), unit) for a, b, unit in pairs_of(quick)]
    if quick:
        standard = ("--profile", "standard")
        large = pairs_of(run(binary, folder / "large", *standard, "--filter", LARGE))
        sides += [(row(a, unit, *standard), row(b, unit, *standard), unit) for a, b, unit in large]
    sides += independent(binary, measured, folder, row)
    results = []
    for a, b, unit in sides:
        results.append({"a": a.name, "b": b.name, "unit": unit} | compare(a, b))
        print(f"{results[-1]['ratio']:.3f}  {a.name} / {b.name}", file=sys.stderr)
    return results


def agreeing(binary: str, folder: Path) -> list[Path]:
    """Results of several quick runs of all rows, in turn."""
    sides = [
        Side(f"run {i + 1}", partial(run_command, binary), lambda _: 0.0) for i in range(PROCESSES)
    ]
    return [each / "run" for each in in_turn(sides, folder)]


def spread_of(runs: list[list[dict]]) -> list[dict]:
    """Of every row's median over the runs."""
    medians: dict[str, list[float]] = {}
    bounds = {}
    for r in (r for rows in runs for r in rows if r["status"] == "ok"):
        medians.setdefault(r["id"], []).append(r["time_median_s"])
        bounds[r["id"]] = r["bound"]
    return [
        {"id": name, "bound": bounds[name], "spread": max(times) / min(times) - 1}
        for name, times in sorted(medians.items())
        if len(times) == len(runs)
    ]


def measure(binary: str, programs_only: bool) -> dict:
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "runs").mkdir()
        rows = [] if programs_only else list(map(records, agreeing(binary, folder / "runs")))
        pairs = compare_all(binary, rows[0] if rows else [], folder)
        environment = json.loads((folder / "ceilings" / "environment.json").read_text())
    return {
        "started": environment["started"],
        "commit": environment["commit"],
        "dirty": environment["dirty"],
        "device": environment["devices"][0],
        "libraries": environment["libraries"],
        "environment_variables": environment["environment_variables"],
        "blocks": BLOCKS,
        "processes": PROCESSES,
        "pairs": pairs,
        "spread": spread_of(rows),
    }


def short(row: str) -> str:
    """An id without what is the same in every row."""
    return row.replace("/steady@cpu", "").replace("@cpu", "").replace("/layout:nt", "")


def agreement(result: dict) -> list[str]:
    """The section on how far processes disagree, where they were measured."""
    if not result["spread"]:
        return []
    lines = [
        "",
        "## How well processes agree",
        "",
        f"Spread of a row's median over {result['processes']} whole quick runs, in turns of one sample as well: largest "
        "over smallest, less one.",
        "",
        "| rows bound by | rows | within 1 % | within 5 % | median spread | largest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for bound in sorted({row["bound"] or "unknown" for row in result["spread"]}):
        spreads = [r["spread"] for r in result["spread"] if (r["bound"] or "unknown") == bound]
        within = [sum(s <= limit for s in spreads) / len(spreads) for limit in (0.01, 0.05)]
        lines.append(
            f"| {bound} | {len(spreads)} | {within[0]:.0%} | {within[1]:.0%} "
            f"| {statistics.median(spreads):.1%} | {max(spreads):.0%} |"
        )
    return lines


def page(result: dict) -> str:
    """The results as Markdown."""
    device, libraries = result["device"], result["libraries"]
    dirty = " with changes" if result["dirty"] else ""
    lines = [
        "# Cross-checks on a host",
        "",
        "Made by `scripts/crosscheck/ratios.py`, which says how; not written by hand.",
        "",
        f"{device['model']}, {device['threads']} threads, {result['started'][:10]}, "
        f"commit {result['commit'][:7]}{dirty}. {libraries['openblas']}; oneDNN {libraries['onednn']}.",
        "",
        "## Pairs",
        "",
        f"Speed of A over speed of B, measured in turns of one sample: median of {result['blocks']} pairs of processes, "
        "and their range.",
        "",
        "| A | B | unit | A | B | A / B | range |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for p in result["pairs"]:
        lines.append(
            f"| {short(p['a'])} | {short(p['b'])} | {p['unit']} | {p['a_speed']:.3g} | {p['b_speed']:.3g} "
            f"| **{p['ratio']:.2f}** | {p['low']:.2f} to {p['high']:.2f} |"
        )
    return "\n".join(lines + agreement(result))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "--page":
        print(page(json.loads(Path(arguments[1]).read_text())))
    elif arguments and not arguments[0].startswith("-") and arguments[1:] in ([], ["--programs"]):
        print(json.dumps(measure(arguments[0], "--programs" in arguments), indent=1))
    else:
        raise SystemExit(__doc__)
