#!/usr/bin/env python3
"""Fills the marked parts of README.md and docs/*.md: tables and picture of a published run, files.

A part stands between an opening comment and the closing one of its kind, `<!-- /table -->`:
    <!-- table: operations -->     which technique serves which operation and format
    <!-- table: relu GB/s -->      the techniques of an operation, rates in this unit
    <!-- table: gate -->           the error rates that scripts/prove_gate.sh measured
    <!-- table: programs -->       the suite beside other programs, by scripts/crosscheck/ratios.py
    <!-- picture -->               the roofline
    <!-- file: tests/toy.cpp -->   a source file, as it is
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from roofline.plot.interpreter import require_packages  # noqa: E402

require_packages("numpy", "scipy", "matplotlib", "jsonschema")

from compare import proof_page  # noqa: E402
from crosscheck import page as crosscheck  # noqa: E402
from roofline.plot.records import ResultsError, Row, load_run  # noqa: E402
from roofline.plot.units import digits, percent  # noqa: E402
from roofline.plot.view import OPERATIONS, ORDER, View, make_view, ordered  # noqa: E402

STALE, USAGE_ERROR = 1, 2
NO_RUN = "no published run"
NO_PROOF = "Not measured on a real machine yet."
UNITS = {
    "GB/s": ("bytes_per_s", 1e9),
    "GFLOP/s": ("flops_per_s", 1e9),
    "TFLOP/s": ("flops_per_s", 1e12),
}
OPENING = re.compile(r"<!-- (table|picture|file)(?:: ([^>]+?))? -->")
MARKED = re.compile(OPENING.pattern + r"(?:(?!<!-- ).)*<!-- /\1 -->", re.DOTALL)


def published(root: Path) -> Optional[Path]:
    """The newest results/<device>/<date>-<commit>; results/local is nobody's to publish."""

    def started(folder: Path) -> str:
        return json.loads((folder / "environment.json").read_text("utf-8"))["started"]

    found = [path.parent for path in (root / "results").glob("*/*/records.jsonl")]
    return max((f for f in found if f.parent.name != "local"), key=started, default=None)


def escape(text: str) -> str:
    return re.sub(r"([|<*_\[\]`])", r"\\\1", text)


def lines(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *rows])


def provenance(view: View, link: str) -> str:
    environment, device = view.environment, view.device
    commit = (environment["commit"] or "unknown")[:7]
    changes = " with changes" if environment["dirty"] else ""
    threads = f", {device['threads']} threads" if "threads" in device else ""
    run = f"[{environment['started'][:10]}, {commit}{changes}]({link})"
    return f"{escape(device['model'])}{threads}: {run}"


def technique_names(rows: list[Row], formats: list[str]) -> str:
    """Techniques with verified rows; a part of the formats is named."""
    texts = []
    for name in sorted({row.technique for row in rows}):
        served = ordered({row.format for row in rows if row.technique == name}, ORDER)
        texts.append(f"`{name}`" + ("" if served == formats else f" ({', '.join(served)})"))
    return ", ".join(texts)


def operations_table(view: View, link: str) -> str:
    """Which technique of which operation was verified in which format."""
    table = []
    for op in view.operations:
        rows = [row for row in view.points if row.op == op]
        formats = ordered({row.format for row in rows}, ORDER)
        by_origin = [[row for row in rows if row.origin == o] for o in ("hand", "library")]
        names = [technique_names(part, formats) for part in by_origin]
        table.append([op, ", ".join(formats), *names])
    header = ["operation", "verified formats", "hand-written", "library"]
    return f"{lines(header, table)}\n\nVerified on {provenance(view, link)}."


def largest(rows: list[Row]) -> dict[tuple[str, str], Row]:
    """By technique and format, the row that moves the most bytes; of equal ones layout nt."""
    found: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda r: (r.bytes, r.shape.get("layout") == "nt")):
        found[row.technique, row.format] = row
    return found


def cell(row: Optional[Row], unit: str) -> str:
    if row is None or row.status == "skipped":
        return "–"
    if not row.drawable:
        return row.status
    key, scale = UNITS[unit]
    share = row.fraction_of_measured_roof
    rate = digits(getattr(row, key) / scale)
    return rate if share is None else f"{rate} ({percent(share)} %)"


def size(row: Row) -> str:
    sizes = [str(value) for value in row.shape.values() if not isinstance(value, str)]
    return " × ".join(sizes) + (f", {row.shape['layout']}" if "layout" in row.shape else "")


