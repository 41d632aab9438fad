"""The slide on energy: what a FLOP of each format takes of the board's joules, and how many of them a byte is worth."""

from ridgebench.base.units import counted, digits
from ridgebench.figures.page import energy

from .counting import wide
from .deck import Deck, Slide, Stage
from .panel import Bar

_PICO = 1e12
_MOST = 9  # bars with the usual space between them


def slides(deck: Deck) -> list[Slide]:
    """The slide, or none without a run whose ceilings of arithmetic recorded their energy."""
    known = energy.lines(deck.view) if deck.view else []
    flops = sorted((line.joules, line.format) for line in known if line.format)
    if deck.view is None or not flops:
        return []
    memory, watts = energy.of_memory(known), deck.view.before.get("power_w")
    byte = memory.joules if memory else None
    joules, name = next((one for one in flops if one[1] == deck.scene.format), flops[0])
    words = f"A FLOP of the ceilings takes {digits(_PICO * joules)} pJ of the whole board in {name}."
    worth = f"A byte of memory takes the joules of {digits(byte / joules)} FLOPs in {name}" if byte else ""
    more = f"A byte of main memory takes {digits(_PICO * byte)} pJ, as {digits(byte / joules)} of these FLOPs do." if byte else ""

    def draw(stage: Stage) -> None:
        panel = wide(stage, stage.panel.layout.text)
        panel.text(words, most=2)
        if more:
            panel.text(more, most=2)
        panel.gap(0.5)
        panel.bars([Bar(str(format_), spent / flops[-1][0], f"{digits(_PICO * spent)} pJ", stage.theme.hue(str(format_)))
                    for spent, format_ in flops[:_MOST]])

    claim = worth or f"A FLOP takes {digits(_PICO * joules)} pJ in {name}"
    title = "Joules of a FLOP in each format" if deck.scene.every_doubt else claim
    lines = [f"{format_}: {digits(_PICO * spent)} pJ a FLOP, {digits(1e-12 / spent)} TFLOP a joule" for spent, format_ in flops]
    lines += [f"a byte of {line.place}: {digits(_PICO * line.joules)} pJ" for line in known if not line.format]
    lines += [f"idle before the run: {digits(watts)} W" if watts else "idle power not recorded"]
    say = " ".join(filter(None, (words, more, f"The run recorded {counted(len(flops), 'format')}.",
                               "The power is the whole board's, idle power included.")))
    return [Slide("energy", title, say, lines, deck.command, 4, draw, axes=False, measured=True,
                  every_format=True)]
