"""Draws the trend of a history: a panel for each row, by per cent of its first value."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import matplotlib
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ridgebench.base.command_line import CommandError
from ridgebench.base.files import write_named
from ridgebench.base.patterns import Pattern
from ridgebench.base.units import counted, digits
from ridgebench.figures.page import labels
from ridgebench.figures.page.drawing import drawing, drawn
from ridgebench.figures.page.page import HEIGHT, MARGIN, WIDTH, add_axes, new_page, title_lines
from ridgebench.figures.page.style import BLUE, NORMAL, SMALL, THEMES, VERMILLION, Theme

from . import gate
from .history import Entry
from .report import HIGHER
from .side_by_side import seconds

_MOST_PANELS = 12
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2}  # by the number of panels; 3 for more
NOTABLE = gate.PRESETS["standard"].margin  # a panel shows at least this to both sides: noise must not look like a trend


@dataclass(frozen=True)
class Series:
    """A row over the runs that measured it; `runs` numbers them from 0 over the whole history."""

    row: str
    runs: list[int]
    entries: list[Entry]

    @property
    def changes(self) -> list[float]:
        """The change of each value against the first one, as a share."""
        return [entry.value / self.entries[0].value - 1 for entry in self.entries]

    @property
    def loss(self) -> float:
        """The last change, positive where it is for the worse."""
        last, metric = self.changes[-1], self.entries[-1].metric
        return -last if metric and metric.endswith(HIGHER) else last


def series(entries: list[Entry], pattern: Optional[str]) -> list[Series]:
    """The rows of a history, the greatest loss first. Raises CommandError where no row has a value."""
    filter_ = None if pattern is None else Pattern(pattern, "--filter")
    chosen = [e for e in entries if filter_ is None or filter_.search(e.row)]
    runs = {key: number for number, key in enumerate(dict.fromkeys((e.time, e.label) for e in entries))}
    rows: dict[str, list[Entry]] = {}
    for one in chosen:
        if one.value is not None:
            rows.setdefault(one.row, []).append(one)
    if not rows:
        raise CommandError("no row of the history has a value" + (f" and matches '{pattern}'" if pattern else ""))
    found = [Series(name, [runs[e.time, e.label] for e in own], own) for name, own in rows.items()]
    return sorted(found, key=lambda s: (-s.loss, s.row))


def title(rows: list[Series]) -> str:
    runs = 1 + max(number for one in rows for number in one.runs)
    if runs == 1:
        return f"One run of {counted(len(rows), 'row')}: no trend yet"
    slower = [one for one in rows if one.loss > NOTABLE]
    if not slower:
        return f"No row of {len(rows)} lost more than {100 * NOTABLE:g} % over {runs} runs"
    worst = f"{labels.fit(slower[0].row, NORMAL, 4)} most, {100 * slower[0].loss:.1f} %"
    return f"{len(slower)} of {len(rows)} rows lost more than {100 * NOTABLE:g} % over {runs} runs: {worst}"


def shown_value(entry: Entry) -> str:
    return seconds(entry.value) if entry.metric is None else digits(entry.value)


def shown_label(entry: Entry) -> str:
    """'2026-11-22', with the run's label after it where it has another one."""
    date = entry.time.strftime("%Y-%m-%d")
    return f"{date} {entry.label}" if entry.label and entry.label != date else date


def limits(rows: list[Series]) -> tuple[float, float]:
    """The least and the largest change of all panels, in per cent, with the band: it has one height in each of them."""
    changes = [100 * change for one in rows for change in one.changes]
    low, high = min(-100 * NOTABLE, *changes), max(100 * NOTABLE, *changes)
    more = 0.1 * (high - low)
    return low - more, high + more


def _draw_panel(axes: Axes, one: Series, last_run: int, y: tuple[float, float], theme: Theme, width: float) -> None:
    """The line of a row, with WORSE and UNDECIDED runs marked; width: of the panel, in inches."""
    changes = [100 * change for change in one.changes]
    axes.axhline(0, color=theme.muted, linewidth=0.8, zorder=1)
    axes.plot(one.runs, changes, color=BLUE, linewidth=1.3, zorder=2)
    for run, change, entry in zip(one.runs, changes, one.entries):
        worse, hollow = entry.verdict == gate.WORSE, entry.verdict == gate.UNDECIDED
        shape, size, colour = ("^", 6, VERMILLION) if worse else ("o", 4, BLUE)
        face = theme.background if hollow else colour
        axes.plot(run, change, shape, markersize=size, color=colour, markerfacecolor=face, zorder=3)
    axes.axhspan(-100 * NOTABLE, 100 * NOTABLE, color=theme.faint, alpha=0.4, linewidth=0, zorder=0)
    axes.set(xlim=(-0.3, last_run + 0.3), ylim=y)
    axes.set_title(labels.fit(one.row, SMALL, width), fontsize=SMALL, loc="left")
    axes.annotate(f" {shown_value(one.entries[-1])}", (one.runs[-1], changes[-1]), fontsize=SMALL, va="center",
                  annotation_clip=False)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:+g} %" if y else "0"))
    axes.set_xticks(sorted({one.runs[0], one.runs[-1]}))
    ends = {one.runs[0]: one.entries[0], one.runs[-1]: one.entries[-1]}
    texts = [labels.fit(shown_label(entry), SMALL, width / 2 - 0.2) for _, entry in sorted(ends.items())]
    for text, place in zip(axes.set_xticklabels(texts, fontsize=SMALL), ("left", "right")):
        text.set_horizontalalignment(place if len(texts) == 2 else "center")
    axes.tick_params(labelsize=SMALL, length=3)
    axes.spines[["top", "right"]].set_visible(False)


def _draw(rows: list[Series], source: str, theme: Theme) -> matplotlib.figure.Figure:
    figure, page = new_page(theme)
    y = HEIGHT - 0.14
    size, lines = title_lines(title(rows), WIDTH - 2 * MARGIN)
    for text in lines:
        page.text(MARGIN, y, text, size=size, weight="bold", va="top")
        y -= 0.3
    metric = next((one.entries[-1].metric for one in rows if one.entries[-1].metric), "time, lower is better")
    more = len(rows) - _MOST_PANELS
    left_out = f" · not drawn: {counted(more, 'row')} with smaller losses" if more > 0 else ""
    marks = f"band: {100 * NOTABLE:g} % · triangle: WORSE than its baseline in that run · hollow: UNDECIDED"
    told = f"{metric}, against the first run · {marks}{left_out}"
    page.text(MARGIN, y, labels.fit(told, NORMAL, WIDTH - 2 * MARGIN), size=NORMAL, color=theme.muted, va="top")
    page.text(MARGIN, 0.1, labels.fit(source, SMALL, WIDTH / 2), size=SMALL, color=theme.muted, va="bottom")
    shown = rows[:_MOST_PANELS]
    columns = _COLUMNS.get(len(shown), 3)
    lines_of_panels = -(-len(shown) // columns)
    width, height = (WIDTH - MARGIN) / columns, (y - 0.35 - 0.4) / lines_of_panels
    last_run = max(number for one in shown for number in one.runs)
    for index, one in enumerate(shown):
        left, top = MARGIN + index % columns * width, y - 0.35 - index // columns * height
        room = width - 1.35
        axes = add_axes(figure, left + 0.55, top - height + 0.35, room, height - 0.65)
        _draw_panel(axes, one, last_run, limits(shown), theme, room + 0.5)
    return figure


def save(rows: list[Series], source: str, path: Path, kind: str) -> None:
    theme = THEMES["light"]
    with drawing(theme):
        write_named(path, drawn(_draw(rows, source, theme), kind))
