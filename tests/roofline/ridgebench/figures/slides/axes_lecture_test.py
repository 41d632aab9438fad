"""The axes of slides 3 to 13 are the same to the byte; bandwidth rises at 45 degrees; formats differ in greyscale."""

import io
from itertools import combinations
from math import isclose
from xml.etree import ElementTree

import pytest
from golden import ROOT

from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page.drawing import METADATA, drawing
from ridgebench.figures.page.style import DIRECT, THEMES, luminance
from ridgebench.figures.slides import deck, figure, scene, slides
from ridgebench.figures.slides.plane import AXES

PUBLISHED = next(ROOT.glob("results/nvidia-h100*/2026-11-22-7f6e7b5"))
HOST = next(ROOT.glob("results/amd-epyc*/2026-11-23-*"))
LIGHT = THEMES["light"]
GREY = 0.1  # luminances that differ by more are told apart


def deck_of(run=None, *names: str):
    view = make_view(load_run(run), None) if run else None
    return deck.make(view, list(names), None, "h100-sxm", "ridgebench slides")


def axes_of(slide, of) -> bytes:
    """The group of the axes in the slide's SVG."""
    file = io.BytesIO()
    with drawing(LIGHT):
        deck.draw(slide, of, LIGHT).savefig(file, format="svg", metadata=METADATA["svg"])
    groups = [node for node in ElementTree.fromstring(file.getvalue()).iter() if node.get("id") == AXES]
    assert len(groups) == 1
    return ElementTree.tostring(groups[0])


@pytest.mark.parametrize("run", [None, PUBLISHED, HOST], ids=["data sheet", "H100", "host"])
def test_the_axes_of_slides_with_a_plane_are_the_same_to_the_byte(run):
    of = deck_of(run, *([] if run else ["h100-sxm"]))
    drawn = slides.all_slides(of)
    shared = {slide.slug for slide in drawn if slide.axes}
    built = {"axes", "bandwidth", "peak", "roofline", "relu", "gelu", "batching", "matmul"}
    # A device with a data sheet has bars on the slide of its limits.
    assert shared == built | {"formats", "devices", "zones"} | ({"limits"} if run == HOST else set())
    assert [slide.slug for slide in drawn if slide.follows] == [slide.slug for slide in drawn if slide.slug in built - {"axes"}]
    chosen = [slide for slide in drawn if slide.axes][:: 1 if run is None else 4]
    assert len({axes_of(slide, of) for slide in chosen}) == 1


def lines_of(drawn, group: str):
    return [line for axes in drawn.axes for line in axes.lines if line.get_gid() == group]


@pytest.mark.parametrize("paper", [False, True])
def test_bandwidth_rises_at_45_degrees_and_bends_at_the_ridge(paper):
    with drawing(LIGHT):
        drawn = figure.draw(scene.make(None, ["h100-sxm", "l4", "rtx4090"], None), LIGHT, paper)
    lines = lines_of(drawn, "roof")
    assert len(lines) == 3
    for line in lines:
        (x0, y0), (x1, y1), (x2, y2) = line.get_transform().transform(line.get_xydata())
        assert isclose(x1 - x0, y1 - y0, rel_tol=1e-9)
        assert isclose(y1, y2) and x2 > x1


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_formats_are_told_apart_in_greyscale(theme):
    of = deck_of(None, "h100-sxm")
    slide = next(slide for slide in slides.all_slides(of) if slide.slug == "formats")
    with drawing(theme):
        drawn = deck.draw(slide, of, theme)
    lines = lines_of(drawn, "roof")
    names = {text.get_text(): text for axes in drawn.axes for text in axes.texts if text.get_gid() == DIRECT}
    assert len(lines) == len(of.formats) == 4
    assert set(names) == {"fp32: ridge 20", "tf32: ridge 148", "fp16, bf16: ridge 295", "fp8: ridge 591", "ReLU", "matmul"}
    heights = [names[name].get_position()[1] for name in ("fp32: ridge 20", "tf32: ridge 148", "fp16, bf16: ridge 295", "fp8: ridge 591")]
    assert heights == sorted(heights), "the names are in the order of their roofs"
    for one, other in combinations(lines, 2) if theme.letters else ():
        grey = abs(luminance(one.get_color()) - luminance(other.get_color()))
        assert grey > GREY or one._unscaled_dash_pattern != other._unscaled_dash_pattern


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_devices_are_told_apart_by_their_lines(theme):
    with drawing(theme):
        drawn = figure.draw(scene.make(None, ["h100-sxm", "h200", "b200", "a100", "l4", "l40s"], None), theme)
    lines = lines_of(drawn, "roof")
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == len(lines) == 6


def test_the_deck_compares_the_lectures_three_devices():
    of = deck_of(None, "h100-sxm")
    assert [round(device.roof.ridge) for device in of.compared] == [295, 206, 292]
    assert [one.device.name for one in of.beside] == ["H200", "B200"]
    of = deck_of(None, "l4", "rtx4090", "a100")
    assert [device.name for device in of.compared] == ["L4", "RTX4090", "A100 80 SXM"] or len(of.compared) == 3
