"""Names of roofs in a report, each placed once: report.js moves them with their lines, and shows those of the roofs that are shown."""

from dataclasses import dataclass, field
from typing import Any, Iterator

from ridgebench.figures.page.labels import spread

from .frame import LEFT, NARROW, TOP, Frame, Spot
from .lines import Line
from .roofs import FIRST, ends_of, hue_class, named, state
from .sources import Content
from .svg import element, path

STEP = 13  # px between the lines of a label
LETTER = 6.3  # px, a generous width of a letter in a label
_GAP = 8  # px between labels
_ALONG = (0.6, 0.5, 0.18, 0.32)  # where on its slope the label of the solid source is, and those of others in turn


@dataclass(frozen=True)
class Label:
    """A name at a place of its line. kind: own or brief, along a slope of the solid or of another source; name of a flat roof; value of a ridge."""

    kind: str
    line: int  # its index among those of the source
    at: Spot
    svg: str
    more: dict[str, Any] = field(default_factory=dict)  # that report.js needs


_Taken = list[tuple[float, float, float]]  # labels along slopes: their line (x + y), their middle, half their width


def _along(kind: str, index: int, line: Line, text: str, turn: int, frame: Frame, taken: _Taken) -> Iterator[Label]:
    """A label above a slope, where no point of this memory can be, clear of those taken. turn: the first of _ALONG that is tried."""
    ends = ends_of(line, frame)
    if not (ends and text):
        return
    (low, y), (high, _) = ends
    half = len(text) * LETTER / 2 / 2**0.5
    tried = [max(low + half, min(high - half, low + share * (high - low))) for share in (_ALONG[turn], *_ALONG)]
    near = [(middle, half + other) for on, middle, other in taken if abs(on - low - y) < 2 * STEP]
    x = next((x for x in tried if all(abs(x - middle) > apart for middle, apart in near)), tried[0])
    taken.append((low + y, x, half))
    at = (x, y - (x - low))
    svg = element("text", text=text, class_=f"diagonal {hue_class(line)}", transform=f"translate({path(*at)})rotate(-45)", y=-9,
                  text_anchor="middle")  # fmt: skip
    yield Label(kind, index, at, svg, {"text": text, "short": line.short if kind == "own" else text, "ends": (low, high)})


def _names(lines: list[tuple[int, Line]], frame: Frame) -> Iterator[Label]:
    """Labels right of the plot, joined to their lines and spread where they would collide."""
    flats = [(*pair, frame.spot(frame.x[1], pair[1].place.height)) for pair in sorted(lines, key=lambda pair: -pair[1].place.height)]
    tallest = max((len(line.label) for _, line, _ in flats), default=0) * STEP
    heights = spread([y for *_, (_, y) in flats], tallest + _GAP, TOP + tallest / 2, frame.floor - tallest / 2)
    for (index, line, at), height in zip(flats, heights):
        first = height - (len(line.label) - 1) / 2 * STEP + 4
        texts = (element("tspan", text=text, x=frame.right + 22, y=first + number * STEP) for number, text in enumerate(line.label))
        joint = element("path", d=path("M", frame.right + 2, at[1], "L", frame.right + 18, height))
        yield Label("name", index, at, element("g", joint, element("text", *texts), class_=f"name {hue_class(line)}"),
                    {"shift": round(height - at[1], 2)})  # fmt: skip


def levels(places: list[float], texts: list[str]) -> list[int]:
    """The line of text of each ridge's value, from the lowest: the first one in which it begins after the value before it ends."""
    found: list[int] = []
    ends: list[float] = []
    for place, text in zip(places, texts):
        level = next((index for index, end in enumerate(ends) if end < place), len(ends))
        ends[level:] = [place + len(text) * LETTER + 4, *ends[level + 1 :]]
        found.append(level)
    return found


def _values(lines: list[tuple[int, Line]], frame: Frame) -> Iterator[Label]:
    """Values at the feet of the drop-lines. A narrow picture has lines of text of its own, which hold for its least width."""
    known = sorted(((line.place.ridge, index, line) for index, line in lines if line.place.ridge is not None), key=lambda one: one[0])
    places = [frame.spot(ridge, 0.0)[0] for ridge, *_ in known]
    texts = [line.ridge_text for *_, line in known]
    narrow = min(1.0, (NARROW["width"] - NARROW["left"] - NARROW["right"]) / (frame.right - LEFT))
    for (_, index, line), x, level, tight in zip(known, places, levels(places, texts), levels([x * narrow for x in places], texts)):
        svg = element("text", text=line.ridge_text, class_=f"value {hue_class(line)}", x=x + 3, y=frame.floor - 5 - level * STEP)
        yield Label("value", index, (x, frame.floor), svg, {"narrow": (tight - level) * -STEP})


def _of_source(index: int, content: Content, lines: list[Line], frame: Frame) -> Iterator[Label]:
    taken: _Taken = []
    for number, line in enumerate(lines):
        if line.kind != "flat":
            yield from _along("own", number, line, "".join(line.label), 0, frame, taken)
            yield from _along("brief", number, line, line.brief, 1 + index % (len(_ALONG) - 1), frame, [])
    flats = [(number, line) for number, line in enumerate(lines) if line.kind == "flat"]
    yield from _names(flats, frame)
    yield from _values(flats, frame)


def all_labels(content: Content, lines: list[list[Line]], frame: Frame) -> list[list[Label]]:
    """The labels of every source."""
    return [list(_of_source(index, content, some, frame)) for index, some in enumerate(lines)]


def _shown(label: Label, index: int, content: Content, chosen: int) -> bool:
    """True if a label is in the static picture."""
    shown = state(content, index)
    if label.kind == "own":
        return shown == "solid"
    if label.kind == "brief":
        return shown in ("faint", "dashed") and content.sources[index].run != FIRST
    return index == chosen


def draw(content: Content, lines: list[list[Line]], labels: list[list[Label]]) -> str:
    chosen = named(content, lines)
    every = ((index, label) for index, some in enumerate(labels) for label in some)
    drawn = (element("g", label.svg, class_="label" + " off" * (not _shown(label, index, content, chosen))) for index, label in every)
    return element("g", *drawn, class_="labels")
