"""Fills the marked parts of README.md and docs/*.md: tables and pictures of published runs, files. Draws docs/pictures/access.svg,
writes llms.txt and SKILL.md (for_programs.py), and runs docs/lecture.ipynb (notebook.py).

A part lies between an opening comment and the closing one of its kind, `<!-- /table -->`. It shows the newest
published run or, with `@ nvidia-h200`, that of a device, named by its folder in results/.
    <!-- table: operations -->     formats and techniques of each operation
    <!-- table: relu GB/s @ nvidia-h200 -->    the techniques of an operation, rates in this unit
    <!-- table: matmul TFLOP/s cold -->    its sizes that were measured cold
    <!-- table: shares @ nvidia-h200/steps -->    rate and share of the roof of each operation; of a folder within the device's
    <!-- table: steps relu GB/s bf16 naive vec16 @ nvidia-h100-80gb-hbm3 nvidia-h200 -->
                                  the steps of a ladder in this order: predicted, measured, shares
    <!-- table: times bf16 fp32 relu gelu/vec16 @ nvidia-h200 -->    times side by side
    <!-- table: launches @ nvidia-h200 -->    the cost of a launch
    <!-- table: transfers @ nvidia-h200/partial/RUN -->    copies over links beside the memory's writes
    <!-- table: duels matmul @ nvidia-h200 -->    the ratios of an operation, only from duels
    <!-- table: gate -->           the error rates that scripts/prove_gate.sh measured
    <!-- table: gate simulated --> the error rates of the gate on simulated times
    <!-- table: fleet simulated --> the error rates of a fleet's report on simulated rates
    <!-- picture -->               the lecture figure, else the roofline
    <!-- picture: slide gelu @ h100-sxm -->    a slide of data sheets, drawn into pictures/class beside the page
    <!-- picture: slide gelu zh @ h100-sxm -->    the same in Chinese
    <!-- picture: slide ladder @ nvidia-h200 -->    a slide of a published run
    <!-- file: tests/toy.cpp -->   a source file, as it is
    <!-- table: record keys -->, ... step keys, ... explained keys, <!-- table: kernel models ... -->    what other programs print and tests compare
    <!-- faults -->                what the tests of faults wrote; left as it is without --faults DIR
"""

import json
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Iterator, Optional

from ridgebench.base.command_line import OK, ROOT, STALE, USAGE, CommandError, Parser, fail
from ridgebench.base.files import ResultsError, write_named
from ridgebench.base.printers import markdown_table
from ridgebench.base.text import markdown
from ridgebench.data.duels import load_duels, published_duels
from ridgebench.data.records import load_run, read_environment
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.language import ENGLISH, has_chinese_font

from . import access_picture, class_pictures, for_programs, notebook
from .duel_tables import NONE as NO_DUEL
from .duel_tables import duel_table
from .error_rates import newest as newest_proof
from .error_rates import simulated_table
from .error_rates import table as gate_table
from .fleet_error_rates import simulated_table as fleet_table
from .ladder_tables import Source, table_over_runs
from .result_tables import operation_table, operations_table, shares_table, transfers_table

_SIGNALS = {-9: "killed"}
_NO_RUN = "no published run"
_BY_PROGRAMS = ("record keys", "step keys", "explained keys", "kernel models")  # other programs print these tables, and tests compare them
_OVER_RUNS = (["steps"], ["times"], ["launches"])
_NO_PROOF = "Not measured on a real machine yet."
_SLIDE = "slide "  # a picture of the class: <!-- picture: slide gelu @ h100-sxm -->
_OPENING = re.compile(r"<!-- (table|picture|file|faults)(?:: ([^>]+?))? -->")
_MARKED = re.compile(_OPENING.pattern + r"(?:(?!<!-- ).)*<!-- /\1 -->", re.DOTALL)


def published(root: Path, device: str = "*") -> Optional[Path]:
    """The newest results/<device>/<date>-<commit>, or None; results/local is never published."""

    def started(folder: Path) -> str:
        return read_environment(folder / "environment.json")["started"] or ""

    found = [path.parent for path in (root / "results").glob(f"{device}/*/records.jsonl")]
    return max((f for f in found if f.parent.name != "local"), key=started, default=None)


