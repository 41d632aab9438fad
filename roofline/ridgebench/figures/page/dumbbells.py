"""How many times as fast as the first run every other one is: a line for each operation and format, a mark for each run."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ridgebench.base.units import digits
from ridgebench.data.view import OPERATIONS, ORDER, ordered
from ridgebench.figures.scene.axes import span

from . import labels
from .canvas import across, upwards
from .finding import spoken
from .page import MARGIN, WIDTH, add_axes, new_page, write_foot_of_runs, write_head
from .runs import LIMITS, OneRun, provenance, title
from .runs_table import run_theme
from .style import NORMAL, SMALL, Theme

_MOST = 45  # lines
_TICKS = (0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 5.0, 10.0, 100.0, 1000.0)
_ROOM = 1.15  # of the axis beyond the least and the largest ratio
_FOOT = 0.95  # inches below the axes
_NOTE = "Best verified row of each operation and format: bytes/s where memory limits, FLOP/s where arithmetic does"

_Case = tuple[str, str, str]  # operation, format, what limits


def cases(runs: list[OneRun]) -> dict[_Case, list[float]]:
    """The speed of every run over that of the first one, 1 for the first, of the cases that all runs have; in the order of the page."""
    shared = set.intersection(*(set(run.speeds) for run in runs)) if runs else set()
    operations, formats = ordered({case[0] for case in shared}, OPERATIONS), ordered({case[1] for case in shared}, ORDER)
    known = sorted(shared, key=lambda case: (operations.index(case[0]), formats.index(case[1]), case[2]))
    return {case: [run.speeds[case] / runs[0].speeds[case] for run in runs] for case in known}


def draw(runs: list[OneRun], theme: Theme) -> Figure:
    figure, page = new_page(theme)
    foot = _FOOT + write_foot_of_runs(page, provenance(runs), {run.letter: run.view for run in runs}, theme)
    found = cases(runs)
    left_out = len(found) - _MOST
    more = f" · {left_out} more cases are not drawn" if left_out > 0 else ""
    top = write_head(page, title(runs), [_NOTE + more], theme) - 0.05
    found = dict(list(found.items())[:_MOST])
    x = MARGIN
    for run in runs:
        own = run_theme(theme, run)
        text = f"{run.letter} {run.name}"
        page.plot([x + 0.07], [top], "o", color=own.hue(None), markersize=7)
        page.text(x + 0.2, top, text, size=SMALL, va="center")
        x += labels.width(text, SMALL) + 0.45
    names = [f"{spoken(op)} {name}" for op, name, _ in found]
    left = MARGIN + max(labels.width(name, SMALL) for name in names) + 0.15
    axes = add_axes(figure, left, foot, WIDTH - left - 0.9, top - 0.2 - foot)
    _draw_lines(axes, runs, found, names, theme)
    page.text(left + (WIDTH - left - 0.9) / 2, foot - 0.32, f"times as fast as {runs[0].letter}", size=NORMAL, ha="center", va="top")
    return figure


def _draw_lines(axes: Axes, runs: list[OneRun], found: dict[_Case, list[float]], names: list[str], theme: Theme) -> None:
    values = [value for ratios in found.values() for value in ratios]
    axes.set(xscale="log", xlim=span(values, _ROOM), ylim=(len(found) - 0.4, -0.6))
    upwards(axes, 1.0, color=theme.muted, linewidth=1.0, zorder=1)
    last = ""
    for place, ((op, _, limit), ratios) in enumerate(found.items()):
        if op != last and place:
            across(axes, place - 0.5, color=theme.faint, linewidth=1.0, zorder=0)
        last = op
        axes.plot([min(ratios), max(ratios)], [place, place], color=theme.muted, linewidth=1.2, zorder=2)
        for run, value in zip(runs, ratios):
            axes.plot([value], [place], "o", color=run_theme(theme, run).hue(None), markersize=6, zorder=3)
        limited = "" if limit == "memory" else f" ({dict(LIMITS)[limit]})"
        text = f"{digits(ratios[-1])}{limited}" if len(runs) == 2 else limited.strip()
        axes.annotate(text, (max(ratios), place), (8, 0), textcoords="offset points", size=SMALL, va="center", annotation_clip=False)
    axes.set_yticks(range(len(names)), names, size=SMALL)
    axes.xaxis.set_major_locator(FixedLocator(_TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(labelsize=SMALL, length=3)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
