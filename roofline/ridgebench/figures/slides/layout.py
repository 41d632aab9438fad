"""Sizes of a lecture figure, a slide and a column of a paper, in inches; of text in points."""

from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.figures.page import labels
from ridgebench.figures.page.doubt import DOUBT
from ridgebench.figures.page.language import Page
from ridgebench.figures.page.style import Theme

_POINTS = 72.0  # per inch
_LEADING = 1.38  # height of a line over the size of its text
_LARGEST_TITLE = 1.3  # scale of the title's text
WIDEST_TICK = "10,000"
_FOOT_GAP = 0.35  # lines of text between the foot and what is above it
_FOOT_LINES = 3


@dataclass(frozen=True)
class Layout:
    """A page with a head (title), a plane at the left and, where `panel` is not 0, a panel at the right."""

    width: float
    height: float
    text: float  # points, of all text but the title
    least: float  # points, to which a region's name may shrink
    titles: tuple[float, ...]  # points: the largest one at which the title fits
    title_lines: int
    subtitle: bool
    margin: float
    panel: float
    stroke: float  # points, of a roof
    foot: int = 0  # last lines, which say what puts the run in doubt

    @property
    def line(self) -> float:
        """The height of a line of text."""
        return self.text * _LEADING / _POINTS

    @property
    def left(self) -> float:
        return self.margin + self.line + labels.width(WIDEST_TICK, self.text) + 0.5 * self.line

    @property
    def floor(self) -> float:
        """The lower end of the plane's numbers and of the panel."""
        return self.margin + ((self.foot + _FOOT_GAP) * self.line if self.foot else 0.0)

    @property
    def bottom(self) -> float:
        return self.floor + 2.45 * self.line

    @property
    def right(self) -> float:
        """The right end of the plane."""
        gap = 1.6 * self.line if self.panel else 0.0
        return self.width - self.margin - self.panel - gap

    @property
    def top(self) -> float:
        """The upper end of the plane."""
        head = self.title_lines * self.titles[0] * _LEADING / _POINTS
        return self.height - self.margin - head - (1.2 * self.line if self.subtitle else 0.0) - 0.45 * self.line

    @property
    def plane_width(self) -> float:
        return self.right - self.left

    @property
    def plane_height(self) -> float:
        return self.top - self.bottom


SLIDE = Layout(40 / 3, 7.5, 18.0, 18.0, (28.0, 25.0, 22.0, 20.0, 18.0), 1, False, 0.4, 4.45, 5.0)
LECTURE = Layout(40 / 3, 7.5, 18.0, 18.0, (26.0, 24.0, 22.0, 20.0, 18.0), 2, True, 0.4, 4.3, 5.0)
PAPER = Layout(3.3, 2.6, 7.0, 7.0, (7.6, 7.2, 7.0), 2, False, 0.07, 0.0, 1.8)


def scaled(layout: Layout, scale: float) -> Layout:
    """The layout with larger or smaller text."""
    titles = tuple(size * min(scale, _LARGEST_TITLE) for size in layout.titles)
    return replace(layout, text=layout.text * scale, least=min(layout.least, layout.text * scale), titles=titles)


def new_page(layout: Layout, theme: Theme) -> tuple[Figure, Axes]:
    """A figure and its page: invisible axes over all of it whose unit is the inch."""
    figure = Page(figsize=(layout.width, layout.height), facecolor=theme.background)
    page = figure.add_axes((0, 0, 1, 1), xlim=(0, layout.width), ylim=(0, layout.height), zorder=2)
    page.set_axis_off()
    return figure, page


def _title_lines(layout: Layout, title: str) -> tuple[float, list[str]]:
    """The title's size and its lines; a title that is too long even at the smallest size is cut."""
    room = layout.width - 2 * layout.margin
    for size in layout.titles:
        lines = labels.wrap(title, size, room, layout.title_lines, "bold")
        if labels.whole(lines, title):
            break
    return size, lines


def fits(layout: Layout, title: str) -> bool:
    return labels.whole(_title_lines(layout, title)[1], title)


def title_size(layout: Layout, title: str) -> float:
    """The points of a title."""
    return _title_lines(layout, title)[0]


def _foot_lines(layout: Layout, doubt: str) -> list[str]:
    return labels.wrap(doubt, layout.text, layout.width - 2 * layout.margin, _FOOT_LINES) if doubt else []


def with_foot(layout: Layout, doubt: str) -> Layout:
    """The layout with as many last lines as the doubt needs."""
    return replace(layout, foot=len(_foot_lines(layout, doubt)))


def draw_foot(page: Axes, layout: Layout, theme: Theme, doubt: str) -> None:
    """Writes what puts the run in doubt, in the last lines of a layout of with_foot()."""
    lines = _foot_lines(layout, doubt)
    for below, text in zip(reversed(range(len(lines))), lines):
        page.text(layout.margin, layout.margin + below * layout.line, text, size=layout.text, color=theme.ink, va="bottom", gid=DOUBT)


def draw_head(page: Axes, layout: Layout, theme: Theme, title: str, subtitle: str = "") -> None:
    size, lines = _title_lines(layout, title)
    y = layout.height - layout.margin
    for text in lines:
        page.text(layout.margin, y, text, size=size, weight="bold", va="top", gid="title")
        y -= size * _LEADING / _POINTS
    if layout.subtitle and subtitle:
        room = layout.width - 2 * layout.margin
        text = labels.fit(subtitle, layout.text, room)
        page.text(layout.margin, y - 0.1 * layout.line, text, size=layout.text, color=theme.muted, va="top")
