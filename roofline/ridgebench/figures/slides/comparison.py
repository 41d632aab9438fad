"""Slides 12 and 13: formats and devices."""

from math import log

from ridgebench.base.units import digits, rate
from ridgebench.figures.page import labels
from ridgebench.figures.page.finding import spoken
from ridgebench.figures.page.roofs import SAME, lead
from ridgebench.figures.page.style import DIRECT
from ridgebench.figures.scene.roofline import Roof

from . import build_up, drawing, figure, model, scene
from .deck import Deck, Format, Slide, Stage
from .layout import SLIDE, fits
from .model import Basis, Mark
from .panel import Bar
from .plane import MOST_LABELS


_BITS_OF_TF32 = 19  # sign, 8 of the exponent, 10 of the fraction
_SENTENCE = 8  # lines of text that the slide on formats keeps below the names of its roofs


def _spoken(group: Format) -> str:
    """'fp16, bf16'; both 8-bit formats together are fp8."""
    names = ["fp8" if name.startswith("fp8") else name for name in group.names]
    return ", ".join(dict.fromkeys(names))


def _bits(name: str) -> int:
    """The bits that units multiply in a format: 16 of bf16, 19 of tf32."""
    return _BITS_OF_TF32 if name.startswith("tf32") else int("".join(filter(str.isdigit, name.partition("_")[0]))[-2:])


def words_of_formats(shown: list[Format]) -> str:
    """Says what raises the roofs (lowest first): fewer bits, where each higher roof is of formats with fewer bits only."""
    if len(shown) == 1:
        return f"Here {_spoken(shown[0])} has the only roof."
    widths = [[_bits(name) for name in one.names] for one in shown]
    falling = all(max(after) < min(before) for before, after in zip(widths, widths[1:]))
    why = "Fewer bits raise the roof of matrix products and move its ridge to the right." if falling else (
        "The units decide: a format has the roof of the units that multiply it.")
    return f"{why} The slope stays."


def _formats_title(shown: list[Format], about: bool) -> str:
    """'fp8 has 30 times the roof of fp32 on the same slope'; about that many if the measured roofs are in doubt."""
    low, high = shown[0], shown[-1]
    if len(shown) == 1:
        return f"One roof, for {_spoken(low)}: it bends at {digits(low.roof.ridge)} FLOP per byte"
    more = digits(high.roof.flops_per_s / low.roof.flops_per_s)
    verb = "have" if "," in _spoken(high) else "has"
    return f"{_spoken(high)} {verb} {'about ' * about}{more} times the roof of {_spoken(low)} on the same slope"


def formats(deck: Deck) -> Slide:
    shown = deck.formats[:MOST_LABELS]
    lines = [f"{_spoken(one)}: {rate(one.roof.flops_per_s, 'FLOP/s')}, ridge {digits(one.roof.ridge)}" for one in shown]
    words = words_of_formats(shown)
    points, doubt = _points_of(deck, shown), deck.measured_roof and deck.scene.every_doubt

    def draw(stage: Stage) -> None:
        drawing.common_slope(stage.plane, [one.roof for one in shown], stage.theme.muted)
        for one, marks in zip(shown, points):
            _draw_format(stage, one, marks)
        for mark in points[-1] if len(shown) + len(points[-1]) <= MOST_LABELS else []:
            stage.plane.wish(spoken(mark.op), mark.intensity, mark.rate, stage.theme.ink)
        stage.panel.y = _name_flats(stage, shown)
        build_up.say(stage, words)

    return Slide("formats", _formats_title(shown, bool(doubt)), words, lines, build_up.info(deck), 5, draw,
                 measured=deck.measured_roof, every_format=True)


def _points_of(deck: Deck, shown: list[Format]) -> list[list[Mark]]:
    """ReLU and the largest product of the deck in each format by the data sheet; none without one."""
    if not deck.device.on:
        return [[] for _ in shown]
    found = []
    for one in shown:
        name, basis = lead(one.names), Basis(one.roof, deck.device.on)
        ops = [op for op in ("relu", "matmul") if op in scene.usual(name)]
        found.append([model.mark(basis, op, _shape_of(deck, op), name) for op in ops])
    return found


def _shape_of(deck: Deck, op: str) -> str:
    """The size at which the deck shows an operation."""
    marks = [mark for mark in [*deck.shown.model, *deck.shown.path[-1:]] if mark.op == op]
    return marks[-1].shape if marks else model.default_shape(op, deck.device.host)


def _draw_format(stage: Stage, group: Format, marks: list[Mark]) -> None:
    """The flat roof of a format in its hue; all formats share the slope."""
    plane, theme, name = stage.plane, stage.theme, lead(group.names)
    drawing.right_of_ridge(plane, group.roof, theme.hue(name), 0.8, theme.dash(name))
    drawing.ridge(plane, group.roof, theme.hue(name))
    for mark in marks:
        drawing.mark(plane, mark, theme.hue(name), 0.85)


