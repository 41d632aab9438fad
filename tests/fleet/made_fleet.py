"""Fleets in their collected form, made of random numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from ridgebench.fleet.gpu import Fleet, Gpu, Reading

# Row: what a healthy H200 has, in byte/s or FLOP/s, and the unit. The figures are near those of results/nvidia-h200.
ROWS = {
    "dram_read/bulk/fp32/n:1073741824/steady": (4.6e12, "byte/s"),
    "dram_copy/vec16/fp32/n:536870912/steady": (4.1e12, "byte/s"),
    "cache_l2_read/vec16/fp32/n:3919872/passes:1129/steady": (8.7e12, "byte/s"),
    "fma_peak/registers/fp32/n:12976128/iterations:4096/steady": (6.4e13, "FLOP/s"),
    "copy_to_device/pinned/fp32/n:67108864/steady": (5.5e10, "byte/s"),
}
CAPPED = {"wgmma_peak/wgmma/bf16/tiles:3168/m:64/n:256/k:32/iterations:256/steady": (8.5e14, "FLOP/s")}
WORK = 1e12  # of a launch
FACTS = {"model": "NVIDIA H200", "data_sheet": "h200", "driver": "580", "power_limit_w": 700.0, "ecc": True, "seed": 1}


def reading(rate: float, unit: str, clock: float, events: tuple = ()) -> Reading:
    seconds = WORK / rate
    return Reading("ok", seconds, rate, unit, seconds * clock, clock, 650.0 if events else 420.0, 61.0, events, None)


def readings(random, spread: float, loaded: float = 0.99) -> dict:
    """Rates that scatter by `spread`; half of the variance is the GPU's and the same in both passes."""
    found = {}
    for row, (rate, unit) in ROWS.items():
        own = random.normal(0, spread * 0.5**0.5)
        for pass_, factor in (("isolated", 1.0), ("loaded", loaded)):
            found[pass_, row] = reading(rate * factor * (1 + own + random.normal(0, spread * 0.5**0.5)), unit, 1.98e9)
    for row, (rate, unit) in CAPPED.items():
        for pass_, factor in (("isolated", 1.0), ("loaded", loaded)):
            clock = 1.6e9 * (1 + random.normal(0, 0.03))  # the power limit, not the kernel, scatters
            value = rate * factor * clock / 1.6e9 * (1 + random.normal(0, spread / 4))
            found[pass_, row] = reading(value, unit, clock, ("sw_power_cap",))
    return found


def make_fleet(nodes: int = 4, gpus: int = 8, spread: float = 0.005, seed: int = 1, folder: Path = Path("FLEET")) -> Fleet:
    random = np.random.default_rng(seed)
    facts = dict(FACTS)
    found = []
    for node in range(1, nodes + 1):
        for index in range(gpus):
            found.append(Gpu(f"gn{node}", index, f"{node:08x}{index:08x}", "NVIDIA H200", "DONE", None, 1, facts,
                             readings(random, spread), None))
    return Fleet(folder, None, found)


def at(fleet: Fleet, node: str, index: int) -> int:
    return next(n for n, gpu in enumerate(fleet.gpus) if (gpu.node, gpu.index) == (node, index))


def slowed(gpu: Gpu, by: float, row: str = "", pass_: str = "") -> Gpu:
    """The GPU with lower rates, in all rows or those that begin with `row`; its clock stays."""

    def change(key: tuple, old: Reading) -> Reading:
        if not key[1].startswith(row) or (pass_ and key[0] != pass_):
            return old
        return old._replace(rate=old.rate * (1 - by), seconds=old.seconds / (1 - by), cycles=old.cycles / (1 - by))

    return replace(gpu, readings={key: change(key, old) for key, old in gpu.readings.items()})


def changed(fleet: Fleet, changes: dict) -> Fleet:
    """The fleet in which changes[node, index](gpu) replaces a GPU."""
    gpus = [changes[gpu.node, gpu.index](gpu) if (gpu.node, gpu.index) in changes else gpu for gpu in fleet.gpus]
    return replace(fleet, gpus=gpus)


def lost(gpu: Gpu, state: str, reason: str) -> Gpu:
    """A GPU that has no readings, as MISSING and STARTED ones."""
    return replace(gpu, state=state, reason=reason, readings={}, facts={}, uuid_hash=None, model=None)


def troubled(nodes: int = 4, gpus: int = 8, folder: Path = Path("FLEET"), spread: float = 0.005) -> Fleet:
    """A fleet with a GPU in each state; needs four nodes of eight."""
    fleet = make_fleet(nodes, gpus, spread, folder=folder)
    again = make_fleet(nodes, gpus, spread, seed=2).gpus[at(fleet, "gn2", 3)]
    bad = "cache_l2_read/vec16/fp32/n:3919872/passes:1129/steady"
    return changed(fleet, {
        ("gn1", 1): lambda gpu: slowed(gpu, 0.045, "dram_read"),
        ("gn2", 3): lambda gpu: replace(slowed(again, 0.08, "dram"), attempt=2, earlier=slowed(gpu, 0.08, "dram")),
        ("gn2", 6): lambda gpu: slowed(gpu, 0.12, "copy_to_device"),
        ("gn3", 0): lambda gpu: lost(gpu, "STARTED", "attempt 1 began and never ended; timeout -k 240 s"),
        ("gn3", 5): lambda gpu: replace(gpu, readings={**gpu.readings, ("loaded", bad): gpu.readings["loaded", bad]._replace(
            status="wrong", rate=None, seconds=None, cycles=None, reason="element 17 differs by 1.86e+06 x the tolerance")}),
        ("gn3", 7): lambda gpu: replace(gpu, state="FAILED", reason="exit code 7: the device was lost", readings={}),
        ("gn4", 2): lambda gpu: lost(gpu, "MISSING", "the manifest expects it"),
        ("gn4", 4): lambda gpu: replace(gpu, facts={**FACTS, "driver": "570"}),
        ("gn4", 6): lambda gpu: replace(gpu, state="DUPLICATE", reason="the same result as gn4/attempt-1/loaded/cuda-5"),
        ("gn4", 7): lambda gpu: replace(gpu, state="STALE", reason="measured before the manifest was planned"),
    })
