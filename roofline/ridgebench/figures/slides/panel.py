"""The panel at the right of the plane: a sentence, bars, a key. A block that does not fit is left out."""

import re
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ridgebench.figures.page import labels
from ridgebench.figures.page.language import said
from ridgebench.figures.page.style import Theme

from .layout import Layout

# The space before a unit, which no line begins with.
_UNIT = re.compile(r"(\d) (?=(?:%|[kMGTnµmp]?(?:FLOP|FLOP/s|B|B/s|s|Hz|W))(?:[ .,:;，。；：、（]|$))")
_STACK = 1.6  # lines of text from one stacked bar to the next
_LEAST_BAR = 0.7  # inches: the bars are left out where the longest one would be shorter


@dataclass(frozen=True)
class Bar:
    """A bar: its name, its length as a share of the longest possible one, the value as text."""

    name: str
    share: float
    value: str
    colour: str
    filled: bool = True


@dataclass(frozen=True)
class Sample:
    """A line of a key: a piece of line or a marker, and what it means."""

    text: str
    colour: str
    dash: Any = "solid"
    marker: str = ""
    filled: bool = True
    width: float = 1.0


@dataclass(frozen=True)
class Stack:
    """A bar of parts side by side: its name, colour and value of each part, its sum as text."""

    name: str
    parts: Sequence[tuple[str, float]]
    value: str

    @property
    def sum(self) -> float:
        return sum(value for _, value in self.parts)


class Panel:
    """Blocks of text and bars, one below the other, in a box of the page (inches)."""

    def __init__(self, page: Axes, layout: Layout, theme: Theme, box: Optional[labels.Box] = None) -> None:
        self.page, self.layout, self.theme = page, layout, theme
        self.box = box or labels.Box(layout.width - layout.margin - layout.panel, layout.floor,
                                     layout.width - layout.margin, layout.top)
        self.y = self.box.top

    @property
    def width(self) -> float:
        return self.box.right - self.box.left

    def room(self, height: float) -> bool:
        return self.width > 0.5 and self.y - height >= self.box.bottom - 1e-6

    def gap(self, lines: float = 0.6) -> None:
        self.y -= lines * self.layout.line

    def text(self, words: str, most: int = 8, size: float = 1.0, weight: str = "normal") -> None:
        """Words in as many lines as they need; left out where they do not fit whole."""
        words = _UNIT.sub("\\1\u00a0", said(words))
        points, line = self.layout.text * size, self.layout.line * size
        lines = labels.wrap(words, points, self.width, most, weight)
        if not labels.whole(lines, words) or not self.room(len(lines) * line):
            return
        for one in lines:
            self.page.text(self.box.left, self.y, one, size=points, va="top", weight=weight)
            self.y -= line

    def key(self, samples: Sequence[Sample]) -> None:
        """Samples of lines and markers with their meaning in one line or two."""
        line = 1.15 * self.layout.line
        long = 1.7 * self.layout.line
        room, stroke = self.width - long - 0.5 * self.layout.line, self.layout.stroke
        texts = [self._in_lines(one.text, room) for one in samples]
        if not self.room(sum(map(len, texts)) * line):
            return
        for one, lines in zip(samples, texts):
            middle = self.y - self.layout.line / 2
            left = self.box.left
            if one.marker:
                face = one.colour if one.filled else self.theme.background
                self.page.plot([left + long / 2], [middle], marker=one.marker, markersize=2.4 * stroke,
                               color=one.colour, linestyle="none", markerfacecolor=face, markeredgewidth=0.36 * stroke)
            else:
                self.page.plot([left, left + long], [middle, middle], color=one.colour, linewidth=stroke * one.width,
                               linestyle=one.dash, solid_capstyle="butt", dash_capstyle="butt")
            for text in lines:
                self.page.text(left + long + 0.5 * self.layout.line, self.y - self.layout.line / 2, text, size=self.layout.text,
                               va="center")
                self.y -= line

    def _in_lines(self, text: str, room: float) -> list[str]:
        """A text in two lines at most, else cut."""
        words = _UNIT.sub("\\1\u00a0", said(text))
        lines = labels.wrap(words, self.layout.text, room, 2)
        return lines if labels.whole(lines, words) else [labels.fit(text, self.layout.text, room)]

    def bars(self, rows: Sequence[Bar], apart: float = 1.45) -> bool:
        """Bars with their names at the left and their values at the right, `apart` lines of text from one to the next."""
        layout = self.layout
        names = [labels.fit(one.name, layout.text, 0.56 * self.width) for one in rows]
        widest = max(labels.width(name, layout.text) for name in names) + 0.5 * layout.line
        value = max(labels.width(one.value, layout.text) for one in rows) + 0.5 * layout.line
        if self.width - widest - value < _LEAST_BAR:
            return False
        step = apart * layout.line
        if not self.room(len(rows) * step):
            return False
        long = self.width - widest - value
        for one, name in zip(rows, names):
            middle = self.y - step / 2
            self.page.text(self.box.left, middle, name, size=layout.text, va="center")
            left = self.box.left + widest
            self.bar(one, left, middle, max(0.02, long * min(one.share, 1.0)))
            end = left + long * min(max(one.share, 0.0), 1.0) + 0.4 * layout.line
            self.page.text(max(end, left + 0.1), middle, one.value, size=layout.text, va="center")
            self.y -= step
        return True

    def bar(self, one: Bar, left: float, middle: float, long: float) -> None:
        high = 0.85 * self.layout.line
        self.page.add_patch(Rectangle((left, middle - high / 2), long, high, edgecolor=one.colour,
                                      facecolor=one.colour if one.filled else "none",
                                      linewidth=0.36 * self.layout.stroke, zorder=3))

    def stacked(self, rows: Sequence[Stack], limit: float = 0.0) -> float:
        """Bars of parts, one below the other; returns the place of the value `limit` (inches), beside which no sum is written."""
        layout, high = self.layout, self.layout.line
        start = self.box.left + max(labels.width(one.name, layout.text) for one in rows) + 0.25
        beyond = max(labels.width(one.value, layout.text) for one in rows) + 0.3
        scale = (self.box.right - start - beyond) / max(limit, *(one.sum for one in rows))
        end = start + limit * scale
        for one in rows:
            self.y -= _STACK * high
            self.page.text(self.box.left, self.y + high / 2, one.name, size=layout.text, va="center")
            left = start
            for colour, value in one.parts:
                self.page.add_patch(Rectangle((left, self.y), value * scale, high, facecolor=colour, edgecolor=self.theme.background))
                left += value * scale
            crossed = limit and left < end < left + 0.2 + labels.width(one.value, layout.text)
            self.page.text((end if crossed else left) + 0.12, self.y + high / 2, one.value, size=layout.text, va="center")
        return end

    def swatches(self, named: Sequence[tuple[str, str, str]], indent: float = 0.0) -> None:
        """Names of colours: a text, the face and the edge of its square; side by side, in as many lines as they need."""
        layout, side = self.layout, 0.7 * self.layout.line
        left = self.box.left + indent
        self.y -= layout.line
        for text, face, edge in named:
            long = 1.4 * side + labels.width(text, layout.text)
            if left + long > self.box.right:
                left, self.y = self.box.left + indent, self.y - 1.2 * layout.line
            self.page.add_patch(Rectangle((left, self.y), side, side, facecolor=face, edgecolor=edge, linewidth=1.5))
            self.page.text(left + 1.4 * side, self.y + side / 2, text, size=layout.text, va="center")
            left += long + 1.2 * side
