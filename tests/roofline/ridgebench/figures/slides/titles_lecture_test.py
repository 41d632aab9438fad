"""Titles are findings of the best verified rows, never of a naive one; points are the same rows."""

from dataclasses import replace

import pytest
from golden import ROOT
from judged_view import judged_again
from made_up_lecture import golden, made_up, predict, square, template, timed

from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.doubt import DOUBT
from ridgebench.figures.page.drawing import drawing
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.slides import build_up, deck, figure, measured, model, scene, titles
from ridgebench.figures.slides.layout import LECTURE, PAPER, fits

ROOF = {"flops_per_s": 1e12, "bytes_per_s": 1e11, "compute_ceiling": template("fma").id,
        "memory_ceiling": template("memory").id}


@pytest.fixture(autouse=True)
def without_binary(monkeypatch):
    monkeypatch.setattr(model, "predict", predict)


def view_of(*rows) -> View:
    flat = replace(template("fma"), flops_per_s=1e12)
    slope = replace(template("memory"), bytes_per_s=1e11)
    return judged_again(View(golden().environment, golden().device, [flat, slope, *rows], False))


def title(view: View) -> str:
    return titles.finding(scene.make(view, [], "fp32"), LECTURE)


def relu_and_gelu(longer: float):
    shape = {"n": 1 << 25}
    return (timed("relu", "good", "fp32", shape, 1.25e10 * 0.9, ROOF),
            timed("gelu", "good", "fp32", shape, 2.5e11 * 0.9 / longer, ROOF))


def product(k: int, rate: float):
    return timed("matmul", "good", "fp32", {"m": 2048, "n": 2048, "k": k, "layout": "nt"}, rate, ROOF)


def test_matmul_grows_along_k_where_the_launch_limits_small_squares():
    deep = [product(k, min(5e10 * k * 0.6, 8e11)) for k in (1, 4, 16, 64, 256)]

    def path_of(share: float):
        squares = [timed("matmul", "good", "fp32", square(n), min(1e11 * n / 6 * share, 8e11), ROOF) for n in (16, 64, 256)]
        return scene.make(view_of(*squares, *deep), [], "fp32").first

    launched, free = path_of(0.05), path_of(0.9)
    assert [mark.size for mark in launched.measured_path] == [1, 4, 16, 64, 256] == [mark.size for mark in launched.path]
    assert (launched.letter, launched.fixed) == ("k", 2048)
    assert {mark.size for mark in free.measured_path} == {16, 64, 256} and (free.letter, free.fixed) == ("n", 0)


def test_equal_times_are_called_the_same():
    assert "GeLU does 20 times the work of ReLU in the same time" in title(view_of(*relu_and_gelu(1.02)))
    assert "GeLU does 20 times the work of ReLU in 1.5 times the time" in title(view_of(*relu_and_gelu(1.5)))


def test_a_naive_row_is_neither_in_the_title_nor_drawn():
    naive = timed("matmul", "naive", "fp32", square(1024), 0.9e12, ROOF, fraction_of_measured_roof=0.9)
    good = timed("matmul", "tile", "fp32", square(1024), 0.5e12, ROOF, fraction_of_measured_roof=0.5)
    assert "matmul reaches 50 % of the measured peak" in title(view_of(naive, good))
    assert "matmul reaches" not in title(view_of(naive, *relu_and_gelu(1.0)))
    made = scene.make(view_of(naive, good), [], "fp32")
    assert {mark.technique for mark in made.first.marks} <= {"tile", ""}


def test_the_best_of_the_hand_written_rows_counts():
    rows = [timed("matmul", name, "fp32", square(1024), rate, ROOF, origin=origin, mfu=rate / 2e12)
            for name, rate, origin in (("slow", 1e11, "hand"), ("fast", 8e11, "hand"), ("lib", 9e11, "library"))]
    assert measured.best(view_of(*rows), "fp32", "matmul").technique == "fast"
    assert "matmul reaches 40 % of the data sheet's peak" in title(view_of(*rows))


def test_a_row_that_is_not_verified_is_no_finding():
    for status in ("wrong", "invalid", "failed"):
        row = timed("matmul", "fast", "fp32", square(1024), 8e11, ROOF, status=status)
        assert "matmul reaches" not in title(view_of(row, *relu_and_gelu(1.0)))


def test_a_roof_that_moved_gives_no_share():
    good = timed("matmul", "tile", "fp32", square(1024), 5e11, ROOF)
    control = replace(template("fma"), role="control", id=template("fma").id + ":control", flops_per_s=0.9e12)
    view = view_of(good)
    assert "of the measured peak" in title(view)
    moved = title(judged_again(replace(view, rows=[*view.rows, control])))
    assert "measured peak" not in moved and "matmul runs at 500 GFLOP/s" in moved


def test_a_row_above_its_roof_gives_no_share():
    view = view_of(product(4096, 9e11))
    assert "of the measured peak" in title(view)
    above = replace(view, rows=[replace(row, fraction_of_measured_roof=2.6) if row.op == "matmul" else row for row in view.rows])
    assert "measured peak" not in title(above) and "matmul runs at 900 GFLOP/s" in title(above)


def test_titles_of_made_up_runs_fit():
    for seed in range(60):
        view = made_up(seed)
        if view.points:
            made = scene.make(view, [], None)
            for layout in (LECTURE, PAPER):
                assert fits(layout, titles.finding(made, layout)), seed


