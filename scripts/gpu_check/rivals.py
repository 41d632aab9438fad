"""Hand-written matrix products against the library's, shape by shape, from one interleaved run: the fastest of
either, fp8 by the way it adds up, in steady state and, where it was measured, cold; then the geometric mean and
the worst of a format. Clock and joules per FLOP (median power over the rate) stand beside. Last the training step
of a linear layer: forward, dX and dW are the layouts nt, nn and tn of the same three numbers.

    rivals.py RESULTS_DIRECTORY
"""

import json
import math
import sys
from collections import defaultdict
from pathlib import Path


def accumulation(row: dict) -> str:
    """How fp8 adds up, by the name: the library promotes unless it says otherwise, our techniques if they say so."""
    if not row["format"].startswith("fp8"):
        return ""
    promotes = "_promoted" in row["technique"] if row["origin"] == "hand" else "_fast_accum" not in row["technique"]
    return "promoted" if promotes else "fast"


def kept(row: dict) -> bool:
    return row["status"] == "ok" and row["role"] == "kernel" and row["op"] in ("matmul", "matmul_gelu")


def rate(row: dict) -> float:
    return row["flops_per_s"]


def rivals(rows: list[dict]) -> dict[tuple, dict[str, dict]]:
    """(operation, format, accumulation, shape, regime) -> origin -> its fastest row."""
    best: dict[tuple, dict[str, dict]] = defaultdict(dict)
    for row in filter(kept, rows):
        shape = "x".join(str(v) for v in row["shape"].values())
        group = best[(row["op"], row["format"], accumulation(row), shape, row["regime"])]
        if row["origin"] not in group or rate(row) > rate(group[row["origin"]]):
            group[row["origin"]] = row
    return {key: group for key, group in best.items() if len(group) == 2}


def picojoules_per_flop(row: dict) -> str:
    power = (row["telemetry"] or {}).get("power_w")
    return f"{1e12 * power['median'] / rate(row):.2f}" if power and power.get("median") else "-"


def lines(rows: list[dict]):
    yield f"{'product':60} {'hand':32} {'TFLOP/s':>8} {'library':24} {'TFLOP/s':>8} {'ratio':>6} {'GHz':>12} {'pJ/FLOP':>10}"
    ratios = defaultdict(list)
    for key, group in sorted(rivals(rows).items()):
        hand, library = group["hand"], group["library"]
        ratio = rate(hand) / rate(library)
        ratios[(key[0], key[1], key[2], key[4])].append(ratio)
        clocks = "/".join(f"{r['clock_hz'] / 1e9:.2f}" if r["clock_hz"] else "-" for r in (hand, library))
        energy = "/".join(picojoules_per_flop(r) for r in (hand, library))
        yield (f"{' '.join(filter(None, key)):60} {hand['technique']:32} {rate(hand) / 1e12:8.1f} {library['technique']:24}"
               f" {rate(library) / 1e12:8.1f} {ratio:6.3f} {clocks:>12} {energy:>10}")  # fmt: skip
    yield ""
    for key, values in sorted(ratios.items()):
        mean = math.exp(sum(map(math.log, values)) / len(values))
        yield f"{' '.join(filter(None, key)):40} {len(values):3} shapes, geometric mean {mean:.3f}, worst {min(values):.3f}"


def steps(rows: list[dict]):
    """6mnk FLOPs over the time of the three products, where a technique has all of them."""
    layers: dict[tuple, dict[str, dict]] = defaultdict(dict)
    for row in rows:
        if kept(row) and row["op"] == "matmul" and row["regime"] == "steady":
            m, n, k, layout = (row["shape"][name] for name in ("m", "n", "k", "layout"))
            layers[(row["technique"], row["format"], f"{m}x{n}x{k}")][layout] = row
    for key, products in sorted(layers.items()):
        if len(products) == 3:
            seconds = sum(row["time_median_s"] for row in products.values())
            flops = sum(row["flops"] for row in products.values())
            shares = [row["mfu"] for row in products.values()]
            # Each product's time at the peak over the time taken.
            mfu = f", MFU {100 * 3 / sum(1 / share for share in shares):.1f} %" if all(shares) else ""
            yield f"step {' '.join(key):50} {1e3 * seconds:8.3f} ms {flops / seconds / 1e12:8.1f} TFLOP/s{mfu}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    text = (Path(sys.argv[1]) / "records.jsonl").read_text()
    records = [json.loads(line) for line in text.splitlines()]
    print("\n".join([*lines(records), "", *steps(records)]))
