"""The tables of the page."""

from html import escape
from typing import Collection, Iterable

from ridgebench.base.printers import html_table
from ridgebench.base.units import counted
from ridgebench.fleet import findings
from ridgebench.fleet.judge import Assessment

from .details import HEAD, SOAK_HEAD, details, rate, share, soak_lines

_MOST = 200  # lines of a table; report.json and gpus.csv have all


def _table(head: Iterable[str], lines: list[list[str]], numbers: Collection[int] = (), css: str = "") -> str:
    """A table of cells that are HTML already, with at most _MOST lines; numbers: columns that are aligned at the right."""
    more = f'<p class="quiet">{counted(len(lines) - _MOST, "more line")}: see report.json and gpus.csv</p>' if len(lines) > _MOST else ""
    return html_table(head, lines[:_MOST], numbers, css) + more


def _badge(severity: str) -> str:
    return f'<b class="badge {severity.lower()}">{severity}</b>'


def findings_table(assessment: Assessment) -> str:
    lines = [
        [_badge(one.severity), one.state.replace("_", " "), escape(one.where), escape(one.reason),
         f"<code>{escape(one.next)}</code>" if one.next else ""]
        for one in findings.findings(assessment)
    ]  # fmt: skip
    if not lines:
        return '<p class="quiet">Nothing to do.</p>'
    return _table(("Severity", "State", "Where", "Why", "Next command"), lines, css="findings")


def details_table(assessment: Assessment) -> str:
    lines = [[escape(text) for text in one] for one in details(assessment, _MOST + 1)]
    if not lines:
        return ""
    head = [name if len(name) == 1 else name[0].upper() + name[1:] for name in HEAD]
    return f"<h3>Slow GPUs in their lowest row</h3>{_table(head, lines, frozenset({2, 3, 4, 5, 6, 7, 8, 10}))}"


def soaks_table(assessment: Assessment) -> str:
    lines = [[escape(text) for text in one] for one in soak_lines(assessment)]
    if not lines:
        return ""
    head = [name if len(name) < 3 else name[0].upper() + name[1:] for name in SOAK_HEAD]
    return f"<h3>Soaks</h3>{_table(head, lines, frozenset({2, 3, 5, 6}), 'wrapped')}"


def rows_table(assessment: Assessment) -> str:
    if not assessment.groups:
        return ""
    fleet, lines = assessment.groups[0], []
    for number, column in enumerate(assessment.columns):
        median = findings.median_rate(assessment, fleet, number)
        sheet = assessment.scored.sheet[fleet.members, number]
        known = sorted(value for value in sheet.tolist() if value == value)
        lines.append([
            escape(column.row), escape(column.pass_), "cycles" if column.per_clock else "rate",
            str(int(fleet.columns.count[number])), rate(median, column.unit) if median > 0 else "",
            share(known[len(known) // 2]) if known else "–", share(float(fleet.columns.own[number])),
            share(float(fleet.columns.cut[number])), f"{fleet.columns.limit[number]:.1f}",
        ])  # fmt: skip
    head = ("Row", "Pass", "Judged by", "GPUs", "Median", "Of data sheet", "Spread", "Slow below", "Limit of −z")
    return _table(head, lines, frozenset(range(3, 9)), "of-rows")


def differences_table(assessment: Assessment) -> str:
    every = findings.differences(assessment)
    if not every:
        return '<p class="quiet">Driver, firmware and settings agree everywhere.</p>'
    lines = [
        [escape(key) if first else "", escape(one.value), f"{one.gpus:,}", escape(findings.nodes_text(one.nodes))]
        for key, values in every.items() for first, one in ((one is values[0], one) for one in values)
    ]  # fmt: skip
    return _table(("Key", "Value", "GPUs", "Nodes"), lines, frozenset({2}), "wrapped")


def groups_text(assessment: Assessment) -> str:
    """The GPUs that are not peers of the others."""
    items = []
    for group in assessment.groups[1:]:
        how = "judged among themselves" if group.columns is not None else "not comparable"
        size = len(group.members)
        items.append(f"{counted(size, 'GPU')}, {how}: {escape('; '.join(group.differs))}")
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""
