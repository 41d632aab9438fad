"""Axes, roofs and their labels in the static picture. report.js draws the same for another window."""

from math import ceil, floor
from typing import Iterator, Optional

from ridgebench.base.units import tick
from ridgebench.figures.page.labels import spread

from .frame import LEFT, TOP, Frame
from .lines import Line
from .sources import Content
from .svg import element, path

_LABEL_STEP = 13  # px between the lines of a label
_LABEL_GAP = 8  # px between labels
FIRST = 0  # the run whose roofs are solid at first
_ALONG = (0.6, 0.18, 0.32, 0.5)  # where on the visible part of a diagonal the labels of sources stand, in turn
_LETTER = 6.3  # px, a generous width of a letter in a label
_RIDGE_ROOM = 26  # px that the value of a ridge takes
_MOST_TICKS = 10
_AXIS = "FLOP per byte (compulsory traffic of main memory)"


def _hue_class(hue: Optional[int]) -> str:
    return "memory-hue" if hue is None else f"f{hue}"


def _decades(limits: tuple[float, float]) -> list[int]:
    """Whole powers of ten within the limits, every second or third one where there are many."""
    first, last = ceil(limits[0] - 1e-9), floor(limits[1] + 1e-9)
    step = max(1, ceil((last - first + 1) / _MOST_TICKS))
    return [power for power in range(first, last + 1) if power % step == 0]


def _grid(frame: Frame) -> Iterator[str]:
    for power in _decades(frame.x):
        x = frame.across(power)
        yield element("path", d=path("M", x, TOP, "V", frame.floor))
        yield element("text", text=tick(10.0**power), x=x, y=frame.floor + 17, text_anchor="middle")
    for power in _decades(frame.y):
        y = frame.down(power)
        yield element("path", d=path("M", LEFT, y, "H", frame.right))
        yield element("text", text=tick(10.0**power), x=LEFT - 7, y=y, dy=4, text_anchor="end")


def axes(frame: Frame, unit: str) -> list[str]:
    turned = f"translate(14 {path((TOP + frame.floor) / 2)})rotate(-90)"
    middle = {"x": (LEFT + frame.right) / 2, "y": frame.floor + 40}
    return [
        element("g", *_grid(frame), class_="grid"),
        element("path", class_="frame", d=path("M", LEFT, TOP, "V", frame.floor, "H", frame.right)),
        element("text", text=_AXIS, class_="axis x", text_anchor="middle", **middle),
        element("text", text=unit, class_="axis y", text_anchor="middle", transform=turned),
    ]


def _ends(line: Line, frame: Frame) -> tuple[float, float, float, float]:
    """The ends of a line in px, no further out than the picture: browsers draw far coordinates badly."""
    x1, x2 = max(line.x1, frame.x[0] - 1), min(line.x2, frame.x[1] + 1)
    rise = 0 if line.kind == "flat" else 1
    heights = (line.y1 + rise * (x - line.x1) for x in (x1, x2))
    start, end = map(frame.down, heights)
    return frame.across(x1), start, frame.across(x2), end


def _roof(line: Line, frame: Frame) -> str:
    """A line with its band; a flat roof also has the drop-line and the circle of its ridge."""
    x1, y1, x2, y2 = _ends(line, frame)
    low, high = line.low * frame.decade, line.high * frame.decade
    band = ("M", x1, y1 - low, "L", x2, y2 - low, "V", y2 - high, "L", x1, y1 - high, "Z")
    parts = [
        element("title", text=line.title),
        element("path", class_="band", d=path(*band)),
        element("path", class_="edge", d=path("M", x1, y1, "L", x2, y2)),
    ]
    if line.ridge is not None:
        x = frame.across(line.ridge)
        parts.append(element("path", class_="drop", d=path("M", x, y1, "V", frame.floor)))
        parts.append(element("circle", class_="ridge", cx=x, cy=y1, r=3.5))
    minor = " minor" if line.kind == "memory" and not line.label else ""  # other mixes of reads and writes
    return element("g", *parts, class_=f"line {line.kind}{minor} {_hue_class(line.hue)}")


