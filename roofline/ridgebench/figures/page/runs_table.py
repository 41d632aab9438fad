"""The hue of each run, and the table of rates beside a figure of one format."""

from dataclasses import asdict
from itertools import product

from matplotlib.axes import Axes

from ridgebench.base.units import digits

from . import labels
from .canvas import Canvas
from .finding import best
from .page import MARGIN, WIDTH
from .panel import neutral
from .points import marker
from .runs import LETTERS, OneRun, operations
from .style import BLUE, GREEN, PURPLE, SMALL, VERMILLION, OneHue, Theme, shape, toned

_HUES = (BLUE, VERMILLION, GREEN, PURPLE)
_LIGHTNESSES = (10.0, 60.0, 43.0, 26.0)  # CIE L* in print, at least 16 apart
_DASHES = ("solid", (0, (5, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)))  # in print
_BELOW, _ROW = 0.75, 0.2  # inches from a panel to the table below it; between two of its lines
_NAME = 1.3  # inches of the table's first column


def run_theme(theme: Theme, run: OneRun) -> OneHue:
    """The theme of a run: its hue and, in print, its lightness, line style and letter."""
    index = LETTERS.index(run.letter)
    colour = toned(_HUES[index], _LIGHTNESSES[index]) if theme.letters else _HUES[index]
    return OneHue(**{**asdict(theme), "colour": colour, "line": _DASHES[index], "mark": LETTERS[index]})


def draw_rates(page: Axes, runs: list[OneRun], left: float, top: float, unit: tuple[str, float], theme: Theme) -> None:
    """Draws a table of the fastest kernel and the fastest library of every operation in each run."""
    step = min((WIDTH - MARGIN - left - _NAME) / (len(runs) + (len(runs) == 2)), 0.9)
    ends = [left + _NAME + (index + 1) * step for index in range(len(runs))]
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
        page.text(left + 0.24, y, labels.fit(op, SMALL, _NAME - 0.2), size=SMALL, va="center")
        for x, row, colour in zip(ends, rows, colours):
            text = digits(row.flops_per_s / unit[1]) if row else "–"
            page.text(x, y, text, size=SMALL, ha="right", va="center", color=colour)
        if len(rows) == 2 and all(rows):
            text = f"{rows[1].flops_per_s / rows[0].flops_per_s:.2f}"
            page.text(ends[-1] + step, y, text, size=SMALL, ha="right", va="center")


def _fastest_texts(runs: list[OneRun], op: str, names: list[str], scale: float) -> list[str]:
    """The rate of the fastest row of an operation in these formats, for each run; empty without one."""
    found = [best([row for row in run.view.points if row.op == op and row.format in names], lambda row: row.flops_per_s)
             for run in runs]
    values = [row.flops_per_s / scale if row else None for row in found]
    return ["" if value is None else digits(value) if value >= 0.01 else f"{value:.2g}" for value in values]


def draw_fastest(page: Axes, runs: list[OneRun], groups: dict[str, list[str]], canvases: dict[str, Canvas], low: float,
                 unit: tuple[str, float], theme: Theme) -> None:
    """Draws the fastest row of every operation below each panel, where one row of panels leaves room above `low` (inches)."""
    tiles, shown = list(canvases.values()), operations(runs)
    top, step = min(tile.bottom for tile in tiles) - _BELOW, min((tiles[0].right - tiles[0].left) / len(runs), 0.6)
    texts = {(name, op): _fastest_texts(runs, op, own, unit[1]) for name, own in groups.items() for op in shown}
    widest = max((labels.width(text, SMALL) for some in texts.values() for text in some), default=0.0)
    first = max((labels.width(texts[next(iter(groups)), op][0], SMALL) for op in shown), default=0.0)
    room = tiles[0].right - (len(runs) - 1) * step - first - MARGIN - 0.05
    fit = top - (len(shown) + 1) * _ROW > low and widest + 0.06 <= step and room > labels.width("matmul", SMALL)
    if len({tile.bottom for tile in tiles}) > 1 or not fit:
        return
    page.text(MARGIN, top, f"Fastest row, {unit[0]}", size=SMALL, weight="bold", va="center")
    heads = [run.letter for run in runs]
    for line, op in enumerate(["", *shown]):
        y = top - (line + 1) * _ROW
        page.text(MARGIN, y, labels.fit(op, SMALL, room), size=SMALL, va="center")
        for name, tile in canvases.items():
            known = [any(texts[name, other][index] for other in shown) for index in range(len(runs))]
            for index, (run, text) in enumerate(zip(runs, texts[name, op] if op else heads)):
                if known[index]:
                    page.text(tile.right - (len(runs) - 1 - index) * step, y, text, size=SMALL, ha="right", va="center",
                              weight="normal" if op else "bold", color=run_theme(theme, run).text(None))
