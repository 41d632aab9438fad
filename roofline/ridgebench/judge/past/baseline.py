"""Judges a machine by its own past: promote, check, list, drift. `ridgebench gate` judges code instead.

A new run is one value against N: a one-sided prediction bound of the t distribution on log times. With fewer than
FEWEST_RUNS values a row is described, and it is WORSE only beyond a floor.
"""

import argparse
import errno
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ridgebench.base.command_line import OK, RESULTS, CommandError, Parser, what_failed
from ridgebench.base.files import ResultsError
from ridgebench.base.printers import aligned
from ridgebench.base.streams import ENDING, ended
from ridgebench.base.text import one_line
from ridgebench.base.units import counted
from ridgebench.data.each_once import each_once
from ridgebench.data.records import Row, Run
from ridgebench.judge import gate, history
from ridgebench.judge.comparable import differences
from ridgebench.judge.conditions import with_conditions
from ridgebench.judge.consistent import load, require_finished
from ridgebench.judge.limits import TOLERANCES, Limits, limits_for
from ridgebench.judge.output import add_verdict_options, finish, require_writable
from ridgebench.judge.report import Report, incomparable, percent

from . import baseline_store as store
from . import check_run
from .baseline_rows import FLOOR, compare_with, reach_of, with_bits
from .known_bits import bits_of, differing

_PROGRAM = "baseline"
_STORED = RESULTS / "baselines"


def _sides(past: store.Baseline, run: Run) -> list[tuple[str, dict[str, Any], dict[str, Row]]]:
    """The candidates for the baseline: the run or, if the baseline is of a model, each of its devices.

    Each with the end of its ids, its environment, and its rows by the names of the baseline.
    """
    if not past.of_model:
        return [("", run.environment, run.by_id)]
    return [
        (f"@{part.environment['devices'][0]['name']}", part.environment, {row.id: row for row in part.rows})
        for part in store.device_parts(run)
    ]


def _check(past: store.Baseline, run: Run, limits: Limits, allowed: list[str], names: list[str]) -> Report:
    """The report on the rows of these names; one that the run lacks is missing."""
    titles = (str(past.path), str(run.folder))
    allowed = [*allowed, *store.BUILDS] if past.of_model else allowed
    rows, notes = [], [f"the baseline has {past.origin()}"]
    for end, environment, found in _sides(past, run):
        reference, new = past.environment, environment
        if past.of_model:
            reference, new = store.named_alike(reference), store.named_alike(new)
        hard, soft = differences(reference, new, allowed, one_machine=not past.of_model)
        if hard:
            return incomparable("baseline", titles, list(past.rows), hard)
        # The runs of a model have rows of several profiles, which one run need not have.
        asked = [name for name in names if name in found or not past.of_model]
        for name in asked:
            compared, row = compare_with(past, name, end, found.get(name), limits), found.get(name)
            rows.append(with_bits(compared, differing(past.bits(name), store.machine_of(environment), bits_of(row, environment))))
        unknown = sorted(set(found) - set(past.rows))
        notes += soft + ([f"not in the baseline: {counted(len(unknown), 'row')}, {unknown[0]} among them"] if unknown else [])
    if left := len(past.rows) - len({row.id.partition("@")[0] if past.of_model else row.id for row in rows}):
        notes.append(f"not compared: {counted(left, 'row')} of the baseline")
    judges = any(row.pairs >= store.FEWEST_RUNS for row in rows)
    if any(0 < row.pairs < store.FEWEST_RUNS for row in rows):
        values = "machines" if past.of_model else "runs"
        notes.insert(1, f"fewer than {store.FEWEST_RUNS} {values} describe: WORSE is beyond a floor, and a smaller loss is not seen")
    if run.environment["run_id"] in {entry.run_id for entry in past.entries}:
        notes.insert(0, f"the baseline has this run, {run.environment['run_id']}: it is compared with itself, too")
    report = Report("baseline", *titles, rows, limits.preset if judges else None, list(dict.fromkeys(notes)))
    limits.allow(report)
    return with_conditions(report, {"run": [run.environment]})


def _measured(past: store.Baseline, options: argparse.Namespace, limits: Limits, names: list[str]) -> Report:
    """The report on rows that are measured now, unless this machine cannot be compared with the baseline."""
    with TemporaryDirectory() as scratch:
        plan = check_run.planned(past, names, options, Path(scratch))
        refused = _check(past, plan.unmeasured, limits, options.allow_mismatch, names)
        if refused.not_comparable:
            return refused
        run, names = check_run.measure(past, plan)
    return _check(past, run, limits, options.allow_mismatch, names)


