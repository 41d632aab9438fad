"""The short table of a run on a GPU: every operation and format with its best hand-written row, its best
library row and their ratio, and the ceilings with their share of what the hardware can do.

    table.py RESULTS_DIRECTORY
"""

import json
import sys
from collections import Counter
from pathlib import Path


def rate(row: dict) -> float:
    return row["flops_per_s"] or row["bytes_per_s"]


def best(rows: list[dict], origin: str) -> dict | None:
    return max((r for r in rows if r["origin"] == origin), key=rate, default=None)


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def lines(rows: list[dict]):
    yield f"statuses: {dict(Counter(r['status'] for r in rows))}"
    for r in rows:
        if r["status"] in ("wrong", "invalid", "failed"):
            yield f"{r['status'].upper()} {r['id']}: {r['reason']}"
    ok = [r for r in rows if r["status"] == "ok" and r["regime"] == "steady"]
    yield ""
    yield f"{'ceiling':44} {'GB/s or GFLOP/s':>16} {'at clock':>9} {'GHz':>6}"
    for r in ok:
        if r["role"] != "kernel":
            amount = r["flops_per_s"] if r["saturates"] in ("fma", "tensor", "sfu") else r["bytes_per_s"]
            name = f"{r['op']}/{r['technique']}/{r['format']}" + (" again" if r["role"] == "control" else "")
            clock = f"{r['clock_hz'] / 1e9:.3f}" if r["clock_hz"] else "-"
            yield f"{name:44} {amount / 1e9:16.1f} {percent(r['fraction_of_roof_at_clock']):>9} {clock:>6}"
    yield ""
    yield f"{'kernel':34} {'hand':20} {'of roof':>8} {'MFU':>7} {'library':22} {'of roof':>8} {'hand/library':>12}"
    groups: dict[tuple, list[dict]] = {}
    for r in ok:
        if r["role"] == "kernel":
            groups.setdefault((r["op"], r["format"], str(r["shape"])), []).append(r)
    for (op, form, _), group in sorted(groups.items()):
        hand, library = best(group, "hand"), best(group, "library")
        text = f"{op + '/' + form:34}"
        for r in (hand, library):
            text += f" {r['technique'] if r else '-':{20 if r is hand else 22}}"
            text += f" {percent(r and r['fraction_of_measured_roof']):>8}"
            text += f" {percent(r and r['mfu']):>7}" if r is hand else ""
        yield text + (f" {rate(hand) / rate(library):12.3f}" if hand and library else f" {'-':>12}")


def tuning(rows: list[dict]):
    """What cuBLASLt's own choice lacks of its fastest: the tuned row must never be the slower one."""
    times = {(r["op"], r["format"], str(r["shape"]), r["regime"], r["technique"]): r["time_median_s"]
             for r in rows if r["status"] == "ok"}  # fmt: skip
    for (*key, technique), first in times.items():
        tuned = times.get((*key, technique.replace("cublas", "cublas_tuned")))
        if technique in ("cublas", "cublas_fast_accum") and tuned:
            yield f"{key[0]}/{key[1]}/{technique}: tuned takes {tuned / first:.3f} of its time, {key[3]} {key[2]}"


def device(environment: dict):
    for d in environment["devices"]:
        facts = {key: d[key] for key in ("model", "driver", "cuda", "cublas", "power_limit_w") if key in d}
        gaps = {key: f"{d[key] * 1e6:.3f} us" for key in d if key.endswith(("_gap_s", "_tick_s"))}
        yield f"{d['name']}: {facts} {gaps}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    environment = json.loads((folder / "environment.json").read_text())
    print("\n".join([*device(environment), *lines(records), "", *tuning(records)]))
