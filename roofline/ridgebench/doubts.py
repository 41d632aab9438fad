"""The part of environment.json that concerns every row of a run: whether it ended, and which ceilings' controls moved.

The program decides both (harness/results/doubts.hpp). Figures, slides and tables read them here.
"""

from typing import Any, Optional

from ridgebench.records import Row

UNSETTLED = "~"  # how figures and tables mark a share of a roof that moved
FEW_SAMPLES = "few_samples"  # flag: fewer than 30 samples
MOVED = 0.02  # of older runs, which do not record what moved: a control that differs by more moved
Environment = dict[str, Any]


def why_unfinished(environment: Environment) -> str:
    """'the run was interrupted', 'the run has no end', or nothing. Imported results have no run."""
    if "imported" in environment:
        return ""
    if environment.get("interrupted"):
        return "the run was interrupted"
    return "" if environment.get("ended") else "the run has no end"


def cut_by_budget(row: Row, environment: Environment) -> bool:
    """Whether --budget ended the row's samples early."""
    return FEW_SAMPLES in row.flags and environment.get("budget_s") is not None


def recorded(environment: Environment) -> Optional[dict[str, float]]:
    """The ceilings whose controls moved, with the relative change of the rate; None of an older run, which has no such key."""
    controls = environment.get("controls")
    if controls is None or environment.get("doubted") is None:
        return None
    return {one["ceiling"]: one["change"] for one in controls if one["moved"]}


def by_rows(rows: list[Row], ceilings: list[Row]) -> dict[str, float]:
    """The same of an older run, by its rows. The copy is the control of all ceilings of the memory."""
    again = {row.id.removesuffix(":control"): row for row in rows if row.role == "control" and row.rate}
    found = {row.id: again[row.id].rate / row.rate - 1 for row in ceilings if row.rate and row.id in again}
    copies = [found[row.id] for row in ceilings if row.saturates == "memory" and row.id in found]
    if copies:
        memory = max(copies, key=abs)
        found |= {row.id: memory for row in ceilings if row.saturates == "memory" and row.id not in found}
    return {ceiling: change for ceiling, change in found.items() if abs(change) > MOVED}


def limiting(row: Row) -> list[str]:
    """The ceilings that limit a row; both of its roof where neither arithmetic nor memory does."""
    roof = row.roof or {}
    sides = {"compute": ["compute_ceiling"], "memory": ["memory_ceiling"]}
    return [roof[key] for key in sides.get(row.bound or "", ["compute_ceiling", "memory_ceiling"]) if roof.get(key)]
