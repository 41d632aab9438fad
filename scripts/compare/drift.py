"""How the rows of a machine moved over many runs: trends in words, and a picture over time."""

from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from roofline.plot import labels
from roofline.plot.frame import HEIGHT, MARGIN, WIDTH, add_axes, new_page
from roofline.plot.records import ResultsError, clean
from roofline.plot.style import NORMAL, SMALL, TITLES, Theme, readable

from .comparable import differences
from .picture import hue_of_change, save_picture
from .runs import Run
from .text import aligned, percent

FEWEST_RUNS = 5
# Kendall's tau over so many runs, for many rows at once.
LARGEST_P = 0.001
SMALLEST_TREND = 0.01
DAY = 86400.0  # seconds
UNITS = (("minutes", 60.0), ("hours", 3600.0), ("days", DAY))
PANEL = 4.1  # inches for the rows' names
MOST_NAMES = 22


@dataclass(frozen=True)
class Trend:
    """One row over the runs that measured it. Change is of time, from the first run to the last."""

    id: str
    days: np.ndarray
    log_times: np.ndarray
    change: float
    p_value: float
    spread: float

    @property
    def drifts(self) -> bool:
        return self.p_value < LARGEST_P and abs(self.change) > SMALLEST_TREND


@dataclass(frozen=True)
class Break:
    """A change of the machine or the software, in days since the first run."""

    day: float
    what: str


def started(run: Run) -> datetime:
    text = run.environment["started"]
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)
    except (AttributeError, ValueError):
        raise ResultsError(f"{run.folder}: started is no time: {text!r}") from None


def days_since(first: Run, run: Run) -> float:
    return (started(run) - started(first)).total_seconds() / DAY


def trend(name: str, days: np.ndarray, times: np.ndarray) -> Trend:
    logs = np.log(times)
    slope = stats.theilslopes(logs, days).slope if np.ptp(days) > 0 else 0.0
    p_value = stats.kendalltau(days, logs).pvalue if np.ptp(logs) > 0 else 1.0
    change = float(np.expm1(slope * np.ptp(days)))
    rest = logs - slope * days
    return Trend(name, days, logs, change, float(p_value), float(rest.std(ddof=1)))


def trends(runs: list[Run]) -> list[Trend]:
    """Of rows that at least FEWEST_RUNS runs measured; the strongest first."""
    if len(runs) < FEWEST_RUNS:
        raise ResultsError(f"{len(runs)} runs; a trend takes {FEWEST_RUNS}")
    runs = sorted(runs, key=started)
    series: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        day = days_since(runs[0], run)
        for name, i in run.table.index().items():
            if run.table.status[i] == "ok":
                series.setdefault(name, []).append((day, float(run.table.times[i, 0])))
    found = [
        trend(name, *np.array(points).T)
        for name, points in series.items()
        if len(points) >= FEWEST_RUNS
    ]
    return sorted(found, key=lambda t: (not t.drifts, -abs(t.change), t.id))


def breaks(runs: list[Run]) -> list[Break]:
    """What changed between neighbouring runs: a drift that begins there is not the machine's."""
    found = []
    runs = sorted(runs, key=started)
    for one, other in zip(runs, runs[1:]):
        for what in differences(one.environment, other.environment, [])[0]:
            day = days_since(runs[0], other)
            found.append(Break(day, f"{other.environment['started']}: {clean(what)}"))
    return found


def text(found: list[Trend], changes: list[Break]) -> str:
    table = [["", "row", "runs", "change", "spread", "p"]]
    for t in found:
        state = "DRIFTS" if t.drifts else ""
        change, spread = percent(t.change), percent(t.spread, "")
        table.append([state, clean(t.id), str(len(t.days)), change, spread, f"{t.p_value:.2g}"])
    drifting = sum(t.drifts for t in found)
    lines = [*aligned(table), f"{len(found)} rows, {drifting} drift"]
    return "\n".join([*lines, *(f"changed: {change.what}" for change in changes)]) + "\n"


