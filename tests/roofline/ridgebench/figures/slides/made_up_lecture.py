"""Made-up runs for the lecture figure and the slides: views with sweeps."""

import random
from dataclasses import replace
from functools import cache

from golden import GOLDEN
from judged_view import judged_again

from ridgebench.data.records import Row, load_run, shape_text
from ridgebench.data.view import View, make_view

FORMATS = ("fp32", "fp16", "bf16", "fp8_e4m3")  # of the runs
BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1}
NAMES = ("AMD EPYC", "NVIDIA H100 80GB HBM3", "<b>&amp;</b>", "矩阵 GPU 🎉", "x" * 300, "$\\frac{1}{0}$")
PER_ELEMENT = {"relu": 1, "gelu": 20}


@cache
def golden() -> View:
    return make_view(load_run(GOLDEN), None)


@cache
def template(role: str) -> Row:
    """A verified row, or the ceiling of arithmetic or of memory."""
    rows = golden().rows
    if role == "kernel":
        return next(row for row in rows if row.drawable and row.op == "relu" and row.roof)
    return next(row for row in rows if row.role == "ceiling" and row.status == "ok" and row.saturates == role)


def work(op: str, shape: dict, format_: str) -> tuple[float, float]:
    """FLOPs and bytes as the binary counts them (a test compares both)."""
    size = BYTES[format_]
    wide = 2 if size == 1 else size  # products of fp8 are bf16
    if op in PER_ELEMENT:
        return PER_ELEMENT[op] * shape["n"], 2 * size * shape["n"]
    if op == "dot":
        return 2 * shape["n"], 2 * size * shape["n"] + 4
    if op == "matvec":
        m, n = shape.get("m", shape["n"]), shape["n"]
        return 2 * m * n, size * (m * n + n) + wide * m
    m, n, k = (shape[name] for name in "mnk")
    return 2 * m * n * k, size * (m * k + n * k) + wide * m * n


def sizes(text: str) -> dict:
    pairs = [part.split(":") for part in text.split("/")]
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


def predict(op: str, shape: str, format_: str, device: str) -> dict:
    """What `ridgebench predict` says of FLOPs, bytes and, for an H100, of the rate."""
    flops, traffic = work(op, sizes(shape), format_)
    intensity = flops / traffic
    peak = 989.5e12 if op == "matmul" else 67e12
    return {"flops": flops, "bytes": traffic, "intensity_flop_per_byte": intensity, "peak_flops_per_s": peak,
            "bandwidth_bytes_per_s": 3.35e12, "attainable_flops_per_s": min(peak, 3.35e12 * intensity)}


def timed(op: str, technique: str, format_: str, shape: dict, rate: float, roof: dict, **more) -> Row:
    """A row of this rate (FLOP/s)."""
    flops, traffic = work(op, shape, format_)
    seconds = flops / rate
    times = {f"time_{name}_s": seconds for name in ("median", "ci_low", "ci_high", "p10", "p90")}
    bound = "compute" if flops / traffic > roof["flops_per_s"] / roof["bytes_per_s"] else "memory"
    ident = f"{op}/{technique}/{format_}/{shape_text(shape)}/{more.get('regime', 'steady')}@cpu"
    values = {"id": ident, "op": op, "technique": technique, "format": format_, "arithmetic": format_, "shape": shape,
              "flops": flops, "bytes": traffic, "intensity_flop_per_byte": flops / traffic, "flops_per_s": rate,
              "bytes_per_s": traffic / seconds, "bound": bound, "roof": roof, "mfu": None,
              "fraction_of_measured_roof": 0.8, **times, **more}
    return replace(template("kernel"), **values)


def square(n: int) -> dict:
    return {"m": n, "n": n, "k": n, "layout": "nt"}


def rows_of_run(dice: random.Random, format_: str, roof: dict) -> list[Row]:
    """Operations, a sweep of matmul, rows that grow, and a ladder with a naive row above everything."""
    rows = []

    def add(op: str, technique: str, shape: dict, share: float, **more) -> None:
        flops, traffic = work(op, shape, format_)
        attainable = min(roof["flops_per_s"], roof["bytes_per_s"] * flops / traffic)
        rows.append(timed(op, technique, format_, shape, share * attainable, roof, **more))

    for op in dice.sample(["relu", "gelu", "dot"], dice.randint(0, 3)):
        add(op, "good", {"n": 1 << dice.randint(10, 30)}, dice.uniform(0.01, 1.0))
    if dice.random() < 0.7:
        n = 1 << dice.randint(6, 15)
        add("matvec", "good", {"m": n, "n": n}, dice.uniform(0.05, 1.0))
    for power in dice.sample(range(3, 14), dice.randint(0, 9)):
        add("matmul", "best", square(1 << power), dice.uniform(0.02, 1.0))
    for power in dice.sample(range(0, 13), dice.randint(0, 13)):
        add("matmul", "rows", {"m": 1 << power, "n": 4096, "k": 4096, "layout": "nt"}, dice.uniform(0.02, 1.0))
    for rung in range(dice.randint(0, 12)):
        name = "naive" if rung == 0 else f"rung_{rung}_{'long_' * dice.randint(0, 6)}"
        add("matmul", name, square(1024), dice.uniform(0.001, 1.1), origin=dice.choice(["hand", "hand", "library"]))
    return rows


def made_up(seed: int) -> View:
    """A run of a host or a GPU with random roofs, operations and sizes."""
    dice = random.Random(seed)
    format_ = dice.choice(FORMATS)
    bandwidth = 10 ** dice.uniform(9.5, 13.3)
    roof = {"flops_per_s": bandwidth * 10 ** dice.uniform(0.2, 3.2), "bytes_per_s": bandwidth,
            "compute_ceiling": template("fma").id, "memory_ceiling": template("memory").id}
    rows = rows_of_run(dice, format_, roof)
    flat = replace(template("fma"), format=format_, flops_per_s=roof["flops_per_s"])
    slope = replace(template("memory"), bytes_per_s=bandwidth)
    unique = {row.id: row for row in [flat, slope, *rows]}
    gpu = dice.random() < 0.5
    device = golden().device | {"model": dice.choice(NAMES), "backend": "cuda" if gpu else "cpu",
                                "data_sheet": "h100-sxm" if gpu and dice.random() < 0.5 else None}
    return judged_again(View(golden().environment, device, list(unique.values()), False))
