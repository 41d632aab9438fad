"""Doubts about a run by its record only, for commands that do without the judgement: whether it ended, which rows the budget cut,
and which ceilings moved.
"""

from typing import Any, Optional

from .records import Row

UNSETTLED = "~"  # how figures and tables mark a share of a roof that moved
_FEW_SAMPLES = "few_samples"  # flag: fewer than 30 samples
CACHED = "served_by_cache"  # flag: caches may hold the data of the row, so that limits of memory do not apply
_Environment = dict[str, Any]


def why_unfinished(environment: _Environment) -> str:
    """'the run was interrupted', 'the run has no end', or nothing. Imported results have no run."""
    if "imported" in environment:
        return ""
    if environment.get("interrupted"):
        return "the run was interrupted"
    return "" if environment.get("ended") else "the run has no end"


def cut_by_budget(row: Row, environment: _Environment) -> bool:
    """True if --budget ended the row's samples early."""
    return _FEW_SAMPLES in row.flags and environment.get("budget_s") is not None


def cached(row: Row) -> bool:
    """True if caches may have served the row."""
    return CACHED in row.flags


def only_by_caches(side: str) -> str:
    """Why a row of this side, such as 'the baseline', is not compared with one of another, which memory served."""
    return f"caches may have served {side} only ({CACHED})"


def overlap(*rows: Row) -> str:
    """The rows whose steady launches may overlap; empty if that holds for all rows or for none."""
    early = [row.technique for row in rows if row.early and row.regime == "steady"]
    return f"launches of {', '.join(early)} may overlap" if 0 < len(early) < len(rows) else ""


def recorded(environment: _Environment) -> Optional[dict[str, float]]:
    """The ceilings whose controls moved, with the relative change of the rate; None of an older run, which has no such key."""
    controls = environment.get("controls")
    if controls is None or environment.get("doubted") is None:
        return None
    return {one["ceiling"]: one["change"] for one in controls if one["moved"]}
