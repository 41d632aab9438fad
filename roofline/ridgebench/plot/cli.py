"""Draws the figures of a results directory."""

import argparse
import re
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Callable

import matplotlib.style

from ridgebench.command_line import INTERRUPTED, OK, USAGE, Parser, fail
from ridgebench.data_sheets import find_sheet
from ridgebench.records import ResultsError, Run, load_run
from ridgebench.view import View, make_view

from . import error_vs_speed, roofline, time_vs_size
from .style import NORMAL, THEMES, Theme

DOTS_PER_INCH = {"svg": 200, "pdf": 200, "png": 150}  # a PNG has 1920 x 1080; SVG and PDF: images within
# A date or a library version would change the bytes of an unchanged figure.
METADATA = {
    "svg": {"Creator": "ridgebench", "Date": None},
    "pdf": {"Creator": "ridgebench", "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}
FORMATS = tuple(METADATA)
QUICKLY = {"png": {"pil_kwargs": {"compress_level": 3}}}  # as small as the default of 6, in half the time
inherited: dict[str, Callable] = {}  # the figures, which a drawing process gets by fork


def file_types(text: str) -> list[str]:
    chosen = text.split(",")
    for one in chosen:
        if one not in FORMATS:
            raise argparse.ArgumentTypeError(f"{one!r} is not one of {', '.join(FORMATS)}")
    return chosen


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="plot", description=__doc__)
    parser.add_argument("results", type=Path, metavar="RESULTS_DIR")
    parser.add_argument("--roof", metavar="DEVICE", help="overlay this data sheet, e.g. h100-sxm")
    parser.add_argument("--device", help="device to draw; default: the first with rows")
    parser.add_argument("--theme", choices=sorted(THEMES), default="light")
    parser.add_argument("--out", type=Path, help="folder; default: RESULTS_DIR/figures")
    parser.add_argument("--formats", type=file_types, default=list(FORMATS), metavar="svg,png,pdf")
    return parser.parse_args(arguments)


def figures(view: View) -> dict[str, Callable]:
    """Functions that draw the figures of a view, by file name; those of all rows come first."""
    drawn: dict[str, Callable] = {
        "roofline": partial(roofline.draw, view),
        "time-vs-size": partial(time_vs_size.draw, view),
        "error-vs-speed": partial(error_vs_speed.draw, view),
    }
    for name in view.formats:
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
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)


def save(name: str, theme: Theme, out: Path, formats: list[str]) -> None:
    """Draws an inherited figure into files of these formats. A reader's own Matplotlib settings are not used."""
    with matplotlib.style.context(["default", settings(theme)]), warnings.catch_warnings():
        # PNG shows boxes for characters that the font lacks; that is no error.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = inherited[name](theme)
        for kind in formats:
            how = {"dpi": DOTS_PER_INCH[kind], "metadata": METADATA[kind], **QUICKLY.get(kind, {})}
            figure.savefig(out / f"{name}.{kind}", format=kind, **how)


def save_all(view: View, theme: Theme, out: Path, formats: list[str]) -> None:
    """Draws all figures, each processor one at a time, the slowest first."""
    drawn = figures(view)
    with ProcessPoolExecutor(initializer=inherited.update, initargs=(drawn,)) as pool:
        done = [pool.submit(save, name, theme, out, formats) for name in drawn]
    for one in done:
        one.result()


def open_view(run: Run, options: argparse.Namespace) -> View:
    """The rows of the chosen device, with its own data sheet or the one of --roof."""
    view = make_view(run, options.device)
    name = options.roof or run.environment["roof"] or view.device["data_sheet"]
    return view.with_sheet(find_sheet(name)) if name else view


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    try:
        view = open_view(load_run(options.results), options)
        out = options.out or options.results / "figures"
        out.mkdir(parents=True, exist_ok=True)
        save_all(view, THEMES[options.theme], out, options.formats)
    except (ResultsError, OSError) as error:
        return fail(str(error), USAGE, "plot")
    except KeyboardInterrupt:
        return fail("interrupted; figures may be missing", INTERRUPTED, "plot")
    return OK