def _make_report(options: argparse.Namespace) -> Report:
    """The report of `check`. With --run the command measures first."""
    if (options.run is None) != options.measure:
        raise CommandError("check takes a results directory, or --run to measure now")
    for key in ("budget", "device", "out"):
        if not options.measure and getattr(options, key):
            raise CommandError(f"--{key} takes --run")
    past = store.read_baseline(options.baseline)
    limits = limits_for(options.baseline, options.tolerances, options.preset)
    names = check_run.chosen(past, options.filter, options.measure)
    if options.measure:
        return _measured(past, options, limits, names)
    return _check(past, load(options.run), limits, options.allow_mismatch, names)


def _listed(root: Path) -> list[str]:
    """The lines of a table of all baselines below a folder."""
    lines = [["baseline", "of", "rows", "verdicts", "detectable"]]
    for path in sorted(root.rglob("*.jsonl")):
        if not store.environment_path(path).exists():
            continue
        past = store.read_baseline(path)
        samples = [past.sample(name) for name in past.rows]
        judged = [gate.as_share(reach_of(np.log(s))) for s in samples if len(s) >= store.FEWEST_RUNS]
        detectable = f"{percent(float(np.median(judged)), '')} in the median row" if judged else f"beyond a floor of {100 * FLOOR:g} %"
        verdict = f"{len(judged)} judged" if judged else "describes"
        lines.append([one_line(str(path)), past.origin(), str(len(past.rows)), verdict, detectable])
    if len(lines) == 1:
        raise ResultsError(f"{root}: no baseline in it; `ridgebench baseline promote` makes one")
    return aligned(lines)


def _promote(runs: list[Run], root: Path, of_model: bool) -> list[str]:
    """A line for each baseline that the runs were added to. Raises ResultsError for a run that did not end."""
    require_finished(runs)
    try:
        paths = store.promote_model(runs, root) if of_model else [store.promote_machine(runs, root)]
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise CommandError(f"{what_failed(error)}; allowed: --into with a folder that may be written") from None
    return [f"{one_line(str(path))}: {store.read_baseline(path).origin()}" for path in paths]


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog=_PROGRAM, description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("promote", help="make runs the baseline of their machine, or of its model")
    command.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    command.add_argument("--model", action="store_true", help="of the model and driver branch: any number of runs and machines")
    command.add_argument("--into", type=Path, default=_STORED, metavar="DIR", help="folder of all baselines; default: results/baselines")
    command = commands.add_parser("check", help="compare one new run with a baseline")
    command.add_argument("baseline", type=Path, metavar="FILE.jsonl")
    command.add_argument("run", nargs="?", type=Path, metavar="DIR")
    _add_check_options(command)
    command = commands.add_parser("list", help="list the baselines that are stored, and what each can see")
    command.add_argument("root", nargs="?", type=Path, default=_STORED, metavar="DIR")
    command = commands.add_parser("drift", help="show over many runs of a machine what changed, and when")
    command.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    return parser.parse_args(arguments)


def _add_check_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--run", dest="measure", action="store_true", help="measure now, at most one row for an operation and a format")
    add("--budget", metavar="SECONDS", help="with --run: seconds for the measuring (50)")
    add("--device", metavar="DEVICE", help="with --run: the device to measure")
    add("--out", type=Path, metavar="DIR", help="with --run: the results folder")
    add("--filter", metavar="RE", help="rows of the baseline to check")
    add("--tolerances", type=Path, metavar="FILE", help=f"TOML, as for the gate; default: {TOLERANCES} next to the baseline")
    add("--history", type=Path, metavar="FILE", help="add a line per row to this file, for `gate history`")
    add_verdict_options(command)


def _check_command(options: argparse.Namespace) -> int:
    def write(report: Report) -> None:
        if options.history:
            history.append(options.history, report, None)

    def make() -> Report:
        require_writable(options.history)
        history.require_history(options.history)
        return _make_report(options)

    return finish(make, options, _PROGRAM, write=write)


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    if options.command == "check":
        return _check_command(options)
    try:
        if options.command == "list":
            print("\n".join(_listed(options.root)))
        elif options.command == "promote":
            print("\n".join(_promote(each_once(options.runs, load), options.into, options.model)))
        else:
            from . import drift  # scipy.stats, which it needs, takes long to import

            sys.stdout.write(drift.text(each_once(options.runs, load)))
    except ENDING as error:
        return ended(error, _PROGRAM)
    return OK
