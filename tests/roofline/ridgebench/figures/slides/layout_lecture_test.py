"""Nothing overlaps or is cut, text has its size, and labels are few, on 200 made-up runs."""

import pytest
from golden import ROOT
from extents import faults, near_axes, visible_texts
from made_up_lecture import made_up, predict

from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page import roofline
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.page.drawing import drawing
from ridgebench.figures.page.style import DIRECT, THEMES
from ridgebench.figures.slides import deck, figure, ladder, machine_slide, model, scene, slides, zones_slide
from ridgebench.figures.slides.drawing import FLAT, RIDGE
from ridgebench.figures.slides.plane import AREA, AXES, MOST_LABELS

RUNS = 200
PUBLISHED = sorted(path.parent for path in ROOT.glob("results/*/20*/records.jsonl"))
LIGHT = THEMES["light"]


@pytest.fixture
def without_binary(monkeypatch):
    """FLOPs and bytes without a process for each; made_up_lecture's numbers are compared with the binary's."""
    monkeypatch.setattr(model, "predict", predict)


def check(drawn, least: float, zones: bool = False) -> None:
    texts = visible_texts(drawn)
    assert not faults(drawn, texts, least)
    planes = [axes for axes in drawn.axes if axes.get_gid() == AXES]
    placed = [text for text in texts if text.get_gid() in (DIRECT, AREA, RIDGE, FLAT)]
    assert not [name for plane in planes for name in near_axes(drawn, plane, placed, least / 500)], "a quarter of a line"
    groups = [text.get_gid() for text in texts]
    assert groups.count(DIRECT) <= MOST_LABELS
    assert groups.count(AREA) <= 2 + zones and groups.count(RIDGE) <= 1 + zones


def test_figures_of_made_up_runs_are_legible(without_binary):
    for seed in range(RUNS):
        view = made_up(seed)
        theme = list(THEMES.values())[seed % len(THEMES)]
        if view.points:
            with drawing(theme):
                paper = seed % 4 == 0
                check(figure.draw(scene.make(view, [], None), theme, paper), 7.0 if paper else 18.0)


def test_slides_of_made_up_runs_are_legible(without_binary):
    for seed in range(RUNS):
        view = made_up(seed)
        if not view.points:
            continue
        of = deck.make(view, [], None, "RUN", "ridgebench slides RUN")
        drawn = slides.all_slides(of)
        of_this_run = [*zones_slide.slides(of), *machine_slide.slides(of), *ladder.slides(of)]
        assert len({slide.slug for slide in drawn}) == len(drawn) == 22 + len(of_this_run)
        slide = drawn[seed % len(drawn)]
        with drawing(LIGHT):
            check(deck.draw(slide, of, LIGHT), 18.0, slide.slug == "zones")


def test_labels_of_reference_figures_keep_from_the_axes():
    views = [made_up(seed) for seed in range(40)] + [make_view(drawable(load_run(folder)), None) for folder in PUBLISHED]
    for view in views:
        for of in [view] + [view.only(name) for name in view.formats[:1]]:
            with drawing(LIGHT):
                drawn = roofline.draw(of, LIGHT)
                placed = [text for text in visible_texts(drawn) if text.axes is drawn.axes[0] and text.get_bbox_patch() or text.get_gid() == DIRECT]
                assert not near_axes(drawn, drawn.axes[1], placed, 0.03)


@pytest.mark.parametrize("scale", [0.5, 1.25])
def test_larger_and_smaller_text(without_binary, scale):
    for seed in range(6):
        view = made_up(seed)
        if not view.points:
            continue
        with drawing(LIGHT):
            for paper, least in ((False, 18.0), (True, 7.0)):
                check(figure.draw(scene.make(view, [], None), LIGHT, paper, scale), least * min(scale, 1.0))


@pytest.mark.parametrize("seed", range(6))
def test_the_numbers_of_the_made_up_runs_are_the_binarys(seed):
    from ridgebench.data.program import predict as told

    op, shape, format_ = [
        ("relu", "n:4096", "bf16"), ("gelu", "n:4096", "fp32"), ("dot", "n:1000", "fp8_e4m3"),
        ("matvec", "n:512", "fp16"),
        ("matmul", "m:1/n:4096/k:4096/layout:nt", "fp8_e4m3"), ("matmul", "m:64/n:64/k:64/layout:nt", "bf16"),
    ][seed]
    ours, theirs = predict(op, shape, format_, "h100-sxm"), told(op, shape, format_, "h100-sxm")
    assert ours["flops"] == theirs["flops"] and ours["bytes"] == theirs["bytes"]