def title(found: list[Trend]) -> str:
    drifting = [t for t in found if t.drifts]
    if not drifting:
        return f"None of {len(found)} rows drifts"
    return f"{len(drifting)} of {len(found)} rows drift, the strongest by {percent(drifting[0].change)}"


def subtitle(runs: list[Run], changes: list[Break]) -> str:
    """The machine, how often and when it was measured, and how often it changed."""
    environment = runs[0].environment
    model = clean(environment["devices"][0]["model"] or "unknown model")
    first, last = (f(map(started, runs)).strftime("%Y-%m-%d %H:%M") for f in (min, max))
    count = f"{len(changes)} change{'s' if len(changes) > 1 else ''}"
    dotted = f" · {count} of the machine or the software (dotted)" if changes else ""
    return f"{model} · {len(runs)} runs, {first} to {last} UTC{dotted}"


def unit(days: float) -> tuple[str, float]:
    """The largest unit of time of which these days are two or more, else minutes; in days."""
    fitting = [one for one in UNITS if days * DAY >= 2 * one[1]] or UNITS[:1]
    name, seconds = fitting[-1]
    return name, seconds / DAY


def colour(t: Trend, theme: Theme) -> str:
    return hue_of_change(t.change, t.drifts, theme)


def draw_names(page: Axes, found: list[Trend], top: float, theme: Theme) -> None:
    """The strongest trends, those that drift first: change from the first run to the last."""
    left = WIDTH - PANEL
    page.text(left, top, "Trend from the first run to the last", size=SMALL, weight="bold", va="top")
    for place, t in enumerate(found[:MOST_NAMES], 1):
        hue = readable(colour(t, theme), theme.ink, theme.background)
        y = top - 0.24 * place
        page.text(left + 0.55, y, percent(t.change), size=SMALL, va="top", ha="right", color=hue)
        name = labels.fit(clean(t.id), SMALL, PANEL - 0.65 - MARGIN)
        page.text(left + 0.65, y, name, size=SMALL, va="top", color=theme.ink)
    if len(found) > MOST_NAMES:
        y = top - 0.24 * (MOST_NAMES + 1)
        page.text(left + 0.65, y, f"… and {len(found) - MOST_NAMES} weaker ones", size=SMALL, va="top")


def draw_lines(axes: Axes, found: list[Trend], day: float, theme: Theme) -> None:
    """Every row around its own median; those that drift stand out. day: of the axis' unit."""
    for t in reversed(found):
        heights = 100 * np.expm1(t.log_times - np.median(t.log_times))
        width, alpha = (1.4, 1.0) if t.drifts else (0.7, 0.5)
        axes.plot(t.days / day, heights, marker=".", color=colour(t, theme), linewidth=width,
                  alpha=alpha, markersize=3)


def draw(runs: list[Run], found: list[Trend], changes: list[Break], theme: Theme) -> Figure:
    figure, page = new_page(theme)
    room = WIDTH - 2 * MARGIN
    page.text(MARGIN, HEIGHT - 0.14, title(found), size=TITLES[0], weight="bold", va="top")
    note = labels.fit(subtitle(runs, changes), NORMAL, room)
    page.text(MARGIN, HEIGHT - 0.48, note, size=NORMAL, color=theme.muted, va="top")
    top = HEIGHT - 0.95
    axes = add_axes(figure, 0.95, 0.75, WIDTH - PANEL - 0.3 - 0.95, top - 0.75)
    name, day = unit(max((float(t.days.max()) for t in found), default=0.0))
    draw_lines(axes, found, day, theme)
    for change in changes:
        axes.axvline(change.day / day, color=theme.muted, linestyle="dotted", linewidth=1.0)
    axes.axhline(0, color=theme.ink, linewidth=0.8)
    axes.grid(color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=NORMAL, length=3)
    axes.set_xlabel(f"{name} since the first run", size=NORMAL)
    axes.set_ylabel("time against the row's median, %", size=NORMAL)
    draw_names(page, found, top, theme)
    return figure


def write(runs: list[Run], found: list[Trend], changes: list[Break], path: Path) -> None:
    save_picture(partial(draw, runs, found, changes), path)
