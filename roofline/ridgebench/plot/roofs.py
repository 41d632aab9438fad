"""Roofs to draw, from ceiling rows (measured) or from a data sheet."""

from dataclasses import dataclass, replace
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
    bandwidth: Optional[float] = None  # of a flat roof: the bytes/s that judge its rows
    mix: str = ""  # of that bandwidth: read, copy, ...

    @property
    def ridge(self) -> Optional[float]:
        """The intensity (FLOP/byte) at which a row turns from memory-bound to compute-bound."""
        return self.value / self.bandwidth if self.bandwidth else None


@dataclass(frozen=True)
class Roofs:
    """All roofs of one source. memory: fastest first. caches: by level. compute: highest first."""

    memory: list[Roof]
    caches: list[Roof]
    compute: list[Roof]
    owner: str = ""  # a data sheet's title, where several are drawn
    short: str = ""  # and its name, for a label without room

    @property
    def bandwidth(self) -> Optional[Roof]:
        """The bandwidth of a source as a whole: the read roof where it is known, because operands are read."""
        return next((roof for roof in self.memory if roof.name == "read"), None) or (
            self.memory[0] if self.memory else None
        )


def make_roof(row: Row, name: str, value: float) -> Roof:
    """The roof of a ceiling; `value` is its rate, which a row above it has raised."""
    value *= row.raised
    spread = row.time_median_s * value
    low, high = spread / row.time_p90_s, spread / row.time_p10_s
    return Roof(name, value, low, high, (row.format,), row.engine, row.level)


def best(roofs: list[Roof]) -> list[Roof]:
    """The fastest roof of each name: a ceiling is what the machine can do."""
    names = sorted({roof.name for roof in roofs})
    return [max((r for r in roofs if r.name == n), key=lambda r: r.value) for n in names]


def traffic(row: Row) -> str:
    return min(TRAFFIC, key=lambda name: abs(TRAFFIC[name] - row.written_fraction))


def memory_roofs(ceilings: list[Row], used: set[str]) -> list[Roof]:
    """The roofs that judge rows; without such rows those of reading and copying, or all."""
    rows = [row for row in ceilings if row.saturates == "memory" and row.regime == "steady"]
    judges = [row for row in rows if row.id in used]
    usual = [row for row in rows if traffic(row) in ("read", "copy")]
    roofs = best([make_roof(row, traffic(row), row.bytes_per_s) for row in judges or usual or rows])
    return sorted(roofs, key=lambda roof: -roof.value)


def cache_roofs(ceilings: list[Row]) -> list[Roof]:
    rows = [row for row in ceilings if row.saturates == "cache"]
    return best([make_roof(row, f"L{row.level}", row.bytes_per_s) for row in rows])


def is_square(row: Row) -> bool:
    """Whether all sizes are one: `predict OP n:4096` names such a shape."""
    return len({size for size in row.shape.values() if isinstance(size, int)}) == 1


def judged_row(view: View, ceiling: Row) -> Optional[Row]:
    """The fastest row that a compute ceiling judges: one bound by arithmetic before others, a square before others.

    The traffic of other products may be mostly reading or mostly writing, whose ridges differ.
    """
    rows = [row for row in view.points if row.roof and row.roof["compute_ceiling"] == ceiling.id]
    return max(rows, key=lambda row: (row.bound == "compute", is_square(row), row.flops_per_s or 0), default=None)


def compute_roof(view: View, ceiling: Row) -> Roof:
    """The flat roof of a ceiling, with the ridge of the rows that it judges.

    In a figure of tf32x3, three products of tf32 make one, so that a third of tf32's roof is drawn.
    """
    roof = make_roof(ceiling, f"{ceiling.format} {ceiling.engine}", ceiling.flops_per_s)
    row = judged_row(view, ceiling)
    if row is None:
        return roof
    part = row.roof["flops_per_s"] / roof.value
    if view.format and part < 1 - SAME and row.arithmetic == row.format:
        roof = replace(roof, name=f"{row.format} {roof.engine}", formats=(row.format,), value=roof.value * part,
                       low=roof.low * part, high=roof.high * part)
    mixes = {ceiling.id: traffic(ceiling) for ceiling in view.ceilings}
    return replace(roof, bandwidth=row.roof["bytes_per_s"], mix=mixes.get(row.roof["memory_ceiling"], ""))


def compute_roofs(view: View, ceilings: list[Row]) -> list[Roof]:
    engines = [row for row in ceilings if row.saturates in ("fma", "tensor")]
    rows = [row for row in engines if row.accumulator == "fp32"]  # as the kernels have
    return sorted(best([compute_roof(view, row) for row in rows]), key=lambda roof: -roof.value)


def measured_roofs(view: View) -> Roofs:
    """The roofs of a view; for one format, the roofs of its arithmetic and those that judge its rows."""
    used = {row.roof[key] for row in view.points if row.roof for key in ("compute_ceiling", "memory_ceiling")}
    wanted = {row.arithmetic for row in view.points} | {view.format}
    ceilings = [
        row
        for row in view.ceilings
        if view.format is None or row.saturates in ("memory", "cache") or row.format in wanted or row.id in used
    ]
    # Next to another device's roofs, which stretch the axes, lines of caches would hide the points.
    caches = [] if view.foreign_sheet else cache_roofs(ceilings)
    memory = memory_roofs(ceilings, used)
    compute = compute_roofs(view, ceilings)
    usual = Roofs(memory, [], []).bandwidth
    if usual:
        compute = [r if r.bandwidth else replace(r, bandwidth=usual.value, mix=usual.name) for r in compute]
    return Roofs(memory, caches, compute)


def sheet_roofs(view: View, sheet: Sheet) -> Roofs:
    """A data sheet's roofs for the formats in the view."""
    names = {n for n in view.formats if n in sheet.peaks and view.format in (None, n)}
    speed = sheet.bytes_per_s
    compute = [
        Roof(f"{name} {engine}", peak, peak, peak, (name,), engine, bandwidth=speed)
        for name in ordered(names, ORDER)
        for engine, peak in [sheet.peaks[name]]
    ]
    memory = [Roof(sheet.memory, speed, speed, speed)]
    owner = sheet.title if len(view.sheets) > 1 else ""
    return Roofs(memory, [], sorted(compute, key=lambda roof: -roof.value), owner, sheet.name if owner else "")


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
    owner = "DRAM " if roofs.memory[0].name in TRAFFIC else f"{roofs.owner}: " if roofs.owner else ""
    return [owner + ", ".join(speeds), owner + speeds[0]]


def engine_name(group: list[Roof]) -> str:
    """'fp16, bf16 tensor'; both 8-bit formats together are fp8."""
    names = [roof.formats[0] for roof in group]
    if {"fp8_e4m3", "fp8_e5m2"} <= set(names):
        names = [name for name in names if not name.startswith("fp8")] + ["fp8"]
    engine = "FMA" if group[0].engine == "fma" else group[0].engine
    return f"{', '.join(names)} {engine}"
