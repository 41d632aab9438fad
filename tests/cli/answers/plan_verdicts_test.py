"""What plans say of the usable memory, their labels and their refusals."""

import re

import pytest
from command_line import refused, ridgebench
from plans_test import H100, RUN, plan, shown


@pytest.mark.parametrize("question", ["memory --params 7B", "zero --params 7B --ranks 1 --stage 0"])
def test_a_sheet_and_a_run_agree_on_what_programs_can_use(question):
    sheet, run = plan(question + " --on h100-sxm"), plan(question + " --on", H100)
    assert (sheet["fits"], sheet["fits_usable"], run["fits_usable"]) == (False, True, True)
    assert sheet["usable_bytes"] > sheet["bytes"] and re.search(r"fits_usable +yes", shown(question + " --on h100-sxm"))
    assert "fits_usable" not in plan(question + " --on tpu-v5e")
    two = plan("memory --params 7B --gpus 2 --on h100-sxm")
    assert two["usable_bytes"] == 2 * sheet["usable_bytes"]
    (row,) = [row for row in plan("zero --params 7B --ranks 1 --on h100-sxm")["stages"] if row["stage"] == 0]
    assert (row["fits"], row["fits_usable"]) == (False, True)
    assert re.search(r"^0 .* no +yes$", shown("zero --params 7B --ranks 1 --on h100-sxm"), re.MULTILINE)


def test_labels_have_no_unit_that_the_value_changes():
    assert re.search(r"^  energy +\S+ GWh$", shown(RUN + " --on h100-sxm"), re.MULTILINE)
    assert re.search(r"^  time +\S+ m?s$", shown("transfer --bytes 140G --link nvlink4"), re.MULTILINE)
    assert "_j" not in shown(RUN + " --on h100-sxm") and "1 byte\n" in shown("tensor --shape 1 --format fp8")


def test_checkpoints_that_save_nothing_say_why():
    words = "activations --layers 96 --width 128 --batch 2 --checkpoint"
    assert "output is all there is to keep" in plan(f"{words} layer")["note"]
    assert "save nothing" not in plan(f"{words} layer --pre-activations")["note"]
    assert "for so few layers" in plan("activations --layers 1 --width 128 --batch 2 --checkpoint sqrt")["note"]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("memory --params 0.5", ("--parameters is 0.5", "whole number")),
        ("train --params 70.5 --tokens 100", ("--parameters is 70.5", "whole number")),
        ("fits --params 2.5 --layers 1 --width 1 --batch 1 --on h100", ("--parameters is 2.5",)),
        ("tensor --shape 4 --format int3", ("'int3'", "fp8 (= fp8_e4m3), mxfp8, int4, fp4 (= nvfp4), mxfp4")),
        ("einsum ij,jk->ik --size i=2,j=2,k=2,q=4", ("allowed: i, j, k",)),
    ],
)
def test_refusals(words, parts):
    refused(ridgebench("plan", *words.split()), *parts)


@pytest.mark.parametrize("stage", range(4))
def test_a_larger_batch_hides_the_traffic_as_the_checklist_says(stage):
    def traffic(batch: int, micro_batches: int) -> dict:
        sizes = f"--batch {batch} --micro-batches {micro_batches} --gpus 64 --stage {stage}"
        checks = plan(f"check --model llama-3-8b --tokens 1T --mfu 0.4 {sizes} --link infiniband-hdr --on h200")["checks"]
        return checks[-1]

    remedy = traffic(1, 1)["remedy"]
    times = int(remedy.split(" times the batch, in ")[0])
    accumulates = "in micro-batches" in remedy
    assert accumulates == (stage < 2), "a rank that shards gradients sends those of every micro-batch"
    assert traffic(times, times if accumulates else 1)["pass"]
    if stage == 3:
        assert traffic(times, times)["value"] == pytest.approx(times * traffic(times, 1)["value"])
