"""Ratios of pairs of rows on this machine, and how well repeated processes agree.

    scripts/crosscheck/ratios.py BINARY > ratios.json

Each pair runs in processes of its own in ABBA order, so that a slow drift of the machine cancels; the
ratio is the median over the blocks of B's median time over A's (above 1: A is faster), scaled to
equal work. Then five whole quick runs give the spread of every row's median. Takes some ten minutes
on an idle machine; prints JSON.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCKS = 3
PROCESSES = 5

# (A, B, profile): regular expressions that each match one row.
DRAM = {"relu": "dram_copy", "gelu": "dram_copy", "dot": "dram_read", "matvec": "dram_read"}


def run(binary: str, profile: str, pattern: str, seed: int, extra: list[str]) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [binary, "run", "--device", "cpu", "--profile", profile, "--filter", pattern]
        command += ["--seed", str(seed), "--out", str(out), *extra]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]


def speed(binary: str, profile: str, row: str, ceilings: list[str]) -> float:
    """Work per second of the one row that matches: FLOP/s, or byte/s where one side is a ceiling."""
    rows = [r for r in run(binary, profile, row, 1, ceilings) if r["role"] != "control"]
    matching = [r for r in rows if r["status"] == "ok"]
    if len(matching) != 1:
        raise SystemExit(f"{row} matches {len(matching)} verified rows, not one")
    return matching[0]["time_median_s"], matching[0]["flops"], matching[0]["bytes"]


def abba(binary: str, profile: str, a: str, b: str, unit: int, ceilings: list[str]) -> dict:
    """unit 1 compares FLOP/s, unit 2 byte/s."""
    ratios = []
    for _ in range(BLOCKS):
        rates = []
        for row in (a, b, b, a):
            measured = speed(binary, profile, row, ceilings)
            rates.append(measured[unit] / measured[0])
        ratios.append((rates[0] * rates[3] / (rates[1] * rates[2])) ** 0.5)
    return {"a": a, "b": b, "ratio": statistics.median(ratios), "low": min(ratios), "high": max(ratios)}


def pairs(rows: list[dict]) -> list[tuple[str, str, str, int]]:
    """What the project promises about its host half, from the rows that exist here."""
    def exact(r: dict) -> str:
        return "^" + r["id"].replace(".", r"\.") + "$"

    by_op: dict[tuple[str, str], dict[str, dict]] = {}
    for r in rows:
        if r["status"] == "ok" and r["regime"] == "steady":
            by_op.setdefault((r["op"], r["format"]), {})[r["technique"]] = r
    result = []
    for (op, fmt), techniques in sorted(by_op.items()):
        hand = [r for r in techniques.values() if r["origin"] == "hand" and r["technique"] != "naive"]
        if not hand or hand[0]["role"] != "kernel":
            continue
        best = min(hand, key=lambda r: r["time_median_s"])
        for yard in (r for r in techniques.values() if r["origin"] == "library"):
            result.append((exact(best), exact(yard), "quick", 1))
        if op in DRAM:
            ceiling = next(r for r in rows if r["op"] == DRAM[op] and r["role"] == "ceiling")
            result.append((exact(best), exact(ceiling), "quick", 2))
        elif op == "matmul":
            for ceiling in (r for r in rows if r["op"] == "fma_peak" and r["role"] == "ceiling"):
                if ceiling["format"] == best["arithmetic"]:
                    result.append((exact(best), exact(ceiling), "quick", 1))
    return result


def main(binary: str) -> None:
    runs = [run(binary, "quick", "", seed, []) for seed in range(1, PROCESSES + 1)]
    medians: dict[str, list[float]] = {}
    for rows in runs:
        for r in rows:
            if r["status"] == "ok":
                medians.setdefault(r["id"], []).append(r["time_median_s"])
    spread = {i: max(t) / min(t) - 1 for i, t in sorted(medians.items()) if len(t) == PROCESSES}
    with tempfile.TemporaryDirectory() as folder:
        ceilings = Path(folder) / "ceilings"
        subprocess.run([binary, "run", "--device", "cpu", "--filter", "dram|peak", "--out", str(ceilings)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ratios = [abba(binary, profile, a, b, unit, ["--ceilings", str(ceilings)])
                  for a, b, profile, unit in pairs(runs[0])]
    bounds = {r["id"]: r["bound"] for r in runs[0]}
    print(json.dumps({"ratios": ratios, "spread": spread, "bound": {i: bounds[i] for i in spread}}, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
