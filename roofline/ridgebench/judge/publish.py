"""Reports of a gate for continuous integration: Markdown, JUnit XML, and annotations of GitHub Actions.

Names and reasons come from other programs. Each format has its own way to keep them text.
"""

import argparse
import os
import re
import secrets
import sys
from pathlib import Path
from typing import Optional

from ridgebench.base.files import naming, write_named
from ridgebench.base.printers import ERROR, FAILURE, PASSED, SKIPPED, Judged, junit, markdown_table
from ridgebench.base.text import clean, cut, markdown_code, markdown_references, short
from ridgebench.base.units import counted

from . import gate, history
from .output import print_report
from .report import ALLOWED, CODES, FAILED, MISSING, NEW, NOT_COMPARABLE, Comparison, Report
from .report import percent, reason

# The element of JUnit that a verdict becomes; a row with another verdict has passed.
_ELEMENTS = {
    FAILED: ERROR, NOT_COMPARABLE: ERROR, gate.WORSE: FAILURE, MISSING: FAILURE,
    gate.UNDECIDED: SKIPPED, gate.NOT_GATED: SKIPPED, NEW: SKIPPED, ALLOWED: SKIPPED,
}
_FAILS = [verdict for verdict, element in _ELEMENTS.items() if element != SKIPPED]
MOST_ANNOTATIONS = 10  # of a kind that GitHub shows for a step
MOST_ROWS = 1000  # of Markdown; GitHub takes 1 MiB
_MOST_COMMENT = 60_000  # characters; GitHub takes 65,536
COMMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/-]{0,59}")  # and no two hyphens, which would end the marker
_HEAD = ("verdict", "row", "time, 95 % interval", "pairs", "reason")
_LONGEST = 300  # characters of a name or a reason


def step_summary() -> Optional[Path]:
    """The file that GitHub shows as the summary of this step; None elsewhere."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    return Path(path) if path else None


def write_files(report: Report, options: argparse.Namespace) -> None:
    """Writes the files that the options name, and the summary of a GitHub step."""
    summary, document = step_summary(), markdown(report)
    if options.md is not None:
        write_named(options.md, document)
    if options.comment is not None:
        write_named(options.comment, comment(report, options.comment_name, history.label_of(options.label)))
    if options.junit is not None:
        write_named(options.junit, to_junit(report))
    if options.history is not None and not report.not_comparable:
        history.append(options.history, report, options.label)
    if summary is not None:
        with naming(summary), summary.open("a", encoding="utf-8") as file:
            file.write(document)


def show(report: Report) -> None:
    """Prints the report; under GitHub Actions with annotations."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        print_report(report)
        return
    # A name could be a workflow command: between these lines GitHub heeds none.
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}")
    print_report(report)
    print(f"::{token}::")
    sys.stdout.write(annotations(report))


def _brief(whole: str) -> str:
    """One line without control characters, of bounded length."""
    return cut(clean(short(whole)), _LONGEST)


def _escaped(text: str) -> str:
    """A text for a cell of a table: GitHub shows it."""
    return markdown_references(_brief(text))


def _change(row: Comparison) -> str:
    interval = "" if row.low is None else f" ({percent(row.low)} .. {percent(row.high)})"
    return f"{percent(row.change)}{interval}"


def _headline(report: Report) -> str:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report.counts().items())
    return f"{counted(len(report.rows), 'row')}: {counts or 'none'}"


def _cells(row: Comparison) -> list[str]:
    """A line of the table, under _HEAD."""
    verdict = f"**{row.verdict}**" if CODES[row.verdict] else row.verdict
    return [verdict, markdown_code(_brief(row.id)), _change(row), str(row.pairs or ""), _escaped(reason(row))]


def _marker(name: str) -> str:
    """The hidden first line of a comment, by which action.yml finds it again."""
    return f"<!-- ridgebench gate: {name} -->"


def comment(report: Report, name: str, label: Optional[str]) -> str:
    """The summary as a comment of a pull request, with as many rows as GitHub takes, and with the label of the run."""
    rows, end = MOST_ROWS, f"\nRun: {_escaped(label)}\n" if label else ""
    while len(text := f"{_marker(name)}\n{markdown(report, rows)}{end}") > _MOST_COMMENT and rows > 1:
        rows //= 2
    return text


def markdown(report: Report, most_rows: int = MOST_ROWS) -> str:
    """A summary with the worst rows first."""
    lines = [f"### Gate: {'passed' if report.exit_code == 0 else 'not passed'}", "", f"{_headline(report)}.", ""]
    lines += [f"Baseline: {markdown_code(_brief(report.baseline))}", "", f"Candidate: {markdown_code(_brief(report.candidate))}", ""]
    lines += [f"{NOT_COMPARABLE}: {_escaped(why)}\n" for why in report.not_comparable]
    if report.rows:
        lines.append(markdown_table(_HEAD, map(_cells, report.rows[:most_rows]), right=(2, 3)))
    if len(report.rows) > most_rows:
        lines += ["", f"Not shown: {counted(len(report.rows) - most_rows, 'more row')}."]
    if report.metric:
        lines += ["", f"Compared: {_escaped(report.metric)}."]
    lines += [f"\nNote: {_escaped(note)}" for note in report.notes]
    return "\n".join(lines) + "\n"


def _judged(row: Comparison) -> Judged:
    message = _brief(f"{row.verdict} {_change(row)} {reason(row)}".strip())
    return Judged(_brief(row.id), row.verdict, _ELEMENTS.get(row.verdict, PASSED), message)


def to_junit(report: Report) -> str:
    """A test case per row: failures and errors fail, what was not decided is skipped with its reason."""
    rows = report.rows or [Comparison("comparison", NOT_COMPARABLE, "; ".join(map(short, report.not_comparable)))]
    return junit("gate", "gate", list(map(_judged, rows)), "ridgebench gate")


def _data(text: str) -> str:
    """A text as the message of a workflow command."""
    return _brief(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _title(text: str) -> str:
    """A text as the property of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def annotations(report: Report) -> str:
    """Workflow commands: an error for each row that fails the gate, a warning for each that is undecided."""
    lines = [f"::error title={NOT_COMPARABLE}::{_data(why)}" for why in report.not_comparable]
    if not report.not_comparable:
        for command, verdicts in (("error", _FAILS), ("warning", (gate.UNDECIDED,))):
            rows = [row for row in report.rows if row.verdict in verdicts]
            for row in rows[:MOST_ANNOTATIONS]:
                told = " ".join(filter(None, (row.id, _change(row), reason(row))))
                lines.append(f"::{command} title={_title(f'{row.verdict} {row.id}')}::{_data(told)}")
    return "".join(f"{line}\n" for line in lines[: 2 * MOST_ANNOTATIONS])
