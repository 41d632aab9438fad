"""Stored baselines: for drift of a machine and for fleets, never for code, which compare.py judges.

results/baselines/<device>/<driver branch>-<CUDA>/<clock policy>/<method version>.jsonl grows by a
line per row and promoted run; `.environment.json` beside it holds what must agree. A new run is one
value against N: a one-sided prediction bound of the t distribution on log times.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from roofline.plot.records import ResultsError, parse, read

from . import gate
from .comparable import device_entries, differences
from .report import MISSING, Report, Row, incomparable
from .runs import Run

SCHEMA = "ridgebench.baseline/1"
FEWEST_RUNS = 10


class NotComparable(Exception):
    """The runs must not stand in one baseline; the text names the keys."""


def slug(text: str) -> str:
    """A name as part of a path."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split()) or "unknown"


def place(run: Run) -> Path:
    """Below results/baselines. No device tells whether its clock is locked."""
    device = next(iter(device_entries(run.environment).values()))
    name = slug(device["model"] or "unknown")
    if device["backend"] == "cpu":
        name, software = f"{name}-{device['threads']}-threads", "host"
    else:
        branch = (device["driver"] or "unknown").split(".")[0]
        software = f"{slug(branch)}-{device['cuda'] or 'unknown'}"
    return Path(name) / software / "clock-unknown" / f"{run.environment['method_version']}.jsonl"


def environment_path(path: Path) -> Path:
    return path.with_suffix(".environment.json")


def lines_of(run: Run) -> list[str]:
    """One line per row that is ok."""
    table, told = run.table, []
    for name, i in table.index().items():
        if table.status[i] == "ok" and table.cause[i] is None:
            line = {"schema": SCHEMA, "id": name, "run_id": run.environment["run_id"]}
            line |= {"started": run.environment["started"], "time_median_s": table.times[i, 0]}
            told.append(json.dumps(line))
    return told


def read_baseline(path: Path) -> dict[str, dict[str, float]]:
    """Times by row and run. Raises ResultsError."""
    times: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read(path).splitlines(), 1):
        try:
            told = json.loads(line)
            seconds = told["time_median_s"]
            if told["schema"] != SCHEMA or not 0 < seconds < math.inf:
                raise ValueError(f"not a line of {SCHEMA}")
            times.setdefault(str(told["id"]), {})[str(told["run_id"])] = float(seconds)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ResultsError(f"{path}:{number}: {error!r}"[:300]) from None
    if not times:
        raise ResultsError(f"{path}: holds no row")
    return times


def read_environment(path: Path) -> dict[str, Any]:
    return parse(read(environment_path(path)), "environment", str(environment_path(path)))


def promote(runs: list[Run], root: Path) -> Path:
    """Adds runs to the baseline of their machine, or founds one with FEWEST_RUNS or more."""
    path = root / place(runs[0])
    known: set[str] = set()
    reference = runs[0].environment
    if path.exists():
        known = {run_id for row in read_baseline(path).values() for run_id in row}
        reference = read_environment(path)
    ids = [run.environment["run_id"] for run in runs]
    for run_id in ids:
        if run_id in known or ids.count(run_id) > 1:
            raise ResultsError(f"run {run_id} stands in the baseline already or is given twice")
    if len(known) + len(ids) < FEWEST_RUNS:
        raise ResultsError(f"{len(ids)} runs; a baseline needs {FEWEST_RUNS} or more")
    for run in runs:
        if hard := differences(reference, run.environment, [])[0]:
            raise NotComparable(f"{run.folder}: {'; '.join(hard)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        text = json.dumps(reference, indent=1) + "\n"
        environment_path(path).write_text(text, "utf-8")
    before = read(path) if path.exists() else ""
    fresh = path.with_suffix(".tmp")  # then the whole file, or the one before
    fresh.write_text(before + "".join(f"{line}\n" for run in runs for line in lines_of(run)), "utf-8")
    fresh.replace(path)
    return path


def judge_row(name: str, past: np.ndarray, seconds: float, preset: gate.Preset) -> Row:
    """The prediction bound for one new run after len(past) earlier ones."""
    logs, count = np.log(past), len(past)
    spread = float(logs.std(ddof=1))
    change = math.log(seconds) - float(logs.mean())
    reach = float(stats.t.ppf(1 - gate.ALPHA, count - 1)) * spread * math.sqrt(1 + 1 / count)
    tolerance, margin = math.log1p(preset.tolerance), math.log1p(preset.margin)
    row = Row(
        name, gate.UNDECIDED, change=math.expm1(change), low=math.expm1(change - reach),
        high=math.expm1(change + reach), beyond_noise=abs(change) > reach, pairs=count,
        spread=spread, smallest_change=math.expm1(reach), candidate_s=seconds,
        baseline_s=float(np.exp(logs.mean())),
    )
    if change - reach > tolerance:
        row.verdict = gate.WORSE
    elif change + reach < -tolerance:
        row.verdict = gate.BETTER
    elif change + reach < margin:
        row.verdict = gate.SAME
    else:
        row.reason = f"{count} runs of the baseline cannot tell"
    return row


def check(path: Path, run: Run, preset_name: str, allowed: list[str]) -> Report:
    """A new run against the baseline. Rows that it never measured are missing."""
    past, table = read_baseline(path), run.table
    names = (str(path), str(run.folder))
    hard, soft = differences(read_environment(path), run.environment, allowed)
    if hard:
        return incomparable("baseline", names, list(past), hard)
    index, rows = table.index(), []
    for name, runs in past.items():
        i = index.get(name)
        if i is None or table.status[i] != "ok":
            state = None if i is None else f"{table.status[i]}: {table.reason[i]}"
            rows.append(Row(name, MISSING, state or "the run has no such row"))
        elif len(runs) < FEWEST_RUNS:
            rows.append(Row(name, gate.NOT_GATED, f"{len(runs)} runs; it takes {FEWEST_RUNS}"))
        else:
            times, seconds = np.array(list(runs.values())), float(table.times[i, 0])
            rows.append(judge_row(name, times, seconds, gate.PRESETS[preset_name]))
    new = sorted(set(index) - set(past))
    soft += [f"{len(new)} rows are not in the baseline, {new[0]} among them"] if new else []
    return Report("baseline", *names, rows, preset_name, soft)
