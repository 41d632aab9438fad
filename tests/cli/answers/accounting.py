"""Resource accounting in exact fractions: what `predict` must answer; plans.py has what `plan` must answer.

Written from the facts of the lecture and from docs/method.md, and not from the C++ code, so that a mistake there is
found. A function raises Refused where the program must refuse.
"""

import json
import math
from fractions import Fraction
from pathlib import Path

from command_line import ROOT

WIDTH = {"fp32": 4, "tf32": 4, "tf32x3": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1}
ELEMENTS = ["fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
PRODUCTS = [*ELEMENTS, "tf32", "fp8_e4m3xfp8_e5m2", "fp8_e5m2xfp8_e4m3"]
FORMATS = {
    "relu": ELEMENTS,
    "gelu": ELEMENTS,
    "dot": ELEMENTS,
    "matvec": ELEMENTS,
    "matmul": [*PRODUCTS, "tf32x3"],
    "matmul_gelu": PRODUCTS,
}
DIMENSIONS = {"relu": "n", "gelu": "n", "dot": "n", "matvec": "mn", "matmul": "mnk", "matmul_gelu": "mnk"}
TENSOR = {"matmul", "matmul_gelu"}  # CUDA cores do the arithmetic of the others, in fp32
SAME = Fraction(1, 10**6)  # shares of written bytes that differ by less are equal
ABOVE = Fraction(101, 100)  # a row that is faster than its roof by more raises the roof


class Refused(Exception):
    """The program has to refuse this call."""


def halves(form: str) -> list[str]:
    """Both formats of a mixed pair; `fp8` is e4m3."""
    form = "fp8_e4m3" if form == "fp8" else form
    return [form] if form == "tf32x3" or "x" not in form else form.split("x")


def work(operation: str, sizes: dict[str, int], form: str) -> dict[str, Fraction]:
    """FLOPs, bytes read and written once, and results of special functions."""
    m, n, k = (sizes.get(d, 0) for d in "mnk")
    width = WIDTH[halves(form)[0]]
    out = 2 if width == 1 else width  # products of fp8 are written in bf16
    flops, read, written, special = {
        "relu": (n, n * width, n * width, 0),
        "gelu": (20 * n, n * width, n * width, n),
        "dot": (2 * n, 2 * n * width, 4, 0),
        "matvec": (2 * m * n, (m * n + n) * width, m * out, 0),
        "matmul": (2 * m * n * k, (m * k + k * n) * width, m * n * out, 0),
        "matmul_gelu": (
            2 * m * n * k + 21 * m * n, (m * k + k * n) * width + n * out, m * n * out, m * n,
        ),
    }[operation]  # fmt: skip
    total = read + written
    return {
        "flops": Fraction(flops),
        "bytes": Fraction(total),
        "written": Fraction(written, total),
        "special": Fraction(special),
    }


class Device:
    """Peaks by engine and format, bandwidths by the share that is written, and what a data sheet promises."""

    def __init__(self, name: str):
        self.name = name
        self.engines: dict[tuple[str, str], Fraction] = {}
        self.memory: dict[Fraction, Fraction] = {}
        self.special: Fraction | None = None
        self.promised: dict[str, Fraction] | None = None  # None: no data sheet
        self.memory_bytes: Fraction | None = None
        self.floor: Fraction | None = None
        self.sheet: str | None = None
        self.watts: Fraction | None = None

    def engine(self, engine: str, form: str) -> Fraction | None:
        if (engine, form) in self.engines:
            return self.engines[engine, form]
        tf32 = self.engines.get((engine, "tf32"))
        return tf32 / 3 if form == "tf32x3" and tf32 else None

    def best(self, form: str) -> Fraction | None:
        return max((r for e in ("fma", "tensor") if (r := self.engine(e, form))), default=None)

    def peak(self, operation: str, form: str) -> Fraction | None:
        if operation not in TENSOR:
            return self.engine("fma", "fp32")
        peaks = [self.best(half) for half in halves(form)]
        return None if None in peaks else min(peaks)

    def bandwidth(self, written: Fraction) -> Fraction | None:
        """The rate of the nearest mix, and the lowest of those that are equally near."""
        nearest = min((abs(w - written) for w in self.memory), default=0)
        return min((rate for w, rate in self.memory.items() if abs(w - written) < nearest + SAME), default=None)

    def mfu_peak(self, form: str) -> Fraction | None:
        if self.promised is None:
            return None
        peaks = [self.promised.get(half) for half in halves(form)]
        return None if None in peaks else min(peaks)


def exact(path: Path):
    return json.loads(path.read_text(), parse_float=Fraction, parse_int=Fraction)


def sheet_device(path: Path) -> Device:
    sheet = exact(path)
    device = Device(sheet["name"])
    for peak in sheet["peaks"]:
        if peak["accumulator"] == "fp32":
            device.engines[peak["engine"], peak["format"]] = peak["flops_per_s"]
    device.memory = {Fraction(0): sheet["memory"]["bandwidth_bytes_per_s"]}
    device.promised = {form: best for form in WIDTH if (best := device.best(form))}
    device.memory_bytes = sheet["memory"]["bytes"]
    device.sheet = sheet["name"]
    device.watts = sheet.get("tdp_w")
    return device


def all_sheets() -> dict[str, Device]:
    return {path.stem: sheet_device(path) for path in sorted((ROOT / "roofline/devices").glob("*.json"))}


def burst(row: dict) -> bool:
    """Too short for power and clock to settle; older records say so by the technique's name only."""
    return row.get("burst", "burst" in row["technique"])


def is_roof(row: dict) -> bool:
    """A verified steady ceiling of the memory, of an engine that sums in fp32, or of the special functions."""
    if row["role"] != "ceiling" or row["status"] != "ok" or row["regime"] != "steady" or burst(row):
        return False
    kind = row["saturates"]
    rate = row["bytes"] if kind == "memory" else row["flops"]
    if "x" in row["format"] and row["format"] != "tf32x3" or not rate:
        return False
    engine = kind in ("fma", "tensor") and row["accumulator"] == "fp32"
    return kind == "memory" or engine or (kind == "sfu" and row["format"] == "fp32")


def add_ceilings(device: Device, rows: list[dict]) -> None:
    for row in filter(is_roof, rows):
        if row["saturates"] == "memory":
            rate = row["bytes"] / row["time_median_s"]
            mix = row["written_fraction"]
            same = next((w for w in device.memory if abs(w - mix) < SAME), mix)
            device.memory[same] = max(rate, device.memory.get(same, rate))
            continue
        rate = row["flops"] / row["time_median_s"]
        if row["saturates"] == "sfu":
            device.special = min(rate, device.special or rate)
        else:
            key = row["saturates"], row["format"]
            device.engines[key] = max(rate, device.engines.get(key, rate))


def raise_roofs(device: Device, kernels: list[dict]) -> None:
    """A roof is the best that anything verified reached."""
    memory, engines = dict(device.memory), dict(device.engines)
    ceilings = Device("")
    ceilings.memory, ceilings.engines = memory, engines
    for row in kernels:
        if row["regime"] != "steady" or burst(row):
            continue
        rate, roof = row["bytes"] / row["time_median_s"], ceilings.bandwidth(row["written_fraction"])
        if roof and rate > ABOVE * roof:
            mix = next(w for w in memory if memory[w] == roof)
            device.memory[mix] = max(rate, device.memory[mix])
        form = row["arithmetic"]
        if row["op"] not in TENSOR or row["accumulator"] != "fp32" or len(halves(form)) > 1:
            continue
        rate, roof = row["flops"] / row["time_median_s"], ceilings.engine(row["engine"], form)
        if roof and rate > ABOVE * roof:
            key = row["engine"], form
            device.engines[key] = max(rate, device.engines.get(key, rate))


def add_storage_formats(device: Device, kernels: list[dict]) -> None:
    """A format without a ceiling has the peak of the arithmetic of its products, if that is known for all of them."""
    found: dict[str, list] = {}
    for row in kernels:
        form = row["format"]
        if row["op"] in TENSOR and len(halves(form)) == 1 and not device.best(form):
            found.setdefault(form, []).append((row["engine"], device.engine(row["engine"], row["arithmetic"])))
    for form, rates in found.items():
        for engine, rate in rates if all(rate for _, rate in rates) else []:
            device.engines[engine, form] = max(rate, device.engines.get((engine, form), rate))


def folder_device(folder: Path, sheets: dict[str, Device]) -> Device:
    """The only device of a results folder."""
    facts = exact(folder / "environment.json")["devices"][0]
    lines = (folder / "records.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_float=Fraction, parse_int=Fraction) for line in lines]
    device = Device(f"{facts['model']} in {folder}")
    device.memory_bytes, device.floor = facts["memory_bytes"], facts.get("launch_floor_s")
    device.sheet = facts.get("data_sheet")
    device.promised = sheets[device.sheet].promised if device.sheet else None
    device.watts = sheets[device.sheet].watts if device.sheet else None
    kernels = [row for row in rows if row["role"] == "kernel" and row["status"] == "ok"]
    add_ceilings(device, rows)
    raise_roofs(device, kernels)
    add_storage_formats(device, kernels)
    return device


def predict(operation: str, sizes: dict[str, int], form: str, device: Device) -> dict:
    if set(sizes) != set(DIMENSIONS[operation]):
        raise Refused
    amount = work(operation, sizes, form)
    flops, moved = amount["flops"], amount["bytes"]
    peak, bandwidth = device.peak(operation, form), device.bandwidth(amount["written"])
    if bandwidth is None or (peak is None and operation in TENSOR):
        raise Refused
    arithmetic, traffic = flops / peak if peak else Fraction(0), moved / bandwidth
    special = amount["special"] / device.special if device.special else Fraction(0)
    floor = device.floor or Fraction(0)
    model = max(arithmetic, traffic)
    time = max(model, special, floor)
    bound = "memory" if arithmetic < traffic else "compute"
    if special > model:
        bound = "special"
    if floor and time < 10 * floor:
        bound = "launch"
    promised = device.mfu_peak(form)
    return {
        "flops": flops,
        "bytes": moved,
        "intensity_flop_per_byte": flops / moved,
        "ridge_flop_per_byte": peak / bandwidth if peak else None,
        "bound": bound,
        "peak_flops_per_s": peak,
        "bandwidth_bytes_per_s": bandwidth,
        "attainable_flops_per_s": flops / model,
        "mfu_bound": flops / time / promised if promised else None,
        "time_lower_bound_s": time,
        "time_without_overlap_s": max(arithmetic + traffic, time),
        "launch_floor_s": device.floor,
    }


def solve(operation: str, sizes: dict[str, int], dimension: str, form: str, device: Device) -> dict:
    """The smallest size from which arithmetic takes as long as traffic. `sizes` are given; without any, all are equal.

    On a data sheet, which has one bandwidth, so that sizes up to some one are memory-bound and all above are not.
    """

    def sized(size: int) -> dict[str, int]:
        return dict.fromkeys(DIMENSIONS[operation], size) if not sizes else {**sizes, dimension: size}

    def compute_bound(size: int) -> bool:
        amount, peak = work(operation, sized(size), form), device.peak(operation, form)
        if peak is None and operation in TENSOR:
            raise Refused
        return peak is not None and amount["flops"] / peak >= amount["bytes"] / device.bandwidth(amount["written"])

    def allowed(size: int) -> bool:
        return size <= 2**40 and math.prod(sized(size).values()) < 2**62

    def last(holds, low: int = 0, high: int = 2**41) -> int:
        """The last size that holds, of those from 1; 0 without one."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    if operation not in TENSOR and device.peak(operation, form) is None:
        return {"smallest_compute_bound": None, "largest_memory_bound": None}
    largest = last(allowed)
    below = last(lambda size: allowed(size) and not compute_bound(size))
    if below == largest:
        return {"smallest_compute_bound": None, "largest_memory_bound": largest}
    return {"smallest_compute_bound": below + 1, "largest_memory_bound": below or None}
