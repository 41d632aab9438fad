"""Slides 12 and 13: formats and devices."""

from ridgebench.plot import labels
from ridgebench.plot.finding import spoken
from ridgebench.plot.style import DIRECT, Theme, format_dash, format_letter
from ridgebench.units import digits, rate

from . import build_up, drawing, figure
from .deck import Deck, Format, Slide, Stage
from .devices import Roof
from .panel import Bar, Sample
from .plane import MOST_LABELS


def _spoken(group: Format) -> str:
    """'fp16, bf16'; both 8-bit formats together are fp8."""
    names = ["fp8" if name.startswith("fp8") else name for name in group.names]
    return ", ".join(dict.fromkeys(names))


def _lead(group: Format) -> str:
    """The format that gives a group its hue, dash and letter: bf16 where it is in it."""
    return "bf16" if "bf16" in group.names else group.names[0]


def formats(deck: Deck) -> Slide:
    shown = deck.formats[:MOST_LABELS]
    lines = [f"{_spoken(one)}: {rate(one.roof.flops_per_s, 'FLOP/s')}, ridge {digits(one.roof.ridge)}" for one in shown]
    words = "Fewer bits raise the roof of matrix products and move its ridge to the right. The slope stays." if len(shown) > 1 else (
        f"Here {_spoken(shown[0])} has the only roof.")

    def draw(stage: Stage) -> None:
        build_up.say(stage, words)
        stage.panel.gap(0.5)
        drawing.common_slope(stage.plane, [one.roof for one in shown], stage.theme.muted)
        for one in shown:
            _draw_format(stage, one)
        stage.panel.key([_sample(one, stage.theme) for one in shown])

    title = "Fewer bits: a higher roof on the same slope" if len(shown) > 1 else f"One roof, for {_spoken(shown[0])}"
    return Slide("formats", title, words, lines, build_up.info(deck), 5, draw)


def _sample(group: Format, theme: Theme) -> Sample:
    """The line of the key for a format."""
    name = _lead(group)
    text = f"{format_letter(name)}  {_spoken(group)}: ridge {digits(group.roof.ridge)}"
    return Sample(text, theme.hue(name), format_dash(name), width=0.8)


def _draw_format(stage: Stage, group: Format) -> None:
    """The flat roof of a format by hue, dash and letter; all formats share the slope."""
    plane, theme, name = stage.plane, stage.theme, _lead(group)
    drawing.right_of_ridge(plane, group.roof, theme.hue(name), 0.8, format_dash(name))
    letter = format_letter(name)
    wide, high = labels.width(letter, plane.layout.text) + 0.1, plane.layout.line
    x, y = plane.area.right - 0.5, plane.inches(plane.ends()[1], group.roof.flops_per_s)[1]
    middles = [x - left for left in (0.0, 0.6, 1.2)]
    boxes = [labels.Box(one - wide / 2, y - high / 2, one + wide / 2, y + high / 2) for one in middles]
    plane.wish_in(letter, boxes, theme.text(name), DIRECT)
    drawing.ridge(plane, group.roof, theme.hue(name))


def devices(deck: Deck) -> Slide:
    drawn = [deck.roof, *(one.roof for one in deck.compared[1:])]
    roofs = [(one.name, roof) for one, roof in zip(deck.compared, drawn)]
    lines = [f"{name}: {rate(roof.flops_per_s, 'FLOP/s')}, {rate(roof.bytes_per_s, 'B/s')}, ridge {digits(roof.ridge)}"
             for name, roof in roofs]
    words = ("At the same peak, more bandwidth lifts the slope and moves the ridge to the left. "
             "The same operation lies under another roof.")
    several = 1 + len(deck.beside)
    if several < len(deck.compared):
        words = "The ridge is the peak divided by the bandwidth. The roofs of the other devices lie beyond these axes."

    def draw(stage: Stage) -> None:
        build_up.say(stage, words)
        stage.panel.gap(0.6)
        for index, one in enumerate([deck.shown, *deck.beside]):
            colour = figure.device_hue(index, stage.theme)
            drawing.roof(stage.plane, one.basis.roof, colour, 0.7, figure.DASHES[index])
            drawing.ridge(stage.plane, one.basis.roof, colour)
            for mark in [mark for mark in one.model if mark.op in ("relu", "gelu")] + one.path[-1:]:
                drawing.mark(stage.plane, mark, colour)
                if not index:
                    stage.plane.wish(spoken(mark.op), mark.intensity, mark.rate, stage.theme.ink)
        if several == len(deck.compared):
            stage.panel.key(figure.key_of_devices(roofs, stage.theme))
        else:
            _ridge_bars(stage, roofs)

    ridges = sorted(roof.ridge for _, roof in roofs)
    title = f"The ridge is peak over bandwidth: {digits(ridges[0])} to {digits(ridges[-1])} FLOP per byte"
    return Slide("devices", title, words, lines, build_up.info(deck), 4, draw)


def _ridge_bars(stage: Stage, roofs: list[tuple[str, Roof]]) -> None:
    """The ridges of devices whose roofs lie beyond the axes, as bars."""
    largest = max(roof.ridge for _, roof in roofs)
    stage.panel.text("Ridge, FLOP per byte", weight="bold")
    stage.panel.bars([Bar(name, roof.ridge / largest, digits(roof.ridge), figure.device_hue(index, stage.theme))
                      for index, (name, roof) in enumerate(roofs)])


SLIDES = (formats, devices)
