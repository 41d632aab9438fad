"""Runs as figures can show them: numbers that an axis holds, texts of bounded length, and points of other tools."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Iterator

from ridgebench.base.files import ResultsError
from ridgebench.base.text import LONGEST, cut
from ridgebench.data.judged import judged
from ridgebench.data.records import Row, Run, load_run
from ridgebench.data.view import View

from . import power

_SHOWN = ("op", "technique", "device", "format", "arithmetic", "reason")  # texts of a row
_LEAST, _MOST = 1e-60, 1e60  # axes of more decades than these would hide every point
_DRAWN = ("flops", "bytes", "intensity_flop_per_byte", "time_median_s", "time_p10_s", "time_p90_s", "flops_per_s",
          "bytes_per_s", "fraction_of_measured_roof", "dram_bytes")


def _numbers(row: Row) -> Iterator[tuple[str, Any]]:
    """The numbers of a row that decide where something is drawn."""
    for key in _DRAWN:
        yield key, getattr(row, key)
    for part in ("roof", "verify"):
        yield from ((f"{part}.{key}", value) for key, value in (getattr(row, part) or {}).items())
    yield "clock_hz", row.clock_hz
    yield "telemetry.window.power_w", power.watts(row)


def _check_range(run: Run) -> None:
    """Raises ResultsError for a number that no axis can hold."""
    floors = [("devices: launch_floor_s", device["launch_floor_s"]) for device in run.environment["devices"]]
    named = [(f"{row.id}: {key}", value) for row in run.rows for key, value in _numbers(row)]
    for name, value in floors + named:
        if type(value) in (int, float) and value and not _LEAST <= value <= _MOST:
            raise ResultsError(f"{name} is {value:g}; a figure can hold {_LEAST:g} to {_MOST:g}")


def _with_short_texts(run: Run) -> Run:
    """The run with the texts that a figure shows cut."""
    rows = [
        replace(row, **{key: cut(text) for key in _SHOWN if (text := getattr(row, key)) and len(text) > LONGEST})
        for row in run.rows
    ]
    return replace(run, environment=cut(run.environment), rows=rows)


def drawable(run: Run) -> Run:
    """The run under its roofs, with numbers that an axis holds and short texts. Raises ResultsError."""
    _check_range(run)
    return _with_short_texts(judged(run))


def with_points(view: View, folders: list[Path]) -> View:
    """The view with the points of other tools, as if they were of its device. Raises ResultsError."""
    rows = list(view.rows)
    for folder in folders:
        run = load_run(folder)
        _check_range(run)
        foreign = [row for row in _with_short_texts(run).rows if row.external]
        if not foreign:
            raise ResultsError(f"{folder}: no point of another tool; allowed: a folder that `ridgebench import` wrote")
        rows += [replace(row, id=f"{folder}: {row.id}", device=view.device["name"]) for row in foreign]
    return replace(view, rows=rows)
