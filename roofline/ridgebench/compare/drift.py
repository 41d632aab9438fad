"""How the rows of a machine changed over many runs: trends, and what else changed in between."""

from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np
from scipy import stats

from ridgebench.files import ResultsError
from ridgebench.records import Run, clean

from .comparable import differences
from .report import aligned, percent

FEWEST_RUNS = 5
LARGEST_P = 0.001  # of Kendall's tau, for many rows at once
SMALLEST_TREND = 0.01
DAY = 86400.0  # seconds


@dataclass(frozen=True)
class Trend:
    """One row over the runs that measured it. Change is of time, as a share, from the first run to the last."""

    id: str
    runs: int
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
    """Theil-Sen slope of the log times over days, with Kendall's test of no trend."""
    logs = np.log(times)
    slope = stats.theilslopes(logs, days).slope if np.ptp(days) > 0 else 0.0
    p_value = stats.kendalltau(days, logs).pvalue if np.ptp(logs) > 0 else 1.0
    change = float(np.expm1(slope * np.ptp(days)))
    return Trend(name, len(days), change, float(p_value), float((logs - slope * days).std(ddof=1)))


def trends(runs: list[Run]) -> list[Trend]:
    """Trends of the rows that FEWEST_RUNS runs or more measured; the strongest first."""
    if len(runs) < FEWEST_RUNS:
        raise ResultsError(f"{len(runs)} runs; a trend takes {FEWEST_RUNS}")
    runs = sorted(runs, key=started)
    series: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        day = (started(run) - started(runs[0])).total_seconds() / DAY
        for row in run.by_id.values():
            if row.status == "ok":
                series.setdefault(row.id, []).append((day, row.time_median_s))
    found = [trend(name, *np.array(points).T) for name, points in series.items() if len(points) >= FEWEST_RUNS]
    return sorted(found, key=lambda t: (not t.drifts, -abs(t.change), t.id))


def breaks(runs: list[Run]) -> list[str]:
    """What changed between neighbouring runs: a drift that begins there is not the machine's."""
    runs = sorted(runs, key=started)
    return [
        f"{other.environment['started']}: {clean(what)}"
        for one, other in zip(runs, runs[1:])
        for what in differences(one.environment, other.environment, [])[0]
    ]


def text(runs: list[Run]) -> str:
    """The trends of the runs as a table, and what changed in between."""
    found, lines = trends(runs), [["", "row", "runs", "change", "spread", "p"]]
    for t in found:
        state = "DRIFTS" if t.drifts else ""
        change, spread = percent(t.change), percent(t.spread, "")
        lines.append([state, clean(t.id), str(t.runs), change, spread, f"{t.p_value:.2g}"])
    summary = f"{len(found)} rows, {sum(t.drifts for t in found)} drift"
    return "\n".join([*aligned(lines), summary, *(f"changed: {what}" for what in breaks(runs))]) + "\n"
