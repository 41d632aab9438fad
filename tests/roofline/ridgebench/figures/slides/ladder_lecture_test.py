"""The ladder compares one size, in the order of docs/matmul.md, and keeps the steps that do not climb."""

import random
import re
from dataclasses import replace

import pytest
from golden import ROOT
from judged_view import judged_again
from made_up_lecture import golden, made_up, predict, square, template, timed

from ridgebench.data.records import load_run, shape_text
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.slides import deck, ladder, model

ROOF = {"flops_per_s": 1e12, "bytes_per_s": 1e11, "compute_ceiling": template("fma").id,
        "memory_ceiling": template("memory").id}
PAGE = (ROOT / "docs" / "matmul.md").read_text("utf-8")
GPU_STEPS = [step for step in ladder.STEPS if step not in ("ffma_tma", "packed", "amx")]


@pytest.fixture(autouse=True)
def without_binary(monkeypatch):
    monkeypatch.setattr(model, "predict", predict)


def view_of(*rows) -> View:
    flat, slope = replace(template("fma"), flops_per_s=1e12), replace(template("memory"), bytes_per_s=1e11)
    return judged_again(View(golden().environment, golden().device, [flat, slope, *rows], False))


def row(technique: str, n: int, rate: float, **more):
    return timed("matmul", technique, "fp32", square(n), rate, ROOF, **more)


def slides_of(view: View) -> list:
    return ladder.slides(deck.make(view, [], "fp32", "RUN", "ridgebench slides RUN"))


def test_the_steps_are_those_of_the_page_in_its_order():
    steps = re.findall(r"^\| (\d+) \| `(\w+)`", PAGE, re.MULTILINE)
    gpu = [name for _, name in steps[:len(GPU_STEPS)]]
    assert gpu == GPU_STEPS
    host = [name for _, name in steps[len(GPU_STEPS):]]
    assert host == [step for step in ladder.STEPS if step in host] and set(host) == {"naive", "packed", "amx"}


@pytest.mark.parametrize("technique, step", [("wgmma_persistent_fast_accum", "wgmma_persistent"), ("wgmma_tf32x3", "wgmma"),
                                             ("naive", "naive"), ("cublas", None), ("naively", None)])
def test_a_technique_belongs_to_the_longest_step_that_its_name_begins_with(technique, step):
    assert ladder.step_of(technique) == step


def test_steps_of_another_size_are_left_out_and_steps_that_do_not_climb_stay():
    view = view_of(row("naive", 128, 9e11), row("naive", 512, 1e10), row("coalesced", 512, 0.9e10), row("mma_sync", 512, 5e11),
                   row("wgmma", 512, 4e11), row("shared_tile", 1024, 9e11), row("cublas", 512, 8e11, origin="library"),
                   row("cublas", 1024, 9e11, origin="library"))
    steps, library = ladder.ladder(view, "fp32")
    assert [one.technique for one in steps] == ["naive", "coalesced", "mma_sync", "wgmma"]
    assert {one.shape["n"] for one in [*steps, library]} == {512}
    (slide,) = slides_of(view)
    assert slide.title == "mma_sync is 50 times as fast as naive" and "at n = 512. 100 % is cublas, 800 GFLOP/s." in slide.say
    assert [line.rsplit(" ", 2)[1] for line in slide.numbers] == ["1", "1", "62", "50", "100"]


def test_steps_in_two_power_states_say_so():
    def said(*states: str) -> str:
        (slide,) = slides_of(view_of(*(row(name, 512, rate, power_state=state) for (name, rate), state in
                                       zip((("naive", 1e10), ("mma_sync", 5e11), ("wgmma", 4e11)), states))))
        return slide.say

    assert said("full_clock", "capped", "capped").endswith(" Power states differ: capped 2, full_clock 1.")
    assert "ower" not in said("capped", "capped", "capped")


def test_one_step_without_a_library_is_no_ladder():
    assert slides_of(view_of(row("packed", 512, 1e11), row("naive", 128, 1e9))) == []
    (slide,) = slides_of(view_of(row("packed", 512, 1e11), row("onednn", 512, 2e11, origin="library")))
    assert slide.title == "packed reaches 50 % of the speed of onednn at n = 512"


def test_without_a_run_no_ladder_is_drawn():
    assert ladder.slides(deck.make(None, ["h100-sxm"], None, "h100-sxm", "ridgebench slides")) == []


def with_steps(seed: int) -> View:
    """A made-up run whose rungs have names of steps and several sizes."""
    dice, view = random.Random(seed), made_up(seed)
    rows = [replace(one, technique=dice.choice(list(ladder.STEPS))) if one.op == "matmul" and one.origin == "hand" else one
            for one in view.rows]
    return replace(view, rows=rows)


def test_made_up_ladders_have_one_size_and_the_order_of_the_steps():
    drawn = 0
    for seed in range(200):
        view = with_steps(seed)
        for format_ in view.formats:
            steps, library = ladder.ladder(view, format_)
            order = [list(ladder.STEPS).index(ladder.step_of(one.technique)) for one in steps]
            assert order == sorted(set(order)), seed
            assert len({shape_text(one.shape) for one in [*steps, *filter(None, [library])]}) <= 1, seed
            drawn += len(steps) > 1
    assert drawn > 50


@pytest.mark.parametrize("folder", sorted(path.parent for path in ROOT.glob("results/*/20*/records.jsonl")),
                         ids=lambda folder: folder.parent.name)
def test_published_ladders_compare_one_size(folder):
    view = make_view(drawable(load_run(folder)), None)
    for format_ in view.formats:
        steps, library = ladder.ladder(view, format_)
        sizes = {shape_text(one.shape) for one in [*steps, *filter(None, [library])]}
        assert len(sizes) <= 1 and all(one.drawable for one in steps)
