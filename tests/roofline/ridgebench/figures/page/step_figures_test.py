"""The figures of a measured step: what their titles say follows from the record, and nothing of a step that failed is timed."""

import json
import shutil
from dataclasses import replace

import pytest
from command_line import OK, ridgebench
from ridgebench.data.steps import load_steps
from ridgebench.figures.page import step as step_figures
from ridgebench.figures.page.style import THEMES
from step_records import edited, without_predictions


@pytest.fixture(scope="module", name="folder")
def folder_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("step") / "results"
    done = ridgebench("step", "train", "--layers", "3", "--width", "64", "--batch", "16", "--device", "cpu", "--seconds", "0.05", "--out", folder)
    assert done.returncode == OK, done.stderr
    return folder


def test_its_figures_are_drawn(folder, tmp_path):
    assert ridgebench("plot", folder, "--out", tmp_path, "--formats", "svg").returncode == OK
    assert {path.name for path in tmp_path.iterdir()} == {"mfu-of-a-step.svg", "step-memory.svg", "step-waterfall.svg"}
    text = (tmp_path / "step-memory.svg").read_text("utf-8")
    assert "as predicted" in text and "activations" in text and "backward" in text and "profile" not in text


def under_roof(step, share: float):
    """The step with parts that reach this share of their roofs, and the flag that the program gives it."""
    parts = [replace(part, roof_s=share * part.time_s) for part in step.parts]
    step.record["sum_of_roofs_s"] = sum(part.roof_s for part in parts)
    step.record["flags"] = ["above_roof"] if share > 1 else []
    return replace(step, parts=parts)


def test_titles_follow_from_the_record(folder):
    (step,) = load_steps(folder).steps
    step = under_roof(step, 0.5)
    record = step.record
    roofs, whole = record["sum_of_roofs_s"], record["time_s"]
    record["sum_of_operations_s"] = whole  # whatever else the machine did
    products = sum(part.time_s for part in step.parts if part.operation == "matmul") / sum(part.time_s for part in step.parts)
    title = step_figures.waterfall_title(step)
    assert f"the roofs need {100 * roofs / whole:.0f} %" in title.replace("≈", "")
    assert f"products are {100 * products:.0f} %" in title
    assert "as predicted" in step_figures.memory_title(step)
    record["peak_predicted_bytes"] *= 2
    assert "were predicted" in step_figures.memory_title(step)


def test_titles_claim_nothing_of_parts_that_were_slower_by_themselves(folder, tmp_path):
    (step,) = load_steps(folder).steps
    step.record["sum_of_operations_s"] = 2 * step.record["time_s"]
    shares = step_figures.shares_of(step)
    assert "products" not in (step_figures.waterfall_title(step) + step_figures.mfu_title(shares, step)).lower()
    record = json.loads((folder / "step.jsonl").read_text())
    copy = shutil.copytree(folder, tmp_path / "copy")
    factor = 2 * record["time_s"] / record["sum_of_operations_s"]
    for part in record["parts"]:
        part["time_s"] *= factor
    record |= {"sum_of_operations_s": 2 * record["time_s"], "unexplained_s": -record["time_s"]}
    (copy / "step.jsonl").write_text(json.dumps(record) + "\n")
    assert ridgebench("plot", copy, "--out", tmp_path, "--formats", "svg").returncode == OK
    for name in ("mfu-of-a-step.svg", "step-waterfall.svg"):
        assert "took 2 times as long as the step" in (tmp_path / name).read_text("utf-8")


def test_what_the_parts_leave_unexplained_is_named(folder):
    (step,) = load_steps(folder).steps
    step = under_roof(step, 0.5)
    record = step.record
    record |= {"sum_of_operations_s": 0.6 * record["time_s"], "unexplained_s": 0.4 * record["time_s"], "launch_gap_s": 0.0}
    name, whole = step_figures.bars(step)[-1]
    assert name == "the step" and list(whole) == ["the step", "unexplained by the parts"] and sum(whole.values()) == pytest.approx(record["time_s"])
    assert whole["unexplained by the parts"] == pytest.approx(record["unexplained_s"])
    titles = (step_figures.waterfall_title(step), step_figures.mfu_title(step_figures.shares_of(step), step))
    assert all("its parts explain 60 %" in title.replace("≈", "") and "is not products" not in title for title in titles)
    record |= {"sum_of_operations_s": record["time_s"], "unexplained_s": 0.0}
    assert step_figures.bars(step)[-1] == ("the step", {"the step": record["time_s"]})


@pytest.mark.parametrize(("share", "part", "lost"), [(0.95, 0.6, True), (0.3, 0.9, True), (1.0, 0.5, True), (1.6, 0.4, False)])
def test_each_share_of_the_peak_lies_within_the_page(folder, share, part, lost):
    found = load_steps(folder)
    step = under_roof(found.steps[0], share)
    record, alone = step.record, sum(one.time_s for one in step.parts if one.operation == "matmul")
    record |= {"time_s": alone / part, "sum_of_operations_s": alone / part, "unexplained_s": 0.0}
    figure = step_figures.figures(replace(found, steps=[step]))["mfu-of-a-step"](THEMES["light"])
    figure.canvas.draw()
    texts = [text for axes in figure.axes for text in axes.texts if text.get_text().endswith(("%", "lost"))]
    assert len(texts) == 3 and any("lost" in text.get_text() for text in texts) == lost
    assert max(text.get_window_extent().x1 for text in texts) <= figure.bbox.x1


