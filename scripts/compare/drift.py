"""How the rows of a machine moved over many runs: trends in words, and a picture over time."""

from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from roofline.plot import labels
from roofline.plot.frame import HEIGHT, MARGIN, WIDTH, add_axes, new_page
from roofline.plot.output import save
from roofline.plot.records import ResultsError, clean
from roofline.plot.style import BLUE, NORMAL, SMALL, THEMES, VERMILLION, Theme

from .comparable import differences
from .runs import Run
from .text import aligned, percent

FEWEST_RUNS = 5
# Kendall's tau over so many runs, for many rows at once.
LARGEST_P = 0.001
SMALLEST_TREND = 0.01


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


def started(run: Run) -> datetime:
    text = run.environment["started"]
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)
    except (AttributeError, ValueError):
        raise ResultsError(f"{run.folder}: started is no time: {text!r}") from None


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
    first = started(runs[0])
    series: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        day = (started(run) - first).total_seconds() / 86400
        for name, i in run.table.index().items():
            if run.table.status[i] == "ok":
                series.setdefault(name, []).append((day, float(run.table.times[i, 0])))
    found = [
        trend(name, *np.array(points).T)
        for name, points in series.items()
        if len(points) >= FEWEST_RUNS
    ]
    return sorted(found, key=lambda t: (not t.drifts, -abs(t.change), t.id))


def breaks(runs: list[Run]) -> list[str]:
    """What changed between neighbouring runs: a drift that begins there is not the machine's."""
    told = []
    runs = sorted(runs, key=started)
    for one, other in zip(runs, runs[1:]):
        for what in differences(one.environment, other.environment, [])[0]:
            told.append(f"{other.environment['started']}: {clean(what)}")
    return told


def text(found: list[Trend], changes: list[str]) -> str:
    table = [["", "row", "runs", "change", "spread", "p"]]
    for t in found:
        state = "DRIFTS" if t.drifts else ""
        change, spread = percent(t.change), percent(t.spread, "")
        table.append([state, clean(t.id), str(len(t.days)), change, spread, f"{t.p_value:.2g}"])
    drifting = sum(t.drifts for t in found)
    lines = [*aligned(table), f"{len(found)} rows, {drifting} drift"]
    return "\n".join([*lines, *(f"changed: {change}" for change in changes)]) + "\n"


def draw(found: list[Trend], changes: list[str], theme: Theme) -> Figure:
    """Every row as a thin line around its own median; those that drift in colour, with a name."""
    figure, page = new_page(theme)
    drifting = [t for t in found if t.drifts]
    title = f"{len(drifting)} of {len(found)} rows drift"
    page.text(MARGIN, HEIGHT - 0.14, title, size=16, weight="bold", va="top")
    note = f"{len(changes)} changes of the machine or the software in between" if changes else ""
    page.text(MARGIN, HEIGHT - 0.5, note, size=NORMAL, color=theme.muted, va="top")
    axes = add_axes(figure, 0.95, 0.75, WIDTH - 5.2, HEIGHT - 1.6)
    for t in reversed(found):
        hue = (VERMILLION if t.change > 0 else BLUE) if t.drifts else theme.muted
        heights = 100 * np.expm1(t.log_times - np.median(t.log_times))
        width, alpha = (1.4, 1.0) if t.drifts else (0.6, 0.4)
        style = {"color": hue, "linewidth": width, "alpha": alpha, "markersize": 3}
        axes.plot(t.days, heights, marker=".", **style)
    for place, t in enumerate(drifting[:20]):
        line = labels.fit(f"{percent(t.change)}  {clean(t.id)}", SMALL, 3.9)
        page.text(WIDTH - 4.1, HEIGHT - 1.0 - 0.25 * place, line, size=SMALL, va="top",
                  color=theme.text(None))
    axes.axhline(0, color=theme.ink, linewidth=0.8)
    axes.grid(color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("days since the first run", size=NORMAL)
    axes.set_ylabel("time against the row's median, %", size=NORMAL)
    return figure


def write(found: list[Trend], changes: list[str], path: Path) -> None:
    drawn = path.with_suffix("")
    save(lambda theme: draw(found, changes, theme), THEMES["light"], drawn, [path.suffix[1:]])
