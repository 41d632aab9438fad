"""The plane of a roofline: frame, lines, points and their labels, which never overlap.

The frame is a group of its own, so that it is the same on every slide; what is drawn lies on the page above it.
"""

from dataclasses import dataclass, field
from math import ceil, floor, hypot, log10
from typing import Any, Iterable, Optional

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from ridgebench.base.units import tick
from ridgebench.figures.page import labels
from ridgebench.figures.page.style import DIRECT, Theme
from ridgebench.figures.scene.axes import Frame, Limits, decade_in, decades, filled
from ridgebench.figures.scene.roofline import Line, Place

from .layout import WIDEST_TICK, Layout

AXES = "axes"  # group id of the frame
AREA = "region"  # group id of a region's name
MOST_LABELS = 6
_HEADROOM = 1.7  # lines of text above the highest roof, for the value of its ridge
_LAST_TICK = 4  # power of ten: wider numbers would touch, and no operation of the lecture lies beyond
_GAP = 0.3  # lines of text between two labels in one line, and between a label and an axis
_LEAD = 0.45  # lines of text between a label and its point from which a thin line joins both
_FAR = (1.0, 1.8, 2.8, 4.2)  # distances of a label from its point, in gaps


@dataclass(frozen=True)
class _Wish:
    """A label that waits for its place: near a point, or in one of the boxes given."""

    text: str
    at: labels.Point  # inches
    colour: str
    boxes: tuple[labels.Box, ...] = ()
    gid: str = DIRECT
    turned: bool = False
    size: float = 0.0  # points; 0: as all text


def _decade(layout: Layout, limits: tuple[Limits, Limits]) -> float:
    """The length of a decade at which both limits have room (inches)."""
    return decade_in(limits, layout.plane_width, layout.plane_height - _HEADROOM * layout.line)


def spare_width(layout: Layout, limits: tuple[Limits, Limits], empty: float) -> float:
    """The inches that a plane leaves beyond `empty` decades right of its limits."""
    x_low, x_high = limits[0]
    return max(0.0, layout.plane_width - (x_high - x_low + empty) * _decade(layout, limits))


