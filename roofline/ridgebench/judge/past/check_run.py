"""`baseline check --run`: measures rows of a baseline now, as its runs did."""

import argparse
import datetime
import re
import subprocess
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from ridgebench.base.children import completed
from ridgebench.base.command_line import INTERNAL, INTERRUPTED, OK, RESULTS, ROW_FAILED, CommandError
from ridgebench.base.files import ResultsError
from ridgebench.base.patterns import Pattern
from ridgebench.data import program
from ridgebench.data.records import Run
from ridgebench.judge.consistent import load

from .baseline_store import Baseline
from .check_request import Request, request

_BUDGET = "50"  # seconds: a check fits into a minute


def _kind(name: str) -> tuple[str, ...]:
    """Operation, format and device of an id."""
    case, _, device = name.partition("@")
    parts = case.split("/")
    return parts[0], "".join(parts[2:3]), device


def _one_of_each(past: Baseline) -> list[str]:
    """The fastest technique at the largest size of each operation, format and device.

    Only steady rows, unless the operation has none in the format. The largest size is the one whose fastest technique takes longest.
    """
    with_steady = {_kind(name) for name in past.rows if "/steady" in name}
    steady = [name for name in past.rows if "/steady" in name or _kind(name) not in with_steady]
    fastest: dict[tuple, tuple[float, str]] = {}
    for name in steady:
        size = (*_kind(name), *name.partition("@")[0].split("/")[3:])
        fastest[size] = min(fastest.get(size, (np.inf, "")), (float(np.median(past.sample(name))), name))
    largest: dict[tuple, tuple[float, str]] = {}
    for one in fastest.values():
        largest[_kind(one[1])] = max(largest.get(_kind(one[1]), one), one)
    kept = {name for _, name in largest.values()}
    return [name for name in past.rows if name in kept]


def chosen(past: Baseline, pattern: Optional[str], few: bool) -> list[str]:
    """The rows to check: those that match the filter; without one, all, or with `few` one of each kind."""
    if pattern is None:
        return _one_of_each(past) if few else list(past.rows)
    filter_ = Pattern(pattern, "--filter")
    found = [name for name in past.rows if filter_.search(name)]
    if not found:
        raise CommandError(f"--filter '{pattern}' matches no row of {past.path}")
    return found


def _command(past: Baseline, asked: Request, out: Path, options: argparse.Namespace) -> list[str]:
    """`ridgebench run` with what the baseline's runs had, seed and fill included."""
    environment = past.environment
    end = "@" if past.of_model else "$"
    line = [program.binary(), "run", "--no-plot", "--out", str(out), "--budget", options.budget or _BUDGET]
    line += ["--filter", f"^({'|'.join(map(re.escape, asked.names))}){end}"]
    line += ["--seed", str(environment["seed"]), "--fill", environment["fill"]]
    return [*line, *(["--no-early"] if environment.get("early_launches") is False else []), *asked.words]


class _Planned(NamedTuple):
    """A run that would measure rows of a baseline. line: its command. unmeasured: the run before its first row."""

    asked: Request
    line: list[str]
    unmeasured: Run


def planned(past: Baseline, names: list[str], options: argparse.Namespace, scratch: Path) -> _Planned:
    """The run of these rows; scratch: a folder for its file of shapes, as long as it is used. Raises CommandError."""
    now = datetime.datetime.now(datetime.timezone.utc)
    out = options.out or RESULTS / "local" / f"check-{now:%Y-%m-%dT%H-%M-%SZ}"
    if (out / "environment.json").exists():
        raise CommandError(f"{out} already holds a run; allowed: an empty or new folder for --out")
    asked = request(past, names, options, scratch / "shapes")
    line = _command(past, asked, out, options)
    try:  # rows that this machine would skip are missing afterwards
        plan = program.asked(*line[1:], "--dry-run", seconds=program.SLOW_NODE_S, codes=(OK, ROW_FAILED))
    except ResultsError as error:
        raise CommandError(f"nothing was checked: {error}", error.code) from None
    return _Planned(asked, line, Run(out, plan["environment"], [], torn=False))


def measure(past: Baseline, plan: _Planned) -> tuple[Run, list[str]]:
    """Measures the rows; returns the run and the rows that it was to measure. Raises CommandError.

    By --shapes the run measures only the ceilings that its kernels need; others are not compared.
    """
    _start(plan.line, plan.unmeasured.folder)
    run = load(plan.unmeasured.folder)
    had = {row.case if past.of_model else row.id for row in run.by_id.values()}
    return run, [name for name in plan.asked.names if name in had or name not in plan.asked.ceilings]


def _start(line: list[str], out: Path) -> None:
    """Runs the command. Raises CommandError with the code of a run that failed."""
    try:
        done = completed(line, stdout=subprocess.DEVNULL)
    except KeyboardInterrupt:
        raise CommandError(f"interrupted; finished rows are in {out}", INTERRUPTED) from None
    except OSError as error:
        raise CommandError(f"cannot start {line[0]}: {error.strerror}") from None
    code = done.returncode if done.returncode >= 0 else INTERNAL
    if code not in (OK, ROW_FAILED) or not (out / "records.jsonl").exists():
        raise CommandError(f"nothing was checked: the run ended with exit code {code}", code or INTERNAL)
