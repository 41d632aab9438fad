"""Writes all files of a report, and says on the terminal what they hold."""

import textwrap
import warnings
from pathlib import Path
from typing import Callable, Optional

from ridgebench.base.command_line import CommandError, code_of, what_failed
from ridgebench.base.files import output_folder, write_at_once
from ridgebench.base.printers import aligned, json_text
from ridgebench.base.text import one_line
from ridgebench.fleet import findings
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.places import REPORT

from . import document, exports, markdown, page, picture

_MOST_LINES = 20  # of findings on the terminal
_COLUMNS = 100


def _writers() -> dict[str, Callable[[Assessment], str]]:
    """The text files of a report."""
    return {
        "report.json": lambda assessment: json_text(document.document(assessment)),
        "report.html": page.document,
        "report.md": markdown.to_markdown,
        "gpus.csv": exports.to_csv,
        "junit.xml": exports.to_junit,
        "metrics.prom": exports.to_prometheus,
    }


def write_all(assessment: Assessment, out: Optional[Path]) -> tuple[Path, str]:
    """Writes the report, without --out into the fleet's folder; returns its folder and the text of report.json."""
    try:
        folder = output_folder(out, assessment.fleet.folder, REPORT)
        texts = {name: make(assessment) for name, make in _writers().items()}
        for name, text in texts.items():
            write_at_once(folder / name, text)
        with warnings.catch_warnings():  # a name that Matplotlib's font lacks is not a fault of the picture
            warnings.filterwarnings("ignore", message="Glyph .* missing")
            picture.save(assessment, folder)
    except OSError as error:
        raise CommandError(f"{what_failed(error)}; allowed: --out with a folder that may be written", code_of(error)) from None
    return folder, texts["report.json"]


def summary(assessment: Assessment, folder: Path) -> str:
    """One screen: the title, what to do, what the report can see."""
    every = findings.findings(assessment)
    lines = [findings.title(assessment), findings.coverage_text(assessment)]
    lines += [findings.soaks_text(assessment.soaks)] if assessment.soaks else []
    table = aligned([[one.severity, one.state, f"{one.where}: {one.reason}"] for one in every[:_MOST_LINES]])
    for one, line in zip(every, table):
        lines.append(one_line(line))
        lines += [one_line(f"     > {one.next}")] if one.next else []
    lines += [one_line(f"{len(every) - _MOST_LINES} more: see {folder / 'report.md'}")] if len(every) > _MOST_LINES else []
    whole = " ".join(findings.expectation(assessment)).replace(" %", "\u00a0%")  # no line begins with the sign
    sight = textwrap.fill(whole, _COLUMNS).replace("\u00a0", " ")
    return "\n".join([*lines, sight, one_line(f"report: {folder / 'report.html'}")]) + "\n"
