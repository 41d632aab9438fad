"""The ridges that a figure of measured roofs names are those by which `predict` judges an operation."""

import json
from pathlib import Path

import pytest
from command_line import OK, ridgebench
from golden import ROOT
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page.roofs import measured_roofs
from ridgebench.figures.slides.devices import measured_roof

PUBLISHED = sorted(path.parent for path in (ROOT / "results").glob("*/*/records.jsonl"))
SHAPES = {"relu": "n:16M", "gelu": "n:16M", "dot": "n:16M", "matvec": "8192", "matmul": "4096"}
FORMATS = ("fp32", "bf16", "fp8_e4m3")


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_drawn_ridge_is_predicted(folder: Path):
    predicted = set()
    for op, shape in SHAPES.items():
        for name in FORMATS:
            answer = ridgebench("predict", op, shape, "--format", name, "--on", folder, "--json")
            if answer.returncode == OK:
                predicted.add(json.loads(answer.stdout)["ridge_flop_per_byte"])
    view = make_view(load_run(folder), None)
    drawn = set()
    for name in FORMATS:
        roofs = [roof for roof in measured_roofs(view.only(name)).compute if roof.mix]
        # Without the roof of a slower engine of one format: `predict` takes the faster engine.
        drawn |= {max((r for r in roofs if r.formats == roof.formats), key=lambda r: r.value).ridge for roof in roofs}
    assert len(drawn) > 1
    assert [ridge for ridge in drawn if ridge not in map(lambda r: pytest.approx(r, rel=1e-9), predicted)] == []


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_slides_ridge_is_that_of_predict_matmul(folder: Path):
    view = make_view(load_run(folder), None)
    compared = 0
    for name in FORMATS:
        answer = ridgebench("predict", "matmul", "4096", "--format", name, "--on", folder, "--json")
        roof = measured_roof(view.only(name))
        if answer.returncode != OK or roof is None:
            continue
        predicted = json.loads(answer.stdout)
        assert roof.ridge == pytest.approx(predicted["ridge_flop_per_byte"], rel=1e-9), name
        assert roof.flops_per_s == pytest.approx(predicted["peak_flops_per_s"], rel=1e-9), name
        compared += 1
    assert compared > 0
