"""Labels within a panel: roofs along their lines, and names beside the ends of paths, each where it is free."""

from itertools import product
from math import hypot
from typing import Iterator, Optional

from ridgebench.base import units
from ridgebench.data.records import Row
from ridgebench.data.view import View
from ridgebench.figures.scene import roofline as scene

from . import labels
from .canvas import APART, Canvas
from .finding import best
from .points import LABEL_HEIGHT, candidates, imported, text_of
from .roof_drawing import Pen, label_ridge
from .roofs import Roof, Roofs, engine_name, of_sheet
from .style import DIRECT, SMALL, Theme
from .sweeps import Sweep, sweeps

_STEP = 0.07  # inches between two places that are tried for a label
_CLEAR = 0.16  # inches around a point that belong to it
_FAR = 16  # steps at most between a point and its label
_MOST_ENDS = 6  # named ends of sweeps
_RELATED = ("matmul", "matmul_gelu")  # the operations whose techniques are named


def _write(canvas: Canvas, box: labels.Box, text: str, colour: str, theme: Theme, **style: str) -> None:
    canvas.page.text(box.left, box.bottom + 0.03, text, size=SMALL, color=colour, gid=DIRECT, bbox=theme.patch, **style)
    canvas.obstacles.add(labels.Box(box.left - APART, box.bottom, box.right + APART, box.top))


def _flat_texts(group: list[Roof], promised: Optional[Roofs], scale: float) -> list[str]:
    """'bf16 tensor 841 TFLOP/s (85 % of data sheet)' and shorter forms."""
    value = units.rate_in(group[0].value, scale, "FLOP/s")
    whole, part = f"{engine_name(group)} {value}", of_sheet(group[0], promised)
    return [*([f"{whole} ({part})"] if part else []), whole, value]


def label_flat(canvas: Canvas, group: list[Roof], pen: Pen, promised: Optional[Roofs]) -> None:
    """Names a flat roof above its line, else below it, as far right as there is room; no label without room."""
    heights = [group[0].value, *(r.value for r in promised.compute if r.name == group[0].name)] if promised else []
    top = canvas.inches(1.0, max([group[0].value, *heights]) / canvas.scale)[1]
    line = canvas.inches(1.0, group[0].value / canvas.scale)[1]
    for text in _flat_texts(group, promised, canvas.scale):
        size = labels.width(text, SMALL)
        for low in (top + 0.05, line - LABEL_HEIGHT - 0.05):
            left = canvas.right - size - 0.02
            while left > canvas.left:
                box = labels.Box(left, low, left + size, low + LABEL_HEIGHT)
                if canvas.obstacles.clear(box):
                    _write(canvas, box, text, pen.text_colour(group[0]), pen.theme, style=pen.slant)
                    return
                left -= _STEP


def label_foot(canvas: Canvas, own: Optional[Roofs], pen: Pen) -> None:
    """The ridge by the device's own data sheet, beside the measured one."""
    if own and own.compute:
        label_ridge(canvas, own.compute[0], pen, lines=4)


def _around(x: float, y: float, size: float, level: bool) -> Iterator[tuple[labels.Box, bool]]:
    """Places for a label around a point, and whether a line must join them: beside it, then further and further off.

    At the end of a path only a place at its level is beside it: another one may be beside the path below.
    """
    beside = candidates(x, y, size)
    for box in beside[1:2] if level else (beside[1], beside[0], *beside[2:4], *beside[5:]):
        yield box, False
    for far in range(3, _FAR):
        for across, up in ((far, 0), (far, -2), (far, -4), (-far, -2), (-far, -far)):
            left = x + across * _STEP - (size if across < 0 else 0.0)
            low = y + up * _STEP - LABEL_HEIGHT / 2
            yield labels.Box(left, low, left + size, low + LABEL_HEIGHT), True


def _end_of_line(x: float, box: labels.Box) -> labels.Point:
    """Where a line from a point at x meets its label."""
    return (box.left - 0.02 if box.left > x else box.right + 0.02), box.bottom + LABEL_HEIGHT / 2


def _crosses(canvas: Canvas, point: labels.Point, box: labels.Box, level: bool) -> bool:
    """True if a line from a point to its label would cross another label or, unless it ends a path, another point."""
    end = _end_of_line(point[0], box)
    length = max(hypot(end[0] - point[0], end[1] - point[1]), _CLEAR)
    start = tuple(a + (b - a) * _CLEAR / length for a, b in zip(point, end))
    texts, met = canvas.obstacles.hits(start, end, 0.02)
    return (texts if level else met) > 0


