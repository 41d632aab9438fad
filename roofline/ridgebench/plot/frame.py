"""The parts every figure shares: title, subtitle, footer, legend and the list of undrawn rows."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import labels, notdrawn
from .style import NORMAL, SIZE, SMALL, TITLES, Theme
from ridgebench.view import View

MARGIN = 0.3  # inches
LINE = 0.165  # inches between lines of SMALL text
WIDTH, HEIGHT = SIZE


def new_page(theme: Theme) -> tuple[Figure, Axes]:
    """A figure and a page: invisible axes over all of it whose unit is the inch."""
    figure = Figure(figsize=SIZE, facecolor=theme.background)
    page = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(0, HEIGHT), zorder=2)
    page.set_axis_off()
    return figure, page


def add_axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes placed in inches."""
    box = (left / WIDTH, bottom / HEIGHT, width / WIDTH, height / HEIGHT)
    return figure.add_axes(box, zorder=1)


def subtitle(view: View) -> str:
    environment, device = view.environment, view.device
    date = (environment["started"] or "date unknown")[:10]
    threads = f" · {device['threads']} threads" if device["threads"] else ""
    model = device["model"] or "unknown model"
    method = f"method {environment['method_version']}"
    state = " · interrupted run" if environment["interrupted"] else ""
    return f"{model} ({device['name']}){threads} · {date} · {method}{state}"


def footer(view: View) -> str:
    """Provenance: enough to repeat the run."""
    environment = view.environment
    commit = (environment["commit"] or "unknown")[:12]
    parts = [
        f"ridgebench {environment['version']}",
        f"commit {commit}{' with local changes' if environment['dirty'] else ''}",
        environment["build"]["compiler"] or "compiler unknown",
        f"seed {environment['seed']}",
        f"fill {environment['fill']}",
        f"profile {environment['profile']}",
        f"run {environment['run_id']}",
    ]
    return " · ".join(parts)


def title_lines(title: str, room: float) -> tuple[float, list[str]]:
    """The title in two lines at most, a little smaller where it is long."""
    for size in TITLES:
        lines = labels.wrap(title, size, room, 2, "bold")
        if " ".join(lines) == title:
            break
    return size, lines


def header(page: Axes, view: View, title: str, notes: list[str], theme: Theme) -> float:
    """Draws title, subtitle, notes and the footer; returns the height where they end (inches)."""
    room, y = WIDTH - 2 * MARGIN, HEIGHT - 0.14
    size, lines = title_lines(title, room)
    for line in lines:
        page.text(MARGIN, y, line, size=size, weight="bold", va="top")
        y -= 0.3
    y -= 0.04
    for text in filter(None, [subtitle(view), *notes]):
        text = labels.fit(text, NORMAL, room)
        page.text(MARGIN, y, text, size=NORMAL, color=theme.muted, va="top")
        y -= 0.2
    text = labels.fit(footer(view), SMALL, room)
    page.text(MARGIN, 0.1, text, size=SMALL, color=theme.muted, va="bottom")
    return y - 0.06


def draw_undrawn(page: Axes, view: View, left: float, top: float, width: float, room: int) -> None:
    """Lists what is not drawn and why, in at most room lines below top (inches)."""
    groups = notdrawn.groups(view)
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
            text = f"… {left_over} more reasons: see records.jsonl"
            page.text(left, y, text, size=SMALL, va="top")
            return
        page.text(left, y, group.head, size=SMALL, weight="bold", va="top")
        for line in lines:
            page.text(left + indent, y, line, size=SMALL, va="top")
            y -= LINE
