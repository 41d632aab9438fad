"""A report for people: the table of the terminal, and Markdown."""

import re
from typing import Optional

from roofline.plot.records import clean

from . import gate
from .report import DESCRIBED, NOT_COMPARABLE, Report, Row

MOST_ROWS = 60  # of a terminal's table; files hold all
HEADER = ["verdict", "row", "time", "95 % interval", "in cycles", "spread", "sees", "reason"]


def percent(share: Optional[float], sign: str = "+") -> str:
    return "" if share is None else f"{100 * share:{sign}.2f} %"


def interval(row: Row) -> str:
    return "" if row.low is None else f"{100 * row.low:+.2f} .. {100 * row.high:+.2f}"


def cycles(row: Row) -> str:
    return f"{percent(row.cycles.change)} {row.cycles.verdict}" if row.cycles else ""


def reason(row: Row) -> str:
    """Why, or for a description the precision of both runs."""
    parts = [row.reason or ""]
    if row.verdict == DESCRIBED:
        both = (row.baseline_precision, row.candidate_precision)
        parts.append("precision ±" + ", ±".join(percent(p, "") for p in both))
    return "; ".join(filter(None, parts))


def cells(row: Row) -> list[str]:
    verdict = "not a verdict" if row.verdict == DESCRIBED else row.verdict
    return [
        verdict, clean(row.id), percent(row.change), interval(row), cycles(row),
        percent(row.spread, ""), percent(row.smallest_change, ""), clean(reason(row)),
    ]


def headline(report: Report) -> str:
    counts = ", ".join(
        f"{n} {'described' if verdict == DESCRIBED else verdict}"
        for verdict, n in report.counts().items()
    )
    return f"{len(report.rows)} rows: {counts or 'none'}"


def explanation(report: Report) -> list[str]:
    lines = []
    if report.kind == "stored" and not report.not_comparable:
        lines.append(
            "Two stored runs, one process each: not a verdict. Runs differ by more than their "
            "precision; --baseline-bin and --candidate-bin judge."
        )
    if report.preset:
        p = gate.PRESETS[report.preset]
        lines.append(
            f"Preset {report.preset}: WORSE if surely more than {percent(p.tolerance, '')} slower, "
            f"SAME if surely less than {percent(p.margin, '')} slower; alpha {gate.ALPHA} per row. "
            "`sees`: a change beyond the tolerance that so many pairs find in three cases of four."
        )
    return lines + [f"Note: {clean(note)}" for note in report.notes]


def columns_in_use(table: list[list[str]]) -> list[int]:
    return [i for i in range(len(HEADER)) if any(line[i] for line in table)]


def aligned(table: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table)]
    padded = ("  ".join(c.ljust(w) for c, w in zip(line, widths)) for line in table)
    return [line.rstrip() for line in padded]


def terminal(report: Report) -> str:
    """The worst rows first; of many the rest is counted."""
    lines = [f"baseline:  {clean(report.baseline)}", f"candidate: {clean(report.candidate)}"]
    if report.not_comparable:
        lines += [f"{NOT_COMPARABLE}: {clean(why)}" for why in report.not_comparable]
        return "\n".join([*lines, headline(report)]) + "\n"
    shown = [cells(row) for row in report.rows[:MOST_ROWS]]
    used = columns_in_use(shown)
    lines += aligned([[line[i] for i in used] for line in [HEADER, *shown]])
    if len(report.rows) > MOST_ROWS:
        lines.append(f"... {len(report.rows) - MOST_ROWS} more rows; --json FILE has all")
    return "\n".join([*lines, headline(report), *explanation(report)]) + "\n"


def escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#&~])", r"\\\1", clean(text))


def markdown(report: Report) -> str:
    lines = [
        f"# ridgebench comparison: {headline(report)}",
        "",
        f"- baseline: {escape(report.baseline)}",
        f"- candidate: {escape(report.candidate)}",
        *(f"- {NOT_COMPARABLE}: {escape(why)}" for why in report.not_comparable),
        *(f"- {escape(line)}" for line in explanation(report)),
        "",
    ]
    table = [cells(row) for row in report.rows]
    used = columns_in_use(table)
    header = [HEADER[i] for i in used]
    lines += [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    lines += [f"| {' | '.join(escape(line[i]) for i in used)} |" for line in table]
    return "\n".join(lines) + "\n"
