"""Conditions that may falsify all rows of a run, by its own record (harness/cli/doctor/conditions.hpp), for verdicts."""

from collections import Counter
from typing import Any

from .report import Report, with_words


def _codes(environment: dict[str, Any]) -> set[str]:
    """'busy', 'governor', 'coarse_clock', 'fill'; none of an older run, or of another program."""
    return {one["code"] for one in environment.get("conditions") or []}


def word(sides: dict[str, list[dict[str, Any]]]) -> str:
    """'conditions: candidate busy in 3 of 20 runs'; empty if no run of a side names one."""
    parts = []
    for side, environments in sides.items():
        for code, count in sorted(Counter(code for environment in environments for code in _codes(environment)).items()):
            parts.append(f"{side} {code}" + (f" in {count} of {len(environments)} runs" if len(environments) > 1 else ""))
    return f"conditions: {', '.join(parts)}" if parts else ""


def with_conditions(report: Report, sides: dict[str, list[dict[str, Any]]]) -> Report:
    """The report, whose rows say after their reasons under which conditions the sides were measured."""
    said = word(sides)
    for row in report.rows:
        row.reason = with_words(row.reason, said)
    return report
