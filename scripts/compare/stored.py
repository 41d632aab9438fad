"""Two stored runs: one process each, so what differs can be described and not judged."""

from typing import Optional

from .comparable import differences
from .report import DESCRIBED, FAILED, MISSING, Report, Row, incomparable
from .runs import Run, Table
from .gate import NOT_GATED

BROKEN = ("wrong", "invalid", "failed")


def why_not(name: str, sides: list[tuple[Table, Optional[int]]]) -> Optional[Row]:
    """The row of an id that lacks a time on one side; None if both have one.

    A row that was broken before already is no news, and one that both sides skip is none either.
    """
    (_, first), (table, second) = sides
    if first is None or second is None:
        where = "baseline" if first is None else "candidate"
        return Row(name, MISSING, f"the {where} has no such row")
    status = [t.status[i] for t, i in sides]
    reasons = [t.reason[i] for t, i in sides]
    if status == ["ok", "ok"]:
        return None
    if status[0] in BROKEN or status[0] == status[1]:
        return Row(name, NOT_GATED, f"{status[0]} in the baseline: {reasons[0]}")
    if status[1] in BROKEN:
        return Row(name, FAILED, f"{status[1]}: {reasons[1]}")
    side = "baseline" if status[0] == "skipped" else "candidate"
    return Row(name, MISSING, f"skipped in the {side}: {reasons[0] or reasons[1]}")


def precision(times: list[float]) -> float:
    """Half the interval within the run, over the median."""
    median, low, high = times
    return (high - low) / 2 / median


def describe_row(name: str, one: list[float], other: list[float]) -> Row:
    apart = other[1] > one[2] or other[2] < one[1]
    return Row(
        name,
        DESCRIBED,
        "beyond both precisions" if apart else None,
        change=other[0] / one[0] - 1,
        low=other[1] / one[2] - 1,
        high=other[2] / one[1] - 1,
        beyond_noise=apart,
        pairs=1,
        baseline_s=one[0],
        candidate_s=other[0],
        baseline_precision=precision(one),
        candidate_precision=precision(other),
    )


def describe(baseline: Run, candidate: Run, allowed: list[str]) -> Report:
    names = (str(baseline.folder), str(candidate.folder))
    first, second = baseline.table.index(), candidate.table.index()
    hard, soft = differences(baseline.environment, candidate.environment, allowed)
    if hard:
        return incomparable("stored", names, list(first | second), hard)
    one, other = baseline.table.times, candidate.table.times
    rows = []
    for name in first | second:
        i, j = first.get(name), second.get(name)
        row = why_not(name, [(baseline.table, i), (candidate.table, j)])
        rows.append(row or describe_row(name, one[i].tolist(), other[j].tolist()))
    for run, side in ((baseline, "baseline"), (candidate, "candidate")):
        if run.environment["interrupted"]:
            soft.append(f"the {side} was interrupted: rows may be missing")
    return Report("stored", *names, rows, notes=soft)
