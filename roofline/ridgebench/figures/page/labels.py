"""Fits text into its room and keeps labels from colliding, by deterministic rules."""

import re
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from ridgebench.base.text import cut

from .language import families, said

_POINTS_PER_INCH = 72.0
_CELLS_PER_INCH = 100.0
_ROUNDING = 1e-9  # inches by which sums of lengths may differ
_DRAWN, TEXT = 1, 2  # a label may cross what is drawn, never other text

# A line may end after a space, before a Chinese character, or after one; no line begins or ends with a mark that belongs to its neighbour.
_CJK = "\u3400-\u9fff"
_BREAK = re.compile(rf"(?<= )(?!%)|(?<=[^ （])(?=[{_CJK}（])|(?<=[{_CJK}，。；：、）])(?=[^ ，。；：、）%…{_CJK}])")

Point = tuple[float, float]


@cache
def _width(text: str, size: float, weight: str, fonts: tuple[str, ...]) -> float:
    font = FontProperties(family=list(fonts), size=size, weight=weight)
    return text_to_path.get_text_width_height_descent(text, font, False)[0] / _POINTS_PER_INCH


def width(text: str, size: float, weight: str = "normal") -> float:
    """The width of a text in inches, in the fonts of the layout."""
    return _width(said(text), size, weight, tuple(families()))


def fit(text: str, size: float, room: float, weight: str = "normal") -> str:
    """The text, cut with an ellipsis where it is wider than `room` inches."""
    text = cut(said(text))
    if width(text, size, weight) <= room:
        return text
    kept, most = 0, len(text) - 1
    while kept < most:
        middle = (kept + most + 1) // 2
        kept, most = (middle, most) if width(text[:middle] + "…", size, weight) <= room else (kept, middle - 1)
    return text[:kept].rstrip() + "…"


def wrap(text: str, size: float, room: float, lines: int, weight: str = "normal") -> list[str]:
    """The text in at most `lines` lines of `room` inches; the last one is cut where it is too long. No line begins with "%"."""
    words, done = _BREAK.split(cut(said(text))), []
    while words and len(done) < lines - 1:
        count = 1
        while count < len(words) and width("".join(words[: count + 1]).rstrip(" "), size, weight) <= room:
            count += 1
        done.append(fit("".join(words[:count]).rstrip(" "), size, room, weight))
        words = words[count:]
    return done + [fit("".join(words), size, room, weight)] if words else done


def whole(lines: list[str], text: str) -> bool:
    """True if wrap() had room for all of the text."""
    return "".join(lines).replace(" ", "") == said(text).replace(" ", "")


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones (ascending), at least gap apart, within low..high.

    Least squares under the order constraint: pool adjacent violators on wanted - index * gap.
    """
    pools: list[list[float]] = []
    for index, position in enumerate(wanted):
        pools.append([position - index * gap])
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    flat = [_mean(pool) for pool in pools for _ in pool]
    ceiling = high - gap * (len(wanted) - 1)
    return [max(low, min(ceiling, base)) + index * gap for index, base in enumerate(flat)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


@dataclass(frozen=True)
class Box:
    """An axis-parallel rectangle in inches."""

    left: float
    bottom: float
    right: float
    top: float

    def inside(self, other: "Box") -> bool:
        spare = (self.left - other.left, other.right - self.right, self.bottom - other.bottom, other.top - self.top)
        return min(spare) >= -_ROUNDING


def _squares(start: Point, end: Point, half: float) -> list[Box]:
    """A straight line of thickness 2 * half as a row of squares."""
    steps = max(1, int(max(abs(end[0] - start[0]), abs(end[1] - start[1])) / half))
    centres = [tuple(a + (b - a) * step / steps for a, b in zip(start, end)) for step in range(steps + 1)]
    return [Box(x - half, y - half, x + half, y + half) for x, y in centres]


def _cell(inches: float) -> int:
    """The number of a raster cell; positions before the raster count as its edge."""
    return max(0, round(inches * _CELLS_PER_INCH))


@dataclass
class Obstacles:
    """A raster of the canvas so far: the next label keeps clear of it.

    A test costs the same for ten points and for ten thousand. The left and the lower edge of the area are axes, from
    which labels keep `margin` inches, as they do from each other.
    """

    area: Box
    margin: float
    room: Box = field(init=False)
    taken: np.ndarray = field(init=False, repr=False)  # by column and row, from the lower left

    def __post_init__(self) -> None:
        self.room = Box(self.area.left + self.margin, self.area.bottom + self.margin, self.area.right, self.area.top)
        self.taken = np.zeros([part.stop for part in self.cells(self.area)], np.uint8)

    def cells(self, box: Box) -> tuple[slice, slice]:
        """The part of the raster that a box covers, at least one cell."""
        left, bottom = _cell(box.left - self.area.left), _cell(box.bottom - self.area.bottom)
        right, top = _cell(box.right - self.area.left), _cell(box.top - self.area.bottom)
        return slice(left, max(right, left + 1)), slice(bottom, max(top, bottom + 1))

    def add(self, box: Box, what: int = TEXT) -> None:
        np.maximum(self.taken[self.cells(box)], what, out=self.taken[self.cells(box)])

    def add_line(self, start: Point, end: Point, half: float, what: int = _DRAWN) -> None:
        for square in _squares(start, end, half):
            self.add(square, what)

    def hits(self, start: Point, end: Point, half: float) -> tuple[int, int]:
        """The number of squares of a line that meet text or leave the area, and the number that meet anything."""
        met = [self._meets(box, self.area) for box in _squares(start, end, half)]
        return met.count(TEXT), len(met) - met.count(0)

    def meets(self, box: Box) -> int:
        """0 if nothing is in the way, else _DRAWN or TEXT."""
        return self._meets(box, self.room)

    def _meets(self, box: Box, room: Box) -> int:
        return int(self.taken[self.cells(box)].max()) if box.inside(room) else TEXT

    def clear(self, box: Box) -> bool:
        return not self.meets(box)
