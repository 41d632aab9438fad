"""Draws the slides of a lecture: numbered SVG and PDF with the same axes, one PDF of all, and notes; or one file of all slides."""

import io
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Optional

from matplotlib.backends.backend_pdf import PdfPages

from ridgebench.base.command_line import OK, Parser
from ridgebench.base.files import ResultsError, output_folder, write_at_once, write_named
from ridgebench.base.streams import ENDING, ended
from ridgebench.base.text import clean, one_line
from ridgebench.base.units import counted
from ridgebench.base.workers import in_parallel
from ridgebench.data.records import load_run
from ridgebench.data.steps import holds_step, load_steps
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.page.drawing import METADATA, drawing, write
from ridgebench.figures.page.language import add_language, speaking
from ridgebench.figures.page.style import THEMES, Theme

from . import deck, html_deck, options, pptx_deck
from .all_slides import all_slides
from .notes import notes

_TYPES = ("svg", "pdf")
_FILES = (".html", ".pptx", ".pdf")  # of all slides
_OTHER_FILES = (".htm", ".ppt", ".odp", ".key", ".svg", ".png", ".md")  # that no folder is called


def parse(arguments: list[str]) -> Namespace:
    parser = Parser(prog="slides", description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", metavar="RESULTS_DIR", help="a run whose points are drawn, or a step that was measured")
    parser.add_argument("--on", metavar="SHEET", action="append", default=[],
                        help="data sheet, e.g. h100-sxm; more of them are compared on one slide")
    parser.add_argument("--device", help="device of the run; default: the first with rows")
    parser.add_argument("--format", type=options.number_format, metavar="FORMAT",
                        help="number format; default: bf16, on a host fp32")
    parser.add_argument("--theme", choices=sorted(THEMES), help="default: light; an HTML page has dark too, as its reader prefers")
    add_language(parser)
    parser.add_argument("-o", "--out", type=Path,
                        help="folder, or one file of all slides that ends with .html, .pptx or .pdf; default: RESULTS_DIR/slides, "
                             "without one slides")
    chosen = parser.parse_args(arguments)
    if chosen.out is not None and not chosen.out.is_dir() and chosen.out.suffix in _OTHER_FILES:
        allowed = f"{', '.join(_FILES)}, or a folder"
        parser.error(f"-o {clean(str(chosen.out))}: slides are no file of type {chosen.out.suffix}; allowed: {allowed}")
    if chosen.results is None and not chosen.on:
        parser.error("the following arguments are required: RESULTS_DIR, or --on DEVICE")
    return chosen


def _file_name(number: int, slide: deck.Slide, kind: str) -> str:
    return f"{number:02}-{slide.slug}.{kind}"


def _save(number: int, slide: deck.Slide, of: deck.Deck, theme: Theme, out: Path) -> None:
    """Draws one slide into its files."""
    with drawing(theme):
        figure = deck.draw(slide, of, theme)
        for kind in _TYPES:
            write(figure, out / _file_name(number, slide, kind), kind)


def _together(of: deck.Deck, slides: list[deck.Slide], theme: Theme) -> bytes:
    """All slides as one PDF."""
    drawn = io.BytesIO()
    with drawing(theme), PdfPages(drawn, metadata=METADATA["pdf"]) as pages:
        for slide in slides:
            pages.savefig(deck.draw(slide, of, theme))
    return drawn.getvalue()


def _save_together(slides: list[deck.Slide], of: deck.Deck, theme: Theme, out: Path) -> None:
    write_at_once(out / "slides.pdf", _together(of, slides, theme))


def _save_all(of: deck.Deck, theme: Theme, out: Path) -> int:
    """Writes every file; returns their number."""
    slides = all_slides(of)
    tasks = [partial(_save_together, slides, of, theme, out)]  # the slowest first
    tasks += [partial(_save, number, slide, of, theme, out) for number, slide in enumerate(slides, 1)]
    in_parallel(lambda task: task(), tasks)
    write_at_once(out / "notes.md", notes(of, slides))
    return len(_TYPES) * len(slides) + 2


def _is_file(out: Optional[Path]) -> bool:
    """--out names one file of all slides."""
    return out is not None and out.suffix in _FILES and not out.is_dir()


def _save_file(of: deck.Deck, theme: Optional[str], out: Path) -> int:
    """Writes all slides into one file; returns their number."""
    if out.suffix == ".pptx":
        pptx_deck.library()  # refuses before anything is drawn
    slides = all_slides(of)
    if out.suffix == ".html":
        write_named(out, html_deck.document(of, slides, [theme] if theme else ["light", "dark"]))
    else:
        together = pptx_deck.document if out.suffix == ".pptx" else _together
        write_named(out, together(of, slides, THEMES[theme or "light"]))
    return len(slides)


def _open_run(folder: Optional[Path], device: Optional[str]) -> Optional[View]:
    return make_view(drawable(load_run(folder)), device) if folder else None


def _of_step(chosen: Namespace, command: str) -> deck.Deck:
    """The deck of a data sheet, with the slides of a measured step at its end. Raises ResultsError."""
    found = load_steps(chosen.results)
    named = next((one["data_sheet"] for one in found.environment["devices"] if one["name"] == found.steps[0].record["device"]), None)
    on = chosen.on or list(filter(None, [named]))
    if not on:
        raise ResultsError(f"{chosen.results}: a step of a device without a data sheet; allowed: --on SHEET beside it, for the other slides")
    return replace(deck.make(None, on, chosen.format, one_line(on[0]), command), step=found.steps[0])


def deck_of(chosen: Namespace) -> deck.Deck:
    """The deck that the options name. Raises ResultsError."""
    run = [str(chosen.results)] if chosen.results else []
    command = one_line(" ".join(["ridgebench slides", *run, *(f"--on {name}" for name in chosen.on)]))
    if chosen.results and holds_step(chosen.results):
        return _of_step(chosen, command)
    view = _open_run(chosen.results, chosen.device)
    source = (view.device["data_sheet"] or str(chosen.results)) if view else chosen.on[0]
    return deck.make(view, chosen.on, chosen.format, one_line(source), command)


def main(arguments: list[str]) -> int:
    chosen = parse(arguments)
    try:
        with speaking(chosen.lang):
            of = deck_of(chosen)
            if _is_file(chosen.out):
                print(f"{one_line(str(chosen.out))}: {counted(_save_file(of, chosen.theme, chosen.out), 'slide')}")
                return OK
            out = output_folder(chosen.out, chosen.results, "slides")
            written = _save_all(of, THEMES[chosen.theme or "light"], out)
    except ENDING as error:
        return ended(error, "slides", "slides may be missing")
    print(f"{counted(written, 'file')} in {one_line(str(out))}")
    return OK
