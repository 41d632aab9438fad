"""Draws the figures of a results directory."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Callable, Optional

from ridgebench.base.command_line import OK, Parser
from ridgebench.base.files import ResultsError, output_folder
from ridgebench.base.streams import ENDING, ended
from ridgebench.base.text import one_line
from ridgebench.base.units import counted
from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.each_once import each_once
from ridgebench.data.program import ask
from ridgebench.data.records import Run, load_run
from ridgebench.data.steps import holds_step, load_steps
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.drawable import drawable, with_points
from ridgebench.figures.page.drawing import file_name, save_all
from ridgebench.figures.page.language import add_language, speaking
from ridgebench.figures.page.runs import devices_of, make_runs
from ridgebench.figures.page.style import THEMES, is_pair

from .page import energy, error_vs_speed, external, links, multiples, parallelism, power, roofline, runs_figure, step, time_vs_size, working_set
from .slides import lecture_figure as lecture
from .slides import options as lecture_options


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="plot", description=__doc__)
    parser.add_argument("results", type=Path, metavar="RESULTS_DIR", nargs="*",
                        help="several: one roofline of all of them, a hue for each; may be left out with --on")
    parser.add_argument("--roof", metavar="SHEET", action="append", default=[],
                        help="overlay this data sheet; may be repeated")
    parser.add_argument("--points", metavar="DIR", type=Path, action="append", default=[],
                        help="also draw what `ridgebench import` made of another tool's file; may be repeated")
    parser.add_argument("--link", metavar="LINK", action="append", default=[],
                        help="a roof of copies and collectives, as `plan transfer --link` takes it, e.g. nvlink4; may be repeated")
    parser.add_argument("--device", help="device to draw, or `all`; default: the first with rows")
    parser.add_argument("--theme", choices=sorted(THEMES), default="light")
    add_language(parser)
    parser.add_argument("--out", type=Path, help="folder; default: RESULTS_DIR/figures, without one the current folder")
    lecture_options.add_to(parser)
    parser.add_argument("--terminal", action="store_true",
                        help="draw on the terminal, without Python: ridgebench plot --terminal --help")
    options = parser.parse_args(arguments)
    if options.terminal:
        parser.error("the program draws --terminal: ridgebench plot --terminal DIR")
    if not options.results and not options.on:
        parser.error("the following arguments are required: RESULTS_DIR, or --on DEVICE")
    return options


def _figures(view: View, options: argparse.Namespace) -> dict[str, Callable]:
    """Functions that draw the figures of a run by file name; those of all rows come first."""
    if options.style == "lecture":
        return lecture.figures(view, options)
    drawn = reference_figures(view, options.formats.numbers, _links(options))
    return drawn if options.style == "reference" else drawn | lecture.figures_if_any(view, options)


def _links(options: argparse.Namespace) -> tuple[links.Link, ...]:
    """The links of --link with the rates that the program has for them. Raises ResultsError."""
    rates = {name: ask("plan", "transfer", "--bytes", "1", "--link", name)["terms"][0]["value"] for name in options.link}
    return tuple(links.Link(name, bytes_per_s) for name, bytes_per_s in rates.items())


def reference_figures(view: View, numbers: tuple[str, ...], roofs_of_links: tuple[links.Link, ...] = ()) -> dict[str, Callable]:
    """The figures of all rows; `numbers` chooses formats, none of them means all."""
    drawn: dict[str, Callable] = {"roofline": partial((multiples if multiples.wanted(view) else roofline).draw, view)}
    if view.points:  # the others are only of verified rows
        if time_vs_size.swept(view).points:
            drawn["time-vs-size"] = partial(time_vs_size.draw, view)
        drawn["error-vs-speed"] = partial(error_vs_speed.draw, view)
    if power.placed(view):
        drawn["power"] = partial(power.draw, view)
    if energy.placed(view):
        drawn["roofline-energy"] = partial(energy.draw, view)
    if links.wanted(view, roofs_of_links):
        drawn["links"] = partial(links.draw, view, roofs_of_links)
    elif roofs_of_links:
        raise ResultsError(f"--link {roofs_of_links[0].name}: the run has no row of a copy or a collective that a link would limit; "
                           "allowed: a run that measured one")
    for name, figure in {"working-set": working_set, "parallelism": parallelism}.items():
        drawn |= {name: partial(figure.draw, view)} if figure.panels(view) else {}
    for name in view.formats:
        if numbers and name not in numbers or is_pair(name) and drawn["roofline"].func is multiples.draw:  # type: ignore[attr-defined]
            continue  # mixed pairs have a panel of that figure
        drawn[f"roofline-{file_name(name)}"] = partial(roofline.draw, view.only(name))
    return drawn


def open_view(run: Run, options: argparse.Namespace, device: Optional[str] = None) -> View:
    """The rows of a device of drawable(), by default of the first one that has rows, with its own data sheet or those of --roof."""
    view = with_points(make_view(run, device), options.points)
    names = options.roof or filter(None, [run.environment["roof"] or view.device["data_sheet"]])
    return view.with_sheets(*map(find_sheet, dict.fromkeys(names)))


def _open_views(options: argparse.Namespace) -> tuple[list[View], list[Path]]:
    """A view of every run and device that is drawn, and the folder of each. Raises ResultsError."""
    runs = each_once(options.results, load_run)
    if options.points and len(runs) > 1:
        raise ResultsError("--points belongs to one run; allowed: one results directory with it")
    found: list[tuple[View, Path]] = []
    for run in map(drawable, runs):
        found += [(open_view(run, options, device), run.folder) for device in devices_of(run, options.device)]
    return [view for view, _ in found], [folder for _, folder in found]


def _refuse_options_of_runs(options: argparse.Namespace, folder: Path) -> None:
    given = {name: getattr(options, name) for name in ("on", "roof", "points", "link", "device", "style", "op", "format", "point", "paper")}
    given["formats"] = options.formats.numbers
    for name in (name for name, value in given.items() if value):
        raise ResultsError(f"--{name} is of the figures of a run, and {folder} holds a step; allowed: --theme, --lang, --out, --formats svg,pdf,png")


def drawn_figures(options: argparse.Namespace) -> dict[str, Callable]:
    """The figures of data sheets, of one run, or of several together; prints a question on points that are too fast."""
    if options.link and (len(options.results) != 1 or options.style == "lecture"):
        raise ResultsError("--link belongs to the figure of a run's copies and collectives; allowed: one results directory with it")
    if not options.results and options.style == "reference":
        raise ResultsError("--style reference draws the rows of a run; allowed: a results directory with it")
    if not options.results:
        return lecture.figures(None, options)
    if any(map(holds_step, options.results)):
        if len(options.results) > 1:
            raise ResultsError("the figures of a step are those of one folder; allowed: one results directory")
        _refuse_options_of_runs(options, options.results[0])
        return step.figures(load_steps(options.results[0]))
    views, folders = _open_views(options)
    if len(views) > 1:
        if options.style == "lecture":
            raise ResultsError("the lecture figure shows one run; allowed: one results directory, and --on for others")
        overlaid = views if options.roof else [view.with_sheets() for view in views]
        together = runs_figure.figures(make_runs(overlaid, folders), options.formats.numbers)
        return {file_name(name): draw for name, draw in together.items()}
    for question in external.questions(views[0], roofline.sources(views[0])):
        print(f"plot: {one_line(question)}", file=sys.stderr)
    return _figures(views[0], options)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    try:
        with speaking(options.lang):
            drawn = drawn_figures(options)
            out = output_folder(options.out or (None if options.results else Path()), next(iter(options.results), None), "figures")
            written = save_all(drawn, THEMES[options.theme], out, options.formats.types)
    except ENDING as error:
        return ended(error, "plot", "figures may be missing")
    print(f"{counted(written, 'file')} in {one_line(str(out))}")
    return OK
