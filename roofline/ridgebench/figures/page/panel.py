"""The table to the right of the roofline; its row heads are the legend of marker shapes."""

from dataclasses import replace
from typing import Optional

from matplotlib.axes import Axes

from ridgebench.base.units import digits
from ridgebench.data.doubts import UNSETTLED
from ridgebench.data.judged import ABOVE_ROOF, RAISED, percent_of_roof
from ridgebench.data.records import Row
from ridgebench.data.view import View

from . import labels
from .finding import best, share
from .page import LINE
from .points import marker
from .style import SMALL, Theme, is_pair, shape
from .sweeps import size_text

_MOST_IMPORTED = 20  # rows of the table of points of other tools
_STEP = 0.215  # inches between table rows
_WIDEST = 0.8  # inches of a column
HEAD = 1.06  # inches for the name of an operation
_FILLS = (("hand", "", "hand-written"), ("hand", "naive", "naive"), ("library", "", "library"))
UNSETTLED_NOTE = f"{UNSETTLED} the roof's control moved by more than 2 % during the run"


def neutral(row: Row, origin: str, technique: str = "") -> Row:
    """A row without a format, for a marker in a legend."""
    return replace(row, format="", origin=origin, technique=technique)


def _fills(view: View) -> list[tuple[str, str, str]]:
    """Origin, technique and name of the fills that the view's points have."""
    return [fill for fill in _FILLS if not fill[1] or any(row.naive for row in view.points)]


def fills_width(view: View) -> float:
    """The inches that draw_fills() needs."""
    return sum(0.38 + labels.width(name, SMALL) for _, _, name in _fills(view)) - 0.18


def draw_fills(page: Axes, view: View, theme: Theme, x: float, y: float) -> float:
    """Draws the legend of fills: solid, pale and hollow; returns where it ends."""
    for origin, technique, name in _fills(view):
        marker(page, x + 0.08, y, neutral(view.points[0], origin, technique), theme, "o", 40)
        page.text(x + 0.2, y, name, size=SMALL, va="center")
        x += 0.38 + labels.width(name, SMALL)
    return x


def _draw_key(page: Axes, view: View, theme: Theme, left: float, y: float, text: str) -> None:
    page.text(left, y, text, size=SMALL, weight="bold", va="center")
    draw_fills(page, view, theme, left, y - 0.22)


def share_text(row: Row, view: View) -> str:
    """'88', '~88' where a control moved, '100↑' of a row that raised its roof, '260' of one that may not, '–' without a roof."""
    if share(row) is None:
        return "–"
    raised = RAISED if ABOVE_ROOF in row.flags else ""
    return UNSETTLED * bool(view.unsettled(row)) + percent_of_roof(share(row)) + raised


def _draw_note(page: Axes, view: View, rows: list[Row], left: float, y: float) -> float:
    """Explains the mark of a share by a roof that moved, where there is one."""
    if not any(view.unsettled(row) for row in rows):
        return y
    page.text(left, y - _STEP, UNSETTLED_NOTE, size=SMALL, va="center")
    return y - _STEP


def columns(formats: list[str]) -> list[list[str]]:
    """The formats of each column or panel; all mixed pairs share one."""
    plain = [[name] for name in formats if not is_pair(name)]
    pairs = [name for name in formats if is_pair(name)]
    return plain + ([pairs] if pairs else [])


def _draw_heads(page: Axes, view: View, theme: Theme, xs: list[float], y: float) -> float:
    """Writes the names of formats in one or two lines, the first at height y; returns the height of the last."""
    names = ["fp8_pairs" if is_pair(formats[0]) else formats[0] for formats in columns(view.formats)]
    heads = [name.replace("tf32x", "tf32_x").split("_", 1) for name in names]
    heads = [head + [f"[{theme.letter(name)}]"] * theme.letters for head, name in zip(heads, names)]
    room = (xs[1] - xs[0] if len(xs) > 1 else HEAD) - 0.03
    widest = max(labels.width(part, SMALL, "bold") for head in heads for part in head)
    size, weight = (SMALL, "bold") if widest <= room else (SMALL - 1, "normal")
    last = y - LINE * (max(map(len, heads)) - 1)
    for x, head, formats in zip(xs, heads, columns(view.formats)):
        for above, part in enumerate(reversed(head)):
            text = labels.fit(part, size, room, weight)
            page.text(x, last + above * LINE, text, size=size, weight=weight, ha="center",
                      va="center", color=theme.text(formats[0]))
    return last


def _matrix_lines(view: View) -> list[tuple[str, str, list[Row]]]:
    """Operation, name and rows of every line: hand-written ones, then those of libraries."""
    lines = []
    for op in view.operations:
        name = op
        for origin in ("hand", "library"):
            rows = [row for row in view.points if (row.op, row.origin) == (op, origin)]
            if rows:
                lines.append((op, name, rows))
                name = "library"
    return lines


