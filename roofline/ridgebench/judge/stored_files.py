"""Stored results of Google Benchmark and nvbench: a file for each process, or a folder of such files for each side.

They are described. They are judged only where their replication suffices: at least as many processes a side as the gate's first
look takes, which by their dates were measured in turns, in both orders.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
from scipy import special

from ridgebench.base.files import ResultsError, parse_lenient, read
from ridgebench.base.units import counted

from . import gate
from .judge import of_pairs
from .readers import READERS, environment_differences
from .readings import Metric, Readings
from .report import DESCRIBED, Comparison, Report, incomparable
from .stored_runs import why_not

_CONFIDENCE = 0.95
_LEAST_SHARE_OF_ORDER = 1 / 3  # of the pairs that begin with either side
_DATE = "date"  # in the context of Google Benchmark


@dataclass(frozen=True)
class _Side:
    """The processes of a side."""

    path: Path
    kind: str
    processes: list[Readings]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for one in self.processes for name in one.by_id))


def is_stored(path: Path) -> bool:
    """True for a file *.json, and for a folder of them that is not a run of ridgebench."""
    return (path.is_file() and path.suffix == ".json") or (path.is_dir() and not (path / "environment.json").exists() and any(path.glob("*.json")))


def _kind_of(document: Any, origin: str) -> str:
    if isinstance(document, dict) and isinstance(document.get("benchmarks"), list):
        return "gbench" if "context" in document else "nvbench"
    raise ResultsError(f"{origin}: no result of Google Benchmark or nvbench; allowed: their JSON, or a folder of ridgebench run")


def _load(path: Path) -> _Side:
    """The processes of a file or of all files in a folder. Raises ResultsError."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    found, kinds = [], set()
    for file in files:
        text = read(file, "a result of a benchmark")
        kinds.add(kind := _kind_of(parse_lenient(text, str(file)), str(file)))
        reader = READERS[kind]
        found.append(reader.parse(text, str(file), Metric(reader.metric, is_time=True)))
    if len(kinds) > 1:
        raise ResultsError(f"{path}: holds results of {' and '.join(sorted(kinds))}; allowed: those of one program")
    return _Side(path, kinds.pop(), found)


def median_interval(values: list[float]) -> Optional[tuple[float, float]]:
    """The interval of the median by order statistics, whatever the distribution; None for too few values.

    Source: David and Nagaraja, Order Statistics, 3rd edition, 7.1.
    """
    ordered, count = sorted(values), len(values)
    below = special.bdtr(np.arange(count // 2 + 1), count, 0.5)  # probability that at most k values lie below the median
    rank = int(np.searchsorted(below, (1 - _CONFIDENCE) / 2, side="right"))
    return (ordered[rank - 1], ordered[count - rank]) if rank else None


def _values(side: _Side, name: str) -> list[float]:
    """Times of a row: medians of its processes or, of a single process, its samples."""
    rows = [one.by_id[name] for one in side.processes if name in one.by_id and one.by_id[name].status == "ok"]
    if len(side.processes) == 1:
        return list(rows[0].samples or (rows[0].time_median_s,))
    return [row.time_median_s for row in rows]


def _described(name: str, sides: tuple[_Side, _Side]) -> Comparison:
    values = [_values(side, name) for side in sides]
    one, other = map(statistics.median, values)
    row = Comparison(name, DESCRIBED, change=other / one - 1, pairs=1, baseline_s=one, candidate_s=other)
    intervals = [median_interval(found) for found in values]
    if intervals[0] is None or intervals[1] is None:
        row.reason = f"no interval: {' and '.join(counted(len(found), 'value') for found in values)}"
        return row
    (low, high), (other_low, other_high) = intervals
    row.low, row.high = other_low / high - 1, other_high / low - 1
    row.beyond_noise = other_low > high or other_high < low
    row.reason = "beyond both precisions" if row.beyond_noise else None
    row.baseline_precision, row.candidate_precision = (high - low) / 2 / one, (other_high - other_low) / 2 / other
    return row


def _pairs(sides: tuple[_Side, _Side]) -> tuple[list[tuple[Readings, Readings]], str]:
    """Pairs of processes that were measured in turns, and why there are none."""
    counts = [len(side.processes) for side in sides]
    least = gate.LOOKS[0]
    if min(counts) < least:
        return [], f"processes: {counts[0]} and {counts[1]}; {least} a side, measured in turns, would be judged"
    dated = [(one.environment.get(_DATE), index, one) for index, side in enumerate(sides) for one in side.processes]
    if not all(isinstance(date, str) for date, *_ in dated):
        return [], "the files do not say when they were measured; only processes that were measured in turns are judged"
    ordered = sorted(dated, key=lambda item: (item[0], item[2].folder.name))
    couples = [ordered[at : at + 2] for at in range(0, len(ordered), 2)]
    firsts = [couple[0][1] for couple in couples]
    in_turns = counts[0] == counts[1] and all({index for _, index, _ in couple} == {0, 1} for couple in couples)
    if not in_turns or not _LEAST_SHARE_OF_ORDER <= sum(firsts) / len(firsts) <= 1 - _LEAST_SHARE_OF_ORDER:
        return [], "the processes were not measured in turns, in both orders (A B, then B A), so that a drift would look like a change"
    found = [sorted(couple, key=lambda item: item[1]) for couple in couples]
    return [(one[2], other[2]) for one, other in found], ""


def _broken(name: str, sides: tuple[_Side, _Side]) -> Optional[Comparison]:
    """The verdict on a row that a process lacks; of several processes the first one that does."""
    for one, other in zip(*(side.processes for side in sides)):
        if (found := why_not(name, one.by_id.get(name), other.by_id.get(name))) is not None:
            return found
    held = [all(name in one.by_id and one.by_id[name].status == "ok" for one in side.processes) for side in sides]
    return None if all(held) else why_not(name, *(None if not kept else side.processes[0].by_id[name] for kept, side in zip(held, sides)))


def describe_files(paths: tuple[Path, Path], allowed: list[str]) -> Report:
    """The report on two files, or on two folders of files. Raises ResultsError."""
    one, other = map(_load, paths)
    names = (str(one.path), str(other.path))
    if one.kind != other.kind:
        raise ResultsError(f"{one.path} is of {one.kind}, {other.path} of {other.kind}; allowed: two results of one program")
    sides, rows_of_both = (one, other), list(dict.fromkeys((*one.names, *other.names)))
    differences = [environment_differences(READERS[one.kind], one.processes[0].environment, process.environment, allowed)
                   for side in sides for process in side.processes]
    hard, soft = ([text for text in dict.fromkeys(text for found in differences for text in found[which])] for which in (0, 1))
    if hard:
        return incomparable("stored", names, rows_of_both, hard)
    pairs, why = _pairs(sides)
    preset = gate.Preset(gate.PRESETS["standard"].tolerance, gate.PRESETS["standard"].margin, looks=(len(pairs),))
    rows = []
    for name in rows_of_both:
        judged = [(a.by_id[name], b.by_id[name]) for a, b in pairs if name in a.by_id and name in b.by_id]
        rows.append(_broken(name, sides) or (of_pairs(name, judged, preset) if pairs else _described(name, sides)))
    if pairs:
        return Report("interleaved", *names, rows, "standard", soft, looks=(len(pairs),))
    if one.path.resolve() == other.path.resolve():
        soft.append("both sides are the same: no difference was measured")
    return Report("stored", *names, rows, notes=[*soft, f"described, not judged: {why}"])