def _source(path: Path) -> str:
    try:
        return f"```{path.suffix[1:]}\n{path.read_text('utf-8')}```"
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None


def read_faults(folder: Path) -> dict[str, dict]:
    """One entry per fault, with the parts of a test added up."""
    faults: dict[str, dict] = {}
    for path in sorted(folder.glob("*.json")):
        part = json.loads(path.read_text("utf-8"))
        known = faults.setdefault(part["fault"], part | {"tries": 0, "lost": 0, "codes": []})
        known["tries"] += part["tries"]
        known["lost"] += part["lost"]
        known["codes"] = sorted({*known["codes"], *part["codes"]})
    if not faults:
        raise ResultsError(f"{folder} holds no fault; run the tests first")
    return faults


def fault_cells(fault: dict) -> list[str]:
    codes = ", ".join(_SIGNALS.get(code, str(code)) for code in fault["codes"])
    return [fault["fault"], fault["how"], str(fault["tries"]), str(fault["lost"]), codes]


def _faults_table(faults: dict[str, dict]) -> str:
    header = ["fault", "how it is made", "tries", "finished rows lost", "exit code"]
    return markdown_table(header, [fault_cells(faults[name]) for name in sorted(faults)])


@dataclass(frozen=True)
class _Sources:
    """Sources of the pages: the default run, the runs of devices under root/results, and the faults."""

    root: Path
    default: Optional[Path]
    faults: Optional[dict[str, dict]]

    def folder(self, device: str) -> Optional[Path]:
        """The newest run of a device, or the run that a path below results/ names."""
        named = self.root / "results" / device
        if device and (named / "records.jsonl").is_file():
            return named
        found = published(self.root, device) if device else self.default
        if device and found is None:
            raise ResultsError(f"no published run of {device!r}")
        return found

    def of_slides(self, names: str) -> str:
        """What slides are drawn over: data sheets by name, and published runs by folder."""
        return " ".join(str(published(self.root, name) or name) for name in names.split())


@cache
def view_of(folder: Path) -> View:
    return make_view(load_run(folder), None)


def _content(kind: str, text: str, sources: _Sources, page: Path) -> str:
    """The Markdown of one part."""
    name, _, device = (part.strip() for part in text.partition("@"))
    if kind == "faults":
        return _faults_table(sources.faults)
    if kind == "file":
        return _source(ROOT / name)
    if name == "gate":
        proof = newest_proof(sources.root / "results")
        return gate_table(proof) if proof else _NO_PROOF
    if name == "gate simulated":
        return simulated_table()
    if name == "fleet simulated":
        return fleet_table()
    if name.startswith("duels "):
        duels = published_duels(sources.root, device)
        if duels is None:
            return NO_DUEL
        return duel_table(load_duels(duels), name.removeprefix("duels "), os.path.relpath(duels, page.parent))
    if name.split()[:1] in _OVER_RUNS:
        return _over_runs(name, device, sources, page)
    if name.startswith(_SLIDE):
        slug, language = _slide_of(name)
        return f"![{markdown(class_pictures.title(slug, sources.of_slides(device), language))}]({(class_pictures.FOLDER / slug).as_posix()}.svg)"
    folder = sources.folder(device)
    if folder is None:
        return _NO_RUN
    view, link = view_of(folder), Path(os.path.relpath(folder, page.parent)).as_posix()
    if kind == "picture":
        figure = "lecture" if (folder / "figures" / "lecture.png").exists() else "roofline"
        return f"![Roofline of {markdown(view.device['model'])}]({link}/figures/{figure}.png)"
    if name == "operations":
        return operations_table(view, link)
    if name == "shares":
        return shares_table(view, link)
    if name == "transfers":
        return transfers_table(view, link)
    return operation_table(view, name, link)


def _slide_of(name: str) -> tuple[str, str]:
    """Slug and language of a slide: 'slide gelu zh'."""
    slug, _, language = name.removeprefix(_SLIDE).partition(" ")
    return slug, language or ENGLISH


def _over_runs(name: str, devices: str, sources: _Sources, page: Path) -> str:
    """A table over the runs of several devices, by default over the newest run."""
    folders = [sources.folder(device) for device in devices.split() or [""]]
    if None in folders:
        return _NO_RUN
    return table_over_runs(name.split(), [Source(view_of(f), Path(os.path.relpath(f, page.parent)).as_posix()) for f in folders])


