"""Titles of the figures of times and of errors."""

from typing import Optional

from ridgebench.records import Row
from ridgebench.units import counted, digits, percent
from ridgebench.view import View

from .doubt import unfinished_title
from .finding import best, settled, spoken


def _excess(row: Row) -> Optional[float]:
    """Measured time over its least time by the roofs."""
    least = row.least_time_s
    return row.time_median_s / least if least else None


def time_title(view: View) -> str:
    """The times of each operation's best hand-written row, and of the slowest, in least times by the roofs."""
    if view.why_unfinished:
        return unfinished_title(view)
    nearest = {
        spoken(op): min(known)
        for op in view.operations
        if (known := [x for row in settled(view) if row.op == op and (x := _excess(row))])
    }
    if not nearest:
        cut = any(_excess(row) and row.cut_by_budget for row in view.points)
        nothing = "--budget cut the samples of the best ones" if cut else "no measured roof to predict a bound from"
        if any(view.unsettled(row) for row in view.points):
            nothing = "the roofs of the best ones drifted"
        return f"Time of {counted(len(view.points), 'verified row')}; {nothing}"
    listed = ", ".join(f"{op} {digits(max(value, 1.0))}" for op, value in nearest.items())
    slowest = digits(max(x for row in view.points if (x := _excess(row))))
    return f"Time over the least by the roofs, best hand-written rows: {listed}; slowest row: {slowest}"


def error_title(view: View) -> str:
    if view.why_unfinished:
        return unfinished_title(view)
    checked = [row for row in view.points if row.relative_error is not None]
    exact = sum(row.relative_error == 0 for row in checked)
    row = best((r for r in checked if r.relative_error), lambda r: r.relative_error)
    if not checked:
        return "No verified row to draw"
    if row is None:
        return f"{counted(len(checked), 'verified row')} without any error"
    who = f"{row.format} {spoken(row.op)} ({row.technique})"
    return (
        f"{counted(len(checked), 'verified row')}: {exact} without any error; "
        f"the nearest to its tolerance, {who}, uses {percent(row.relative_error)} % of it"
    )
