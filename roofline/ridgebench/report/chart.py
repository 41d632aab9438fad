"""The roofline as SVG that is complete without JavaScript: axes, roofs, points with their accessible names."""

from html import escape
from math import ceil, floor, log10
from typing import Iterator, Optional

from ridgebench.plot.labels import spread
from ridgebench.plot.style import shape
from ridgebench.records import Row
from ridgebench.units import rate, tick

from . import marks
from .columns import name_of, ratios_text
from .frame import LEFT, TOP, Frame
from .lines import Line
from .sources import Content, placed

LABEL_STEP = 13  # px between the lines of a label
LABEL_GAP = 8  # px between labels
FIRST = 0  # the run whose roofs are solid at first
ALONG = (0.6, 0.18, 0.32, 0.5)  # where on the visible part of a diagonal the labels of sources stand, in turn
LETTER = 6.3  # px, a generous width of a letter in a label
RIDGE_ROOM = 26  # px that the value of a ridge takes
AXIS = "FLOP per byte (compulsory traffic of main memory)"


def hue_class(hue: Optional[int]) -> str:
    return "memory-hue" if hue is None else f"f{hue}"


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def decades(limits: tuple[float, float]) -> list[int]:
    """Whole powers of ten within the limits, every second or third one where there are many."""
    first, last = ceil(limits[0] - 1e-9), floor(limits[1] + 1e-9)
    step = max(1, ceil((last - first + 1) / 10))
    return [power for power in range(first, last + 1) if power % step == 0]


def axes(frame: Frame, unit: str) -> Iterator[str]:
    yield '<g class="grid">'
    for power in decades(frame.x):
        x = number(frame.across(power))
        yield f'<path d="M{x} {TOP}V{number(frame.floor)}"/><text x="{x}" y="{number(frame.floor + 17)}" text-anchor="middle">{tick(10.0**power)}</text>'
    for power in decades(frame.y):
        y = number(frame.down(power))
        yield f'<path d="M{LEFT} {y}H{number(frame.right)}"/><text x="{LEFT - 7}" y="{y}" dy="4" text-anchor="end">{tick(10.0**power)}</text>'
    yield "</g>"
    middle = number((TOP + frame.floor) / 2)
    yield f'<path class="frame" d="M{LEFT} {TOP}V{number(frame.floor)}H{number(frame.right)}"/>'
    yield f'<text class="axis x" x="{number((LEFT + frame.right) / 2)}" y="{number(frame.floor + 40)}" text-anchor="middle">{AXIS}</text>'
    yield f'<text class="axis y" transform="translate(14 {middle})rotate(-90)" text-anchor="middle">{unit}</text>'


def clipped(line: Line, frame: Frame) -> tuple[float, float, float, float]:
    """The ends of a line in px, no further out than the picture: far coordinates are drawn badly."""
    x1, x2 = max(line.x1, frame.x[0] - 1), min(line.x2, frame.x[1] + 1)
    rise = (line.y2 - line.y1) / (line.x2 - line.x1) if line.x2 > line.x1 else 0.0
    return (frame.across(x1), frame.down(line.y1 + rise * (x1 - line.x1)),
            frame.across(x2), frame.down(line.y1 + rise * (x2 - line.x1)))


def roof(line: Line, frame: Frame) -> str:
    """A line with its band; a flat roof also has the drop-line and the circle of its ridge."""
    x1, y1, x2, y2 = clipped(line, frame)
    low, high = (bound * frame.decade for bound in (line.low, line.high))
    ends = [number(value) for value in (x1, y1, x2, y2)]
    band = f"M{ends[0]} {number(y1 - low)}L{ends[2]} {number(y2 - low)}V{number(y2 - high)}L{ends[0]} {number(y1 - high)}Z"
    ridge = ""
    if line.ridge is not None:
        x = number(frame.across(line.ridge))
        ridge = f'<path class="drop" d="M{x} {ends[1]}V{number(frame.floor)}"/><circle class="ridge" cx="{x}" cy="{ends[1]}" r="3.5"/>'
    minor = " minor" if line.kind == "memory" and not line.label else ""  # other mixes of reads and writes
    return (f'<g class="line {line.kind}{minor} {hue_class(line.hue)}"><title>{escape(line.title)}</title><path class="band" d="{band}"/>'
            f'<path class="edge" d="M{ends[0]} {ends[1]}L{ends[2]} {ends[3]}"/>{ridge}</g>')


