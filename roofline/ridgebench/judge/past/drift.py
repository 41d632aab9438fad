"""How the rows of a machine changed over many runs: trends, levels that changed, and what else changed at that time."""

from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np
from scipy import stats

from ridgebench.base.files import ResultsError
from ridgebench.base.printers import aligned
from ridgebench.base.text import clean, short
from ridgebench.base.units import counted
from ridgebench.data.power_states import differ
from ridgebench.data.records import Run
from ridgebench.judge.comparable import against, device_entries, differences, lookup
from ridgebench.judge.report import percent

from . import change_points

_FEWEST_RUNS = 5
_LARGEST_P = 0.001  # of Kendall's tau, for many rows at once
_SMALLEST_TREND = 0.01
_DAY = 86400.0  # seconds
# Keys that may move times and make no run incomparable: keys of the environment, and of a device.
_WATCHED = ("version", "host.hostname_hash", "host.kernel", "host.libc", "host.governor")
_WATCHED_OF_DEVICE = ("uuid_hash", "driver", "vbios", "gsp_firmware", "inforom", "persistence", "huge_pages")


@dataclass(frozen=True)
class _Trend:
    """One row over the runs that measured it. Change is of time, as a share, from the first run to the last."""

    id: str
    runs: int
    change: float
    p_value: float
    spread: float

    @property
    def drifts(self) -> bool:
        return self.p_value < _LARGEST_P and abs(self.change) > _SMALLEST_TREND


def _started(run: Run) -> datetime:
    text = run.environment["started"]
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)
    except (AttributeError, ValueError):
        raise ResultsError(f"{run.folder}: started is not a time: {text!r}") from None


def _trend(name: str, days: np.ndarray, times: np.ndarray) -> _Trend:
    """Theil-Sen slope of the log times over days, with Kendall's test of no trend."""
    logs = np.log(times)
    slope = stats.theilslopes(logs, days).slope if np.ptp(days) > 0 else 0.0
    p_value = stats.kendalltau(days, logs).pvalue if np.ptp(logs) > 0 and np.ptp(days) > 0 else 1.0
    change = float(np.expm1(slope * np.ptp(days)))
    return _Trend(name, len(days), change, float(p_value), float((logs - slope * days).std(ddof=1)))


def _measured_by(runs: list[Run]) -> dict[str, list[tuple[Run, float]]]:
    """The runs that measured each row, oldest first, and its time in each."""
    series: dict[str, list[tuple[Run, float]]] = {}
    for run in sorted(runs, key=_started):
        for row in run.by_id.values():
            if row.status == "ok":
                series.setdefault(row.id, []).append((run, row.time_median_s))
    return {name: points for name, points in series.items() if len(points) >= _FEWEST_RUNS}


def _axes(points: list[tuple[Run, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Days since the first run, and times."""
    first = _started(points[0][0])
    return np.array([(_started(run) - first).total_seconds() / _DAY for run, _ in points]), np.array([t for _, t in points])


def _renewed(one: dict, other: dict) -> list[str]:
    """Differences between the environments of two runs that may move times."""
    pairs = [(key, one, other) for key in _WATCHED]
    here, there = device_entries(one), device_entries(other)
    pairs += [(key, here[name], there[name]) for name in here if name in there for key in _WATCHED_OF_DEVICE]
    watched = [(key, lookup(a, key), lookup(b, key)) for key, a, b in pairs]
    found = [short(against(key, a, b)) for key, a, b in watched if a != b]
    hard = differences(one, other, [])[0]
    return list(dict.fromkeys([*(short(text) for text in hard if not text.startswith("driver: ")), *found]))


def _breaks(runs: list[Run]) -> list[str]:
    """Changes between neighbouring runs: a drift that begins there is not the machine's."""
    runs = sorted(runs, key=_started)
    return [
        f"{other.environment['started']}: {clean(what)}"
        for one, other in zip(runs, runs[1:])
        for what in _renewed(one.environment, other.environment)
    ]


def _levels(series: dict[str, list[tuple[Run, float]]]) -> list[list[str]]:
    """A line for each change of a row's level, the earliest first: by how much, when, and what else changed then."""
    found = []
    for name, points in series.items():
        for step in change_points.steps(*_axes(points), _LARGEST_P, _SMALLEST_TREND):
            before, after = (points[at][0].environment for at in (step.at - 1, step.at))
            what = "; ".join(map(clean, _renewed(before, after))) or "nothing that the runs record"
            sides = f"{step.before} + {step.after}"
            found.append((_started(points[step.at][0]), [percent(step.change), clean(name), after["started"], sides, what]))
    return [line for _, line in sorted(found)]


def _states(series: dict[str, list[tuple[Run, float]]]) -> list[str]:
    """A line for each row that the runs measured in several power states: such a row changes level with its clock."""
    found = {name: differ(run.by_id[name].power_state for run, _ in points) for name, points in series.items()}
    return [f"{clean(name)}: {words}" for name, words in found.items() if words]


def text(runs: list[Run]) -> str:
    """The trends of the runs as a table, the changes of levels, and what changed in between."""
    if len(runs) < _FEWEST_RUNS:
        raise ResultsError(f"{counted(len(runs), 'run')}; a trend takes {_FEWEST_RUNS}")
    series, table = _measured_by(runs), [["", "row", "runs", "change", "spread", "p"]]
    found = [_trend(name, *_axes(points)) for name, points in series.items()]
    for t in sorted(found, key=lambda t: (not t.drifts, -abs(t.change), t.id)):
        state = "DRIFTS" if t.drifts else ""
        change, spread = percent(t.change), percent(t.spread, "")
        table.append([state, clean(t.id), str(t.runs), change, spread, f"{t.p_value:.2g}"])
    lines = [*aligned(table), f"{counted(len(found), 'row')}, {sum(t.drifts for t in found)} drift"]
    if not change_points.available():
        lines.append(change_points.HINT)
    elif stepped := _levels(series):
        header = ["level", "row", "since", "runs before + after", "what else changed then"]
        lines += ["", *aligned([header, *stepped]), f"changes of level: {len(stepped)}", ""]
    else:
        lines.append("no level changed")
    return "\n".join([*lines, *_states(series), *(f"changed: {what}" for what in _breaks(runs))]) + "\n"
