"""Roofs to draw, from the judgement of a run (measured) or from a data sheet."""

from dataclasses import replace
from typing import Iterable, Optional, Sequence

from ridgebench.base.units import percent, rate
from ridgebench.data.data_sheets import Sheet
from ridgebench.data.judged import Roof, Roofs
from ridgebench.data.view import ORDER, View, ordered
from ridgebench.figures.scene.roofline import ridge, sheet_share

_TRAFFIC = ("read", "triad", "copy", "write")  # STREAM's kernels, which name the roofs of main memory
SAME = 0.02  # flat roofs that are closer are drawn as one line


def measured_roofs(view: View) -> Roofs:
    """The roofs of a view; for one format, the roofs of its arithmetic and those that judge its rows."""
    roofs = view.judgement.roofs_of(view.device["name"], view.format)
    # Next to another device's roofs, which stretch the axes, lines of caches would hide the points.
    return replace(roofs, caches=[]) if view.foreign_sheet else roofs


def _fastest_first(roofs: Iterable[Roof]) -> list[Roof]:
    return sorted(roofs, key=lambda roof: -roof.value)


def roofs_of(view: View, formats: Iterable[Optional[str]]) -> Roofs:
    """Returns the measured roofs of some formats together; None represents all formats. It leaves out caches: no format's row is judged by them.

    A flat roof has the ridge that its own format's rows have, where that format is one of them: rows of another format, which the
    same units compute, may move their bytes with another mix.
    """
    found = {name: measured_roofs(replace(view, format=name)) for name in formats}
    memory = {roof.name: roof for one in found.values() for roof in one.memory}
    compute = {roof.name: roof for one in found.values() for roof in one.compute}
    compute |= {roof.name: roof for name, one in found.items() for roof in one.compute if name in roof.formats}
    return Roofs(_fastest_first(memory.values()), [], _fastest_first(compute.values()))


def sheet_roofs(view: View, sheet: Sheet) -> Roofs:
    """A data sheet's roofs for the formats in the view."""
    names = {n for n in view.formats if n in sheet.peaks and view.format in (None, n)}
    speed = sheet.bytes_per_s
    compute = [
        Roof(f"{name} {engine}", peak, peak, peak, (name,), engine, bandwidth=speed, ridge=ridge(peak, speed))
        for name in ordered(names, ORDER)
        for engine, peak in [sheet.peaks[name]]
    ]
    memory = [Roof(sheet.memory, speed, speed, speed)]
    owner = sheet.title if len(view.sheets) > 1 else ""
    return Roofs(memory, [], _fastest_first(compute), owner, sheet.name if owner else "")


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
    """'DRAM copy 45.1 GB/s, read 39.4 GB/s', and its first part by itself; a data sheet's memory has its own name."""
    speeds = [f"{roof.name} {rate(roof.value, 'B/s')}" for roof in roofs.memory]
    owner = "DRAM " if roofs.memory[0].name in _TRAFFIC else f"{roofs.owner}: " if roofs.owner else ""
    return [owner + ", ".join(speeds), owner + speeds[0]]


def of_sheet(roof: Optional[Roof], promised: Optional[Roofs]) -> str:
    """'85 % of data sheet', what a measured roof reaches of the same one of its device's data sheet; empty without that."""
    share = sheet_share(roof, promised)
    return f"{percent(share)} % of data sheet" if share else ""


def lead(names: Sequence[str]) -> str:
    """The format that gives formats with one roof their hue, dash and letter: bf16 where it is one of them, in every figure."""
    return "bf16" if "bf16" in names else names[0]


def engine_name(group: list[Roof]) -> str:
    """'fp16, bf16 tensor'; both 8-bit formats together are fp8."""
    names = [roof.formats[0] for roof in group]
    if {"fp8_e4m3", "fp8_e5m2"} <= set(names):
        names = [name for name in names if not name.startswith("fp8")] + ["fp8"]
    engine = "FMA" if group[0].engine == "fma" else group[0].engine
    return f"{', '.join(names)} {engine}"