def source_class(content: Content, index: int) -> str:
    """solid: of the first run; dashed: a data sheet; faint: another run's; off: another run's data sheet."""
    source = content.sources[index]
    if source.run == FIRST:
        return "solid" if source.measured else "dashed"
    if source.run is None:
        return "faint" if source.measured else "dashed"
    return "faint" if source.measured else "off"


def diagonal_label(line: Line, text: str, place: int, frame: Frame) -> str:
    """Above its line, where no point of this memory can be. place: which of ALONG."""
    x1, y1, x2, y2 = clipped(line, frame)
    low, high = max(x1, x1 + (y1 - frame.floor), LEFT), min(x2, frame.right)  # the visible part, at 45 degrees
    half = len(text) * LETTER / 2 / 2**0.5
    x = max(low + half, min(high - half, low + ALONG[place % len(ALONG)] * (high - low)))
    y = y1 - (x - x1)
    return (f'<text class="diagonal {hue_class(line.hue)}" transform="translate({number(x)} {number(y)})rotate(-45)" '
            f'y="-9" text-anchor="middle">{escape(text)}</text>')


def diagonal_labels(content: Content, lines: list[list[Line]], frame: Frame) -> Iterator[str]:
    """The memories and caches of the solid source, and the memory of every other one that is shown."""
    place = 0
    for index, (source, some) in enumerate(zip(content.sources, lines)):
        state = source_class(content, index)
        if state == "solid":
            yield from (diagonal_label(line, line.label[0], FIRST, frame) for line in some if line.kind != "flat" and line.label)
        elif state != "off" and source.run != FIRST:
            place += 1
            yield from (diagonal_label(line, line.brief, place, frame) for line in some if line.brief)


def flat_labels(lines: list[Line], frame: Frame) -> Iterator[str]:
    """Right of the plot, joined to their lines and spread where they would collide."""
    flats = sorted((line for line in lines if line.kind == "flat"), key=lambda line: -line.y1)
    wanted = [frame.down(line.y1) for line in flats]
    tallest = max((len(line.label) for line in flats), default=0) * LABEL_STEP
    heights = spread(wanted, tallest + LABEL_GAP, TOP + tallest / 2, frame.floor - tallest / 2)
    for line, roof_at, height in zip(flats, wanted, heights):
        x, first = number(frame.right + 22), height - (len(line.label) - 1) / 2 * LABEL_STEP + 4
        spans = "".join(f'<tspan x="{x}" y="{number(first + index * LABEL_STEP)}">{escape(text)}</tspan>' for index, text in enumerate(line.label))
        yield (f'<g class="name {hue_class(line.hue)}"><path d="M{number(frame.right + 2)} {number(roof_at)}L{number(frame.right + 18)} {number(height)}"/>'
               f"<text>{spans}</text></g>")


def ridge_labels(lines: list[Line], frame: Frame) -> Iterator[str]:
    """Values at the feet of the drop-lines; one that has no room beside its neighbour stands higher."""
    last, level = -RIDGE_ROOM * 2.0, 0
    for line in sorted((line for line in lines if line.ridge is not None), key=lambda line: line.ridge):
        x = frame.across(line.ridge)
        level = level + 1 if x - last < RIDGE_ROOM else 0
        last = x
        yield (f'<text class="value {hue_class(line.hue)}" x="{number(x + 3)}" '
               f'y="{number(frame.floor - 5 - level * LABEL_STEP)}">{line.ridge_text}</text>')