def state(content: Content, index: int) -> str:
    """solid: of the first run; dashed: a data sheet; faint: another run's; off: another run's data sheet."""
    source = content.sources[index]
    if source.run == FIRST and source.measured:
        return "solid"
    if source.measured:
        return "faint"
    return "off" if source.run not in (FIRST, None) else "dashed"


def _named(content: Content, lines: list[list[Line]]) -> int:
    """The source whose flat roofs have labels: the first run, or a data sheet where that run measured none."""
    shown = (index for index, some in enumerate(lines) if some and state(content, index) in ("solid", "dashed"))
    return next(shown, FIRST)


def all_roofs(content: Content, lines: list[list[Line]], frame: Frame) -> str:
    chosen = _named(content, lines)
    groups = []
    for index, some in enumerate(lines):
        classes = f"source {state(content, index)}" + " named" * (index == chosen)
        groups.append(element("g", *(_roof(line, frame) for line in some), class_=classes))
    return element("g", *groups, class_="roofs")


def _diagonal_label(line: Line, text: str, turn: int, frame: Frame) -> str:
    """A label above its line, where no point of this memory can be. turn: which of _ALONG."""
    x1, y1, x2, _ = _ends(line, frame)
    low, high = max(LEFT, x1 + (y1 - frame.floor)), min(x2, frame.right)  # the visible part
    half = len(text) * _LETTER / 2 / 2**0.5
    x = max(low + half, min(high - half, low + _ALONG[turn % len(_ALONG)] * (high - low)))
    turned = f"translate({path(x, y1 - (x - x1))})rotate(-45)"
    hue = _hue_class(line.hue)
    return element("text", text=text, class_=f"diagonal {hue}", transform=turned, y=-9, text_anchor="middle")


def _diagonal_labels(content: Content, lines: list[list[Line]], frame: Frame) -> Iterator[str]:
    """The memories and caches of the solid source, and the memory of every other one that is shown."""
    turn = 0
    for index, (source, some) in enumerate(zip(content.sources, lines)):
        if state(content, index) == "solid":
            own = (line for line in some if line.kind != "flat" and line.label)
            yield from (_diagonal_label(line, line.label[0], 0, frame) for line in own)
        elif state(content, index) != "off" and source.run != FIRST:
            turn += 1
            yield from (_diagonal_label(line, line.brief, turn, frame) for line in some if line.brief)


def _flat_labels(lines: list[Line], frame: Frame) -> Iterator[str]:
    """Labels right of the plot, joined to their lines and spread where they would collide."""
    flats = sorted((line for line in lines if line.kind == "flat"), key=lambda line: -line.y1)
    wanted = [frame.down(line.y1) for line in flats]
    tallest = max((len(line.label) for line in flats), default=0) * _LABEL_STEP
    heights = spread(wanted, tallest + _LABEL_GAP, TOP + tallest / 2, frame.floor - tallest / 2)
    for line, start, height in zip(flats, wanted, heights):
        first = height - (len(line.label) - 1) / 2 * _LABEL_STEP + 4
        parts = (
            element("tspan", text=text, x=frame.right + 22, y=first + index * _LABEL_STEP)
            for index, text in enumerate(line.label)
        )
        joint = element("path", d=path("M", frame.right + 2, start, "L", frame.right + 18, height))
        yield element("g", joint, element("text", *parts), class_=f"name {_hue_class(line.hue)}")


def _ridge_labels(lines: list[Line], frame: Frame) -> Iterator[str]:
    """Values at the feet of the drop-lines; one that has no room beside its neighbour stands higher."""
    last, level = -_RIDGE_ROOM * 2.0, 0
    for line in sorted((line for line in lines if line.ridge is not None), key=lambda line: line.ridge):
        x = frame.across(line.ridge)
        level = level + 1 if x - last < _RIDGE_ROOM else 0
        last = x
        place = {"x": x + 3, "y": frame.floor - 5 - level * _LABEL_STEP}
        yield element("text", text=line.ridge_text, class_=f"value {_hue_class(line.hue)}", **place)


def all_labels(content: Content, lines: list[list[Line]], frame: Frame) -> str:
    own = lines[_named(content, lines)]
    parts = (*_diagonal_labels(content, lines, frame), *_flat_labels(own, frame), *_ridge_labels(own, frame))
    return element("g", *parts, class_="labels")
