"""Things that figure and slides draw on a plane: roofs, regions, the ridge, points and paths."""

from dataclasses import replace
from math import inf
from typing import Any, Optional

from ridgebench.data.view import OPERATIONS
from ridgebench.figures.page import labels
from ridgebench.figures.page.style import BLUE, VERMILLION, Theme, blend, readable, shape
from ridgebench.figures.scene.roofline import Roof

from .model import Mark, bent
from .plane import AREA, Plane

_MEMORY, _COMPUTE = "memory-bound", "compute-bound"
LONGEST_NAME = 19  # characters of a user's point
OWN = 0.3  # width of the roof of some operations beside that of matrix products, in strokes
OWN_MEANING = "own roof of an operation"
RIDGE = "ridge"  # group id of its value
BY_MODEL = "by the model"  # group id of such points, and the end of that of their paths
FLAT = "flat-name"  # group id of the name of a second flat roof


def roof(plane: Plane, of: Roof, colour: str, width: float = 1.0, dash: Any = "solid") -> None:
    """The two limits as one line, min() of both."""
    plane.line(plane.corners(*of.lines), colour, width, dash, "roof", 2.5)


def roofs_beside(plane: Plane, roofs: list[Roof], of: Roof, colour: str, label: str = "") -> None:
    """Thin roofs of operations that other units compute, or whose traffic has another bandwidth than matrix products."""
    for one in roofs:
        plane.line(plane.corners(*one.lines), colour, OWN, "solid", "roof", 2.3)
    lower = [one for one in roofs if one.flops_per_s < of.flops_per_s]
    if label and lower:
        name_flat(plane, lower[0], label, legible(colour, plane.theme))


def name_flat(plane: Plane, of: Roof, label: str, colour: str, above: bool = False) -> None:
    """The name of a flat roof, below its right end, else above it; with `above` the other way round."""
    right, middle = plane.area.right, plane.inches(plane.ends()[1], of.flops_per_s)[1]
    wide, high = labels.width(label, plane.layout.text), plane.layout.line
    boxes = [labels.Box(right - wide - back, middle + rise * high, right - back, middle + (rise + 1) * high)
             for rise in ((0.3, -1.15) if above else (-1.15, 0.15)) for back in (0.1, 0.8, 1.5)]
    plane.wish_in(label, boxes, colour, FLAT)


def slope(plane: Plane, of: Roof, colour: str) -> None:
    """The bandwidth without the peak, up to the upper edge."""
    plane.line(plane.corners(replace(of.lines[0], end=inf)), colour, gid="slope", over=2.4)


def common_slope(plane: Plane, roofs: list[Roof], colour: str) -> None:
    """The slope that several roofs share, up to the highest ridge."""
    top = max(roofs, key=lambda one: one.flops_per_s)
    plane.line(plane.corners(top.lines[0]), colour, 0.8, "solid", "slope", 2.4)


def right_of_ridge(plane: Plane, of: Roof, colour: str, width: float, dash: Any) -> None:
    """The flat part of a roof."""
    plane.line(plane.corners(of.lines[1]), colour, width, dash, "roof", 2.5)


def flat(plane: Plane, of: Roof, colour: str, width: float = 1.0, dash: Any = "solid") -> None:
    """The peak without the bandwidth, from edge to edge."""
    plane.line(plane.corners(replace(of.lines[1], start=-inf)), colour, width, dash, "flat", 2.4)


def shades(theme: Theme) -> tuple[tuple[str, float], tuple[str, float]]:
    """Colours and strength of both regions; in print two greys."""
    if theme.band_alpha == 0.0:
        return (theme.ink, 0.05), (theme.ink, 0.14)
    return (BLUE, 0.10 if theme.background > "#8" else 0.22), (VERMILLION, 0.12 if theme.background > "#8" else 0.24)


def legible(colour: str, theme: Theme) -> str:
    """The colour, mixed with ink until text of it can be read on the background and on both regions."""
    grounds = [theme.background, *(blend(theme.background, tint, share) for tint, share in shades(theme))]
    for ground in grounds:
        colour = readable(colour, theme.ink, ground)
    return colour


def regions(plane: Plane, of: Roof, named: bool, strength: float = 1.0) -> None:
    """Shades what memory limits and what arithmetic limits, and names both regions."""
    (left, low), (bend, high), (right, _) = plane.corners(*of.lines)
    floor = plane.lowest
    memory, compute = shades(plane.theme)
    plane.fill([(left, floor), (left, low), (bend, high), (bend, floor)], memory[0], memory[1] * strength)
    plane.fill([(bend, floor), (bend, high), (right, high), (right, floor)], compute[0], compute[1] * strength)
    if named:
        x = plane.inches(bend, high)[0]
        _name_region(plane, _MEMORY, plane.area.left, x)
        _name_region(plane, _COMPUTE, x, plane.area.right)


