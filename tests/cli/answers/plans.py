"""Resource accounting in exact fractions: what `plan` must answer. Written as accounting.py is."""

import json
import math
from fractions import Fraction
from pathlib import Path

from accounting import WIDTH, Device, Refused, halves

DAY = 86400


def best_mfu(folder: Path, form: str) -> Fraction:
    """The best MFU of a verified steady matmul; Refused without one."""
    form = "x".join(halves(form))
    lines = (folder / "records.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_float=Fraction) for line in lines]
    shares = [
        row["mfu"]
        for row in rows
        if (row["op"], row["role"], row["status"]) == ("matmul", "kernel", "ok")
        and (row["regime"], row["format"]) == ("steady", form)
        and row["mfu"]
    ]
    if not shares:
        raise Refused
    return max(shares)


def training_flops(amounts: dict) -> Fraction | None:
    return 6 * amounts["parameters"] * amounts["tokens"] if "tokens" in amounts else amounts.get("flops")


def mfu_peak(form: str, device: Device) -> Fraction:
    peak = device.mfu_peak(form) if device.promised is not None else device.peak("matmul", form)
    if peak is None:
        raise Refused
    return peak


def plan_train(work_of: dict, gpus: int, mfu: Fraction | None, form: str, device: Device | None, costs=None) -> dict:
    """work_of holds parameters and tokens, or flops, or days; costs watts, pue and price."""
    flops, costs = training_flops(work_of), costs or {}
    if device is None:
        if "days" in work_of:
            raise Refused
        return {"flops": flops}
    peak = mfu_peak(form, device)
    if mfu is None:
        raise Refused
    per_day = gpus * mfu * peak * DAY
    days = flops / per_day if flops else work_of["days"]
    reply = {"flops": flops or per_day * days, "days": days, "flops_per_day": per_day, "gpu_hours": 24 * gpus * days}
    watts = costs.get("watts", device.watts)
    if watts:
        reply["energy_j"] = watts * gpus * days * DAY * costs.get("pue", 1)
    if "price" in costs:
        reply["cost"] = costs["price"] * reply["gpu_hours"]
    return reply


def plan_mfu(work_of: dict, seconds: Fraction, gpus: int, form: str, device: Device) -> dict:
    flops = training_flops(work_of)
    return {"flops": flops, "flops_per_s": flops / seconds, "mfu": flops / seconds / gpus / mfu_peak(form, device)}


PRECISIONS = {  # bytes of a parameter, of its gradient, of its master copy
    "bf16": (2, 2, 0),
    "fp32": (4, 4, 0),
    "bf16-master": (2, 2, 4),
    "fp32-bf16": (4, 2, 0),
}
STATES = {
    "none": None, "sgd": 0, "momentum": 4, "adagrad": 4, "rmsprop": 4, "adam": 8, "adamw": 8, "lion": 4, "adafactor": 0,
}  # fmt: skip


def bytes_per_parameter(precision: str, optimizer: str, stage: int = 0, ranks: int = 1) -> Fraction:
    width, gradient, master = PRECISIONS[precision]
    states = STATES[optimizer]

    def shard(value: int, first: int) -> Fraction:
        return Fraction(value, ranks) if stage >= first else Fraction(value)

    if states is None:
        return shard(width, 3)
    return shard(width, 3) + shard(gradient, 2) + shard(master, 1) + shard(states, 1)


def sent_per_parameter(precision: str, optimizer: str, stage: int, ranks: int) -> Fraction:
    """Each reduce-scatter or all-gather of a ring sends (d - 1) / d of its bytes from each of d ranks."""
    width, gradient, _ = PRECISIONS[precision]
    if STATES[optimizer] is None:
        passes = [width] if stage == 3 else []
    else:
        passes = {0: [gradient, gradient], 1: [gradient, width], 2: [gradient, width], 3: [gradient, width, width]}[stage]
    return Fraction(sum(passes) * (ranks - 1), ranks)


def plan_state(each: Fraction, parameters: Fraction | None, memory: Fraction | None) -> dict:
    """memory: bytes of all devices together; None without a device."""
    if parameters is None and memory is None:
        raise Refused
    count = Fraction(math.floor(memory / each)) if parameters is None else parameters
    reply = {"parameters": count, "bytes": count * each, "bytes_per_parameter": each}
    return reply if memory is None else reply | {"fits": count * each <= memory}


BLOCKS = {"fp4": 16, "nvfp4": 16, "mxfp4": 32}  # values that share a scale of one byte


def plan_tensor(sizes: list[int], form: str) -> Fraction:
    elements = math.prod(sizes)
    if form in BLOCKS:
        rows = elements // sizes[-1]
        return Fraction((elements + 1) // 2 + rows * -(-sizes[-1] // BLOCKS[form]))
    return Fraction(elements * WIDTH["fp8_e4m3" if form == "fp8" else form])


def kept(layers: int, output: Fraction, total: Fraction, largest: Fraction, checkpoint: str) -> Fraction:
    """Bytes that stay of `layers` layers: each has an output, all keep `total`, and the largest keeps `largest`."""
    root = math.isqrt(layers - 1) + 1
    some = {
        "none": total,
        "layer": layers * output + largest - output,
        "sqrt": root * output + -(-layers // root) * largest - output,
        "full": output + largest,
    }[checkpoint]
    return min(total, some)


def plan_activations(layers: int, width: int, batch: int, parts: int, pre: bool, checkpoint: str, form: str) -> Fraction:
    if parts > batch:
        raise Refused
    output = Fraction(-(-batch // parts) * width * WIDTH["fp8_e4m3" if form == "fp8" else form])
    inside = output * (2 if pre else 1)
    return kept(layers, output, layers * inside, inside, checkpoint)


def llama_activations(config: dict, sequences: int, context: int, checkpoint: str, scores: bool) -> Fraction:
    """Bytes that each token of a dense Llama keeps in a layer in bf16, and after the last one."""
    h, f, heads, kv = (
        config[key] for key in ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
    )
    head, layers = h // heads, config["num_hidden_layers"]
    norms_and_their_outputs = 4 * h
    attention = heads * head + 2 * kv * head + heads * head + (heads * context if scores else 0)
    network = 3 * f
    tokens = sequences * context
    inside = Fraction(2 * tokens * (norms_and_their_outputs + attention + network))
    after = tokens * (2 * 2 * h + 4 * config["vocab_size"])
    return kept(layers, Fraction(2 * tokens * h), layers * inside, inside, checkpoint) + after
