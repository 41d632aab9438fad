"""Data for report.js beside picture and table: places, filters and sweeps of rows, lines of roofs, pairs of runs, views."""

from itertools import combinations
from math import log10
from typing import Any

from ridgebench.data.records import Row
from ridgebench.figures.page.runs import changed

from . import chart, frame, lines, marks, roofs
from .presets import presets
from .sources import Content, placed

_DIGITS = 5  # of log10: less than a thousandth of a pixel


def _point(index: int, run: int, row: Row, content: Content) -> dict[str, Any]:
    """A row by the indexes that the filters know: run, format, operation, kind, regime; a: format of the arithmetic.

    x, y: its place, log10. w: the ends of its whisker above y.
    """
    formats = content.formats
    found = {
        "i": index, "r": run, "f": formats.index(row.format), "o": content.operations.index(row.op),
        "k": content.kinds.index(marks.kind(row)), "g": content.regimes.index(row.regime),
        "a": formats.index(row.arithmetic) if row.arithmetic in formats else None,
    }
    if placed(row):
        found["x"] = round(log10(row.intensity_flop_per_byte), _DIGITS)
        found["y"] = round(log10(row.flops_per_s / content.unit[1]), _DIGITS)
        if row.time_p10_s and row.time_p90_s:
            bounds = (row.time_p10_s, row.time_p90_s)
            found["w"] = [round(log10(row.time_median_s / bound), _DIGITS) for bound in bounds]
    return found


def _cases(content: Content, run: int) -> dict[str, int]:
    """The verified points of a run by their case."""
    rows = enumerate(content.rows)
    return {row.case: index for index, (owner, row) in rows if owner == run and row.drawable and placed(row)}


def _changes(content: Content) -> list[dict[str, Any]]:
    """Pairs of runs with cases in common: how many, and the rows of those whose time changed beyond both intervals."""
    found = []
    verified = [_cases(content, run) for run in range(len(content.runs))]
    for (first, one), (second, other) in combinations(enumerate(verified), 2):
        common = [(index, other[name]) for name, index in one.items() if name in other]
        moved = [pair for pair in common if changed(*(content.rows[index][1] for index in pair))]
        if common:
            found.append({"from": first, "to": second, "common": len(common), "changed": moved})
    return found


def _sources(content: Content, drawn: list[list[lines.Line]]) -> list[dict[str, Any]]:
    return [
        {"title": source.title, "measured": source.measured, "run": source.run, "state": roofs.state(content, index),
         "lines": [lines.as_json(line, _DIGITS) for line in some]}
        for index, (source, some) in enumerate(zip(content.sources, drawn))
    ]


def _presets(content: Content) -> list[dict[str, Any]]:
    """The views by the indexes that the filters know; a filter that is missing leaves all on."""
    found = []
    for one in presets(content):
        on = {"f": content.formats.index(one.format) if one.format else None,
              "o": content.operations.index(one.operation) if one.operation else None, "r": one.run}
        found.append({"name": one.name, "heading": one.heading, "beside": one.beside,
                      "on": {key: value for key, value in on.items() if value is not None}})
    return found


def data(content: Content, place: frame.Frame, drawn: list[list[lines.Line]]) -> dict[str, Any]:
    sizes = {"left": frame.LEFT, "top": frame.TOP, "bottom": frame.BOTTOM, "right": frame.RIGHT,
             "width": frame.MOST_WIDTH, "height": frame.MOST_HEIGHT, "x": place.x, "y": place.y}
    return {
        "frame": sizes,
        "points": [_point(index, run, row, content) for index, (run, row) in enumerate(content.rows)],
        "order": [index for index, _, _ in chart.drawing_order(content)],
        "sources": _sources(content, drawn),
        "letters": [run.letter for run in content.runs],
        "sweeps": content.sweeps,
        "changes": _changes(content),
        "presets": _presets(content),
    }
