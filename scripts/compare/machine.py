"""A report for programs: JSON, JUnit XML, annotations of GitHub Actions."""

import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

from roofline.plot.records import clean

from . import gate
from .report import FAILED, MISSING, NOT_COMPARABLE, Report, Row
from .text import interval, markdown, percent, reason

FAILURES = (FAILED, gate.WORSE, MISSING, NOT_COMPARABLE)
SKIPPED = (gate.UNDECIDED, gate.NOT_GATED)
# GitHub shows 10 annotations of a type per step, and 1 MiB of summary.
MOST_ANNOTATIONS = 10
LONGEST_SUMMARY = 1 << 20


def to_json(report: Report) -> str:
    return json.dumps(report.as_json(), indent=1, allow_nan=False) + "\n"


def message(row: Row) -> str:
    change = f"{percent(row.change)} [{interval(row)}]" if row.change is not None else ""
    return clean(" ".join(filter(None, [row.verdict, change, reason(row)])))


def legal(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", " ", clean(text))


def to_junit(report: Report) -> str:
    """One test case per row; what the gate could not decide is skipped with its reason."""
    verdicts = [row.verdict for row in report.rows]
    counts = {
        "tests": str(len(verdicts)),
        "failures": str(sum(v in FAILURES for v in verdicts)),
        "skipped": str(sum(v in SKIPPED for v in verdicts)),
        "errors": "0",
    }
    suite = ElementTree.Element("testsuite", {"name": "ridgebench", **counts})
    for row in report.rows:
        case = ElementTree.SubElement(
            suite, "testcase", classname="ridgebench", name=legal(row.id), time="0"
        )
        if row.verdict in FAILURES:
            ElementTree.SubElement(case, "failure", message=legal(message(row)))
        elif row.verdict in SKIPPED:
            ElementTree.SubElement(case, "skipped", message=legal(message(row)))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, "unicode", xml_declaration=True) + "\n"


def escape_data(text: str) -> str:
    """Source: actions/toolkit, packages/core/src/command.ts."""
    return clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def annotations(report: Report) -> str:
    """The worst failures as errors, the undecided rows as warnings."""
    lines = []
    for level, verdicts in (("error", FAILURES), ("warning", (gate.UNDECIDED,))):
        rows = [row for row in report.rows if row.verdict in verdicts][:MOST_ANNOTATIONS]
        for row in rows:
            title, told = escape_property(row.id), escape_data(message(row))
            lines.append(f"::{level} title={title}::{told}")
    return "".join(f"{line}\n" for line in lines)


def add_step_summary(report: Report) -> None:
    """Appends the Markdown to the step's summary, cut at a whole line where it is too long."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    text = markdown(report)
    if len(text.encode("utf-8")) > LONGEST_SUMMARY:
        kept = text.encode("utf-8")[: LONGEST_SUMMARY - 100].decode("utf-8", "ignore")
        text = kept[: kept.rindex("\n") + 1] + "\n(cut here)\n"
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(text)
