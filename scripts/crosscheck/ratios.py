"""How the host's kernels, libraries and ceilings compare, measured in pairs, and how well processes agree.

    scripts/crosscheck/ratios.py BINARY > ratios.json        about half an hour on an idle machine
    scripts/crosscheck/ratios.py --page ratios.json          the same as Markdown

Each pair runs in processes of its own in the order A B B A, so that a slow drift of the machine cancels. The
ratio is A's speed over B's, in FLOP/s or, against a memory ceiling, in byte/s; the median of the blocks, with
the lowest and highest. The DRAM ceilings are paired with stream.c, a program that shares no code with the
suite. Whole quick runs then give the spread of every row's median, largest over smallest less one.
"""

import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

BLOCKS = 3
PROCESSES = 5
CEILINGS = "^(dram_|fma_|tensor_)"
DRAM = {"relu": "dram_copy", "gelu": "dram_copy", "dot": "dram_read", "matvec": "dram_read"}
Speed = Callable[[], float]


def run(binary: str, *options: str) -> tuple[list[dict], dict]:
    """Records and environment of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [binary, "run", "--device", "cpu", "--out", str(out), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = (out / "records.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines], json.loads((out / "environment.json").read_text())


def row_speed(binary: str, row: dict, profile: str, unit: str, ceilings: str) -> Speed:
    """Measures a row in a process of its own; the ceilings' folder spares it theirs."""
    pattern = f"^{re.escape(row['id'])}$"

    def measure() -> float:
        rows, _ = run(binary, "--profile", profile, "--filter", pattern, "--ceilings", ceilings)
        (result,) = [r for r in rows if r["id"] == row["id"] and r["status"] == "ok"]
        return result["flops_per_s" if unit == "GFLOP/s" else "bytes_per_s"] / 1e9

    return measure


def stream_speed(program: Path, kernel: str) -> Speed:
    def measure() -> float:
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        return float(re.search(rf"^{kernel} .*median +([0-9.]+)", output, re.MULTILINE)[1])

    return measure


def abba(a: Speed, b: Speed) -> dict:
    """Ratio of each block's geometric means, and the speeds of both sides."""
    ratios, speeds = [], ([], [])
    for _ in range(BLOCKS):
        first, second, third, fourth = a(), b(), b(), a()
        ratios.append(math.sqrt(first * fourth / (second * third)))
        speeds[0].extend((first, fourth))
        speeds[1].extend((second, third))
    return {
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
        "a_speed": statistics.median(speeds[0]),
        "b_speed": statistics.median(speeds[1]),
    }


def best_hand(rows: list[dict]) -> dict | None:
    hand = [r for r in rows if r["origin"] == "hand" and r["technique"] != "naive"]
    return min(hand, key=lambda r: r["time_median_s"], default=None)


def pairs_of(rows: list[dict], profile: str) -> list[tuple[dict, dict, str, str]]:
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
        pairs += [(best, r, profile, "GFLOP/s") for r in group if r["origin"] == "library"]
        for ceiling in ceilings:
            same = ceiling["saturates"] == best["engine"] and ceiling["format"] == best["arithmetic"]
            if ceiling["op"] == DRAM.get(best["op"]):
                pairs.append((best, ceiling, profile, "GB/s"))
            elif best["op"].startswith("matmul") and same:
                pairs.append((best, ceiling, profile, "GFLOP/s"))
    return sorted(pairs, key=lambda pair: (pair[0]["op"], pair[0]["format"], pair[1]["id"]))


def quick_and_large(binary: str, quick: list[dict]) -> list[tuple[dict, dict, str, str]]:
    """The quick profile's pairs, and those of fp32 matmul at 2048 cubed."""
    large, _ = run(binary, "--profile", "standard", "--filter", "^matmul/[a-z]+/fp32/m:2048/n:2048/k:2048/")
    return pairs_of(quick, "quick") + pairs_of(large, "standard")


def compare(binary: str, quick: list[dict], folder: Path) -> list[dict]:
    """Every pair that the rows here allow."""
    stream, ceilings = folder / "stream", str(folder / "ceilings")
    source = Path(__file__).with_name("stream.c")
    options = ["-O3", "-march=native", "-ffast-math", "-fopenmp"]
    subprocess.run(["gcc", *options, source, "-o", stream], check=True)
    command = [binary, "run", "--device", "cpu", "--filter", CEILINGS, "--out", ceilings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    sides: list[tuple[str, str, str, Speed, Speed]] = []
    for a, b, profile, unit in quick_and_large(binary, quick):
        speeds = [row_speed(binary, row, profile, unit, ceilings) for row in (a, b)]
        sides.append((a["id"], b["id"], unit, *speeds))
    for row in quick:
        if row["role"] == "ceiling" and row["op"].startswith("dram_"):
            name = row["op"].removeprefix("dram_")
            own = row_speed(binary, row, "quick", "GB/s", ceilings)
            sides.append((row["id"], f"stream.c {name}", "GB/s", own, stream_speed(stream, name)))
    results = []
    for a, b, unit, speed_a, speed_b in sides:
        results.append({"a": a, "b": b, "unit": unit} | abba(speed_a, speed_b))
        print(f"{results[-1]['ratio']:.3f}  {a} / {b}", file=sys.stderr)
    return results


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


def measure(binary: str) -> dict:
    runs = [run(binary, "--seed", str(seed)) for seed in range(1, PROCESSES + 1)]
    environment = runs[0][1]
    with tempfile.TemporaryDirectory() as folder:
        pairs = compare(binary, runs[0][0], Path(folder))
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
        "spread": spread_of([rows for rows, _ in runs]),
    }


def short(row: str) -> str:
    """An id without what is the same in every row."""
    return row.replace("/steady@cpu", "").replace("/layout:nt", "")


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
        f"Speed of A over speed of B: median of {result['blocks']} blocks A B B A, and their range.",
        "",
        "| A | B | unit | A | B | A / B | range |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for p in result["pairs"]:
        lines.append(
            f"| {short(p['a'])} | {short(p['b'])} | {p['unit']} | {p['a_speed']:.3g} | {p['b_speed']:.3g} "
            f"| **{p['ratio']:.2f}** | {p['low']:.2f} to {p['high']:.2f} |"
        )
    lines += [
        "",
        "## How well processes agree",
        "",
        f"Spread of a row's median over {result['processes']} whole quick runs: largest over smallest, less one.",
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
    return "\n".join(lines)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "--page":
        print(page(json.loads(Path(arguments[1]).read_text())))
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        print(json.dumps(measure(arguments[0]), indent=1))
    else:
        raise SystemExit(__doc__)
