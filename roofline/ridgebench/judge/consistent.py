"""Runs whose numbers contradict themselves are refused, as `ridgebench verify` finds them."""

import codecs
import hashlib
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from ridgebench.base.command_line import ROW_FAILED, CommandError
from ridgebench.base.files import LARGEST_FILE, ResultsError, open_regular, read, wrong
from ridgebench.data.doubts import why_unfinished
from ridgebench.data.records import SLACK, Contradiction, Run, load_run, require_equal

_SUMS = "SHA256SUMS"
_READ = ("environment.json", "records.jsonl")  # the files that a comparison rests on


def _require_samples(record: dict, environment: dict) -> None:
    """Raises Contradiction where the median of a timed row is not that of its samples, or its interval ends beyond all of them.

    load_run() has compared its rates with its time. `ridgebench verify` computes the interval again, too.
    """
    if record["status"] != "ok":
        return
    samples = np.array(record["samples_s"], dtype=float)
    require_equal(record, "time_median_s", float(np.median(samples)))
    # The interval ends at samples, or at medians of some, widened by half a tick of the timer. Older records have no
    # tick of their own, and a run that was resumed had another one: twice the half leaves room for that.
    ticks = {device["name"]: device["event_tick_s"] for device in environment["devices"]}
    tick = record.get("tick_s") or ticks.get(record["device"]) or 0.0
    tick /= max(record.get("launches_per_sample") or 1, 1)
    least, most = (1 - SLACK) * samples.min() - tick, (1 + SLACK) * samples.max() + tick
    for key in ("time_ci_low_s", "time_ci_high_s"):
        if not least <= record[key] <= most:
            raise Contradiction(f"{record['id']}: {key} is {record[key]:.10g}, beyond all samples")


def turns_of(record: dict, environment: dict) -> np.ndarray:
    """Median of each turn's samples, in the order in which they were taken.

    A turn is a batch or, where that has more than samples_per_turn samples, one of its parts of even length.
    """
    longest, count = environment.get("samples_per_turn"), record.get("samples_per_batch", 1)
    if len(record["samples_s"]) % count != 0:
        raise ValueError("samples_s does not hold whole batches of samples_per_batch")
    batches = np.array(record["samples_s"], dtype=float).reshape(-1, count)
    parts = 1 if longest is None else -(-count // longest)
    ends = [i * count // parts for i in range(parts + 1)]
    turns = [np.median(batches[:, i:j], axis=1) for i, j in zip(ends, ends[1:])]
    return np.column_stack(turns).ravel()


def _examine(record: dict, environment: dict, then: Optional[Callable[[dict, dict], Any]]) -> Any:
    """Applies `then` to a record that does not contradict itself. Raises ValueError."""
    try:
        _require_samples(record, environment)
        return then(record, environment) if then else None
    except (KeyError, TypeError) as error:  # without fastjsonschema nothing checked its keys
        raise ValueError(f"not a record: {wrong(error)}") from None


def require_unchanged(folder: Path) -> None:
    """Raises CommandError for a file whose checksum is not the one that the run wrote.

    Line ends of another system and a byte order mark change no number.
    """
    if not (folder / _SUMS).exists():
        return
    sums = dict(reversed(line.split(maxsplit=1)) for line in read(folder / _SUMS).splitlines() if " " in line)
    for name in _READ:
        with open_regular(folder / name, LARGEST_FILE) as file:
            data = file.read()
        plain = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")
        if name in sums and sums[name] not in (hashlib.sha256(d).hexdigest() for d in (data, plain)):
            raise CommandError(f"{folder / name} is not what the run wrote: its checksum differs", ROW_FAILED)


def load(folder: Path, turns: Optional[Callable[[dict, dict], Any]] = None) -> Run:
    """load_run() of a run whose numbers agree with each other. Raises CommandError."""
    run = load_run(folder, partial(_examine, then=turns))
    require_unchanged(folder)
    return run


def _why_partial(run: Run) -> str:
    """Why the run may lack rows; empty if it has all."""
    return "its last line was cut off" if run.torn else why_unfinished(run.environment)


def _unfinished(run: Run, side: str) -> list[str]:
    """Notes on a run that may lack rows."""
    why = _why_partial(run)
    return [f"{why} ({side}): rows may be missing; `ridgebench run --resume {run.folder}` measures them"] if why else []


def notes_on(first: Run, second: Run, sides: tuple[str, str]) -> list[str]:
    """Notes on two runs: one run on both sides, and a side that may lack rows."""
    run_id = first.environment["run_id"]
    same = [f"both sides are run {run_id}: no difference was measured"] if run_id == second.environment["run_id"] else []
    return [*same, *_unfinished(first, sides[0]), *_unfinished(second, sides[1])]


def require_finished(runs: list[Run]) -> None:
    """Raises ResultsError for a run that may lack rows: a check would never miss them."""
    for run in runs:
        if why := _why_partial(run):
            raise ResultsError(f"{run.folder}: {why}; allowed: finished runs, and `ridgebench run --resume {run.folder}` finishes it")
