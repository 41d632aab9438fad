"""Slides on formulas, bits, tokens, zones, training, a host beside an H100, a measured step: their numbers are the program's."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import OK, ridgebench
from extents import faults, visible_texts
from golden import ROOT
from judged_view import judged_again

from ridgebench.base.units import rate
from ridgebench.data.program import ask, predict
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page.drawing import drawing
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.slides import (
    bits_slide, deck, limits_slide, machine_slide, operations_table, phases_slide, slides, step_slides, tokens_slide, training, zones_slide,
)  # fmt: skip
from ridgebench.figures.slides.layout import SLIDE
from ridgebench.figures.slides.plane import Plane

HOSTS = [str(next((ROOT / "results").glob(f"{name}/2*"))) for name in ("amd-epyc-2-threads", "intel-r-xeon-r-processor-2-threads")]
GPU = str(next((ROOT / "results").glob("nvidia-h100-80gb-hbm3/2*")))
NEW = {"formulas", "tokens", "bits", "zones", "machine", "passes", "state", "step-time", "step-mfu", "step-memory"}


def sheet(name: str, format_=None):
    return deck.make(None, [name], format_, name, "ridgebench slides")


def run(folder: str):
    return deck.make(make_view(load_run(Path(folder)), None), [], None, folder, "ridgebench slides")


@pytest.fixture(scope="module", name="step_folder")
def step_folder_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("step") / "results"
    done = ridgebench("step", "train", "--layers", "3", "--width", "64", "--batch", "16", "--device", "cpu", "--seconds", "0.05", "--out", folder)
    assert done.returncode == OK, done.stderr
    return folder


def opened(*arguments):
    return slides.deck_of(slides.parse([str(one) for one in arguments]))


def check(of, theme: str) -> set[str]:
    """The new slides of a deck, after a look at each: whole titles, no text small, cut or over another."""
    found = [slide for slide in slides.all_slides(of) if slide.slug in NEW]
    for slide in found:
        with drawing(THEMES[theme]):
            drawn = deck.draw(slide, of, THEMES[theme])
        texts = visible_texts(drawn)
        assert not faults(drawn, texts, 18.0), slide.slug
        assert [text.get_text() for text in texts if text.get_gid() == "title"] == [slide.title]
        said = " ".join(text.get_text() for text in texts).replace("\u00a0", " ")
        assert slide.slug == "step-memory" or slide.say in said, slide.slug
    return {slide.slug for slide in found}


@pytest.mark.parametrize(("names", "theme"), [
    (["--on", "h100-sxm"], "light"), (["--on", "t4"], "dark"), (["--on", "b200", "--format", "fp8"], "print"), (["--on", "tpu-v5e"], "light"),
    ([HOSTS[0]], "dark"), ([HOSTS[1], "--format", "bf16"], "light"), ([GPU], "light"),
])
def test_new_slides_are_legible(names, theme):
    expected = {"formulas", "tokens", "bits", "passes", "state"}
    found = check(opened(*names), theme)
    assert expected <= found <= NEW and ("machine" in found) == (names[0] in HOSTS)


def test_a_gradient_falls_off_fp16_and_comes_back():
    slide = bits_slide.bits(sheet("h100-sxm"))
    assert slide.title == "1e-8 is 0 in fp16, and times 1,024 it comes back with 0.12 % of error"
    told = ask("number", "1.024e-05", "--format", "fp16")["formats"][0]
    assert slide.numbers[2] == f"1.024e-5 in fp16: {told['sign']} {told['exponent']} {told['mantissa']}, error 0.12 %"
    assert slide.numbers[1] == "1e-8 in fp16: 0 00000 0000000000, 0: lost" and slide.numbers[0].startswith("1e-8 in bf16: 0 01100100 0101100,")


def test_formulas_are_those_of_the_counts():
    slide = operations_table.formulas(sheet("h100-sxm"))
    assert slide.title == "Only matmul does more FLOP for each byte as it grows: n/3"
    assert slide.numbers == ["ReLU: n FLOP, 4n bytes, 0.25 FLOP per byte", "GeLU: 20n FLOP, 4n bytes, 5 FLOP per byte",
                             "dot: 2n FLOP, 4n bytes, 0.5 FLOP per byte", "matvec: 2n² FLOP, 2n² bytes, 1 FLOP per byte",
                             "matmul: 2n³ FLOP, 6n² bytes, n/3 FLOP per byte"]
    assert operations_table.formulas(sheet("h100-sxm", "fp8_e4m3")).numbers[-1] == "matmul: 2n³ FLOP, 4n² bytes, n/2 FLOP per byte"


def test_training_costs_six_flop_and_twelve_bytes():
    slide = training.passes(sheet("h100-sxm"))
    assert slide.title == "Forward 2, backward 4: 6 FLOP for each parameter and token"
    terms = {term["name"]: term["value"] for term in ask("plan", "train", "--params", "1", "--tokens", "1", "--gpus", "1", "--mfu", "1",
                                                         "--on", "h100-sxm")["terms"]}
    assert [terms[f"{name}, {count} x parameters x tokens"] for name, count in (("forward", 2), ("backward", 4))] == [2, 4]
    assert training.state(sheet("h100-sxm")).title == "Each parameter holds 2 + 2 + 4 + 4 = 12 bytes, not 2"
    assert training.state(sheet("t4")).title == "Each parameter holds 4 + 4 + 4 + 4 = 16 bytes, not 4", "it has no bf16"


@pytest.mark.parametrize(("name", "format_"), [("h100-sxm", None), ("t4", "fp16"), ("h200", "fp32")])
def test_a_product_is_compute_bound_from_the_tokens_that_the_program_finds(name, format_):
    of = sheet(name, format_)
    slide = tokens_slide.tokens(of)
    form = of.scene.format if of.scene.format != "fp32" else "bf16"
    first, second = (int(line.rsplit(" ", 3)[1]) for line in slide.numbers)
    assert slide.numbers[0].startswith(f"{form} weights: ") and slide.numbers[1].startswith("fp8 or int8 weights: ")
    for bend, weights in ((first, ()), (second, ("--weights", "int8"))):
        for tokens, bound in ((bend - 1, "memory"), (bend, "compute")):
            told = ask("predict", "model", "llama-3-8b", "--on", name, "--format", form, *weights, "--context", "1", "--batch", str(tokens))
            one = next(one for phase in told["phases"] if phase["phase"] == "decode" for one in phase["operations"] if one["name"] == "gate_up")
            assert one["bound"] == bound
    assert slide.title == f"Compute-bound from {first} tokens on; with fp8 or int8 weights from {second}"


def test_two_bandwidths_have_three_zones():
    (slide,) = zones_slide.slides(sheet("h100-sxm"))
    link = ask("plan", "transfer", "--bytes", "1G", "--link", "nvlink4")["terms"][0]["value"]
    assert slide.title == f"From 295 to {989.5e12 / link:,.0f} FLOP per byte only the link is too slow"
    (slower,) = zones_slide.slides(sheet("t4"))
    assert "pcie5x16, an example of a link, 63 GB/s" in slower.say, "its memory is slower than nvlink4"
    assert "pcie" not in slower.title, "a T4 has an older one"
    of = sheet("h100-sxm")
    assert zones_slide.slides(replace(of, limits=((-1, 3.0), of.limits[1]))) == [], "the ridge of the link lies beyond the axes"


@pytest.mark.parametrize("name", ["h20", "t4", "h100-sxm"])
def test_the_name_of_a_link_is_beside_its_own_line(name):
    of = sheet(name)
    (slide,) = zones_slide.slides(of)
    with drawing(THEMES["light"]):
        drawn = deck.draw(slide, of, THEMES["light"])
    found = zones_slide.link_of(of)
    text = next(one for one in visible_texts(drawn) if one.get_text() == found[0])
    plane = Plane(drawn, text.axes, SLIDE, THEMES["light"], of.limits, of.scene.unit)
    x, y = text.get_position()
    link, memory = (y - plane.inches(1.0, roof.bytes_per_s)[1] - (x - plane.inches(1.0, 1.0)[0]) for roof in (found[1], of.roof))
    assert abs(link) < abs(memory), "both slopes have one inclination"
    assert text.get_bbox_patch() is None, "no line lies below it"


@pytest.mark.parametrize(("name", "precision"), [("t4", "fp32"), ("v100-32-sxm2", "fp32"), ("h100-sxm", "bf16")])
def test_activations_of_a_step_have_the_format_of_its_precision(name, precision):
    slide = phases_slide.peak(sheet(name))
    asked = slide.command.split()[1:]
    assert f" in {precision}," in slide.say and ask(*asked)["inputs"]["format"] == precision
    assert slide.numbers[1] == f"checkpoints: {rate(ask(*asked)['bytes'], 'B')}"


def test_a_host_lies_beside_an_h100():
    of = run(HOSTS[0])
    (slide,) = machine_slide.slides(of)
    assert slide.title == "An H100 SXM has 57 times this machine's bandwidth and 140 times its arithmetic"
    relu = of.measured("relu")
    there = predict("relu", relu.shape, "fp32", "h100-sxm")["time_lower_bound_s"]
    assert slide.numbers[0].startswith("ReLU: ") and slide.numbers[0].endswith(f" {relu.seconds / there:.3g} times")
    ended = judged_again(replace(of.view, environment=of.view.environment | {"ended": None}))
    unfinished = deck.make(ended, [], None, "RUN", "ridgebench slides RUN")
    assert machine_slide.slides(unfinished)[0].title == "This machine and an H100 SXM under one pair of axes"
    assert machine_slide.slides(run(GPU)) == machine_slide.slides(sheet("h100-sxm")) == []


def test_a_row_far_above_its_roof_leaves_a_host_without_a_limit():
    of = run(HOSTS[0])
    assert limits_slide.limits(of).title.startswith("No data sheet, but roofs: ")
    rows = [replace(row, fraction_of_measured_roof=2.6) if row.op == "matmul" else row for row in of.view.rows]
    above = deck.make(replace(of.view, rows=rows), [], None, "RUN", "ridgebench slides RUN")
    slide = limits_slide.limits(above)
    assert slide.title == "No data sheet, and roofs that a verified row exceeds"
    assert "A verified row is more than 10 % faster than its roof, so the roofs are no limit." in slide.say
    with drawing(THEMES["light"]):
        drawn = deck.draw(slide, above, THEMES["light"])
    assert slide.say in " ".join(text.get_text() for text in visible_texts(drawn)).replace("\u00a0", " ")


def test_times_of_a_column_have_one_unit():
    assert machine_slide.column_of([0.217, 0.240, 0.0665]) == (["217", "240", "66.5"], "ms")
    assert machine_slide.column_of([0.321e-3, 32.1e-6]) == (["321", "32.1"], "µs")
    assert max(map(len, machine_slide.column_of([14.6, 3.04e-6])[0])) < 9, "no 14,600,000 beside 3.04"


def test_the_columns_of_a_host_and_an_h100_do_not_touch():
    of = run(HOSTS[0])
    (slide,) = machine_slide.slides(of)
    with drawing(THEMES["light"]):
        drawn = deck.draw(slide, of, THEMES["light"])
    drawn.draw_without_rendering()
    boxes = [text.get_window_extent() for text in visible_texts(drawn) if text.get_ha() == "right" and text.get_va() == "top"]
    for one, other in ((one, other) for one in boxes for other in boxes if abs(one.y0 - other.y0) < 2 and one.x1 < other.x1):
        assert other.x0 - one.x1 > 8


def test_the_slides_of_a_step_follow_those_of_a_data_sheet(step_folder):
    of = opened(step_folder, "--on", "h100-sxm")
    assert [slide.slug for slide in slides.all_slides(of)][-3:] == ["step-time", "step-mfu", "step-memory"]
    assert {"step-time", "step-mfu", "step-memory"} <= check(of, "light")
    record = json.loads((step_folder / "step.jsonl").read_text())
    assert "as predicted" in step_slides.slides(of)[-1].title and record["peak_bytes"] == record["peak_predicted_bytes"]


def test_a_step_whose_parts_were_slower_by_themselves_says_so(step_folder, tmp_path):
    copy = shutil.copytree(step_folder, tmp_path / "copy")
    record = json.loads((copy / "step.jsonl").read_text())
    factor = 2 * record["time_s"] / record["sum_of_operations_s"]
    for part in record["parts"]:
        part["time_s"] *= factor
    record |= {"sum_of_operations_s": 2 * record["time_s"], "unexplained_s": -record["time_s"]}
    (copy / "step.jsonl").write_text(json.dumps(record) + "\n")
    of = opened(copy, "--on", "h100-sxm")
    check(of, "dark")
    for slide in step_slides.slides(of)[:2]:
        assert "took 2 times as long as the step" in slide.say and "roducts" not in slide.title


def test_a_step_without_a_data_sheet_needs_one(step_folder, capfd):
    assert slides.main([str(step_folder)]) == 2
    assert capfd.readouterr().err.endswith(
        "a step of a device without a data sheet; allowed: --on SHEET beside it, for the other slides\n")
