"""Labels of flat roofs to the right of the axes."""

import re
from dataclasses import dataclass
from typing import Optional

from ridgebench.base import units

from . import labels
from .canvas import APART, Canvas
from .language import said
from .roof_drawing import LINE, Pen
from .roofs import Roof, Roofs, engine_name, of_sheet
from .style import DIRECT, SMALL, Theme, family

_ROOM, _STEM = 1.45, 0.16  # inches right of the axes: the widest label, the line to it


@dataclass(frozen=True)
class FlatLabel:
    value: float  # FLOP/s of the roof it names
    lines: list[str]
    colour: str
    slant: str = "normal"
    pieces: tuple[tuple[str, str], ...] = ()  # of the line that names formats of several hues: texts and colours


def flat_label(group: list[Roof], pen: Pen, promised: Optional[Roofs], scale: float, owner: tuple[str, str] = ("", "")) -> FlatLabel:
    """The label of flat roofs: name, rate with the prefix of the axis and, for a measurement, its share of the device's own data sheet."""
    first = group[0]
    lines = _owner_lines(owner) + [engine_name(group), units.rate_in(first.value, scale, "FLOP/s")]
    lines += filter(None, [of_sheet(first, promised)])
    shared = len(group) > 1  # roofs of several hues share the label
    colour = pen.theme.muted if shared else pen.text_colour(first)
    pieces = _coloured(group, pen) if shared else ()
    return FlatLabel(first.value, [labels.fit(text, SMALL, _ROOM) for text in lines], colour, pen.slant, pieces)


def _owner_lines(owner: tuple[str, str]) -> list[str]:
    """The title of a data sheet or, where that is too wide, its name; nothing without one."""
    fitting = next((text for text in owner if labels.width(text, SMALL) <= _ROOM), owner[-1])
    return [fitting] * bool(fitting)


def _coloured(group: list[Roof], pen: Pen) -> tuple[tuple[str, str], ...]:
    """The pieces of engine_name() with the colour of the format that each one names."""
    colours = {family(roof.formats[0]): pen.text_colour(roof) for roof in group}
    words = re.split(r"(\W+)", said(engine_name(group)))
    return tuple((word, colours.get(family(word), pen.theme.muted)) for word in words)


def flat_room(found: list[FlatLabel]) -> float:
    """The inches that the labels need right of the axes."""
    return _STEM + max((labels.width(t, SMALL) for one in found for t in one.lines), default=0.0)


def draw_flat_labels(canvas: Canvas, found: list[FlatLabel], theme: Theme) -> None:
    """Draws labels right of the axes, joined to their lines and spread where they would collide."""
    found = sorted(found, key=lambda label: label.value)
    wanted = [canvas.inches(1.0, label.value / canvas.scale)[1] for label in found]
    tallest = max((len(label.lines) for label in found), default=0) * LINE
    low, high = canvas.obstacles.area.bottom + tallest / 2, canvas.obstacles.area.top - tallest / 2
    heights = labels.spread(wanted, tallest + APART, low, high)
    left = canvas.right + _STEM
    for label, roof, height in zip(found, wanted, heights):
        canvas.page.plot((canvas.right + 0.02, left - 0.04), (roof, height), color=theme.muted, linewidth=0.7)
        for number, text in enumerate(label.lines):
            y = height + ((len(label.lines) - 1) / 2 - number) * LINE
            named = "".join(word for word, _ in label.pieces) == text
            x = left
            for word, colour in label.pieces if named else [(text, label.colour)]:
                gid = DIRECT if number == 0 and x == left else None
                canvas.page.text(x, y, word, size=SMALL, color=colour, va="center", gid=gid, style=label.slant)
                x += labels.width(word, SMALL)
