"""What figures and slides say fits what they draw: limits per operation, names of devices, labels, memory."""

import json
from dataclasses import replace

import pytest
from golden import ROOT
from judged_view import judged_again

from ridgebench.data.program import predict
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures import plot
from ridgebench.figures.page import drawing as files
from ridgebench.figures.page.finding import spoken
from ridgebench.figures.page.style import DIRECT, TEXT_CONTRAST, THEMES, blend, contrast
from ridgebench.figures.slides import (
    build_up, comparison, counting, deck, drawing, figure, limits_slide, operations_table, scene, titles,
)  # fmt: skip
from ridgebench.figures.slides.layout import LECTURE, PAPER
from ridgebench.figures.slides.options import UserPoint

LIGHT = THEMES["light"]
THREE = ["h100-sxm", "h200", "b200"]


def labels_of(made, paper: bool = False) -> list[str]:
    with files.drawing(LIGHT):
        drawn = figure.draw(made, LIGHT, paper)
    return [text.get_text() for axes in drawn.axes for text in axes.texts if text.get_gid() == DIRECT]


def deck_of(*names: str):
    return deck.make(None, list(names), None, names[0], "ridgebench slides")


def test_the_title_names_the_operations_that_the_program_calls_memory_bound():
    told = titles.finding(scene.make(None, ["b200"], "fp8_e4m3"), LECTURE)
    assert "ReLU, dot and matvec wait for memory" in told


@pytest.mark.parametrize("name", ["h100-sxm", "l4"])
def test_a_column_of_a_paper_names_the_device(name):
    made = scene.make(None, [name], "bf16")
    assert titles.finding(made, PAPER).startswith(f"{made.first.device.name}, bf16: ")


def test_labels_of_several_devices_are_of_operations_and_points():
    points = tuple(UserPoint(f"own {index}", 10.0**index, 1e12) for index in range(5))
    found = labels_of(scene.make(None, THREE, None, points=points))
    assert not any("ridge" in text or text.startswith("H") for text in found)
    assert {"ReLU", "GeLU"} & set(found) and any(text.startswith("own") for text in found)


def test_without_a_legend_the_ridges_name_the_devices():
    assert {"H200: 206", "B200: 292"} <= set(labels_of(scene.make(None, THREE, None), paper=True))


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("name", ["fp32", "tf32", "fp16", "bf16", "fp8_e4m3"])
def test_labels_are_legible_on_both_regions(theme, name):
    tone = drawing.legible(theme.hue(name), theme)
    for tint, share in drawing.shades(theme):
        assert contrast(tone, blend(theme.background, tint, share)) >= TEXT_CONTRAST


def test_the_slide_on_memory_trains_in_a_format_that_the_device_has():
    assert "AdamW in bf16" in counting.memory(deck_of("h100-sxm")).say
    slide = counting.memory(deck_of("t4"))
    assert "AdamW in fp32" in slide.say and "--precision fp32" in slide.command


def test_a_sheet_of_ones_own_is_named_by_its_name(tmp_path):
    sheet = json.loads((ROOT / "roofline/devices/h100-sxm.json").read_text("utf-8")) | {"name": "mine-1"}
    path = tmp_path / "sheet.json"
    path.write_text(json.dumps(sheet), "utf-8")
    of = deck_of(str(path))
    slide = counting.memory(of)
    with files.drawing(LIGHT):
        drawn = deck.draw(slide, of, LIGHT)
    shown = [text.get_text() for axes in drawn.axes for text in axes.texts]
    assert "memory of one MINE 1: 80 GB" in shown and not any("sheet.json" in text for text in shown)


def test_one_roof_is_not_called_several():
    of = deck_of("h100-sxm")
    assert comparison.formats(of).title == "fp8 has 29.5 times the roof of fp32 on the same slope"
    alone = comparison.formats(replace(of, formats=of.formats[:1]))
    assert alone.title.startswith("One roof, for ")
    assert "beyond these axes" in comparison.devices(replace(of, beside=[])).say
    assert "H200 has the same peak and 1.43 times the bandwidth of H100 SXM: the ridge moves to 206." in comparison.devices(of).say
    assert comparison.devices(of).title == "H200: the same peak and 1.43 times the bandwidth, so the ridge moves to 206"


def test_the_reference_figure_needs_a_run(tmp_path, capfd):
    assert plot.main(["--on", "h100-sxm", "--style", "reference", "--out", str(tmp_path)]) == 2
    assert capfd.readouterr().err == ("plot: --style reference draws the rows of a run; allowed: a results directory with "
                                      "it\n")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_named_without_a_number(tmp_path, capfd):
    (tmp_path / "file").write_text("")
    assert plot.main(["--on", "h100-sxm", "--out", str(tmp_path / "file" / "below")]) == 2
    error = capfd.readouterr().err
    assert "Errno" not in error and error.count("\n") == 1


