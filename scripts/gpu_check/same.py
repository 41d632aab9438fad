"""How far four runs of one binary lie apart, in the order A B B A; nothing but noise may.

    same.py A1 B1 B2 A2        results directories
"""

import json
import math
import sys
from pathlib import Path


def medians(folder: str) -> dict[str, float]:
    rows = [json.loads(line) for line in (Path(folder) / "records.jsonl").read_text().splitlines()]
    return {r["id"]: r["time_median_s"] for r in rows if r["status"] == "ok" and r["role"] == "kernel"}


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    a1, b1, b2, a2 = map(medians, sys.argv[1:])
    for name in sorted(a1.keys() & b1.keys() & b2.keys() & a2.keys()):
        times = [a1[name], b1[name], b2[name], a2[name]]
        ratio = math.sqrt(b1[name] * b2[name] / (a1[name] * a2[name]))
        print(f"{name:70} B/A {ratio:.4f}  spread {max(times) / min(times) - 1:.2%}")