def zones(plane: Plane, fast: Roof, slow: Roof, names: tuple[str, str, str]) -> None:
    """Shades and names the three zones of two roofs with one peak: left of both ridges, between them, and right of both."""
    left, right = plane.ends()
    floor = plane.lowest
    memory, compute = shades(plane.theme)
    both = [(left, fast.at(left)), (fast.ridge, fast.flops_per_s)]
    ends = [left, fast.ridge, slow.ridge, right]
    for (start, end), name, (colour, strength) in zip(zip(ends, ends[1:]), names, (memory, (memory[0], 2 * memory[1]), compute)):
        top = both if start == left else [(start, fast.flops_per_s), (end, fast.flops_per_s)]
        plane.fill([(start, floor), *top, (end, floor)], colour, strength)
        _name_region(plane, name, plane.inches(start, fast.flops_per_s)[0], plane.inches(end, fast.flops_per_s)[0])


def _name_region(plane: Plane, name: str, left: float, right: float) -> None:
    """The name at the foot of its region; smaller or upright where the region is narrow."""
    layout, bottom = plane.layout, plane.area.bottom
    gap, wide = plane.gap, labels.width(name, layout.text)
    share = min(1.0, max(layout.least / layout.text, (right - left - gap) / wide))
    size, wide, high = share * layout.text, share * wide, share * layout.line
    turned = wide + gap > right - left + 1e-9
    if turned:
        room = max(0.0, right - left - high - 2 * gap)
        starts = [left + gap + part / 8 * room for part in (4, 0, 8, 2, 6, 1, 3, 5, 7)]
        boxes = [labels.Box(start, bottom + gap, start + high, bottom + gap + wide) for start in starts]
    else:
        starts = [min(max(left + gap, (left + right - wide) / 2), right - wide), left + gap, right - wide - gap]
        boxes = [labels.Box(start, low, start + wide, low + high) for low in (bottom + gap + step * 1.2 * high for step in range(3))
                 for start in starts]
    plane.wish_in(name, boxes, plane.theme.ink, AREA, turned, size)


def ridge(plane: Plane, of: Roof, colour: str, label: str = "", counted: bool = False) -> None:
    """An open circle at the ridge, a line down to the axis, and its value."""
    plane.line([(of.ridge, plane.lowest), (of.ridge, of.flops_per_s)], colour, 0.25, (0, (3, 2)), "drop", 2.0)
    plane.spot(of.ridge, of.flops_per_s, colour, "o", filled=False, size=0.7, over=4.0, gid=RIDGE)
    if not label:
        return
    if counted:
        plane.wish(label, of.ridge, of.flops_per_s, legible(colour, plane.theme))
        return
    x, y = plane.inches(of.ridge, of.flops_per_s)
    wide, high = labels.width(label, plane.layout.text), plane.layout.line
    up = y + 0.35 * high
    starts = [x - wide / 2, x - wide, x, x - wide - high, x + high / 2]
    boxes = [labels.Box(left, up + rise * high, left + wide, up + (rise + 1) * high)
             for rise in (0, 0.4) for left in starts]
    plane.wish_in(label, boxes, plane.theme.ink, RIDGE)


def mark(plane: Plane, of: Mark, colour: str, size: float = 1.0) -> None:
    """A point: filled where it was measured, hollow by the model; its shape is the operation."""
    over = 5.2 if of.measured else 5.0
    gid = "" if of.measured else BY_MODEL
    plane.spot(of.intensity, of.rate, colour, shape(of.op, list(OPERATIONS)), of.measured, size, over, gid)


def path(plane: Plane, marks: list[Mark], theme: Theme, colour: str, ink: Optional[str] = None) -> None:
    """Sizes joined by a line with an arrow at the largest one."""
    if not marks:
        return
    places = bent(marks)
    tone = ink or blend(colour, theme.ink, 0.45)
    if len(places) > 1:
        plane.line(places, tone, 0.3, "solid", "path" if marks[0].measured else f"path {BY_MODEL}", 4.5)
        plane.arrow(places[-2], places[-1], tone)
    for one in marks:
        mark(plane, one, tone, 0.75 if len(marks) > 1 else 1.0)
