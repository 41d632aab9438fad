"""Points by the model lie on drawn roofs, and paths through them follow the roofs, on 200 made-up runs and published ones."""

from math import log10
from typing import Optional

import pytest
from golden import ROOT
from made_up_lecture import made_up, predict

from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.page.drawing import drawing
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.slides import build_up, deck, figure, model, scene
from ridgebench.figures.slides.drawing import BY_MODEL
from ridgebench.figures.slides.plane import Plane

RUNS = 200
LIGHT = THEMES["light"]
NEAR = log10(1.011)  # decades: 1 %, and what is between a roof and one that counts as the same
PUBLISHED = sorted(path.parent for path in ROOT.glob("results/*/20*/records.jsonl"))
SHEETS = ("h100-sxm", "h200", "b200", "l4", "a100", "rtx4090")

Line = list[tuple[float, float]]


@pytest.fixture
def planes(monkeypatch) -> list[Plane]:
    """The planes that are made from here on; the last one gives the scale."""
    found: list[Plane] = []
    draw_frame = Plane.draw_frame

    def draw_and_keep(plane: Plane) -> None:
        found.append(plane)
        draw_frame(plane)

    monkeypatch.setattr(Plane, "draw_frame", draw_and_keep)
    return found


def lines_of(plane: Plane, drawn, name: str) -> list[Line]:
    """The lines with a group id, in decades from the lower left corner of the plane."""
    left, bottom, decade = plane.area.left, plane.area.bottom, plane.decade
    lines = [line for axes in drawn.axes for line in axes.lines if line.get_gid() == name]
    return [[((x - left) / decade, (y - bottom) / decade) for x, y in line.get_xydata()] for line in lines]


def height(line: Line, x: float) -> float:
    """The height of a line, which goes from edge to edge, at x."""
    parts = [part for part in zip(line, line[1:]) if part[0][0] - 1e-9 <= x <= part[1][0] + 1e-9]
    (x0, y0), (x1, y1) = parts[0]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0) if x1 > x0 else y0


def off_the_roofs(roofs: list[Line], point: tuple[float, float]) -> float:
    """Decades to the nearest drawn roof above or below a point."""
    return min(abs(height(roof, point[0]) - point[1]) for roof in roofs)


def between(roofs: list[Line], start: tuple[float, float], end: tuple[float, float]) -> bool:
    """True if the middle of a piece of a path lies between the roofs on which its ends lie."""
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    under = [roof for roof in roofs if min(abs(height(roof, at) - value) for at, value in (start, end)) <= NEAR]
    heights = [height(roof, x) for roof in under]
    return min(heights) - NEAR <= y <= max(heights) + NEAR


def check(plane: Plane, drawn) -> int:
    """Checks a figure; returns how many points and pieces of paths by the model it has."""
    roofs = lines_of(plane, drawn, "roof")
    points = [point for line in lines_of(plane, drawn, BY_MODEL) for point in line]
    paths = lines_of(plane, drawn, f"path {BY_MODEL}")
    for point in points + [point for path in paths for point in path]:
        assert off_the_roofs(roofs, point) <= NEAR, point
    pieces = [piece for path in paths for piece in zip(path, path[1:])]
    for start, end in pieces:
        assert between(roofs, start, end), (start, end)
    return len(points) + len(pieces)


def check_all(view: Optional[View], names: tuple[str, ...], planes: list[Plane]) -> None:
    """The lecture figure and the slides with points by the model."""
    with drawing(LIGHT):
        drawn = figure.draw(scene.make(view, list(names), None), LIGHT)
        assert check(planes[-1], drawn)
        of = deck.make(view, list(names), None, "SOURCE", "ridgebench slides")
        for slide in (build_up.batching(of), build_up.matmul(of)):
            assert check(planes[-1], deck.draw(slide, of, LIGHT))


def test_in_made_up_runs(monkeypatch, planes):
    monkeypatch.setattr(model, "predict", predict)
    drawn = 0
    for seed in range(RUNS):
        view = made_up(seed)
        if view.points:
            check_all(view, (), planes)
            drawn += 1
    assert drawn > RUNS / 2


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.parent.name)
def test_in_published_runs_of_gpus_and_hosts(folder, planes):
    check_all(make_view(drawable(load_run(folder)), None), (), planes)


@pytest.mark.parametrize("name", SHEETS)
def test_from_data_sheets(name, planes):
    check_all(None, (name,), planes)


def test_with_several_devices(planes):
    with drawing(LIGHT):
        drawn = figure.draw(scene.make(None, ["h100-sxm", "h200", "b200"], None), LIGHT)
    assert check(planes[-1], drawn) > 12


def test_a_chord_below_the_ridge_is_found(planes):
    """What a path through the sizes only would draw."""
    of = deck.make(None, ["h100-sxm"], None, "SOURCE", "ridgebench slides")
    with drawing(LIGHT):
        deck.draw(build_up.batching(of), of, LIGHT)
    decades = [(log10(one.intensity) - planes[-1].x[0], log10(one.rate / 1e12) - planes[-1].y[0]) for one in of.batching]
    ends = planes[-1].ends()
    roof = [(log10(x) - planes[-1].x[0], log10(of.roof.at(x) / 1e12) - planes[-1].y[0]) for x in (ends[0], of.roof.ridge, ends[1])]
    assert not all(between([roof], *piece) for piece in zip(decades, decades[1:]))
    assert all(off_the_roofs([roof], point) <= NEAR for point in decades)
