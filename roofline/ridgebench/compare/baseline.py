"""Judges a machine by its own past: stored baselines and drift. `ridgebench gate` judges code instead.

results/baselines/<device>/<driver branch>-<CUDA>/<clock policy>/<method version>.jsonl grows by a line per row and
promoted run; `.environment.json` next to it holds what must agree. A new run is one value against N: a one-sided
prediction bound of the t distribution on log times.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ridgebench.command_line import INCOMPARABLE, OK, USAGE, WORK, CommandError, Parser, fail, what_failed
from ridgebench.files import ResultsError, decoded, lines_of, parse_json, read, write_at_once
from ridgebench.records import Run, read_environment

from . import gate
from .comparable import device_entries, differences
from .consistent import load
from .judge import external_cause
from .output import add_verdict_options, finish
from .report import MISSING, Comparison, Report, incomparable

PROGRAM = "baseline"
SCHEMA = "ridgebench.baseline/1"
FEWEST_RUNS = 10


def slug(text: str) -> str:
    """A name as part of a path."""
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split()) or "unknown"


def place(run: Run) -> Path:
    """The path below results/baselines. No device reports whether its clock is locked."""
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


def baseline_lines(run: Run) -> list[str]:
    """One line per row that is ok."""
    same = {"run_id": run.environment["run_id"], "started": run.environment["started"]}
    rows = [row for row in run.by_id.values() if row.status == "ok" and external_cause(row) is None]
    return [json.dumps({"schema": SCHEMA, "id": row.id} | same | {"time_median_s": row.time_median_s}) for row in rows]


def read_baseline(path: Path) -> dict[str, dict[str, float]]:
    """Times by row and run. Raises ResultsError."""
    times: dict[str, dict[str, float]] = {}
    for origin, line in lines_of(path):
        entry = parse_json(decoded(line, origin), origin)
        try:
            seconds = entry["time_median_s"]
            if entry["schema"] != SCHEMA or not 0 < seconds < math.inf:
                raise ValueError(f"not a line of {SCHEMA}")
            runs = times.setdefault(str(entry["id"]), {})
            if str(entry["run_id"]) in runs:
                raise ValueError(f"{entry['id']} of run {entry['run_id']} comes twice")
            runs[str(entry["run_id"])] = float(seconds)
        except (KeyError, TypeError, ValueError) as error:
            raise ResultsError(f"{origin}: {error!r}"[:300]) from None
    if not times:
        raise ResultsError(f"{path}: holds no row")
    return times


def promote(runs: list[Run], root: Path) -> Path:
    """Adds runs to the baseline of their machine, or founds one with FEWEST_RUNS or more; returns its path."""
    path = root / place(runs[0])
    known: set[str] = set()
    reference: dict[str, Any] = runs[0].environment
    if path.exists():
        known = {run_id for row in read_baseline(path).values() for run_id in row}
        reference = read_environment(environment_path(path))
    ids = [run.environment["run_id"] for run in runs]
    for run_id in ids:
        if run_id in known or ids.count(run_id) > 1:
            raise ResultsError(f"run {run_id} stands in the baseline already or is given twice")
    if len(known) + len(ids) < FEWEST_RUNS:
        raise ResultsError(f"{len(ids)} runs; a baseline needs {FEWEST_RUNS} or more")
    for run in runs:
        if hard := differences(reference, run.environment, [])[0]:
            raise CommandError(f"NOT_COMPARABLE: {run.folder}: {'; '.join(hard)}", INCOMPARABLE)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write_at_once(environment_path(path), json.dumps(reference, indent=1) + "\n")
    before = read(path, "a baseline") if path.exists() else ""
    write_at_once(path, before + "".join(f"{line}\n" for run in runs for line in baseline_lines(run)))
    return path


def judge_row(name: str, past: np.ndarray, seconds: float, preset: gate.Preset) -> Comparison:
    """The prediction bound for one new run after len(past) earlier ones."""
    logs, count = np.log(past), len(past)
    spread = float(logs.std(ddof=1))
    change = math.log(seconds) - float(logs.mean())
    reach = gate.t_quantile(1 - gate.ALPHA, count - 1) * spread * math.sqrt(1 + 1 / count)
    tolerance, margin = math.log1p(preset.tolerance), math.log1p(preset.margin)
    row = Comparison(
        name, gate.UNDECIDED, change=gate.as_share(change), low=gate.as_share(change - reach),
        high=gate.as_share(change + reach), beyond_noise=abs(change) > reach, pairs=count,
        spread=spread, smallest_change=gate.as_share(reach), candidate_s=seconds,
        baseline_s=float(np.exp(logs.mean())),
    )
    if change - reach > tolerance:
        row.verdict = gate.WORSE
    elif change + reach < -tolerance:
        row.verdict = gate.BETTER
    elif change + reach < margin:
        row.verdict = gate.SAME
    else:
        row.reason = f"{count} runs of the baseline cannot decide; more runs would, or runs that differ less"
    return row


def check(path: Path, run: Run, preset_name: str, allowed: list[str]) -> Report:
    """The report on a new run against the baseline; a row that the run lacks is missing."""
    past = read_baseline(path)
    names = (str(path), str(run.folder))
    hard, soft = differences(read_environment(environment_path(path)), run.environment, allowed)
    if hard:
        return incomparable("baseline", names, list(past), hard)
    rows = []
    for name, runs in past.items():
        row = run.by_id.get(name)
        if row is None or row.status != "ok":
            rows.append(Comparison(name, MISSING, f"{row.status}: {row.reason}" if row else "the run has no such row"))
        elif len(runs) < FEWEST_RUNS:
            rows.append(Comparison(name, gate.NOT_GATED, f"{len(runs)} runs; it takes {FEWEST_RUNS}"))
        else:
            times = np.array(list(runs.values()))
            rows.append(judge_row(name, times, row.time_median_s, gate.PRESETS[preset_name]))
    new = sorted(set(run.by_id) - set(past))
    soft += [f"{len(new)} rows are not in the baseline, {new[0]} among them"] if new else []
    return Report("baseline", *names, rows, preset_name, soft)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog=PROGRAM, description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("promote", help="make runs the baseline of their machine")
    command.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    command.add_argument("--into", type=Path, default=WORK / "results" / "baselines", metavar="DIR")
    command = commands.add_parser("check", help="compare one new run with a baseline")
    command.add_argument("baseline", type=Path, metavar="FILE.jsonl")
    command.add_argument("run", type=Path, metavar="DIR")
    add_verdict_options(command)
    command = commands.add_parser("drift", help="show trends over many runs of a machine")
    command.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    if options.command == "check":
        limits = options.preset, options.allow_mismatch
        return finish(lambda: check(options.baseline, load(options.run), *limits), options, PROGRAM)
    try:
        runs = [load(folder) for folder in options.runs]
        if options.command == "promote":
            print(f"{promote(runs, options.into)}: {len(runs)} runs promoted")
        else:
            from . import drift  # scipy.stats, which it needs, takes long to import

            sys.stdout.write(drift.text(runs))
    except (CommandError, OSError) as error:
        return fail(what_failed(error), getattr(error, "code", USAGE), PROGRAM)
    return OK