@dataclass
class Plane:
    """Log-log axes with decades of equal length, at the layout's place. Values are FLOP/byte and FLOP/s."""

    figure: Figure
    page: Axes
    layout: Layout
    theme: Theme
    limits: tuple[Limits, Limits]
    unit: tuple[str, float]
    wishes: list[_Wish] = field(default_factory=list)

    def __post_init__(self) -> None:
        layout = self.layout
        self.area = labels.Box(layout.left, layout.bottom, layout.right, layout.top)
        self.gap = _GAP * layout.line
        self.obstacles = labels.Obstacles(self.area, self.gap)
        self.decade = _decade(layout, self.limits)
        self.x = filled(self.limits[0], layout.plane_width, self.decade)
        self.y = filled(self.limits[1], layout.plane_height, self.decade)
        self.frame = Frame(self.x, self.y, self.decade, layout.left, layout.bottom, self.unit[1])
        self.draw_frame()

    def draw_frame(self) -> None:
        """Axes with plain numbers and a faint grid."""
        layout, theme = self.layout, self.theme
        box = (layout.left / layout.width, layout.bottom / layout.height,
               layout.plane_width / layout.width, layout.plane_height / layout.height)
        axes = self.figure.add_axes(box, zorder=1, gid=AXES)
        axes.set(xlim=self.x, ylim=self.y)
        axes.xaxis.set_ticks(*self.numbers(self.x, self.widest_pair(), self.x_end()))
        axes.yaxis.set_ticks(*self.numbers(self.y, 1.6 * layout.line, self.y_end()))
        axes.tick_params(labelsize=layout.text, length=0, labelcolor=theme.muted)
        axes.tick_params(axis="x", pad=0.65 * layout.text)  # clear of the lowest number of the other axis
        axes.tick_params(axis="y", pad=layout.text / 4)
        axes.grid(color=theme.faint, linewidth=layout.stroke / 7)
        for name, spine in axes.spines.items():
            spine.set_visible(name in ("left", "bottom"))
            spine.set_linewidth(layout.stroke / 5)
        below = (layout.floor - layout.bottom) / layout.plane_height
        beside = (layout.margin - layout.left) / layout.plane_width
        style: dict[str, Any] = {"size": layout.text, "color": theme.ink, "transform": axes.transAxes}
        axes.text(0.5, below, "FLOP per byte", va="bottom", ha="center", **style)
        axes.text(beside, 0.5, self.unit[0], va="center", ha="left", rotation=90, **style)

    def numbers(self, limits: Limits, apart: float, end: float) -> tuple[list[int], list[str]]:
        """Powers of ten up to `end`, at least `apart` inches from one to the next, and their text."""
        powers = decades((limits[0], end), step=max(1, ceil(apart / self.decade)))
        return powers, [tick(10.0**power) for power in powers]

    def y_end(self) -> float:
        """The last power of ten of the y axis whose number has room beside the axis; at least two are shown."""
        room = labels.width(WIDEST_TICK, self.layout.text)
        end = floor(self.y[1])
        while end > ceil(self.y[0]) + 1 and labels.width(tick(10.0**end), self.layout.text) > room:
            end -= 1
        return end

    def x_end(self) -> float:
        """The last power of ten of the x axis whose number stays on the page."""
        end = max(min(floor(self.x[1]), _LAST_TICK), ceil(self.x[0]) + 1)
        beyond = self.layout.width - self.area.right - 0.02
        while labels.width(tick(10.0**end), self.layout.text) / 2 > (self.x[1] - end) * self.decade + beyond:
            end -= 1
        return end

    def widest_pair(self) -> float:
        """Inches that two neighbouring numbers of the x axis need."""
        end = min(floor(self.x[1]), _LAST_TICK)
        wide = [labels.width(tick(10.0**power), self.layout.text) for power in decades((self.x[0], end))]
        return max(((one + next_) / 2 for one, next_ in zip(wide, wide[1:])), default=0.0) + 0.3 * self.layout.line

    def inches(self, intensity: float, rate: float) -> labels.Point:
        return self.frame.place(log10(intensity), log10(rate))

    def ends(self) -> tuple[float, float]:
        """The intensities at the left and right edge."""
        return 10 ** self.x[0], 10 ** self.x[1]

    @property
    def lowest(self) -> float:
        """FLOP/s at the lower edge."""
        return 10 ** self.y[0] * self.unit[1]

    def corners(self, *lines: Line) -> list[Place]:
        """The corners of lines that follow each other within the plane, as FLOP/byte and FLOP/s."""
        ends = [line.within(self.x, self.frame.rates) for line in lines]
        found = [*(start for start, _ in filter(None, ends[:-1])), *ends[-1]]
        return [(10**x, 10**y) for x, y in found]

    def line(self, points: Iterable[Place], colour: str, width: float = 1.0, dash: Any = "solid", gid: str = "",
             over: float = 3.0) -> None:
        """A line through (intensity, rate); its width is in strokes of a roof."""
        places = [self.inches(*point) for point in points]
        self.page.plot(*zip(*places), color=colour, linewidth=width * self.layout.stroke, linestyle=dash, zorder=over,
                       solid_capstyle="round", solid_joinstyle="round", dash_capstyle="butt", gid=gid or None)
        for start, end in zip(places, places[1:]):
            self.obstacles.add_line(start, end, max(0.03, self.layout.stroke * width / 144))

    def fill(self, points: Iterable[Place], colour: str, alpha: float) -> None:
        places = [self.inches(*point) for point in points]
        self.page.add_patch(Polygon(places, closed=True, facecolor=colour, alpha=alpha, linewidth=0, zorder=0.5))

    def spot(self, intensity: float, rate: float, colour: str, shape: str = "o", filled: bool = True,
             size: float = 1.0, over: float = 5.0, gid: str = "") -> None:
        """A marker; hollow ones show what is below as the background's colour."""
        x, y = self.inches(intensity, rate)
        points = 2.4 * self.layout.stroke * size
        self.page.plot([x], [y], marker=shape, markersize=points, color=colour, zorder=over, linestyle="none",
                       markerfacecolor=colour if filled else self.theme.background,
                       markeredgewidth=0.36 * self.layout.stroke, gid=gid or None)
        half = points / 144 + 0.02
        self.obstacles.add(labels.Box(x - half, y - half, x + half, y + half))

    def arrow(self, start: Place, end: Place, colour: str) -> None:
        """The head of an arrow at the end of a path."""
        stroke = self.layout.stroke
        head = {"arrowstyle": f"-|>,head_width={0.09 * stroke},head_length={0.15 * stroke}", "color": colour,
                "shrinkA": 0, "shrinkB": 1.2 * stroke, "linewidth": 0, "mutation_scale": 10}
        self.page.annotate("", self.inches(*end), self.inches(*start), arrowprops=head, zorder=4.6)

    def wish(self, text: str, intensity: float, rate: float, colour: str) -> None:
        """A label near a point. The first wishes get the best places, and MOST_LABELS are drawn at most."""
        self.wishes.append(_Wish(text, self.inches(intensity, rate), colour))

    def wish_in(self, text: str, boxes: Iterable[labels.Box], colour: str, gid: str, turned: bool = False,
                size: float = 0.0) -> None:  # fmt: skip
        """A text in the first free one of these boxes."""
        found = tuple(boxes)
        self.wishes.append(_Wish(text, (found[0].left, found[0].bottom), colour, found, gid, turned, size))

    def around(self, wish: _Wish) -> list[labels.Box]:
        """Places for a label near its point, the best first."""
        layout, (x, y) = self.layout, wish.at
        wide, high = labels.width(wish.text, layout.text), layout.line
        gap = 1.2 * layout.stroke / 72 + 0.18 * high
        boxes = []
        for far in _FAR:
            near = gap * far
            corners = [(x + near, y - near - high), (x + 1.3 * near, y - 0.8 * high), (x + 2 * near, y - high / 2),
                       (x - near - wide, y + near * 0.6), (x + near, y - high / 2),
                       (x - wide / 2, y + near), (x - near - wide, y - high / 2), (x - wide / 2, y - near - high),
                       (x - near - wide, y - near - high), (x + near, y + near)]
            boxes += [self.inside(labels.Box(left, low, left + wide, low + high)) for left, low in corners]
        return boxes

    def inside(self, box: labels.Box) -> labels.Box:
        """The box, moved sideways into the plane."""
        room = self.obstacles.room
        moved = max(room.left - box.left, 0.0) + min(room.right - box.right, 0.0)
        return labels.Box(box.left + moved, box.bottom, box.right + moved, box.top)

    def place_labels(self) -> None:
        """Draws the labels that were wished for; of those that name lines and points, MOST_LABELS at most."""
        done = 0
        for wish in sorted(self.wishes, key=lambda one: one.gid == DIRECT):
            if wish.gid == DIRECT and done >= MOST_LABELS:
                continue
            box = self.free(wish.boxes or self.around(wish))
            if box is None:
                continue
            if wish.gid == DIRECT and not wish.boxes:
                self.lead(wish, box)
            self.write(wish, box)
            done += wish.gid == DIRECT
        self.wishes.clear()

    def free(self, boxes: Iterable[labels.Box]) -> Optional[labels.Box]:
        """The first box that meets nothing, else the first that meets no text."""
        found = [(self.obstacles.meets(box), index, box) for index, box in enumerate(boxes)]
        met, _, box = min(found, default=(labels.TEXT, 0, None))
        return box if met < labels.TEXT else None

    def lead(self, wish: _Wish, box: labels.Box) -> None:
        """A thin line from a point to its label, where another point may be nearer to that."""
        (x, y), layout = wish.at, self.layout
        end = (min(max(x, box.left), box.right), min(max(y, box.bottom), box.top))
        if hypot(end[0] - x, end[1] - y) > _LEAD * layout.line:
            self.page.plot([x, end[0]], [y, end[1]], color=self.theme.muted, linewidth=layout.stroke / 6, zorder=4.2)

    def write(self, wish: _Wish, box: labels.Box) -> None:
        crossed = self.obstacles.meets(box) and wish.gid != AREA
        alpha = 1.0 if wish.boxes else 0.85
        patch = {**self.theme.patch, "alpha": alpha} if crossed else None
        middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        self.page.text(*middle, wish.text, size=wish.size or self.layout.text, color=wish.colour, ha="center", va="center",
                       rotation=90 if wish.turned else 0, gid=wish.gid, bbox=patch, zorder=6)
        self.obstacles.add(labels.Box(box.left - self.gap, box.bottom, box.right + self.gap, box.top))
