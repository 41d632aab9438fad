"""Data for report.js beside picture and table: places, filters and sweeps of rows, roofs and their names, pairs of runs, views."""

from itertools import combinations
from typing import Any

from ridgebench.data.records import Row
from ridgebench.figures.page.runs import changed
from ridgebench.figures.scene.roofline import placed

from . import chart, frame, labels, lines, marks, roofs
from .presets import presets
from .sources import Content

_DIGITS = 2  # of a px


def _point(index: int, run: int, row: Row, content: Content, place: frame.Frame) -> dict[str, Any]:
    """A row by the indexes of the filters: run, format, operation, kind, regime; a: format of the arithmetic.

    x, y: its place in the picture.
    """
    formats = content.formats
    found = {
        "i": index, "r": run, "f": formats.index(row.format), "o": content.operations.index(row.op),
        "k": content.kinds.index(marks.kind(row)), "g": content.regimes.index(row.regime),
        "a": formats.index(row.arithmetic) if row.arithmetic in formats else None,
    }
    if placed(row):
        found["x"], found["y"] = (round(part, _DIGITS) for part in place.spot_of(row))
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


def _label(one: labels.Label) -> dict[str, Any]:
    """A name: its kind, its line, the place of the line that it belongs to."""
    (x, y) = (round(part, _DIGITS) for part in one.at)
    return {"kind": one.kind, "line": one.line, "x": x, "y": y, **one.more}


def _sources(content: Content, drawn: list[list[lines.Line]], names: list[list[labels.Label]]) -> list[dict[str, Any]]:
    return [
        {"title": source.title, "measured": source.measured, "run": source.run, "state": roofs.state(content, index),
         "lines": [{"kind": line.kind, "hue": roofs.hue_class(line), "formats": line.formats, "label": line.label, "brief": line.brief}
                   for line in some],
         "labels": list(map(_label, named))}
        for index, (source, some, named) in enumerate(zip(content.sources, drawn, names))
    ]


def _presets(content: Content) -> list[dict[str, Any]]:
    """The views by the indexes of the filters; a filter that is missing leaves all on."""
    found = []
    for one in presets(content):
        on = {"f": content.formats.index(one.format) if one.format else None,
              "o": content.operations.index(one.operation) if one.operation else None, "r": one.run}
        found.append({"name": one.name, "heading": one.heading, "beside": one.beside,
                      "on": {key: value for key, value in on.items() if value is not None}})
    return found


def data(content: Content, place: frame.Frame, drawn: list[list[lines.Line]], names: list[list[labels.Label]]) -> dict[str, Any]:
    sizes = {"left": frame.LEFT, "right": place.right, "top": frame.TOP, "floor": place.floor, "width": place.width, "below": frame.BOTTOM,
             "tallest": frame.MOST_HEIGHT, "x": place.x, "y": place.y, "narrow": frame.NARROW, "step": labels.STEP, "letter": labels.LETTER}
    return {
        "frame": sizes,
        "points": [_point(index, run, row, content, place) for index, (run, row) in enumerate(content.rows)],
        "order": [index for index, _, _ in chart.drawing_order(content)],
        "sources": _sources(content, drawn, names),
        "letters": [run.letter for run in content.runs],
        "sweeps": content.sweeps,
        "changes": _changes(content),
        "presets": _presets(content),
    }