def test_the_memory_of_the_device_stands_beside_the_peak(folder, tmp_path):
    record = json.loads((folder / "step.jsonl").read_text()) | {"flags": ["above_roof"]}
    environment = json.loads((folder / "environment.json").read_text())
    environment["devices"][0]["memory_bytes"] = 4 * record["peak_bytes"]
    (tmp_path / "step.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "environment.json").write_text(json.dumps(environment))
    found = load_steps(tmp_path)

    def words() -> str:
        figure = step_figures.figures(found)["step-memory"](THEMES["light"])
        return " ".join(text.get_text() for axes in figure.axes for text in axes.texts)

    assert "The peak is 25 % of the " in words() and "roof" not in words(), "the memory needs no roof"
    assert step_figures.doubt(found.steps[0])
    found.environment["devices"][0]["memory_bytes"] = None
    assert "The peak" not in words()


def memory_figure(folder):
    """The data axes of the figure, and the words on it."""
    figure = step_figures.figures(load_steps(folder))["step-memory"](THEMES["light"])
    return figure.axes[-1], [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_predicted_outline_lies_on_the_bands(folder):
    (step,) = load_steps(folder).steps
    axes, words = memory_figure(folder)
    (outline,) = (patch for patch in axes.patches if not patch.get_fill())
    scale, _ = step_figures.unit_of(step.record["peak_bytes"])
    assert list(outline.get_data().values * scale) == pytest.approx([sum(moment.live.values()) for moment in step.timeline])
    assert "line: predicted" in words and "dashed: the predicted peak" not in words


def test_an_older_record_has_the_predicted_peak_as_a_line(folder, tmp_path):
    axes, words = memory_figure(edited(folder, tmp_path / "older", without_predictions))
    assert all(patch.get_fill() for patch in axes.patches)
    assert "dashed: the predicted peak" in words and "line: predicted" not in words


@pytest.mark.parametrize(("share", "drawn"), [(0.5, True), (0.2, False)])
def test_a_device_whose_memory_is_near_the_peak_has_a_line(folder, tmp_path, share, drawn):
    copy = shutil.copytree(folder, tmp_path / "copy")
    environment = json.loads((copy / "environment.json").read_text())
    (step,) = load_steps(folder).steps
    environment["devices"][0]["memory_bytes"] = step.record["peak_bytes"] / share
    (copy / "environment.json").write_text(json.dumps(environment))
    axes, words = memory_figure(copy)
    assert ("memory of the device" in words) == drawn
    assert axes.get_ylim()[1] * step_figures.unit_of(step.record["peak_bytes"])[0] == pytest.approx(
        1.08 * step.record["peak_bytes"] / (share if drawn else 1))


def test_a_decode_step_has_no_labels(folder):
    (step,) = load_steps(folder).steps
    assert "input and labels" in dict(step_figures.kinds_of(step))
    step.record["step"] = "decode"
    assert "input and angles" in dict(step_figures.kinds_of(step)) and "input and labels" not in dict(step_figures.kinds_of(step))


def test_titles_claim_nothing_of_a_roof_below_its_products(folder):
    (step,) = load_steps(folder).steps
    step = under_roof(step, 6)
    step.record["sum_of_operations_s"] = step.record["time_s"]
    titles = step_figures.waterfall_title(step) + step_figures.mfu_title(step_figures.shares_of(step), step)
    assert "roofs need" not in titles and "reach" not in titles and "products are" in titles
    assert step_figures.doubt(step).startswith("Its products reach ") and "times the measured roof" in step_figures.doubt(step)
    assert not step_figures.doubt(under_roof(step, 0.5))


def test_the_mfu_stands_beside_that_of_the_products(folder, tmp_path):
    (step,) = load_steps(folder).steps
    record, products = step.record, [part for part in step.parts if part.operation == "matmul"]
    alone, whole = sum(part.time_s for part in products), record["time_s"]
    roofs = sum(part.roof_s for part in products)
    shares = step_figures.shares_of(step)
    assert record["mfu"] is None and shares.of == "the measured roof"  # a host has no data sheet
    assert (shares.products, shares.executed) == pytest.approx((roofs / alone, roofs / whole))
    assert shares.model / shares.executed == pytest.approx(record["flops_model"] / record["flops_executed"])
    peak = 2 * record["flops_executed"] / alone
    record |= {"sum_of_operations_s": whole, "hfu": record["flops_executed"] / whole / peak, "mfu": record["flops_model"] / whole / peak}
    shares = step_figures.shares_of(step)
    assert (shares.products, shares.executed, shares.model) == pytest.approx((0.5, record["hfu"], record["mfu"]))
    assert f"Products reach 50 % of the data sheet's peak, the step {100 * record['hfu']:.0f} %" in step_figures.mfu_title(shares, step)
    assert ("of its time is not products" in step_figures.mfu_title(shares, step)) == (whole > 1.005 * alone)
    assert ridgebench("plot", folder, "--out", tmp_path, "--formats", "svg").returncode == OK
    assert "% of the measured roof" in (tmp_path / "mfu-of-a-step.svg").read_text("utf-8")


def test_a_step_without_a_time_has_its_memory_only(folder, tmp_path):
    record = json.loads((folder / "step.jsonl").read_text())
    record |= dict.fromkeys(("time_s", "ci_low_s", "ci_high_s", "sum_of_operations_s", "sum_of_roofs_s", "unexplained_s", "launch_gap_s"))
    record |= {"status": "wrong", "reason": "a launch is wrong", "samples_s": [], "parts": []}
    (tmp_path / "step.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "environment.json").write_bytes((folder / "environment.json").read_bytes())
    assert list(step_figures.figures(load_steps(tmp_path))) == ["step-memory"]


def test_two_folders_of_steps_are_refused(folder, tmp_path):
    done = ridgebench("plot", folder, folder, "--out", tmp_path)
    assert done.returncode == 2 and "one results directory" in done.stderr
