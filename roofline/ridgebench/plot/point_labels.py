"""Names the points that matter most, as far as the label budget allows."""

from . import labels
from .canvas import MARK, Canvas
from .finding import best, compute_bound, hand, share
from ridgebench.records import Row
from .style import DIRECT, SMALL, Theme
from ridgebench.units import percent
from ridgebench.view import View

HEIGHT = 0.15  # inches


def chosen(view: View) -> list[Row]:
    """The rows of the title; of one format, the fastest hand-written row of each operation."""
    if not view.format:
        return compute_bound(view)
    rows = [[row for row in hand(view) if row.op == op] for op in reversed(view.operations)]
    found = [best(some, lambda row: row.flops_per_s) for some in rows]
    return [row for row in found if row is not None and row.intensity_flop_per_byte]


def text_of(row: Row, view: View) -> str:
    who = row.op if view.format else f"{row.format} {row.op}"
    if not share(row):
        return who
    at_roof = row.bound == "memory" and share(row) >= 1
    return f"{who} at the roof" if at_roof else f"{who} {percent(share(row))} %"


def candidates(x: float, y: float, size: float) -> list[labels.Box]:
    """Places around a point, the best first: lower right, right, lower left, further down."""
    near = MARK + 0.03
    corners = [(x + near, y - near - HEIGHT), (x + near, y - HEIGHT / 2),
               (x - near - size, y - near - HEIGHT), (x - size / 2, y - near - HEIGHT),
               (x + near, y - 2 * near - 2 * HEIGHT), (x - near - size, y - HEIGHT / 2),
               (x - near - size, y + near)]
    return [labels.Box(left, low, left + size, low + HEIGHT) for left, low in corners]


def draw(canvas: Canvas, view: View, theme: Theme, room: int) -> int:
    """Writes at most room labels where they fit; returns how many."""
    done = 0
    for row in chosen(view):
        if done >= room:
            break
        text = text_of(row, view)
        place = canvas.inches(row.intensity_flop_per_byte, row.flops_per_s / canvas.scale)
        boxes = candidates(*place, labels.width(text, SMALL))
        box = next(filter(canvas.obstacles.clear, boxes), None)
        if box is None:
            continue
        canvas.page.text(box.left, box.bottom + 0.03, text, size=SMALL,
                         color=theme.text(row.format), bbox=theme.patch, gid=DIRECT)
        canvas.obstacles.add(box)
        done += 1
    return done