def test_words_of_one_drawn_roof_are_about_matrix_products():
    of = deck_of("h100-sxm")
    costs = counting.costs(of)
    assert costs.title == "One byte takes as long as 295 FLOP" and "matrix products in bf16" in costs.say
    assert costs.numbers == ["one byte: 299 fs", "one FLOP: 1.01 fs", "ratio: 295"]
    assert titles.finding(scene.make(None, THREE, None), LECTURE) == (
        "bf16 matrix products bend at 295, 206 and 292 FLOP per byte on H100 SXM, H200 and B200"
    )


@pytest.mark.parametrize("name, flat", [("h100-sxm", "all but matmul: 67 TFLOP/s"), ("t4", "")])
def test_the_second_flat_roof_is_named(name, flat):
    made = scene.make(None, [name], "bf16" if flat else "fp32")
    assert figure.own_flat(made.first, made.unit) == flat
    with files.drawing(LIGHT):
        drawn = figure.draw(made, LIGHT)
    shown = [text.get_text() for axes in drawn.axes for text in axes.texts if text.get_gid() == drawing.FLAT]
    assert shown == [flat] * bool(flat)


def test_numbers_of_a_column_have_one_unit():
    lines = operations_table.table(deck_of("h100-sxm")).numbers
    assert [line.split(" · ")[2] for line in lines] == ["n", "20n", "2n", "2n²", "2n³"]
    assert [line.split(" · ")[3].split(" ")[1] for line in lines] == ["GFLOP"] * 5
    assert [line.split(" · ")[4].split(" ")[1] for line in lines] == ["GB"] * 5


def test_large_sizes_are_short():
    """Their column is as wide as 2²⁹ or 1.235 × 10⁸."""
    for size, text in ((4096, "n = 4096"), (1 << 29, "n = 2²⁹"), (10**8, "n = 10⁸"), (123456789, "n ≈ 1.235 × 10⁸"), (10**12, "n = 10¹²")):
        mark = replace(deck_of("h100-sxm").shown.model[0], shape=f"n:{size}")
        assert operations_table.size_of(mark, 0) == text


@pytest.mark.parametrize("name, format_, title", [
    ("h100-sxm", "bf16", "ReLU, GeLU, dot and matvec wait for memory, matmul for arithmetic"),
    ("b200", "fp8_e4m3", "ReLU, dot and matvec wait for memory, GeLU and matmul for arithmetic"),
])
def test_the_answers_are_those_of_predict(name, format_, title):
    of = deck.make(None, [name], format_, name, "ridgebench slides")
    slide = operations_table.answers(of)
    assert slide.title == title
    for mark in of.shown.model:
        verdict = predict(mark.op, mark.shape, format_, name)["bound"]
        assert f"limited by {'memory' if verdict == 'memory' else 'arithmetic'}" in next(
            line for line in slide.numbers if line.startswith(f"{spoken(mark.op)}:"))


def test_what_the_peak_promises_stands_beside_what_the_run_reached():
    folder = next(ROOT.glob("results/nvidia-h100*/2026-11-22-7f6e7b5"))
    of = deck.make(make_view(load_run(folder), None), [], None, "RUN", "ridgebench slides RUN")
    slide = limits_slide.limits(of)
    assert slide.title == "The device gives about 85 % of the data sheet's peak", "the roof drifted"
    assert "arithmetic, data sheet: 990 TFLOP/s" in slide.numbers and "memory, measured: 3.08 TB/s, 92 %" in slide.numbers
    assert limits_slide.limits(deck_of("h100-sxm")).title == "990 TFLOP/s are promised at 1.83 GHz"
    ended = judged_again(replace(of.view, environment=of.view.environment | {"ended": None}))
    of = deck.make(ended, [], None, "RUN", "ridgebench slides RUN")
    assert limits_slide.limits(of).title == "990 TFLOP/s are promised at 1.83 GHz", "an unfinished run claims no share"


@pytest.mark.parametrize("name, title", [
    ("h100-sxm", "70B parameters do not fit, even with ZeRO stage 3: 105 GB > 80 GB"),
    ("h200", "70B parameters fit with ZeRO stage 3: 105 GB of 141 GB"),
])
def test_the_slide_on_memory_says_what_fits(name, title):
    assert counting.memory(deck_of(name)).title == title


def test_the_times_of_several_devices_have_one_unit():
    with files.drawing(LIGHT):
        drawn = figure.draw(scene.make(None, THREE, None), LIGHT)
    shown = {text.get_text() for axes in drawn.axes for text in axes.texts}
    assert {"Time of ReLU, by the model", "0.641 ms", "0.447 ms", "0.279 ms"} <= shown


def test_the_legend_has_the_shape_of_the_points():
    of = deck_of("h100-sxm")
    with files.drawing(LIGHT):
        drawn = deck.draw(build_up.SLIDES[4](of), of, LIGHT)
    signs = [line.get_marker() for axes in drawn.axes for line in axes.lines if line.get_marker() not in ("None", "")]
    assert signs.count("^") == 2, "ReLU's point and its sample"
