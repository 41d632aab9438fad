"""Draws the figures of a results directory."""

import argparse
import io
import re
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import matplotlib.style
from matplotlib.figure import Figure

from ridgebench.command_line import OK, Parser
from ridgebench.data_sheets import find_sheet
from ridgebench.each_once import each_once
from ridgebench.files import output_folder, write_at_once
from ridgebench.lecture import cli as lecture
from ridgebench.lecture import options as lecture_options
from ridgebench.records import ResultsError, Row, Run, load_run
from ridgebench.streams import ENDING, ended
from ridgebench.text import LONGEST, cut, one_line
from ridgebench.units import counted
from ridgebench.view import View, make_view
from ridgebench.processes.workers import in_parallel

from . import error_vs_speed, external, multiples, parallelism, power, roofline, runs_figure, time_vs_size, working_set
from .runs import devices_of, make_runs
from .style import NORMAL, THEMES, Theme

DOTS_PER_INCH = {"svg": 200, "pdf": 200, "png": 150}  # a PNG has 1920 x 1080; SVG and PDF: images within
# A date or a library version would change the bytes of an unchanged figure.
METADATA = {
    "svg": {"Creator": "ridgebench", "Date": None},
    "pdf": {"Creator": "ridgebench", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}
QUICKLY = {"png": {"pil_kwargs": {"compress_level": 3}}}  # as small as the default of 6, in half the time
LONGEST_NAME = 80  # characters of a format's name in a file name
SHOWN = ("op", "technique", "device", "format", "arithmetic", "reason")  # texts of a row
LEAST, MOST = 1e-60, 1e60  # axes of more decades than these would hide every point
DRAWN = ("flops", "bytes", "intensity_flop_per_byte", "time_median_s", "time_p10_s", "time_p90_s", "flops_per_s",
         "bytes_per_s", "fraction_of_measured_roof", "dram_bytes")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="plot", description=__doc__)
    parser.add_argument("results", type=Path, metavar="RESULTS_DIR", nargs="*",
                        help="several: one roofline of all of them, a hue for each; may be left out with --on")
    parser.add_argument("--roof", metavar="SHEET", action="append", default=[],
                        help="overlay this data sheet, e.g. h100-sxm; may be repeated")
    parser.add_argument("--points", metavar="DIR", type=Path, action="append", default=[],
                        help="also draw what `ridgebench import` made of another tool's file; may be repeated")
    parser.add_argument("--device", help="device to draw, or `all`; default: the first with rows")
    parser.add_argument("--theme", choices=sorted(THEMES), default="light")
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


def figures(view: View, options: argparse.Namespace) -> dict[str, Callable]:
    """Functions that draw the figures of a run by file name; those of all rows come first."""
    if options.style == "lecture":
        return lecture.figures(view, options)
    drawn = reference_figures(view, options.formats.numbers)
    return drawn if options.style == "reference" else drawn | lecture.figures_if_any(view, options)


def reference_figures(view: View, numbers: tuple[str, ...]) -> dict[str, Callable]:
    """The figures of all rows; `numbers` chooses formats, none of them means all."""
    drawn: dict[str, Callable] = {"roofline": partial((multiples if multiples.wanted(view) else roofline).draw, view)}
    if view.points:  # the others are of verified rows alone
        drawn["time-vs-size"] = partial(time_vs_size.draw, view)
        drawn["error-vs-speed"] = partial(error_vs_speed.draw, view)
    if power.placed(view):
        drawn["power"] = partial(power.draw, view)
    for name, figure in {"working-set": working_set, "parallelism": parallelism}.items():
        drawn |= {name: partial(figure.draw, view)} if figure.panels(view) else {}
    for name in view.formats:
        if numbers and name not in numbers:
            continue
        drawn[f"roofline-{file_name(name)}"] = partial(roofline.draw, view.only(name))
    return drawn


def settings(theme: Theme) -> dict:
    """Matplotlib's settings: names are printed as they are ($ is no TeX), identifiers in SVG do not vary."""
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "ridgebench",
        "pdf.fonttype": 42,
        "text.parse_math": False,
        "font.family": ["DejaVu Sans", "sans-serif"],  # Matplotlib ships it, so the layout is the same everywhere
        "font.size": NORMAL,
        "text.color": theme.ink,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.ink,
        "axes.facecolor": theme.background,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "savefig.facecolor": theme.background,
    }


def file_name(text: str) -> str:
    """A format's name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text[:LONGEST_NAME])


@contextmanager
def drawing(theme: Theme) -> Iterator[None]:
    """The settings for a figure. A reader's own Matplotlib settings are not used."""
    with matplotlib.style.context(["default", settings(theme)]), warnings.catch_warnings():
        # PNG shows boxes for characters that the font lacks; that is no error.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def drawn(figure: Figure, kind: str) -> bytes:
    """The file of a figure. A full disk then ends the writing of bytes and no writer of Matplotlib's in the middle."""
    how = {"dpi": DOTS_PER_INCH[kind], "metadata": METADATA[kind], **QUICKLY.get(kind, {})}
    file = io.BytesIO()
    figure.savefig(file, format=kind, **how)
    return file.getvalue()


