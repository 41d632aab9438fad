"""The same products and the same copy by PyTorch, a program that shares no code with the suite, beside the
suite's own cuBLAS and copy rows of a run.

    independent.py RESULTS_DIRECTORY
"""

import json
import statistics
import sys
from pathlib import Path

import torch

ROUNDS, WARM_UP_S = 30, 0.5
DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def seconds(work) -> float:
    """Median time of work(i) by events, rotating over inputs that no cache holds."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    spent, times, i = 0.0, [], 0
    while spent < WARM_UP_S or len(times) < ROUNDS:
        batch = 8
        start.record()
        for _ in range(batch):
            work(i)
            i += 1
        stop.record()
        stop.synchronize()
        elapsed = start.elapsed_time(stop) / 1e3
        spent += elapsed
        if spent >= WARM_UP_S:
            times.append(elapsed / batch)
    return statistics.median(times)


def product(row: dict) -> float:
    torch.backends.cuda.matmul.allow_tf32 = row["format"] == "tf32"
    shape, dtype = row["shape"], DTYPES[row["format"]]
    size = (shape["m"] * shape["k"] + shape["n"] * shape["k"] + shape["m"] * shape["n"]) * dtype.itemsize
    sets = max(1, -(-(2 << 30) // size))
    sides = [
        (
            torch.randn(shape["m"], shape["k"], device="cuda").to(dtype),
            torch.randn(shape["n"], shape["k"], device="cuda").to(dtype),
            torch.empty(shape["m"], shape["n"], device="cuda", dtype=dtype),
        )
        for _ in range(sets)
    ]

    def work(i: int) -> None:
        a, b, out = sides[i % sets]
        torch.matmul(a, b.T, out=out)

    return seconds(work)


def copy(row: dict) -> float:
    x = torch.randn(row["shape"]["n"], device="cuda")
    y = torch.empty_like(x)
    return seconds(lambda i: y.copy_(x))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    rows = [json.loads(line) for line in (Path(sys.argv[1]) / "records.jsonl").read_text().splitlines()]
    print(f"PyTorch {torch.__version__}")
    for r in rows:
        if r["status"] != "ok" or r["regime"] != "steady" or r["role"] == "control":
            continue
        is_product = r["op"] == "matmul" and r["technique"] == "cublas" and r["format"] in DTYPES
        if is_product and r["shape"]["layout"] == "nt":
            other = product(r)
        elif r["op"] == "dram_copy":
            other = copy(r)
        else:
            continue
        torch.cuda.empty_cache()
        print(f"{r['id']:70} suite/PyTorch {other / r['time_median_s']:.3f}  ({r['time_median_s']:.4g} s, {other:.4g} s)")
