"""The title of the figure of times."""

from typing import Optional

from ridgebench.base.units import counted, digits, enumerate_words
from ridgebench.data.records import Row
from ridgebench.data.view import View

from .doubt import unfinished_title
from .finding import settled, spoken


def _excess(row: Row) -> Optional[float]:
    """Measured time over its least time by the roofs."""
    least = row.least_time_s
    return row.time_median_s / least if least else None


def time_title(view: View) -> str:
    """The time of each operation's best hand-written row in least times by the roofs: 'At best, ReLU takes 1, matmul 1.13 times ...'"""
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
    listed = [f"{op}{'' if index else ' takes'} {digits(max(value, 1.0))}" for index, (op, value) in enumerate(nearest.items())]
    return f"At best, {enumerate_words(listed)} times the least time by the roofs"