def _draw_matrix(page: Axes, view: View, theme: Theme, left: float, top: float, width: float) -> float:
    """Draws operations by formats; returns the height where the matrix ends."""
    _draw_key(page, view, theme, left, top - 0.1, "Share of the measured roof, fastest row, %")
    step = min((width - HEAD) / len(columns(view.formats)), _WIDEST)
    xs = [left + HEAD + (index + 0.5) * step for index in range(len(columns(view.formats)))]
    y = _draw_heads(page, view, theme, xs, top - 0.6)
    for op, name, rows in _matrix_lines(view):
        y -= _STEP
        sign = neutral(rows[0], rows[0].origin)
        marker(page, left + 0.08, y, sign, theme, shape(op, view.operations), 40)
        page.text(left + 0.22, y, labels.fit(name, SMALL, HEAD - 0.22), size=SMALL, va="center")
        for x, formats in zip(xs, columns(view.formats)):
            found = [row for row in rows if row.format in formats]
            top_row = best(found, lambda row: row.flops_per_s or row.bytes_per_s)
            text = share_text(top_row, view) if top_row else "–" if found else ""
            page.text(x, y, text, size=SMALL, ha="center", va="center", color=theme.text(formats[0]))
    return _draw_note(page, view, view.points, left, y) - 0.25


def table_rows(view: View) -> list[Row]:
    """The fastest size of every implementation; of equal rates the one with the largest share of its roof."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in view.points:
        found.setdefault((row.op, row.technique), []).append(row)
    chosen = [max(rows, key=lambda row: (row.rate or 0.0, share(row) or 0.0)) for rows in found.values()]
    order = {op: index for index, op in enumerate(view.operations)}
    return sorted(chosen, key=lambda row: (order[row.op], -(row.flops_per_s or 0), row.technique))


def name_of(row: Row, room: float, before: Optional[Row] = None) -> str:
    """Operation and technique, with the size where `room` (inches) allows it; of the operation of the row before, the technique."""
    name = row.technique if before and before.op == row.op else f"{row.op} {row.technique}"
    whole = f"{name}, {size_text(row)}" if row.shape else name
    return whole if labels.width(whole, SMALL) <= room else labels.fit(name, SMALL, room)


def _draw_table(page: Axes, view: View, theme: Theme, left: float, top: float, width: float) -> float:
    """Draws every implementation of one format; returns the height where the table ends."""
    unit, scale = view.unit
    ends = (left + width - 1.15, left + width - 0.55, left + width)
    _draw_key(page, view, theme, left, top - 0.1, "Fastest size of every implementation")
    y = top - 0.6
    for x, text in zip(ends, (unit, "GB/s", "% roof")):
        page.text(x, y, text, size=SMALL, weight="bold", ha="right", va="center")
    rows, step = table_rows(view), LINE + 0.03
    for before, row in zip([None, *rows], rows[:20]):
        y -= step
        marker(page, left + 0.08, y, row, theme, shape(row.op, view.operations), 34)
        page.text(left + 0.22, y, name_of(row, width - 1.8, before), size=SMALL, va="center")
        values = (
            digits(row.flops_per_s / scale) if row.flops_per_s else "",
            digits(row.bytes_per_s / 1e9) if row.bytes_per_s else "",
            share_text(row, view),
        )
        for x, text in zip(ends, values):
            page.text(x, y, text, size=SMALL, ha="right", va="center")
    if len(rows) > 20:
        y -= step
        page.text(left + 0.22, y, f"… and {len(rows) - 20} more", size=SMALL, va="center")
    return _draw_note(page, view, rows[:20], left, y) - 0.25


def _draw_imported(page: Axes, view: View, theme: Theme, left: float, top: float, width: float) -> float:
    """Draws the points of other tools, the fastest first; returns the height where the table ends (inches)."""
    unit, scale = view.unit
    ends = (left + width - 1.6, left + width - 0.85, left + width)
    y = top - 0.1
    page.text(left, y, "Points of other tools", size=SMALL, weight="bold", va="center")
    y -= 0.28
    for x, text in zip(ends, (unit, "GB/s", "FLOP/byte")):
        page.text(x, y, text, size=SMALL, weight="bold", ha="right", va="center")
    rows = sorted(view.external, key=lambda row: -(row.flops_per_s or 0))
    for row in rows[:_MOST_IMPORTED]:
        y -= _STEP
        name = labels.fit(f"{row.technique} {row.format}", SMALL, width - 2.25)
        page.text(left, y, name, size=SMALL, va="center", color=theme.text(row.format))
        known = ((row.flops_per_s, scale), (row.bytes_per_s, 1e9), (row.intensity_flop_per_byte, 1.0))
        for x, (value, by) in zip(ends, known):
            page.text(x, y, digits(value / by) if value else "–", size=SMALL, ha="right", va="center")
    if len(rows) > _MOST_IMPORTED:
        y -= _STEP
        page.text(left, y, f"… and {len(rows) - _MOST_IMPORTED} more", size=SMALL, va="center")
    return y - 0.25


def draw_panel(page: Axes, view: View, theme: Theme, left: float, top: float, width: float) -> float:
    """Draws the matrix of all formats, the table of one or imported points; returns the height where it ends (inches)."""
    if not view.points:
        return _draw_imported(page, view, theme, left, top, width) if view.external else top
    draw = _draw_table if view.format else _draw_matrix
    return draw(page, view, theme, left, top, width)