def _fill(text: str, sources: _Sources, page: Path) -> str:
    """The text with every marked part replaced."""

    def part(match: re.Match) -> str:
        kind, name = match.group(1), match.group(2) or ""
        if name.startswith(_BY_PROGRAMS) or (kind == "faults" and sources.faults is None):
            return match.group(0)
        opening = _OPENING.match(match.group(0)).group(0)
        return f"{opening}\n{_content(kind, name, sources, page)}\n<!-- /{kind} -->"

    if len(_OPENING.findall(text)) != len(_MARKED.findall(text)):
        raise ResultsError("a marker `<!-- ... -->` has no closing one")
    return _MARKED.sub(part, text)


def _update(page: Path, sources: _Sources, check: bool) -> bool:
    """Writes the page unless it is current or `check` is set; returns whether it was current."""
    before = page.read_text("utf-8")
    try:
        after = _fill(before, sources, page)
    except ResultsError as error:
        raise ResultsError(f"{page.name}: {error}") from None
    if after != before and not check:
        write_named(page, after)
    return after == before


def _same(path: Path, after: str) -> bool:
    """The file holds this text; another version of Matplotlib draws the same words of a picture by other paths."""
    if not path.exists():
        return False
    before = path.read_text("utf-8")
    return before == after or (path.suffix == ".svg" and class_pictures.words(before) == class_pictures.words(after))


def _update_file(path: Path, after: str, check: bool) -> bool:
    """The same for a file that holds nothing else."""
    current = _same(path, after)
    if not current and not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_named(path, after)
    return current


def _files(pages: list[Path], sources: _Sources) -> Iterator[tuple[Path, str]]:
    """The files that this command writes: the ladder's first steps, what programs read, the notebook, and the slides that the pages name."""
    root, drawn = sources.root, dict[Path, str]()
    folder = root / "docs" / "pictures"
    if folder.is_dir():
        yield folder / "access.svg", access_picture.svg()
        yield from ((root / name, text(root)) for name, text in for_programs.FILES.items())
    if (root / notebook.NOTEBOOK).exists():
        yield root / notebook.NOTEBOOK, notebook.executed(root)
    for page in pages:
        for kind, text in _OPENING.findall(page.read_text("utf-8")):
            name, _, shown = (part.strip() for part in text.partition("@"))
            if kind != "picture" or not name.startswith(_SLIDE):
                continue
            slug, language = _slide_of(name)
            path = page.parent / class_pictures.FOLDER / f"{slug}.svg"
            if drawn.get(path, shown) != shown:
                raise ResultsError(f"{page.name}: {slug} @ {shown} is @ {drawn[path]} on another page; allowed: one of them")
            if path not in drawn:
                drawn[path] = shown
                yield path, class_pictures.svg(slug, sources.of_slides(shown), language)


def _chinese_pages(root: Path) -> list[Path]:
    """The pages in Chinese; none, after a line that says so, without a font for their pictures."""
    found = sorted((root / "docs" / "zh").glob("*.md"))
    if found and not has_chinese_font():
        print("tables: docs/zh is left out: its pictures need a font with Chinese characters, such as fonts-noto-cjk", file=sys.stderr)
        return []
    return found


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = Parser(prog="tables", description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, help="default: the newest published run")
    parser.add_argument("--faults", type=Path, metavar="DIR", help="folder that the tests of faults wrote")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    options = parser.parse_args(arguments)
    try:
        faults = read_faults(options.faults) if options.faults else None
        sources = _Sources(root, options.results or published(root), faults)
        if options.results:
            view_of(options.results)
        pages = [root / "README.md", *sorted((root / "docs").glob("*.md")), *_chinese_pages(root)]
        stale = [page for page in pages if not _update(page, sources, options.check)]
        stale += [path for path, text in _files(pages, sources) if not _update_file(path, text, options.check)]
    except CommandError as error:
        return fail(str(error), USAGE, "tables")
    for page in stale:
        print(f"{page.relative_to(root)}: {'stale' if options.check else 'updated'}")
    return STALE if stale and options.check else OK
