"""Shared by every figure: page, title, subtitle, footer, and the list of the results that are not drawn and why."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Mapping, Optional

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ridgebench.base.units import counted, enumerate_words
from ridgebench.data.records import BROKEN, Row, commit_of, date_of
from ridgebench.data.view import ORDER, View, ordered

from . import labels
from .doubt import DOUBT, doubt
from .language import Page, said
from .style import NORMAL, SIZE, SMALL, TITLES, Theme, family

MARGIN = 0.3  # inches
_DOUBT_LINES = 2  # at most, for the doubts about one run
LINE = 0.165  # inches between lines of SMALL text
WIDTH, HEIGHT = SIZE
_GRAVITY = (*BROKEN, "skipped")


def new_page(theme: Theme) -> tuple[Figure, Axes]:
    """A figure and its page: invisible axes over all of it whose unit is the inch."""
    figure = Page(figsize=SIZE, facecolor=theme.background)
    page = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(0, HEIGHT), zorder=2)
    page.set_axis_off()
    return figure, page


def add_axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place in inches."""
    box = (left / WIDTH, bottom / HEIGHT, width / WIDTH, height / HEIGHT)
    return figure.add_axes(box, zorder=1)


def subtitle(view: View) -> str:
    environment, device = view.environment, view.device
    date = date_of(environment) or "date unknown"
    threads = f" · {device['threads']} threads" if device["threads"] else ""
    model = device["model"] or "unknown model"
    method = f"method {environment['method_version']}" if "imported" not in environment else "imported"
    state = " · unfinished run" if view.why_unfinished else ""
    return f"{model} ({device['name']}){threads} · {date} · {method}{state}"


def unserved(views: list[View]) -> str:
    """The number of the cases that were skipped; empty without one."""
    count = sum(row.status == "skipped" for view in views for row in view.not_ok)
    return f"{counted(count, 'case')} not served: see the report{'s' * (len(views) > 1)}" if count else ""


def power_states(view: View) -> str:
    """How many rows the power limit slowed down; empty without one. Their clock differs from that of the others."""
    states = Counter(row.power_state for row in view.rows if row.power_state)
    capped, mixed, rows = states["capped"], states["mixed"], sum(states.values())
    partly = f", {mixed} for a part of the time" if mixed else ""
    return f"{capped + mixed} of {rows} rows at the power cap{partly}" if capped + mixed else ""


def _own_kernels(view: View) -> str:
    """How many rows are of kernels that ran in the measuring process, which they could have changed; empty without one."""
    count = sum(row.isolated is False for row in view.rows)
    return f"{counted(count, 'row')} of own kernels not isolated" if count else ""


def provenance(environment: Mapping[str, Any]) -> list[str]:
    """The facts that repeat a run."""
    return [
        f"ridgebench {environment['version']}",
        f"commit {commit_of(environment, 12)}{' with local changes' if environment['dirty'] else ''}",
        environment["build"]["compiler"] or "compiler unknown",
        f"seed {environment['seed']}",
        f"fill {environment['fill']}",
        f"profile {environment['profile']}",
        f"run {environment['run_id']}",
    ]


def footer(view: View) -> str:
    """The provenance of the run after the rows that need a word."""
    environment = view.environment
    if "imported" in environment:
        source = environment["imported"]
        digest = [f"SHA-256 {source['sha256'][:16]}"] if source["sha256"] else []
        return " · ".join([f"ridgebench import: {source['file']} of {source['tool']}", *digest])
    return " · ".join([*filter(None, [power_states(view), _own_kernels(view)]), *provenance(environment)])


def title_lines(title: str, room: float) -> tuple[float, list[str]]:
    """The title in at most two lines, with the size at which it fits."""
    for size in TITLES:
        lines = labels.wrap(title, size, room, 2, "bold")
        if labels.whole(lines, title):
            break
    return size, lines