def point(index: int, run: int, row: Row, content: Content, frame: Frame) -> str:
    """A link to the row of the table, so that a point has the focus of a link and works without JavaScript."""
    x, y = place(row, content, frame)
    size = marks.run_size(run) * (marks.NAIVE if row.naive else 1.0)
    sign = "*" if row.external else shape(row.op, content.operations)
    name = f"{content.runs[run].letter}: {name_of(row)}, {rate(row.flops_per_s, 'FLOP/s')}, {ratios_text(row, content.runs[run].view)}"
    whisker = ""
    if row.time_p10_s and row.time_p90_s:
        ends = (frame.decade * log10(row.time_median_s / bound) for bound in (row.time_p10_s, row.time_p90_s))
        whisker = '<path class="whisker" d="M0 {}V{}"/>'.format(*(number(-end) for end in ends))
    outline = marks.path(sign, size)
    halo = f'<path class="halo" d="{outline}"/>' if run % 2 and row.origin == "library" else ""  # its own edge is the hue
    off = "" if row.regime == content.regimes[0] else " off"
    return (f'<a class="point f{content.formats.index(row.format)}{off}" id="point-{index}" href="#row-{index}" aria-label="{escape(name)}" '
            f'transform="translate({number(x)} {number(y)})"><title>{escape(name)}</title>{whisker}{halo}'
            f'<path class="mark {marks.classes(row, run)}" d="{outline}"/></a>')


def named_source(content: Content, lines: list[list[Line]]) -> int:
    """The source whose flat roofs have labels: the first run, or a data sheet where that run measured none."""
    shown = (index for index, some in enumerate(lines) if some and source_class(content, index) in ("solid", "dashed"))
    return next(shown, FIRST)


def place(row: Row, content: Content, frame: Frame) -> tuple[float, float]:
    return frame.across(log10(row.intensity_flop_per_byte)), frame.down(log10(row.flops_per_s / content.unit[1]))


def sweeps(content: Content, frame: Frame) -> Iterator[str]:
    """The path of each implementation over its sizes, in the regime that is shown first."""
    for indexes in content.sweeps:
        rows = [content.rows[index][1] for index in indexes]
        ends = "L".join("{:.1f} {:.1f}".format(*place(row, content, frame)) for row in rows)
        off = "" if rows[0].regime == content.regimes[0] else " off"
        yield f'<path class="f{content.formats.index(rows[0].format)}{off}" d="M{ends}"/>'


def drawing_order(content: Content) -> list[tuple[int, int, Row]]:
    """Index, run and row of every point: naive and slow rows first, so that faster ones near them stay visible."""
    found = [(index, run, row) for index, (run, row) in enumerate(content.rows) if placed(row)]
    return sorted(found, key=lambda item: (not item[2].naive, item[2].flops_per_s, item[0]))


def description(content: Content) -> str:
    drawn = sum(placed(row) for _, row in content.rows)
    runs = "; ".join(f"{run.letter}: {run.name}" for run in content.runs)
    return (f"{drawn} points of {runs}. Solid lines are the measured roofs of {content.runs[FIRST].letter}, dashed lines are those of a "
            "data sheet. The table below holds the same rows.")


def draw(content: Content, frame: Frame, lines: list[list[Line]]) -> str:
    """The whole SVG element."""
    height, width = number(frame.height), number(frame.right - LEFT)
    named = named_source(content, lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" id="chart" class="chart" viewBox="0 0 {number(frame.width)} {height}" width="{number(frame.width)}" role="group" '
        'aria-labelledby="chart-title" aria-describedby="chart-desc">',
        '<title id="chart-title">Roofline: rate over arithmetic intensity</title>',
        f'<desc id="chart-desc">{escape(description(content))}</desc>',
        f'<defs><clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{width}" height="{number(frame.floor - TOP)}"/></clipPath>'
        '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8Z"/></marker></defs>',
        *axes(frame, content.unit[0]), '<g clip-path="url(#plot)"><g class="roofs">',
    ]
    for index, some in enumerate(lines):
        state = source_class(content, index) + " named" * (index == named)
        parts += [f'<g class="source {state}">', *(roof(line, frame) for line in some), "</g>"]
    parts += ['</g><g class="sweeps">', *sweeps(content, frame), '</g><g class="points">']
    parts += [point(index, run, row, content, frame) for index, run, row in drawing_order(content)]
    parts += ['</g><g class="arrows"></g></g><g class="labels">']
    parts += [*diagonal_labels(content, lines, frame), *flat_labels(lines[named], frame)]
    parts += [*ridge_labels(lines[named], frame), "</g></svg>"]
    return "\n".join(parts)
