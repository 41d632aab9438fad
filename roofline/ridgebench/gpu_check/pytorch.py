"""Measures the copy and the cuBLAS products of a run again by PyTorch, which shares no code with the suite."""

import statistics
from pathlib import Path

import torch

from ridgebench.base.command_line import OK, Parser
from ridgebench.data.records import Row, load_run, of_a_batch

_ROUNDS, _WARM_UP_S = 30, 0.5
_DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def _seconds(work) -> float:
    """Median time of work(i) by events, rotating over inputs that no cache holds."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    spent, times, i = 0.0, [], 0
    while spent < _WARM_UP_S or len(times) < _ROUNDS:
        batch = 8
        start.record()
        for _ in range(batch):
            work(i)
            i += 1
        stop.record()
        stop.synchronize()
        elapsed = start.elapsed_time(stop) / 1e3
        spent += elapsed
        if spent >= _WARM_UP_S:
            times.append(elapsed / batch)
    return statistics.median(times)


def _product(row: Row) -> float:
    torch.backends.cuda.matmul.allow_tf32 = row.format == "tf32"
    shape, dtype = row.shape, _DTYPES[row.format]
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

    return _seconds(work)


def _copy(row: Row) -> float:
    x = torch.randn(row.shape["n"], device="cuda")
    y = torch.empty_like(x)
    return _seconds(lambda i: y.copy_(x))


def main(arguments: list[str]) -> int:
    parser = Parser(prog="pytorch", description=__doc__)
    parser.add_argument("results", type=Path, metavar="DIR")
    print(f"PyTorch {torch.__version__}")
    for row in load_run(parser.parse_args(arguments).results).rows:
        if row.status != "ok" or row.regime != "steady" or row.role == "control":
            continue
        is_product = row.op == "matmul" and row.technique == "cublas" and row.format in _DTYPES
        if is_product and row.shape["layout"] == "nt" and not of_a_batch(row.shape):
            other = _product(row)
        elif row.op == "dram_copy":
            other = _copy(row)
        else:
            continue
        torch.cuda.empty_cache()
        ratio = other / row.time_median_s
        print(f"{row.id:70} suite/PyTorch {ratio:.3f}  ({row.time_median_s:.4g} s, {other:.4g} s)")
    return OK