def fits(title: str) -> bool:
    return labels.whole(title_lines(title, WIDTH - 2 * MARGIN)[1], title)


def write_head(page: Axes, title: str, notes: list[str], theme: Theme) -> float:
    """Writes the title and the notes below it; returns the height where they end (inches)."""
    room, y = WIDTH - 2 * MARGIN, HEIGHT - 0.14
    size, lines = title_lines(title, room)
    for line in lines:
        page.text(MARGIN, y, line, size=size, weight="bold", va="top")
        y -= 0.3
    y -= 0.04
    for text in filter(None, notes):
        text = labels.fit(text, NORMAL, room)
        page.text(MARGIN, y, text, size=NORMAL, color=theme.muted, va="top")
        y -= 0.2
    return y - 0.06


def _doubt_lines(text: str, most: int) -> list[str]:
    return labels.wrap(text, SMALL, WIDTH - 2 * MARGIN, most) if text else []


def write_foot_of_runs(page: Axes, left: str, views: dict[str, View], theme: Theme) -> float:
    """Writes provenance and number of skipped cases of runs by their letters in the last line, and above it what puts each run in doubt.

    Returns the height (inches) that the doubts take beyond one line.
    """
    doubts = {letter: doubt(view) for letter, view in views.items()}
    lines = _doubt_lines("; ".join(f"{letter}: {said(text)}" for letter, text in doubts.items() if text), _DOUBT_LINES * len(views))
    for above, text in enumerate(reversed(lines), 1):
        page.text(MARGIN, 0.1 + above * LINE, text, size=SMALL, va="bottom", gid=DOUBT)
    write_last_line(page, left, unserved(list(views.values())), theme)
    return max(len(lines) - 1, 0) * LINE


def write_last_line(page: Axes, left: str, count: str, theme: Theme) -> None:
    """Writes one text at the left end of the last line, as much of it as fits, and the other at its right end."""
    page.text(WIDTH - MARGIN, 0.1, count, size=SMALL, color=theme.muted, va="bottom", ha="right")
    text = labels.fit(left, SMALL, WIDTH - 2 * MARGIN - labels.width(count, SMALL) - 0.2 * bool(count))
    page.text(MARGIN, 0.1, text, size=SMALL, color=theme.muted, va="bottom")


def header(page: Axes, view: View, title: str, notes: list[str], theme: Theme, drawn: Optional[list[Row]] = None) -> float:
    """Draws title, subtitle, notes and the footer; returns the height where they end (inches).

    `drawn` are the rows of the figure where they are not the points of the run. What puts the run in doubt is the line above the
    footer; if it is longer than a line, it follows the notes.
    """
    doubts = _doubt_lines(doubt(view, drawn), _DOUBT_LINES)
    if len(doubts) == 1:
        page.text(MARGIN, 0.1 + LINE, doubts.pop(), size=SMALL, va="bottom", gid=DOUBT)
    write_last_line(page, footer(view), unserved([view]), theme)
    end = write_head(page, title, [subtitle(view), *notes], theme)
    for line in doubts:
        page.text(MARGIN, end, line, size=SMALL, va="top", gid=DOUBT)
        end -= LINE
    return end


@dataclass(frozen=True)
class Group:
    """Rows that are not drawn for one reason."""

    head: str  # "skipped 8"
    reason: str
    names: str  # "matmul/onednn fp16, tf32; ..."


def _row_names(rows: list[Row]) -> str:
    """Each op/technique once, with all its formats."""
    formats: dict[str, set[str]] = {}
    for row in rows:
        formats.setdefault(f"{row.op}/{row.technique}", set()).add(row.format)
    return "; ".join(f"{name} {', '.join(ordered(f, ORDER))}" for name, f in formats.items())


