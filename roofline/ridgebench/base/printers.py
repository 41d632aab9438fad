"""One function for each form in which tables and verdicts are printed: text, Markdown, CSV, JSON, HTML, JUnit, Prometheus."""

import csv
import io
import itertools
import json
import math
from typing import Any, Callable, Collection, Iterable, NamedTuple, Optional
from xml.etree import ElementTree

from .text import clean, csv_cell, prometheus_label

PASSED, SKIPPED, FAILURE, ERROR = "", "skipped", "failure", "error"  # elements of JUnit; a case without one has passed


class Judged(NamedTuple):
    """A comparison's verdict on one row or one GPU: by pairs (gate), by the past (baseline) or by peers (fleet)."""

    name: str
    verdict: str
    outcome: str  # PASSED, SKIPPED, FAILURE or ERROR
    message: str = ""
    next: str = ""  # what to do
    notes: str = ""


def aligned(table: list[list[str]], right: Collection[int] = ()) -> list[str]:
    """The lines of a table whose columns have the width of their longest cell; right: columns that are aligned at the right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    sides = [str.rjust if place in right else str.ljust for place in range(len(widths))]
    padded = ("  ".join(side(c, w) for side, c, w in zip(sides, line, widths)) for line in table)
    return [line.rstrip() for line in padded]


def markdown_table(head: Iterable[str], lines: Iterable[Iterable[str]], right: Collection[int] = ()) -> str:
    """A table of cells that are Markdown already; right: columns that are aligned at the right."""
    head = list(head)
    rule = ["---:" if place in right else "---" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def csv_table(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    """A table with commas, whose texts no spreadsheet evaluates."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([csv_cell(value) for value in line] for line in (head, *lines))
    return out.getvalue()


def json_text(value: Any) -> str:
    """Strict JSON: no number in it is infinite or nan."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def html_table(head: Iterable[str], lines: Iterable[Iterable[str]], right: Collection[int] = (), css: str = "") -> str:
    """A table of cells that are HTML already; right: columns that are aligned at the right."""

    def row(tag: str, cells: Iterable[str], more: str = "") -> str:
        marks = (more + ' class="n"' * (place in right) for place in itertools.count())
        return "<tr>" + "".join(f"<{tag}{mark}>{cell}</{tag}>" for mark, cell in zip(marks, cells)) + "</tr>"

    kind = f' class="{css}"' if css else ""
    heads = row("th", head, ' scope="col"')
    body = "\n".join(row("td", line) for line in lines)
    return (f'<div class="scroll" tabindex="0" role="region"><table{kind}><thead>{heads}</thead>\n'
            f"<tbody>{body}</tbody></table></div>")  # fmt: skip


def junit(suite: str, classname: str, cases: list[Judged], program: str = "") -> str:
    """Verdicts as JUnit's XML, a line each; within the suites of a program, if it is named. Texts may hold anything."""
    found = [one.outcome for one in cases]
    counts = {"tests": len(cases), "failures": found.count(FAILURE), "errors": found.count(ERROR), "skipped": found.count(SKIPPED)}
    root = ElementTree.Element("testsuite", {"name": suite} | {key: str(count) for key, count in counts.items()})
    root.text, root.tail = "\n  ", "\n"
    for one in cases:
        case = ElementTree.SubElement(root, "testcase", classname=classname, name=clean(one.name))
        case.tail = "\n" if one is cases[-1] else "\n  "
        if one.outcome != PASSED:
            kind = {} if one.outcome == SKIPPED else {"type": one.verdict}
            ElementTree.SubElement(case, one.outcome, {"message": clean(one.message)} | kind).text = clean(one.next) or None
        if one.notes:
            ElementTree.SubElement(case, "system-out").text = clean(one.notes)
    if program:
        within = ElementTree.Element("testsuites", name=program)
        within.text, within.tail = "\n", "\n"
        within.append(root)
        root = within
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode")


Sample = tuple[dict[str, Any], Optional[float]]


def prometheus(name: str, what: str, samples: Iterable[Sample], show: Callable[[float], str] = lambda value: f"{value:.6g}") -> str:
    """A gauge in the text format of prometheus.io, "Exposition formats".

    A sample without a value, or with the labels of one before, is left out.
    """
    lines: dict[str, str] = {}
    for labels, value in samples:
        if value is not None and not math.isnan(value):
            text = ",".join(f'{key}="{prometheus_label(item)}"' for key, item in labels.items())
            lines.setdefault(f"{name}{{{text}}}" if text else name, show(value))
    body = "".join(f"{key} {value}\n" for key, value in lines.items())
    return f"# HELP {name} {what}\n# TYPE {name} gauge\n{body}" if body else ""
