"""Axes and roofs in the static picture."""

from typing import Iterator

from ridgebench.base.units import tick
from ridgebench.figures.scene.axes import decades

from .frame import LEFT, TOP, Frame, Spot
from .lines import Line
from .sources import Content
from .svg import element, path

FIRST = 0  # the run whose roofs are solid at first
_MOST_TICKS = 10
_AXIS = "FLOP per byte (compulsory traffic of main memory)"


def hue_class(line: Line) -> str:
    return "memory-hue" if line.hue is None else f"f{line.hue}"


def _grid(frame: Frame) -> Iterator[str]:
    for power in decades(frame.x, _MOST_TICKS):
        x, _ = frame.spot(power, 0.0)
        yield element("path", d=path("M", x, TOP, "V", frame.floor))
        yield element("text", text=tick(10.0**power), x=x, y=frame.floor + 17, text_anchor="middle")
    for power in decades(frame.y, _MOST_TICKS):
        _, y = frame.spot(0.0, power + frame.unit)
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


def ends_of(line: Line, frame: Frame) -> list[Spot]:
    """Both ends of the part of a line within the axes; empty without such a part."""
    return [frame.spot(x, y) for x, y in line.place.within(frame.x, frame.rates)]


def _roof(line: Line, frame: Frame) -> str:
    """A line with its band; a flat roof also has the drop-line and the circle of its ridge."""
    parts = [element("title", text=line.title)]
    if ends := ends_of(line, frame):
        (x1, y1), (x2, y2) = ends
        low, high = (end * frame.decade for end in line.place.band)
        parts.append(element("path", class_="band", d=path("M", x1, y1 - low, "L", x2, y2 - low, "V", y2 - high, "L", x1, y1 - high, "Z")))
        parts.append(element("path", class_="edge", d=path("M", x1, y1, "L", x2, y2)))
    if line.place.ridge is not None:
        x, y = frame.spot(line.place.ridge, line.place.height)
        parts.append(element("path", class_="drop", d=path("M", x, y, "V", frame.floor)))
        parts.append(element("circle", class_="ridge", cx=x, cy=y, r=3.5))
    minor = " minor" if line.kind == "memory" and not line.label else ""  # other mixes of reads and writes
    return element("g", *parts, class_=f"line {line.kind}{minor} {hue_class(line)}")


def state(content: Content, index: int) -> str:
    """solid: of the first run; dashed: a data sheet; faint: another run's; off: another run's data sheet."""
    source = content.sources[index]
    if source.run == FIRST and source.measured:
        return "solid"
    if source.measured:
        return "faint"
    return "off" if source.run not in (FIRST, None) else "dashed"


def named(content: Content, lines: list[list[Line]]) -> int:
    """The source whose flat roofs have labels: the first run, or a data sheet where that run measured none."""
    shown = (index for index, some in enumerate(lines) if some and state(content, index) in ("solid", "dashed"))
    return next(shown, FIRST)


def all_roofs(content: Content, lines: list[list[Line]], frame: Frame) -> str:
    chosen = named(content, lines)
    groups = []
    for index, some in enumerate(lines):
        classes = f"source {state(content, index)}" + " named" * (index == chosen)
        groups.append(element("g", *(_roof(line, frame) for line in some), class_=classes))
    return element("g", *groups, class_="roofs")
