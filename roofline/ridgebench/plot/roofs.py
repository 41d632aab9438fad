"""Roofs to draw, from ceiling rows (measured) or from a data sheet."""

from dataclasses import dataclass
from typing import Optional

from ridgebench.data_sheets import Sheet
from ridgebench.records import Row
from ridgebench.units import rate
from ridgebench.view import ORDER, View, ordered

# Share of the bytes that each ceiling of main memory writes (STREAM's kernels).
TRAFFIC = {"read": 0.0, "triad": 1 / 3, "copy": 1 / 2, "write": 1.0}
SAME = 0.02  # flat roofs that are closer are drawn as one line


@dataclass(frozen=True)
class Roof:
    """A bandwidth (bytes/s) or a flat roof (FLOP/s) with its p10-p90 band over samples."""

    name: str
    value: float
    low: float
    high: float
    formats: tuple[str, ...] = ()
    engine: str = "memory"
    level: Optional[int] = None


@dataclass(frozen=True)
class Roofs:
    """All roofs of one source. memory: fastest first. caches: by level. compute: highest first."""

    memory: list[Roof]
    caches: list[Roof]
    compute: list[Roof]

    @property
    def bandwidth(self) -> Optional[Roof]:
        """The bandwidth of the ridges: the read roof where it is known, because operands are read."""
        return next((roof for roof in self.memory if roof.name == "read"), None) or (
            self.memory[0] if self.memory else None
        )


def make_roof(row: Row, name: str, value: float) -> Roof:
    spread = row.time_median_s * value
    low, high = spread / row.time_p90_s, spread / row.time_p10_s
    return Roof(name, value, low, high, (row.format,), row.engine, row.level)


def best(roofs: list[Roof]) -> list[Roof]:
    """The fastest roof of each name: a ceiling is what the machine can do."""
    names = sorted({roof.name for roof in roofs})
    return [max((r for r in roofs if r.name == n), key=lambda r: r.value) for n in names]


def traffic(row: Row) -> str:
    return min(TRAFFIC, key=lambda name: abs(TRAFFIC[name] - row.written_fraction))


def memory_roofs(ceilings: list[Row]) -> list[Roof]:
    """The read and copy roofs, which judge the operations; other mixes only if both are missing."""
    rows = [row for row in ceilings if row.saturates == "memory" and row.regime == "steady"]
    roofs = best([make_roof(row, traffic(row), row.bytes_per_s) for row in rows])
    judges = [roof for roof in roofs if roof.name in ("read", "copy")]
    return sorted(judges or roofs, key=lambda roof: -roof.value)


def cache_roofs(ceilings: list[Row]) -> list[Roof]:
    rows = [row for row in ceilings if row.saturates == "cache"]
    return best([make_roof(row, f"L{row.level}", row.bytes_per_s) for row in rows])


def compute_roofs(ceilings: list[Row], used: set[str]) -> list[Roof]:
    """Flat roofs; where several rows measure one roof, the one that judges points.

    A GPU's tensor roof has a burst and a sustained row, and only the latter judges kernels.
    """
    engines = [row for row in ceilings if row.saturates in ("fma", "tensor")]
    rows = [row for row in engines if row.accumulator == "fp32"]  # as the kernels have
    judged = {(row.engine, row.format) for row in rows if row.id in used}
    kept = [r for r in rows if r.id in used or (r.engine, r.format) not in judged]
    roofs = [make_roof(row, f"{row.format} {row.engine}", row.flops_per_s) for row in kept]
    return sorted(best(roofs), key=lambda roof: -roof.value)


def measured_roofs(view: View) -> Roofs:
    """The roofs of a view; for one format, the roofs of its arithmetic and those that judge its rows."""
    used = {row.roof["compute_ceiling"] for row in view.points if row.roof}
    wanted = {row.arithmetic for row in view.points} | {view.format}
    ceilings = [
        row
        for row in view.ceilings
        if view.format is None or row.saturates in ("memory", "cache") or row.format in wanted or row.id in used
    ]
    # Next to another device's roofs, which stretch the axes, lines of caches would hide the points.
    caches = [] if view.foreign_sheet else cache_roofs(ceilings)
    return Roofs(memory_roofs(ceilings), caches, compute_roofs(ceilings, used))


def sheet_roofs(view: View) -> Optional[Roofs]:
    """The data sheet's roofs for the formats in the view."""
    sheet: Optional[Sheet] = view.sheet
    if sheet is None:
        return None
    names = {n for n in view.formats if n in sheet.peaks and view.format in (None, n)}
    compute = [
        Roof(f"{name} {engine}", peak, peak, peak, (name,), engine)
        for name in ordered(names, ORDER)
        for engine, peak in [sheet.peaks[name]]
    ]
    speed = sheet.bytes_per_s
    memory = [Roof(sheet.memory, speed, speed, speed)]
    return Roofs(memory, [], sorted(compute, key=lambda roof: -roof.value))


def merged(roofs: list[Roof]) -> list[list[Roof]]:
    """Groups of flat roofs (highest first) that share one line and one label."""
    groups: list[list[Roof]] = []
    for roof in roofs:
        if groups and roof.value >= groups[-1][0].value * (1 - SAME):
            groups[-1].append(roof)
        else:
            groups.append([roof])
    return groups


def memory_names(roofs: Roofs) -> list[str]:
    """'DRAM copy 45.1 GB/s, read 39.4 GB/s', and its first part alone; a data sheet's memory has its own name."""
    speeds = [f"{roof.name} {rate(roof.value, 'B/s')}" for roof in roofs.memory]
    owner = "DRAM " if roofs.memory[0].name in TRAFFIC else ""
    return [owner + ", ".join(speeds), owner + speeds[0]]


def engine_name(group: list[Roof]) -> str:
    """'fp16, bf16 tensor'; both 8-bit formats together are fp8."""
    names = [roof.formats[0] for roof in group]
    if {"fp8_e4m3", "fp8_e5m2"} <= set(names):
        names = [name for name in names if not name.startswith("fp8")] + ["fp8"]
    engine = "FMA" if group[0].engine == "fma" else group[0].engine
    return f"{', '.join(names)} {engine}"
