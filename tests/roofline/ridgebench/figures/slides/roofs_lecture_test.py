"""The lecture's roof, ridge and hollow points are those of `ridgebench predict`, on every slide and in its notes."""

from dataclasses import replace
from math import isclose

import pytest
from golden import ROOT as CHECKOUT
from judged_view import judged_again
from made_up_lecture import golden, square, template, timed
from made_up_lecture import predict as made_up_predict

from ridgebench.base.units import digits
from ridgebench.data.program import predict
from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page.drawing import drawing
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.scene.roofline import Roof
from ridgebench.figures.slides import build_up, comparison, deck, devices, model, scene, titles
from ridgebench.figures.slides.model import Mark

LIGHT = THEMES["light"]
ROOF = {"flops_per_s": 1e12, "bytes_per_s": 1e11, "compute_ceiling": template("fma").id,
        "memory_ceiling": template("memory").id}
RUNS = [next(CHECKOUT.glob(f"results/{name}*/2026-11-22-7f6e7b5")) for name in ("nvidia-h100", "nvidia-h200")]


@pytest.mark.parametrize("run", RUNS, ids=["H100", "H200"])
@pytest.mark.parametrize("format_", ["bf16", "fp8_e4m3"])
def test_a_runs_points_by_the_model_are_the_programs(run, format_):
    shown = scene.make(make_view(load_run(run), None), [], format_).first
    told = predict("matmul", "n:8192", format_, str(run))
    assert isclose(shown.device.roof.ridge, told["peak_flops_per_s"] / told["bandwidth_bytes_per_s"], rel_tol=1e-6)
    for mark in [*shown.model, *shown.path]:
        expected = predict(mark.op, mark.shape, format_, str(run))["attainable_flops_per_s"]
        assert isclose(mark.rate, expected, rel_tol=1e-3), mark


def test_the_notes_have_the_ridges_of_the_slide():
    of = deck.make(make_view(load_run(RUNS[0]), None), ["h200"], None, "h100-sxm", "ridgebench slides")
    slide = comparison.devices(of)
    assert [line.rsplit(" ", 1)[1] for line in slide.numbers] == ["295", "206", "292"]
    assert digits(of.roof.ridge) == "295"


@pytest.mark.parametrize("engine, known", [("tensor", False), ("fma", True)])
def test_products_of_tensor_cores_without_a_ceiling_have_no_measured_roof(engine, known):
    no_peak = ROOF | {"flops_per_s": None, "compute_ceiling": None}
    flat, slope = replace(template("fma"), flops_per_s=1e12), replace(template("memory"), bytes_per_s=1e11)
    product = timed("matmul", "cublas", "fp32", square(8192), 9e12, ROOF, engine=engine)
    product = replace(product, roof=no_peak if engine == "tensor" else ROOF)
    naive = timed("matmul", "naive", "fp32", square(1024), 1e10, ROOF, engine="fma")
    view = judged_again(View(golden().environment, golden().device, [flat, slope, product, naive], False))
    assert (devices.measured_roof(view) is not None) == known


def test_the_words_of_the_pair_follow_its_times():
    def mark(seconds: float, ridge: float = 10.0) -> Mark:
        return Mark("gelu", 5.0, 1e12, seconds, 1e9, limit=Roof(1e12, ridge * 1e12))

    assert "while the bytes arrive" in titles.pair_words((mark(1.0), mark(1.02)))
    assert "the same time" in titles.pair_title((mark(1.0), mark(1.02)))
    for pair in ((mark(1.0), mark(1.07)), (mark(1.0), mark(1.02, ridge=4.9))):
        assert "while the bytes arrive" not in titles.pair_words(pair), "arithmetic limits GeLU"
        assert "the same time" not in titles.pair_title(pair)
    longer = titles.pair_words((mark(1.0), mark(1.43)))
    assert "1.4" in longer and "while the bytes arrive" not in longer


def host_deck(monkeypatch, share: float):
    """The deck of a host whose squares reach this share of the roof, with a batch of 1 to 64 rows."""
    monkeypatch.setattr(model, "predict", made_up_predict)
    squares = [timed("matmul", "good", "fp32", square(n), min(1e11 * n / 6 * share, 8e11), ROOF) for n in (16, 64, 256)]
    rows = [timed("matmul", "good", "fp32", square(1024) | {"m": m}, 1e10 * m, ROOF) for m in (1, 8, 64)]
    slope, flat = replace(template("memory"), bytes_per_s=1e11), replace(template("fma"), flops_per_s=1e12)
    view = judged_again(View(golden().environment, golden().device, [flat, slope, *squares, *rows], False))
    return deck.make(view, [], "fp32", "RUN", "ridgebench slides RUN")


def test_the_title_of_matmul_follows_its_points(monkeypatch):
    assert build_up.matmul(host_deck(monkeypatch, 0.9)).title == "Matmul climbs, and bends at the ridge"
    assert build_up.matmul(host_deck(monkeypatch, 0.05)).title == "Matmul climbs: at n = 16 it stays below half of the roof"


def test_the_slide_on_batching_has_one_largest_m(monkeypatch):
    of = host_deck(monkeypatch, 0.9)
    with drawing(LIGHT):
        drawn = deck.draw(build_up.batching(of), of, LIGHT)
    texts = [text.get_text() for axes in drawn.axes for text in axes.texts]
    last = of.batching[-1].size
    assert f"m = {last}" in texts and f"to {last}" in " ".join(texts)


@pytest.mark.parametrize("groups, begin", [
    ([("fp32",), ("tf32",), ("fp16", "bf16"), ("fp8_e4m3", "fp8_e5m2")], "Fewer bits"),
    ([("fp32", "fp16"), ("bf16", "fp8_e4m3")], "The units decide"), ([("bf16",)], "Here bf16 has the only roof"),
])
def test_fewer_bits_raise_the_roof_only_where_they_do(groups, begin):
    shown = [deck.Format(names, Roof(1e12, 1e13 * (index + 1))) for index, names in enumerate(groups)]
    assert comparison.words_of_formats(shown).startswith(begin)
