"""A title names only formats, operations and roofs that its figure draws: 200 made-up runs, published runs, and partial ones."""

import re
from dataclasses import replace

import pytest
from golden import GOLDEN, ROOT
from judged_view import judged_again
from made_up_lecture import made_up, predict

from ridgebench.data.records import load_run
from ridgebench.data.view import OPERATIONS, View, make_view
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.page.finding import roofline_title, spoken
from ridgebench.figures.page.roofs import measured_roofs
from ridgebench.figures.slides import model, scene, titles
from ridgebench.figures.slides.layout import LECTURE

RUNS = 200
FORMAT = re.compile(r"\b(?:fp(?:64|32|16|8\w*)|bf16|tf32\w*)\b")
BELOW = re.compile(r"below (?:it|the memory roof): (?:((?:fp|bf|tf)\w+) )?([^,;]+), \S+ %")  # a point of the title
ENGINES = {"FMA": "fma", "tensor": "tensor"}
FOLDERS = [GOLDEN, *sorted(path.parent for path in ROOT.glob("results/*/**/records.jsonl"))]


def words(title: str) -> set[str]:
    """The words of a title; an operation of several words is its name."""
    for op in OPERATIONS:
        title = title.replace(spoken(op), op) if " " in spoken(op) else title
    return set(re.findall(r"\w+", title))


def names(title: str) -> set[str]:
    """The operations that a title names."""
    return {op for op in OPERATIONS if (op if " " in spoken(op) else spoken(op)) in words(title)}


def check(view: View) -> None:
    """The title of a roofline."""
    title, roofs = roofline_title(view), measured_roofs(view)
    drawn = {row.format for row in view.points} | {name for roof in roofs.compute for name in roof.formats}
    for name in FORMAT.findall(title):
        assert name in drawn or name == "fp8" and any(one.startswith("fp8") for one in drawn), title
    for engine, saturated in ENGINES.items():
        if engine in words(title):
            assert saturated in {roof.engine for roof in roofs.compute}, title
    assert names(title) <= {*view.operations}, title
    if "memory" in words(title):
        assert roofs.memory, title
    for format_, op in BELOW.findall(title):
        meant = {row.format for row in view.points if spoken(row.op) == op and format_ in ("", row.format)}
        assert len(meant) == 1, f"{title}: a point of each of {meant}"
    if view.why_unfinished:
        assert "%" not in title and title.endswith("of an unfinished run"), title


def check_lecture(view: View) -> None:
    made = scene.make(view, [], None)
    title = titles.finding(made, LECTURE)
    assert set(FORMAT.findall(title)) <= {made.format}, title
    assert names(title) <= {*(mark.op for mark in made.first.marks)}, title
    if view.why_unfinished:
        assert "reaches" not in title and "times the work" not in title, title


def test_in_made_up_runs(monkeypatch):
    monkeypatch.setattr(model, "predict", predict)
    shares = 0
    for seed in range(RUNS):
        view = made_up(seed)
        for one in (view, *(view.only(name) for name in view.formats)):
            check(one)
            shares += "%" in roofline_title(one)
        if view.points:
            check_lecture(view)
    assert shares > RUNS / 4


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_in_published_and_partial_runs(folder):
    view = make_view(drawable(load_run(folder)), None)
    whole = view.environment | {"interrupted": False, "ended": "2026-11-27T00:00:00Z"}
    for one in (view, judged_again(replace(view, environment=whole))):
        for part in (one, *(one.only(name) for name in one.formats)):
            check(part)
