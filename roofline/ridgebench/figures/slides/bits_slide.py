"""The slide with a small gradient in the bits of the 16-bit formats: one loses it, and a factor brings it back."""

from dataclasses import dataclass
from typing import Any

from matplotlib.patches import Rectangle

from ridgebench.base.units import enumerate_words
from ridgebench.data.program import ask
from ridgebench.figures.page.style import BLUE, GREEN, VERMILLION, blend

from .counting import LARGE, wide
from .deck import Deck, Slide, Stage

_VALUE = 1e-8  # a gradient that fp16 rounds to zero
_SCALE = 1024  # of the loss, and so of every gradient
_SHOWN = ("bf16", "fp16")
_FIELDS = (("sign", VERMILLION), ("exponent", GREEN), ("mantissa", BLUE))
_WORDS = {"mantissa": "fraction"}  # as the pages call it
_PALE = 0.75  # share of the background in the colour of a bit
_SIDE = 0.98  # of a bit, in lines of text
_START = 3.0  # inches that the names take
_GAP = 0.35  # between two fields


@dataclass(frozen=True)
class _Coded:
    """A number in a format, as the program rounds it."""

    format: str
    value: float
    fields: dict[str, str]
    decoded: float
    error: float  # relative

    @property
    def lost(self) -> bool:
        return self.decoded == 0.0

    @property
    def outcome(self) -> str:
        return "0: lost" if self.lost else f"error {_percent(self.error)}"


def _percent(error: float) -> str:
    """A relative error with two digits: 0.12 %."""
    return f"{100 * abs(error):.2g} %" if error else "0"


def _coded(value: float, format_: str) -> _Coded:
    told: dict[str, Any] = ask("number", f"{value:.15g}", "--format", format_)["formats"][0]
    return _Coded(format_, value, {name: told[name] for name, _ in _FIELDS}, told["decoded"], told["relative_error"])


def _text(value: float) -> str:
    """A number without an exponent's leading zeros: 1e-8, 1.024e-5."""
    mantissa, _, power = f"{value:g}".partition("e")
    return f"{mantissa}e{int(power)}" if power else mantissa


def bits(deck: Deck) -> Slide:
    rows = [_coded(_VALUE, name) for name in _SHOWN]
    lost = [row.format for row in rows if row.lost]
    back = [_coded(_SCALE * _VALUE, name) for name in lost]
    kept = [row.format for row in rows if not row.lost]
    value, found = _text(_VALUE), [row for row in back if not row.lost]
    title = f"{value} is 0 in {enumerate_words(lost)}" if lost else f"{enumerate_words(kept)} keep {value}"
    if found:
        title += f", and times {_SCALE:,} it comes back with {_percent(found[0].error)} of error"
    widths = {row.format: {name: len(text) for name, text in row.fields.items()} for row in rows}
    words = (" ".join(f"{name} has {sizes['exponent']} bits of exponent and {sizes['mantissa']} of fraction."
                      for name, sizes in widths.items())
             + " Loss scaling multiplies the loss, and so every gradient, before the backward pass; the optimizer divides it out again.")

    def draw(stage: Stage) -> None:
        panel = wide(stage)
        panel.text(words, most=3)
        panel.gap(0.6)
        for row in [*rows, *back]:
            _draw_row(stage, row, f"{_text(row.value)} in {row.format}")
        panel.gap(0.7)
        panel.swatches([(_WORDS.get(field, field), blend(colour, stage.theme.background, _PALE), colour) for field, colour in _FIELDS], _START)

    lines = [f"{_text(row.value)} in {row.format}: {' '.join(row.fields.values())}, {row.outcome}" for row in [*rows, *back]]
    return Slide("bits", title, words, lines, f"ridgebench number {value}", 3, draw, axes=False)


def _draw_row(stage: Stage, row: _Coded, name: str) -> None:
    """One number: its name, a square for each bit, what became of it."""
    panel, page, theme = stage.panel, stage.page, stage.theme
    side = _SIDE * LARGE.line
    panel.y -= 1.75 * LARGE.line
    middle = panel.y + side / 2
    page.text(panel.box.left, middle, name, size=LARGE.text, va="center")
    left = panel.box.left + _START
    for field, colour in _FIELDS:
        for bit in row.fields[field]:
            face = blend(colour, theme.background, _PALE if bit == "1" else 1.0)
            page.add_patch(Rectangle((left, panel.y), side, side, facecolor=face, edgecolor=colour, linewidth=1.5))
            page.text(left + side / 2, middle, bit, size=LARGE.text, ha="center", va="center", weight="bold" if bit == "1" else "normal")
            left += side
        left += _GAP * side
    page.text(left + 0.5 * side, middle, row.outcome, size=LARGE.text, va="center")