def _name_flats(stage: Stage, shown: list[Format]) -> float:
    """Names the flat roofs right of their ends, apart from one another; returns the height below the lowest name (inches)."""
    plane, page, theme = stage.plane, stage.page, stage.theme
    line, right = plane.layout.line, plane.area.right
    ends = [plane.inches(1.0, one.roof.flops_per_s)[1] for one in shown]  # the lowest first
    heights = labels.spread(ends, 1.15 * line, stage.panel.box.bottom + _SENTENCE * line, stage.panel.box.top)
    for one, end, height in zip(shown, ends, heights):
        page.plot([right, right + 0.5 * line], [end, height], color=theme.muted, linewidth=plane.layout.stroke / 6)
        page.text(right + 0.7 * line, height, f"{_spoken(one)}: ridge {digits(one.roof.ridge)}", size=plane.layout.text, va="center",
                  color=theme.text(lead(one.names)), gid=DIRECT)
    return min(heights) - line


def _against(first: Roof, roof: Roof) -> str:
    """'the same peak and 1.4 times the bandwidth', of another device by the first one."""
    def told(share: float, what: str) -> str:
        return f"the same {what}" if abs(share - 1) <= SAME else f"{digits(round(share, 2))} times the {what}"

    peak, speed = roof.flops_per_s / first.flops_per_s, roof.bytes_per_s / first.bytes_per_s
    return f"{told(peak, 'peak')} and {told(speed, 'bandwidth')}"


def _ridge_moves(first: Roof, roof: Roof) -> str:
    stays = abs(roof.ridge / first.ridge - 1) <= SAME
    return f"the ridge stays at {digits(roof.ridge)}" if stays else f"the ridge moves to {digits(roof.ridge)}"


def _devices_title(roofs: list[tuple[str, Roof]]) -> str:
    """The advantage of the device with the most distant ridge over the first one, in the longest form that fits."""
    (first_name, first), others = roofs[0], roofs[1:]
    name, roof = max(others, key=lambda one: abs(log(one[1].ridge / first.ridge)))
    whole = f"{name}: {_against(first, roof)} of {first_name}, so {_ridge_moves(first, roof)}"
    ridges = sorted(one.ridge for _, one in roofs)
    short = f"The ridge is peak over bandwidth: {digits(ridges[0])} to {digits(ridges[-1])} FLOP per byte"
    return next((one for one in (whole, f"{name}: {_against(first, roof)}, so {_ridge_moves(first, roof)}") if fits(SLIDE, one)), short)


def devices(deck: Deck) -> Slide:
    drawn = [deck.roof, *(one.roof for one in deck.compared[1:])]
    roofs = [(one.name, roof) for one, roof in zip(deck.compared, drawn)]
    lines = [f"{name}: {rate(roof.flops_per_s, 'FLOP/s')}, {rate(roof.bytes_per_s, 'B/s')}, ridge {digits(roof.ridge)}"
             for name, roof in roofs]
    told = [f"{name} has {_against(deck.roof, roof)} of {deck.device.name}: {_ridge_moves(deck.roof, roof)}." for name, roof in roofs[1:]]
    several = 1 + len(deck.beside)
    if several < len(deck.compared):
        told = ["The ridge is the peak divided by the bandwidth. The roofs of the other devices lie beyond these axes."]

    def draw(stage: Stage) -> None:
        build_up.say(stage, told[0], *told[1:2])
        stage.panel.gap(0.6)
        shown = [deck.shown, *deck.beside]
        for index, one in enumerate(shown):
            colour = figure.device_hue(index, stage.theme)
            drawing.roof(stage.plane, one.basis.roof, colour, figure.nested(index, len(shown)), figure.DASHES[index])
            drawing.ridge(stage.plane, one.basis.roof, colour)
            drawing.roofs_beside(stage.plane, one.roofs_beside(False), one.basis.roof, colour, figure.own_flat(one, deck.scene.unit))
            for mark in [mark for mark in one.model if mark.op in ("relu", "gelu")] + one.path[-1:]:
                drawing.mark(stage.plane, mark, colour, figure.nested(index, len(shown)))
                if not index:
                    stage.plane.wish(spoken(mark.op), mark.intensity, mark.rate, stage.theme.ink)
        if several == len(deck.compared):
            stage.panel.key(figure.key_of_devices(roofs, stage.theme))
        else:
            _ridge_bars(stage, roofs)

    return Slide("devices", _devices_title(roofs), " ".join(told), lines, build_up.info(deck), 4, draw,
                 measured=deck.measured_roof)


def _ridge_bars(stage: Stage, roofs: list[tuple[str, Roof]]) -> None:
    """The ridges of devices whose roofs lie beyond the axes, as bars."""
    largest = max(roof.ridge for _, roof in roofs)
    stage.panel.text("Ridge, FLOP per byte", weight="bold")
    stage.panel.bars([Bar(name.removesuffix(" Processor"), roof.ridge / largest, digits(roof.ridge), figure.device_hue(index, stage.theme))
                      for index, (name, roof) in enumerate(roofs)])


SLIDES = (formats, devices)