class Step:
    """A technique at one size, in the formats that it serves: one line of a ladder."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {row.format: row for row in rows}
        self.technique, self.library = rows[0].technique, rows[0].origin == "library"
        self.size = size(rows[0])
        self.speed = max(row.flops_per_s or row.bytes_per_s or 0 for row in rows)

    def cells(self, formats: list[str], unit: str) -> list[str]:
        name = f"*{self.technique}* (library)" if self.library else self.technique
        return [name, self.size, *(cell(self.rows.get(f), unit) for f in formats)]


def steps_of(rows: list[Row]) -> list[Step]:
    """Slowest first and libraries last."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.technique, size(row)), []).append(row)
    steps = [Step(group) for group in groups.values()]
    return sorted(steps, key=lambda s: (s.library, s.speed, s.technique, s.size))


def absent(rows: list[Row], steps: list[Step]) -> str:
    """Techniques without a line, and why: the reasons that do not just name a format."""
    shown = {step.technique for step in steps}
    common = {row.reason for row in rows if row.technique in shown}
    text = ""
    for name in sorted({row.technique for row in rows} - shown):
        reasons = {row.reason for row in rows if row.technique == name}
        text += f" Skipped: `{name}`, {escape('; '.join(sorted(reasons - common or reasons)))}."
    return text


def ladder(view: View, op: str, unit: str, link: str) -> str:
    """One line per technique, one column per format."""
    if unit not in UNITS:
        raise ResultsError(f"unknown unit {unit!r}; allowed: {', '.join(UNITS)}")
    rows = [row for row in view.selected if row.op == op and row.regime == "steady"]
    if not rows:
        known = ordered({row.op for row in view.selected}, OPERATIONS)
        raise ResultsError(f"no rows of operation {op!r}; there are {', '.join(known)}")
    formats = ordered({row.format for row in rows}, ORDER)
    steps = steps_of([row for row in largest(rows).values() if row.status != "skipped"])
    table = lines(["technique", "size", *formats], [step.cells(formats, unit) for step in steps])
    return (
        f"{table}\n\n{unit} and, in brackets, percent of the measured roof; steady, largest size "
        f"of each technique; – is a format it does not serve.{absent(rows, steps)} "
        f"{provenance(view, link)}."
    )


def source(path: Path) -> str:
    try:
        return f"```{path.suffix[1:]}\n{path.read_text('utf-8')}```"
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None


def content(kind: str, name: str, view: Optional[View], link: str, root: Path) -> str:
    if kind == "file":
        return source(ROOT / name)
    if name == "gate":
        proof = proof_page.newest(root / "results")
        return proof_page.table(proof) if proof else NO_PROOF
    if name == "programs":
        return crosscheck.with_programs(root / "results")
    if view is None:
        return NO_RUN
    if kind == "picture":
        return f"![Roofline of {escape(view.device['model'])}]({link}/figures/roofline.png)"
    if name == "operations":
        return operations_table(view, link)
    op, _, unit = name.partition(" ")
    return ladder(view, op, unit, link)


def fill(text: str, view: Optional[View], link: str, root: Path) -> str:
    """The text with every marked part made anew."""

    def part(match: re.Match) -> str:
        kind, name = match.group(1), match.group(2) or ""
        opening = OPENING.match(match.group(0)).group(0)
        return f"{opening}\n{content(kind, name, view, link, root)}\n<!-- /{kind} -->"

    if len(OPENING.findall(text)) != len(MARKED.findall(text)):
        raise ResultsError("a marker `<!-- ... -->` has no closing one")
    return MARKED.sub(part, text)


def update(
    page: Path, view: Optional[View], folder: Optional[Path], check: bool, root: Path
) -> bool:
    """Whether the page was current; if not, and unless only checking, it is now."""
    before = page.read_text("utf-8")
    link = Path(os.path.relpath(folder, page.parent)).as_posix() if folder else ""
    try:
        after = fill(before, view, link, root)
    except ResultsError as error:
        raise ResultsError(f"{page.name}: {error}") from None
    if after != before and not check:
        page.write_text(after, "utf-8")
    return after == before


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="tables.py", description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, help="default: the newest published run")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    options = parser.parse_args(arguments)
    try:
        folder = options.results or published(root)
        view = make_view(load_run(folder), None) if folder else None
        pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
        stale = [page for page in pages if not update(page, view, folder, options.check, root)]
    except ResultsError as error:
        print(f"tables: {error}", file=sys.stderr)
        return USAGE_ERROR
    for page in stale:
        print(f"{page.relative_to(root)}: {'stale' if options.check else 'updated'}")
    return STALE if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
