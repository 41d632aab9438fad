"""Two stored runs: one process each, so what differs is described and not judged."""

from typing import Optional

from ridgebench.data.doubts import cached, only_by_caches
from ridgebench.data.records import BROKEN, Row, Run

from .comparable import differences
from .conditions import with_conditions
from .consistent import notes_on
from .gate import NOT_GATED
from .power_states import with_word
from .report import DESCRIBED, FAILED, MISSING, NEW, NOT_COMPARABLE, Comparison, Report, incomparable


def verdict_on(broken: Row) -> str:
    """The verdict on a row that is broken in the candidate: a suspect row counts as one without a time."""
    return MISSING if broken.status == "suspect" else FAILED


def why_not(name: str, baseline: Optional[Row], candidate: Optional[Row]) -> Optional[Comparison]:
    """The verdict on a row that lacks a time on one side, or that caches may have served on one side only; else None.

    A row that was broken in the baseline, or that both sides skip, fails nothing.
    """
    if candidate is None:
        return Comparison(name, MISSING, "the candidate has no such row")
    if candidate.status in BROKEN and (baseline is None or baseline.status not in BROKEN):
        return Comparison(name, verdict_on(candidate), f"{candidate.status} in the candidate: {candidate.reason}")
    if baseline is None:
        skipped = f"; skipped in the candidate: {candidate.reason}" if candidate.status == "skipped" else ""
        return Comparison(name, NEW, f"the baseline has no such row{skipped}")
    if baseline.status == candidate.status == "ok":
        by_caches = [side for side, row in (("baseline", baseline), ("candidate", candidate)) if cached(row)]
        return Comparison(name, NOT_COMPARABLE, only_by_caches(f"the {by_caches[0]}")) if len(by_caches) == 1 else None
    if baseline.status in BROKEN or baseline.status == candidate.status:
        return Comparison(name, NOT_GATED, f"{baseline.status} in the baseline: {baseline.reason}")
    if baseline.status == "skipped":
        return Comparison(name, NEW, f"skipped in the baseline: {baseline.reason}")
    return Comparison(name, MISSING, f"skipped in the candidate: {candidate.reason}")


def _precision(row: Row) -> float:
    """Half the interval within the run, over the median."""
    return (row.time_ci_high_s - row.time_ci_low_s) / 2 / row.time_median_s


def _describe_row(name: str, one: Row, other: Row) -> Comparison:
    """The change of a row that both runs timed; beyond the noise where their intervals do not overlap."""
    distinct = other.time_ci_low_s > one.time_ci_high_s or other.time_ci_high_s < one.time_ci_low_s
    return Comparison(
        name,
        DESCRIBED,
        with_word("beyond both precisions" if distinct else None, [one, other]),
        change=other.time_median_s / one.time_median_s - 1,
        low=other.time_ci_low_s / one.time_ci_high_s - 1,
        high=other.time_ci_high_s / one.time_ci_low_s - 1,
        beyond_noise=distinct,
        pairs=1,
        baseline_s=one.time_median_s,
        candidate_s=other.time_median_s,
        baseline_precision=_precision(one),
        candidate_precision=_precision(other),
    )


def describe(baseline: Run, candidate: Run, allowed: list[str]) -> Report:
    """The report on two runs; `allowed` are keys of the environment that may differ."""
    names = (str(baseline.folder), str(candidate.folder))
    first, second = baseline.by_id, candidate.by_id
    hard, soft = differences(baseline.environment, candidate.environment, allowed)
    if hard:
        return incomparable("stored", names, list(first | second), hard)
    rows = []
    for name in first | second:
        one, other = first.get(name), second.get(name)
        rows.append(why_not(name, one, other) or _describe_row(name, one, other))
    soft += notes_on(baseline, candidate, ("baseline", "candidate"))
    sides = {"baseline": [baseline.environment], "candidate": [candidate.environment]}
    return with_conditions(Report("stored", *names, rows, notes=soft), sides)
