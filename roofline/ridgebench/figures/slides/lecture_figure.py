"""Draws the lecture figure for `plot`."""

import argparse
import sys
from functools import partial
from typing import Callable, Optional

from matplotlib.figure import Figure

from ridgebench.base.files import ResultsError
from ridgebench.base.text import one_line
from ridgebench.data.view import View
from ridgebench.figures.page.style import Theme

from . import figure, scene

_FIGURE = "lecture"


def figures(view: Optional[View], options: argparse.Namespace) -> dict[str, Callable[[Theme], Figure]]:
    """The lecture figure by its file name; one for each format that --formats names. Raises ResultsError."""
    formats = [options.format] if options.format else list(options.formats.numbers) or [None]
    found = {}
    for name in formats:
        made = scene.make(view, options.on, name, options.op, tuple(options.point))
        for question in scene.questions(made):
            print(f"plot: {one_line(question)}", file=sys.stderr)
        file_name = _FIGURE if len(formats) == 1 else f"{_FIGURE}-{name}"
        found[file_name] = partial(figure.draw, made, paper=options.paper, scale=options.font_scale)
    return found


def figures_if_any(view: View, options: argparse.Namespace) -> dict[str, Callable[[Theme], Figure]]:
    """The same beside the other figures: a run that it cannot show costs one line on stderr."""
    if not view.points:
        return {}
    try:
        return figures(view, options)
    except ResultsError as error:
        print(f"plot: no lecture figure: {one_line(str(error))}", file=sys.stderr)
        return {}
