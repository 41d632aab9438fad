"""The roofline as SVG that is complete without JavaScript: axes, roofs, points with their accessible names."""

from math import log10
from typing import Iterator

from ridgebench.base.units import counted, rate
from ridgebench.data.records import Row
from ridgebench.figures.page.style import shape
from ridgebench.figures.scene.roofline import layer, placed

from . import labels, marks, roofs
from .columns import name_of, ratio_text
from .frame import LEFT, TOP, Frame
from .lines import Line
from .sources import Content
from .svg import element, number, path


def _hidden(row: Row, content: Content) -> str:
    """The class of what the filters leave out at first: regimes are never mixed."""
    return "" if row.regime == content.regimes[0] else " off"


def _sweeps(content: Content, frame: Frame) -> str:
    """The path of each implementation over its sizes."""
    paths = []
    for indexes in content.sweeps:
        rows = [content.rows[index][1] for index in indexes]
        corners = "L".join(path(*frame.spot_of(row)) for row in rows)
        hue = f"f{content.formats.index(rows[0].format)}"
        paths.append(element("path", class_=hue + _hidden(rows[0], content), d="M" + corners))
    return element("g", *paths, class_="sweeps")


def _whisker(row: Row, frame: Frame) -> Iterator[str]:
    """p10 to p90 of the samples, above and below the point."""
    if row.time_p10_s and row.time_p90_s:
        top, bottom = (-frame.decade * log10(row.time_median_s / bound) for bound in (row.time_p10_s, row.time_p90_s))
        yield element("path", class_="whisker", d=path("M", 0, top, "V", bottom))


def _mark(run: int, row: Row, content: Content) -> list[str]:
    size = marks.run_size(run) * (marks.NAIVE if row.naive else 1.0)
    outline = marks.path("*" if row.external else shape(row.op, content.operations), size)
    found = [element("path", class_=f"mark {marks.classes(row, run)}", d=outline)]
    if marks.inked(run) and row.origin == "library":  # its own edge has the hue
        found.insert(0, element("path", class_="halo", d=outline))
    return found


def _tagged(content: Content) -> set[int]:
    """The fastest point of each operation in each run: the letter of its run is beside it, where there are several runs."""
    found: dict[tuple[int, str], int] = {}
    for index, run, row in drawing_order(content) if len(content.runs) > 1 else ():
        old = found.get((run, row.op))
        if row.regime == content.regimes[0] and (old is None or row.flops_per_s > content.rows[old][1].flops_per_s):
            found[run, row.op] = index
    return set(found.values())


def _tag(run: int, letter: str) -> str:
    """The letter of a run: those of every second run are left of their points."""
    left = run % 2
    return element("text", class_="tag left" if left else "tag", x=-8 if left else 8, y=-5, aria_hidden="true", text=letter)


def _point(index: int, run: int, row: Row, content: Content, frame: Frame, letter: str = "") -> str:
    """A link to the row of the table: it has the focus of a link, and works without JavaScript."""
    owner = content.runs[run]
    name = f"{owner.letter}: {name_of(row)}, {rate(row.flops_per_s, 'FLOP/s')}, {ratio_text(row, owner.view)}"
    return element(
        "a", element("title", text=name), *_whisker(row, frame), *_mark(run, row, content), _tag(run, letter) if letter else "",
        class_=f"point f{content.formats.index(row.format)}{_hidden(row, content)}", id=f"point-{index}",
        href=f"#row-{index}", aria_label=name, transform=f"translate({path(*frame.spot_of(row))})",
    )


def drawing_order(content: Content) -> list[tuple[int, int, Row]]:
    """Index, run and row of every point, the lowest layer first."""
    found = [(index, run, row) for index, (run, row) in enumerate(content.rows) if placed(row)]
    return sorted(found, key=lambda item: (layer(item[2]), item[0]))


def _points(content: Content, frame: Frame) -> str:
    letters = {index: content.runs[content.rows[index][0]].letter for index in _tagged(content)}
    drawn = (_point(index, run, row, content, frame, letters.get(index, "")) + "\n"
             for index, run, row in drawing_order(content))
    return element("g", *drawn, class_="points")


def _description(content: Content) -> str:
    drawn = sum(placed(row) for _, row in content.rows)
    runs = "; ".join(f"{run.letter}: {run.name}" for run in content.runs)
    return (
        f"{counted(drawn, 'point')} of {runs}. Solid lines are the measured roofs of {content.runs[roofs.FIRST].letter}, dashed "
        "lines are those of a data sheet. The table below holds the same rows."
    )


def _definitions(frame: Frame) -> str:
    """The part of the picture in which lines may be drawn, and the head of an arrow."""
    plot = element("rect", x=LEFT, y=TOP, width=frame.right - LEFT, height=frame.floor - TOP)
    head = {"viewBox": "0 0 8 8", "refX": 8, "refY": 4, "markerWidth": 5, "markerHeight": 5, "orient": "auto"}
    arrow = element("marker", element("path", d="M0 0L8 4L0 8Z"), id="head", **head)
    return element("defs", element("clipPath", plot, id="plot"), arrow)


def draw(content: Content, frame: Frame, lines: list[list[Line]], names: list[list[labels.Label]]) -> str:
    """The whole SVG element."""
    inside = (roofs.all_roofs(content, lines, frame), _sweeps(content, frame), _points(content, frame))
    return element(
        "svg",
        element("title", text="Roofline: rate over arithmetic intensity", id="chart-title"),
        element("desc", text=_description(content), id="chart-desc"),
        _definitions(frame), *roofs.axes(frame, content.unit[0]),
        element("g", *inside, element("g", class_="arrows"), clip_path="url(#plot)"),
        labels.draw(content, lines, names),
        xmlns="http://www.w3.org/2000/svg", id="chart", class_="chart", role="group", width=frame.width,
        viewBox=f"0 0 {number(frame.width)} {number(frame.height)}",
        aria_labelledby="chart-title", aria_describedby="chart-desc",
    )