def test_the_title_of_the_published_run():
    folder = next(ROOT.glob("results/nvidia-h100*/2026-11-22-7f6e7b5"))
    view = make_view(load_run(folder), None)
    told = titles.finding(scene.make(view, [], None), LECTURE)
    assert told == "H100 SXM, bf16: GeLU does 20 times the work of ReLU in the same time"
    whole = judged_again(replace(view, environment=view.environment | {"budget_s": None}))
    told = titles.finding(scene.make(whole, [], None), LECTURE)
    assert told == ("H100 SXM, bf16: GeLU does 20 times the work of ReLU in the same time; matmul reaches 75 % of the "
                    "data sheet's peak"), "only the budget took it out: the best row has 7 samples"


def test_no_row_of_a_run_that_did_not_end_heads_a_figure_or_a_slide():
    view = view_of(*relu_and_gelu(1.0), product(4096, 9e11))
    endless = judged_again(replace(view, environment=view.environment | {"ended": None}))
    assert "matmul" in title(view) and "GeLU" in title(view)
    assert title(endless).endswith("fp32: 3 verified rows of an unfinished run")
    cut = [replace(row, flags=["few_samples"]) if row.op == "matmul" else row for row in view.rows]
    budgeted = judged_again(replace(view, rows=cut, environment=view.environment | {"budget_s": 60.0}))
    assert "times the work" in title(budgeted) and "matmul" not in title(budgeted)


def test_the_models_title_needs_roofs_that_may_head():
    view = view_of(product(4096, 9e11))
    slow = [replace(row, technique="naive") if row.op == "matmul" else row for row in view.rows]
    calm = judged_again(replace(view, rows=slow))
    assert "matmul is compute-bound above n = " in title(calm)
    ended = judged_again(replace(calm, environment=calm.environment | {"ended": None}))
    assert title(ended).endswith("fp32: 1 verified row of an unfinished run")
    control = replace(template("fma"), role="control", id=template("fma").id + ":control", flops_per_s=0.9e12)
    moved = judged_again(replace(calm, rows=[*calm.rows, control]))
    assert title(moved).endswith("fp32: 1 verified row under roofs that drifted")
    short = [replace(row, flags=["few_samples"]) for row in calm.rows]
    cut = judged_again(replace(calm, rows=short, environment=calm.environment | {"budget_s": 60.0}))
    assert title(cut).endswith("fp32: 1 verified row; --budget cut the samples of the best ones")
    narrow = replace(LECTURE, width=4.0)
    for view in (ended, moved, cut):
        assert "ridge is at" not in titles.finding(scene.make(view, [], "fp32"), narrow)


def test_without_a_run_the_title_is_the_models():
    made = scene.make(None, ["h100-sxm"], None)
    assert titles.finding(made, LECTURE) == ("H100 SXM, bf16: ReLU, GeLU, dot and matvec wait for memory, matmul is "
                                             "compute-bound above n = 886")


def test_a_path_is_of_one_technique_and_not_of_a_slow_one():
    fast = [timed("matmul", "fast", "fp32", square(n), 8e11, ROOF) for n in (1024, 2048)]
    slow = [timed("matmul", "slow", "fp32", square(1 << power), 1e11, ROOF) for power in range(5, 12)]
    near = [timed("matmul", "near", "fp32", square(1 << power), 7e11, ROOF) for power in range(7, 12)]
    assert {mark.technique for mark in measured.squares(view_of(*fast, *slow), "fp32")} == {"fast"}
    found = measured.squares(view_of(*fast, *slow, *near), "fp32")
    assert {mark.technique for mark in found} == {"near"}
    assert [mark.size for mark in found] == [128, 256, 512, 1024, 2048]


def test_rows_that_grow_are_a_path_of_their_own():
    rows = [timed("matmul", "fast", "fp32", square(4096) | {"m": m}, 1e11, ROOF) for m in (1, 4, 64, 512)]
    other = [timed("matmul", "fast", "fp32", square(64) | {"m": m}, 1e11, ROOF) for m in (1, 2)]
    depth, found = measured.growing_rows(view_of(*rows, *other), "fp32")
    assert depth == 4096 and [mark.size for mark in found] == [1, 4, 64, 512]
    assert measured.growing_rows(view_of(*other), "fp32") == (0, [])


def test_a_run_in_doubt_claims_nothing_and_says_why_in_one_last_line():
    squares = [timed("matmul", "good", "fp32", square(n), min(1e11 * n / 6 * 0.9, 8e11), ROOF) for n in (16, 64, 256)]
    calm = view_of(*relu_and_gelu(1.0), *squares)
    ended = judged_again(replace(calm, environment=calm.environment | {"ended": None}))
    controls = [replace(template(role), role="control", id=template(role).id + ":control", **{key: rate})
                for role, key, rate in (("fma", "flops_per_s", 0.5e12), ("memory", "bytes_per_s", 0.5e11))]
    drifted = judged_again(replace(calm, rows=[*calm.rows, *controls]))
    assert not scene.make(calm, [], "fp32").doubt
    for view, why in ((ended, "No claim: the run has no end"), (drifted, "drifted during the run: controls moved by 50 %")):
        made = scene.make(view, [], "fp32")
        of = deck.make(view, [], "fp32", "RUN", "ridgebench slides RUN")
        slide = build_up.matmul(of)
        with drawing(THEMES["light"]):
            figures = [figure.draw(made, THEMES["light"], paper) for paper in (False, True)]
            figures.append(deck.draw(slide, of, THEMES["light"]))
        for drawn in figures:
            assert why in " ".join(text.get_text() for axes in drawn.axes for text in axes.texts if text.get_gid() == DOUBT)
        assert slide.title == "By the model, matmul climbs and bends at the ridge"
        assert "the work of ReLU" not in title(view) and "measured peak" not in title(view)
