"""`ridgebench fleet report`: judges a fleet and writes its report."""

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Callable

from ridgebench.command_line import CommandError, what_failed
from ridgebench.files import write_at_once

from .judge import Assessment

FOLDER = "report"
MOST_LINES = 20  # of findings on the terminal


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `fleet report`; `fleet` is the folder that was collected."""
    parser.add_argument("fleet", type=Path, metavar="FLEET", help="folder of `fleet plan`, or any tree with results")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"folder of the report; default: FLEET/{FOLDER}")
    parser.add_argument("--json", action="store_true", help="print the report as JSON, and nothing else")


def writers() -> dict[str, Callable[[Assessment], str]]:
    """The text files of a report."""
    from .render import document, exports, markdown, page

    return {
        "report.json": lambda assessment: json.dumps(document.document(assessment), indent=1, allow_nan=False) + "\n",
        "report.html": page.document,
        "report.md": markdown.to_markdown,
        "gpus.csv": exports.to_csv,
        "junit.xml": exports.to_junit,
        "metrics.prom": exports.to_prometheus,
    }


def write_all(assessment: Assessment, folder: Path) -> str:
    """Writes the report; returns the text of report.json."""
    from .render import picture

    try:
        folder.mkdir(parents=True, exist_ok=True)
        texts = {name: make(assessment) for name, make in writers().items()}
        for name, text in texts.items():
            write_at_once(folder / name, text)
        with warnings.catch_warnings():  # a name that Matplotlib's font lacks is no fault of the picture
            warnings.filterwarnings("ignore", message="Glyph .* missing")
            picture.save(assessment, folder)
    except OSError as error:
        raise CommandError(f"{what_failed(error)}; allowed: --out with a folder that may be written") from None
    return texts["report.json"]


def summary(assessment: Assessment, folder: Path) -> str:
    """One screen: the title, what to do, what the report can see."""
    from . import findings as found

    every = found.findings(assessment)
    lines = [found.title(assessment), found.coverage_text(assessment)]
    for one in every[:MOST_LINES]:
        lines.append(f"{one.severity:<5}{one.state:<15}{one.where}: {one.reason}")
        lines += [f"     > {one.next}"] if one.next else []
    lines += [f"{len(every) - MOST_LINES} more: see {folder / 'report.md'}"] if len(every) > MOST_LINES else []
    return "\n".join([*lines, *found.expectation(assessment), f"report: {folder / 'report.html'}"]) + "\n"


def main(options: argparse.Namespace) -> int:
    """Returns the exit code of the gravest state; docs/operate/fleet.md lists them."""
    from .collect import collect
    from .judge import assess

    assessment = assess(collect(options.fleet))
    folder = options.out or options.fleet / FOLDER
    text = write_all(assessment, folder)
    sys.stdout.write(text if options.json else summary(assessment, folder))
    return assessment.code
