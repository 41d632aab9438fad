"""The hue of each run, and the table of rates beside a figure of one format."""

from dataclasses import asdict
from itertools import product

from matplotlib.axes import Axes

from ridgebench.units import digits

from . import labels
from .finding import best
from .page import MARGIN, WIDTH
from .panel import neutral
from .points import marker
from .runs import LETTERS, OneRun, operations
from .style import BLUE, GREEN, PURPLE, SMALL, VERMILLION, OneHue, Theme, shape, toned

HUES = (BLUE, VERMILLION, GREEN, PURPLE)
LIGHTNESSES = (10.0, 60.0, 43.0, 26.0)  # CIE L* in print, at least 16 apart
DASHES = ("solid", (0, (5, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)))  # in print
NAME = 1.3  # inches of the table's first column


def run_theme(theme: Theme, run: OneRun) -> OneHue:
    """The theme of a run: its hue and, in print, its lightness, line style and letter."""
    index = LETTERS.index(run.letter)
    colour = toned(HUES[index], LIGHTNESSES[index]) if theme.letters else HUES[index]
    return OneHue(**{**asdict(theme), "colour": colour, "line": DASHES[index], "mark": LETTERS[index]})


def draw_rates(page: Axes, runs: list[OneRun], left: float, top: float, unit: tuple[str, float], theme: Theme) -> None:
    """Draws a table of the fastest kernel and the fastest library of every operation in each run."""
    step = min((WIDTH - MARGIN - left - NAME) / (len(runs) + (len(runs) == 2)), 0.9)
    ends = [left + NAME + (index + 1) * step for index in range(len(runs))]
    page.text(left, top - 0.15, f"Fastest row, {unit[0]}", size=SMALL, weight="bold", va="center")
    colours = [run_theme(theme, run).text(None) for run in runs]
    for x, run, colour in zip(ends, runs, colours):
        page.text(x, top - 0.4, run.letter, size=SMALL, weight="bold", ha="right", va="center", color=colour)
    if len(runs) == 2:
        page.text(ends[-1] + step, top - 0.4, f"{runs[1].letter} / {runs[0].letter}", size=SMALL, weight="bold", ha="right", va="center")
    y = top - 0.4
    for op, origin in product(operations(runs), ("hand", "library")):
        rows = [best([row for row in run.view.points if (row.op, row.origin) == (op, origin)], lambda row: row.flops_per_s)
                for run in runs]
        sign = next(filter(None, rows), None)
        if sign is None:
            continue
        y -= 0.22
        marker(page, left + 0.08, y, neutral(sign, origin), theme, shape(op, operations(runs)), 38)
        page.text(left + 0.24, y, labels.fit(op, SMALL, NAME - 0.2), size=SMALL, va="center")
        for x, row, colour in zip(ends, rows, colours):
            text = digits(row.flops_per_s / unit[1]) if row else "–"
            page.text(x, y, text, size=SMALL, ha="right", va="center", color=colour)
        if len(rows) == 2 and all(rows):
            text = f"{rows[1].flops_per_s / rows[0].flops_per_s:.2f}"
            page.text(ends[-1] + step, y, text, size=SMALL, ha="right", va="center")