def row_groups(rows: list[Row]) -> list[Group]:
    """Rows by status and reason: the gravest status first, then the most frequent reason."""
    causes: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        causes.setdefault((row.status, row.reason or "no reason recorded"), []).append(row)

    def rank(item: tuple[tuple[str, str], list[Row]]) -> tuple:
        (status, reason), members = item
        return (_GRAVITY.index(status), -len(members), reason)

    return [
        Group(f"{status} {len(members)}", reason, _row_names(members))
        for (status, reason), members in sorted(causes.items(), key=rank)
    ]


def results_not_ok(view: View) -> list[Row]:
    """The rows that were measured, or ought to have been, without a result."""
    return [row for row in view.not_ok if row.status != "skipped"]


def undrawn_groups(view: View) -> list[Group]:
    """Rows that a figure leaves out, with the reason. Skipped cases are not results: unserved() counts them."""
    found = row_groups(results_not_ok(view))
    others = [row for row in view.selected if row.drawable and row.regime != "steady"]
    if others:
        reason = "verified, but only the steady regime is drawn"
        found.append(Group(f"cold, warm {len(others)}", reason, _row_names(others)))
    if view.torn:
        found.append(Group("cut off 1", "unfinished last line", "records.jsonl"))
    return found


def storage_note(view: View) -> str:
    """Rows that are computed in another format than they are stored in: of one format the operations, of several the formats.

    'relu, dot and some of matmul in fp16: computed in fp32'; 'tf32, fp16, bf16: some rows computed in fp32'.
    """
    wide: dict[str, dict[str, bool]] = {}  # by format of the arithmetic: formats or operations, and whether some rows have their own
    for row in view.points:
        if row.arithmetic != row.format:
            wide.setdefault(row.arithmetic, {})[row.op if view.format else family(row.format)] = False
    for row in view.points:
        name = row.op if view.format else family(row.format)
        for known in wide.values():
            known |= {name: True} if name in known and row.arithmetic == row.format else {}
    return "; ".join(_stored(view, arithmetic, wide[arithmetic]) for arithmetic in ordered(set(wide), ORDER))


def _stored(view: View, arithmetic: str, partly: dict[str, bool]) -> str:
    order = view.operations if view.format else [family(name) for name in view.formats]
    names = sorted(partly, key=order.index)
    whole, some = [name for name in names if not partly[name]], [name for name in names if partly[name]]
    if view.format:
        told = [*whole, *[f"some of {', '.join(some)}"] * bool(some)]
        return f"{enumerate_words(told)} in {view.format}: computed in {arithmetic}"
    parts = [f"{', '.join(some)}: some rows computed in {arithmetic}"] * bool(some)
    return "; ".join([f"{', '.join(whole)}: computed in {arithmetic}"] * bool(whole) + parts)


def draw_undrawn(page: Axes, view: View, left: float, top: float, width: float, room: int) -> None:
    """Lists what is not drawn and why, in at most `room` lines below `top` (inches)."""
    draw_groups(page, undrawn_groups(view), left, top, width, room)


def draw_groups(page: Axes, groups: list[Group], left: float, top: float, width: float, room: int) -> None:
    if not groups:
        return
    page.text(left, top, "Not drawn", size=SMALL, weight="bold", va="top")
    indent = max(labels.width(group.head + "  ", SMALL, "bold") for group in groups)
    most = max(1, (room - 1) // len(groups))  # lines of one reason
    y, last = top - LINE, top - (room - 1) * LINE
    for index, group in enumerate(groups):
        text = f"{group.reason}: {group.names}"
        lines = labels.wrap(text, SMALL, width - indent, most)
        left_over = len(groups) - index
        if y - (len(lines) - 1 + (left_over > 1)) * LINE < last - 0.01:
            text = f"… {counted(left_over, 'more reason')}: see records.jsonl"
            page.text(left, y, text, size=SMALL, va="top")
            return
        page.text(left, y, group.head, size=SMALL, weight="bold", va="top")
        for line in lines:
            page.text(left + indent, y, line, size=SMALL, va="top")
            y -= LINE
