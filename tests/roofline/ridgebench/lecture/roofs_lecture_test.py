"""The lecture's roof, ridge and hollow points are those of `ridgebench predict`, on every slide and in its notes."""

from math import isclose

import pytest
from golden import ROOT

from ridgebench.lecture import comparison, deck, scene, titles
from ridgebench.lecture.model import Mark
from ridgebench.program import predict
from ridgebench.records import load_run
from ridgebench.units import digits
from ridgebench.view import make_view

RUNS = [next(ROOT.glob(f"results/{name}*/2026-11-22-7f6e7b5")) for name in ("nvidia-h100", "nvidia-h200")]


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


def test_the_words_of_the_pair_follow_its_times():
    def mark(seconds: float) -> Mark:
        return Mark("gelu", 5.0, 1e12, seconds, 1e9)

    assert "while the bytes arrive" in titles.pair_words((mark(1.0), mark(1.05)))
    longer = titles.pair_words((mark(1.0), mark(1.43)))
    assert "1.4" in longer and "while the bytes arrive" not in longer