def _join(canvas: Canvas, point: labels.Point, box: labels.Box, theme: Theme) -> None:
    """Draws a thin line from a point to its label."""
    ends = zip(point, _end_of_line(point[0], box))
    canvas.page.plot(*ends, color=theme.muted, linewidth=0.6, zorder=0.5)


def _name_row(canvas: Canvas, row: Row, texts: list[str], theme: Theme, level: bool = False) -> bool:
    """Writes the first of the texts that has room near a row's point; returns whether one has."""
    x, y = canvas.inches(row.intensity_flop_per_byte, row.flops_per_s / canvas.scale)
    for text, far in product(texts, (False, True)):
        for box, joined in _around(x, y, labels.width(text, SMALL), level):
            if joined == far and canvas.obstacles.clear(box) and not (far and _crosses(canvas, (x, y), box, level)):
                if far:
                    _join(canvas, (x, y), box, theme)
                _write(canvas, box, text, theme.text(row.format), theme)
                return True
    return False


def _tops(view: View, op: str, origin: str) -> Optional[Row]:
    """The fastest row of an operation that is not naive."""
    rows = [row for row in view.points if (row.op, row.origin) == (op, origin) and not row.naive]
    return best([row for row in rows if row.intensity_flop_per_byte], lambda row: row.flops_per_s)


def _products(view: View) -> str:
    """The operation whose techniques are named: matrix products; empty without one."""
    return next((op for op in _RELATED if op in view.operations), "")


def product_sweeps(view: View) -> list[list[Sweep]]:
    """The hand-written sweeps of matrix products by technique, the slowest first, each with its longest sweep first."""
    rows = [row for row in view.points if row.op == _products(view) and row.origin == "hand"]
    found: dict[str, list[Sweep]] = {}
    for sweep in sorted(sweeps(rows), key=lambda sweep: -len(sweep.rows)):
        found.setdefault(sweep.rows[0].technique, []).append(sweep)
    return sorted(found.values(), key=lambda own: own[0].rows[-1].flops_per_s or 0)


def _name_paths(canvas: Canvas, view: View, theme: Theme) -> None:
    """Names the techniques of matrix products at the ends of their longest paths, and sizes at the ends of the fastest.

    Slow paths come first: they have room beside their ends, while the fastest one is close to the roof.
    """
    in_order = product_sweeps(view)
    for own in in_order[:-1]:
        _name_row(canvas, own[0].rows[-1], [own[0].rows[-1].technique], theme, level=True)
    name_sweeps(canvas, view, theme)


def name_sweeps(canvas: Canvas, view: View, theme: Theme, room: int = _MOST_ENDS) -> None:
    """Names the technique whose path of matrix products is fastest, and what grows, at most `room` ends of its sweeps."""
    own = next(reversed(product_sweeps(view)), [])
    for sweep, index in product(own, (-1, 0)):
        row = sweep.rows[index]
        first = sweep is own[0] and index == -1
        texts = [f"{row.technique}, {sweep.size(row)}", row.technique] if first else [sweep.size(row)]
        room -= room > 0 and _name_row(canvas, row, texts, theme, level=index == -1)


def name_ends(canvas: Canvas, view: View, theme: Theme) -> None:
    """Names points of other tools and the ends of paths."""
    for row in filter(scene.placed, imported(view)):
        _name_row(canvas, row, [text_of(row, view)], theme)
    _name_paths(canvas, view, theme)


def name_tops(canvas: Canvas, view: View, operations: list[str], theme: Theme) -> None:
    """Names the fastest row of each of these operations with its share of the roof; head_rows() has matrix products."""
    for op in operations:
        row = _tops(view, op, "hand") or _tops(view, op, "library")
        if row and op not in _RELATED:
            _name_row(canvas, row, [text_of(row, view.only(row.format))], theme)


def head_rows(view: View) -> list[tuple[Row, str]]:
    """The fastest hand-written row and the fastest library of matrix products, with their rates."""
    rows = filter(None, (_tops(view, _products(view), origin) for origin in ("hand", "library")))
    return [(row, f"{row.technique} {units.digits(row.flops_per_s / view.unit[1])}") for row in rows]
