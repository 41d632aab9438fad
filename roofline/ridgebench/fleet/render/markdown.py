"""The report as Markdown, for a step summary or an issue: findings, details, rows, differences."""

import re
from typing import Collection

from ridgebench.base.printers import markdown_table
from ridgebench.base.text import clean, markdown, markdown_code
from ridgebench.base.units import counted
from ridgebench.fleet import findings
from ridgebench.fleet.judge import Assessment

from .details import HEAD, SOAK_HEAD, details, rate, share, soak_lines

MOST = 50  # lines of a table


def _cell(text: str) -> str:
    return markdown(re.sub(r"\s+", " ", text))


def table(head: tuple[str, ...], lines: list[tuple[str, ...]], commands: Collection[int] = ()) -> str:
    """A table with escaped texts; commands: columns whose texts are shown as code."""
    shown = [
        [_cell(text) if column not in commands else markdown_code(clean(text)) if text else "" for column, text in enumerate(line)]
        for line in lines[:MOST]
    ]
    more = f"\n{counted(len(lines) - MOST, 'more line')}: see report.json\n" if len(lines) > MOST else ""
    return f"{markdown_table(head, shown)}\n{more}"


def _rows(assessment: Assessment, per_clock: bool) -> list[tuple[str, ...]]:
    fleet = assessment.groups[0]
    return [
        (column.label, column.pass_, str(int(fleet.columns.count[n])),
         rate(median, column.unit) if (median := findings.median_rate(assessment, fleet, n)) > 0 else "",
         share(float(fleet.columns.own[n])), share(float(fleet.columns.cut[n])))
        for n, column in enumerate(assessment.columns) if column.per_clock == per_clock
    ]  # fmt: skip


def to_markdown(assessment: Assessment) -> str:
    every = findings.findings(assessment)
    parts = [f"# {findings.title(assessment)}\n", f"{findings.coverage_text(assessment)}.\n"]
    states = [(state, str(number)) for state, number in findings.counts(assessment).items() if number]
    parts.append(table(("state", "GPUs"), states))
    if every:
        lines = [(one.severity, one.state, one.where, one.reason, one.next) for one in every]
        parts += ["## What to do\n", table(("severity", "state", "where", "reason", "next"), lines, commands=(4,))]
    if assessment.soaks:
        parts += ["## Soaks\n", table(SOAK_HEAD, soak_lines(assessment))]
    slow = details(assessment, MOST + 1)
    if slow:
        parts += ["## Slow GPUs in their lowest row\n", table(HEAD, [tuple(one) for one in slow])]
    head = ("row", "pass", "GPUs", "median", "spread", "slow below")
    for per_clock, name in ((False, "Rows"), (True, "Rows at the power limit, judged per clock")):
        lines = _rows(assessment, per_clock) if assessment.groups else []
        parts += [f"## {name}\n", table(head, lines)] if lines else []
    differing = findings.differences(assessment)
    if differing:
        lines = [(key, one.value, str(one.gpus), findings.nodes_text(one.nodes)) for key, each in differing.items() for one in each]
        parts += ["## What is not the same everywhere\n", table(("key", "value", "GPUs", "nodes"), lines)]
    parts += ["## What this report can see\n", "\n".join(findings.expectation(assessment)) + "\n"]
    return "\n".join(parts)