def write(figure: Figure, path: Path, kind: str) -> None:
    write_at_once(path, drawn(figure, kind))


def save(name: str, draw: Callable, theme: Theme, out: Path, formats: tuple[str, ...]) -> None:
    """Draws a figure into files of these formats."""
    with drawing(theme):
        figure = draw(theme)
        for kind in formats:
            write(figure, out / f"{name}.{kind}", kind)


def save_all(drawn: dict[str, Callable], theme: Theme, out: Path, formats: tuple[str, ...]) -> int:
    """Draws all figures, each processor one at a time, the slowest first; returns the number of files."""
    in_parallel(lambda one: save(*one, theme, out, formats), list(drawn.items()))
    return len(drawn) * len(formats)


def numbers(row: Row) -> Iterator[tuple[str, Any]]:
    """The numbers of a row that decide where something is drawn."""
    for key in DRAWN:
        yield key, getattr(row, key)
    for part in ("roof", "verify"):
        yield from ((f"{part}.{key}", value) for key, value in (getattr(row, part) or {}).items())
    yield "clock_hz", row.clock_hz
    yield "telemetry.window.power_w", power.watts(row)


def check_range(run: Run) -> None:
    """Raises ResultsError for a number that no axis can hold."""
    floors = [("devices: launch_floor_s", device["launch_floor_s"]) for device in run.environment["devices"]]
    named = [(f"{row.id}: {key}", value) for row in run.rows for key, value in numbers(row)]
    for name, value in floors + named:
        if type(value) in (int, float) and value and not LEAST <= value <= MOST:
            raise ResultsError(f"{name} is {value:g}; a figure can hold {LEAST:g} to {MOST:g}")


def with_short_texts(run: Run) -> Run:
    """The run with the texts that a figure shows cut."""
    rows = [
        replace(row, **{key: cut(text) for key in SHOWN if (text := getattr(row, key)) and len(text) > LONGEST})
        for row in run.rows
    ]
    return replace(run, environment=cut(run.environment), rows=rows)


def with_points(view: View, folders: list[Path]) -> View:
    """The view with the points of other tools, as if they were of its device. Raises ResultsError."""
    rows = list(view.rows)
    for folder in folders:
        run = load_run(folder)
        check_range(run)
        foreign = [row for row in with_short_texts(run).rows if row.external]
        if not foreign:
            raise ResultsError(f"{folder}: no point of another tool; allowed: a folder that `ridgebench import` wrote")
        rows += [replace(row, id=f"{folder}: {row.id}", device=view.device["name"]) for row in foreign]
    return replace(view, rows=rows)


def open_view(run: Run, options: argparse.Namespace, device: Optional[str] = None) -> View:
    """The rows of a device, by default of the first one that has rows, with its own data sheet or those of --roof."""
    check_range(run)
    view = with_points(make_view(with_short_texts(run), device), options.points)
    names = options.roof or filter(None, [run.environment["roof"] or view.device["data_sheet"]])
    return view.with_sheets(*map(find_sheet, dict.fromkeys(names)))


def open_views(options: argparse.Namespace) -> tuple[list[View], list[Path]]:
    """A view of every run and device that is drawn, and the folder of each. Raises ResultsError."""
    runs = each_once(options.results, load_run)
    if options.points and len(runs) > 1:
        raise ResultsError("--points belongs to one run; allowed: one results directory with it")
    found = [(open_view(run, options, device), run.folder) for run in runs for device in devices_of(run, options.device)]
    return [view for view, _ in found], [folder for _, folder in found]


def drawn_figures(options: argparse.Namespace) -> dict[str, Callable]:
    """The figures of data sheets alone, of one run, or of several together; asks about points that are too fast."""
    if not options.results and options.style == "reference":
        raise ResultsError("--style reference draws the rows of a run; allowed: a results directory with it")
    if not options.results:
        return lecture.figures(None, options)
    views, folders = open_views(options)
    if len(views) > 1:
        if options.style == "lecture":
            raise ResultsError("the lecture figure shows one run; allowed: one results directory, and --on for others")
        overlaid = views if options.roof else [view.with_sheets() for view in views]
        together = runs_figure.figures(make_runs(overlaid, folders), options.formats.numbers)
        return {file_name(name): draw for name, draw in together.items()}
    for question in external.questions(views[0], roofline.sources(views[0])):
        print(f"plot: {one_line(question)}", file=sys.stderr)
    return figures(views[0], options)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    try:
        drawn = drawn_figures(options)
        out = output_folder(options.out or (None if options.results else Path()), next(iter(options.results), None), "figures")
        written = save_all(drawn, THEMES[options.theme], out, options.formats.types)
    except ENDING as error:
        return ended(error, "plot", "figures may be missing")
    print(f"{counted(written, 'file')} in {one_line(str(out))}")
    return OK
