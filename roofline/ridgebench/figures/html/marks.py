"""Markers as SVG paths around the origin: shape = operation, fill = implementation, size and edge = run."""

from math import cos, pi, sin
from typing import Callable

from ridgebench.data.records import Row
from ridgebench.figures.page.external import STAR

_RADIUS = 5.0  # of a circle, px; other shapes have about its area
NAIVE = 0.7  # size of a naive row's marker
_RUN_SIZES = (1.0, 1.0, 0.75, 0.75)  # of the first runs, in turn; every second one has an edge of ink
# The kinds of implementation in the order of the legend, with the fill of their markers.
FILLS = {"hand-written": "solid", "naive": "pale", "library": "hollow", "other tool": "solid"}

_Corners = list[tuple[float, float]]


def _regular(corners: int, radius: float, turn: float = 0.0) -> _Corners:
    """A regular polygon whose first corner points up, turned clockwise by a share of the circle."""
    angles = (2 * pi * (index / corners + turn) for index in range(corners))
    return [(radius * sin(angle), -radius * cos(angle)) for angle in angles]


def _star(radius: float) -> _Corners:
    outer, inner = _regular(5, radius), _regular(5, radius * 0.45, 0.1)
    return [corner for pair in zip(outer, inner) for corner in pair]


def _cross(arm: float, half: float) -> _Corners:
    return [(-half, -arm), (half, -arm), (half, -half), (arm, -half), (arm, half), (half, half), (half, arm),
            (-half, arm), (-half, half), (-arm, half), (-arm, -half), (-half, -half)]


def _turned(corners: _Corners) -> _Corners:
    return [((x - y) * 0.7071, (x + y) * 0.7071) for x, y in corners]


# By the names that Matplotlib has for markers (ridgebench.figures.page.style.shape).
_SHAPES: dict[str, Callable[[float], _Corners]] = {
    "^": lambda r: _regular(3, 1.3 * r),
    "v": lambda r: _regular(3, 1.3 * r, 1 / 2),
    "<": lambda r: _regular(3, 1.3 * r, -1 / 4),
    ">": lambda r: _regular(3, 1.3 * r, 1 / 4),
    "s": lambda r: _regular(4, 1.27 * r, 1 / 8),
    "D": lambda r: _regular(4, 1.27 * r),
    "p": lambda r: _regular(5, 1.18 * r),
    "h": lambda r: _regular(6, 1.12 * r),
    "8": lambda r: _regular(8, 1.06 * r, 1 / 16),
    "P": lambda r: _cross(1.2 * r, 0.45 * r),
    "X": lambda r: _turned(_cross(1.2 * r, 0.45 * r)),
    STAR: lambda r: _star(1.6 * r),
}


def path(shape: str, scale: float = 1.0) -> str:
    """The `d` of a marker."""
    radius = _RADIUS * scale
    if shape == "o":
        half = f"a{radius:.2f} {radius:.2f} 0 1 0 "
        return f"M{-radius:.2f} 0{half}{2 * radius:.2f} 0{half}{-2 * radius:.2f} 0Z"
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _SHAPES[shape](radius)) + "Z"


def kind(row: Row) -> str:
    """One of FILLS."""
    if row.external:
        return "other tool"
    return "library" if row.origin == "library" else "naive" if row.naive else "hand-written"


def run_size(run: int) -> float:
    return _RUN_SIZES[run % len(_RUN_SIZES)]


def inked(run: int) -> bool:
    """True if the markers of a run have an edge of ink."""
    return bool(run % 2)


def classes(row: Row, run: int) -> str:
    """The classes of a marker that report.css styles; the hue is another one."""
    edge = " inked" if inked(run) else ""
    dotted = " dotted" if row.format == "fp8_e5m2" else ""
    return FILLS[kind(row)] + edge + dotted
