"""`plan parallel` and `plan check` agree with the plans that they put together; LoRA and offload are precisions."""

import re

import pytest
from command_line import answer, refused, ridgebench
from plans_test import plan, shown, terms


def test_ways_to_spread_a_batch():
    words = "parallel --model llama-3-8b --batch 8 --ranks 8 --micro-batches 8 --link nvlink4 --on h100-sxm"
    reply = plan(words)
    rows = {row["way"]: row for row in reply["ways"]}
    assert list(rows) == [*(f"ZeRO stage {stage}" for stage in range(4)), "tensor", "pipeline"]
    zero = plan("zero --params 8029995008 --ranks 8")["stages"]
    for stage, one in enumerate(zero):
        row = rows[f"ZeRO stage {stage}"]
        assert (row["state_bytes"], row["communication_bytes"]) == (one["bytes"], one["communication_bytes"])
    tokens = 8 * 4096
    assert rows["tensor"]["communication_bytes"] == ((32 * 4 + 2) * 2 * (tokens * 4096 * 2) + 3 * 2 * tokens * 4) * 7 / 8
    sent = {term["name"]: term["value"] for term in reply["terms"] if term["name"].startswith("tensor: ")}
    assert list(sent) == ["tensor: 128 all-reduces, layers", "tensor: 1 all-reduce, embedding", "tensor: 1 all-reduce, head's input",
                          "tensor: 3 all-reduces, loss"]
    assert sum(sent.values()) == rows["tensor"]["communication_bytes"]
    assert rows["pipeline"]["idle_share"] == pytest.approx(7 / 15)
    for row in rows.values():
        assert row["bytes"] == row["state_bytes"] + row["layer_bytes"] + row["activation_bytes"] and row["fits"] is (row["bytes"] <= 80e9)
        assert row["link_time_s"] == pytest.approx(row["communication_bytes"] / 450e9)
    text = shown(words)
    assert "way " in text and "ZeRO stage 3" in text and "46.67 %" in text
    refused(ridgebench("plan", "parallel", "--batch", "8", "--ranks", "2"), "the model is missing")
    refused(ridgebench("plan", "parallel", "--model", "gpt-2", "--batch", "8", "--ranks", "2", "--link", "usb"), "'usb'")


@pytest.mark.parametrize(("ranks", "ways"), [(32, {"tensor", "pipeline"}), (3, {"pipeline"}), (64, set())])
def test_ways_that_the_model_cannot_take_are_left_out_with_the_reason(ranks, ways):
    """llama-3-8b has 32 heads in each of 32 layers."""
    reply = plan(f"parallel --model llama-3-8b --batch 64 --ranks {ranks}")
    assert {row["way"] for row in reply["ways"] if "ZeRO" not in row["way"]} == ways
    why = f"no tensor parallelism: --ranks is {ranks}; allowed: a divisor of the 32 heads"
    assert (why in reply["note"]) is ("tensor" not in ways)
    assert ("a pipeline needs a layer for each rank" in reply["note"]) is ("pipeline" not in ways)


def test_a_rank_of_tensor_parallelism_holds_what_predict_says():
    """With more ranks than the 8 heads of keys and values, some ranks hold the same ones."""
    for ranks in (8, 16, 32):
        rows = {row["way"]: row for row in plan(f"parallel --model llama-3-8b --batch 64 --ranks {ranks} --precision bf16")["ways"]}
        reply = answer("predict", "model", "llama-3-8b", "--tensor-parallel", str(ranks), "--on", "h100-sxm")
        assert rows["tensor"]["state_bytes"] == 6 * reply["weights_bytes"]  # 12 bytes of state for 2 of weights


def test_a_router_is_on_every_rank():
    row = next(row for row in plan("parallel --model mixtral-8x7b --batch 8 --ranks 4")["ways"] if row["way"] == "tensor")
    reply = answer("predict", "model", "mixtral-8x7b", "--tensor-parallel", "4", "--on", "h100-sxm")
    assert row["state_bytes"] == pytest.approx(6 * reply["weights_bytes"], rel=1e-12)


@pytest.mark.parametrize(("ranks", "micro_batches"), [(8, 8), (2, 1), (32, 4), (1, 1)])
def test_the_first_stage_of_a_pipeline_has_the_embedding_and_the_last_one_the_logits(ranks, micro_batches):
    words = f"--model llama-3-8b --batch 32 --context 2048 --micro-batches {micro_batches}"
    row = next(row for row in plan(f"parallel {words} --ranks {ranks}")["ways"] if row["way"] == "pipeline")
    table, all_parameters, sequences = 128256 * 4096, 8029995008, 32 // micro_batches
    kept = terms(plan(f"activations {words}"))
    head = kept["logits in fp32 and the last norm"]
    assert head == sequences * 2048 * (2 * 2 * 4096 + 4 * 128256)
    layers = 32 // ranks
    state, inside = 12 * (all_parameters - 2 * table) * layers / 32, kept["what the largest layer keeps"] * layers
    first = (state + 12 * table, inside * min(ranks, micro_batches))
    last = (state + 12 * table, inside + head)
    expected = max(first, last, key=sum) if ranks > 1 else (12 * all_parameters, inside + head)
    assert (row["state_bytes"], row["activation_bytes"]) == pytest.approx(expected)


def test_lora_and_offload_are_precisions():
    lora = plan("memory --params 7e9 --precision bf16-lora --adapters 1% --on h100")
    assert lora["bytes_per_parameter"] == pytest.approx(2.12) and terms(lora)["adapters"] == pytest.approx(0.14e9)
    offload = plan("memory --params 7e9 --precision bf16-offload --on h100")
    assert (offload["bytes"], offload["host_bytes"], offload["host_link_bytes"]) == (14e9, 98e9, 28e9)
    assert terms(offload)["adamw states on the host"] == 56e9 and "the device holds the parameters only" in offload["note"]
    refused(ridgebench("plan", "memory", "--params", "1B", "--precision", "bf16-lora"), "--adapters and --precision bf16-lora")
    refused(ridgebench("plan", "memory", "--params", "1B", "--adapters", "2%"), "--adapters and --precision bf16-lora")


CHECK = "check --model llama-3-8b --tokens 1T --mfu 0.4 --batch 1 --gpus 64 --link nvlink4 --on h100-sxm"


def test_the_checklist_has_six_rows_with_a_verdict():
    reply = plan(CHECK + " --days 10")
    assert [row["pass"] for row in reply["checks"]] == [True, False, False, False, True, True] and reply["pass"] is False
    rows = {row["check"].split()[0].strip(",:"): row for row in reply["checks"]}
    assert list(rows) == ["model", "optimizer", "activations", "FLOPs", "formats", "communication"]
    fits, train = plan("fits --model llama-3-8b --batch 1 --ranks 64 --on h100"), plan(
        "train --model llama-3-8b --tokens 1T --gpus 64 --mfu 0.4 --on h100")  # fmt: skip
    assert rows["activations"]["value"] == fits["bytes"] and rows["FLOPs"]["value"] == train["days"]
    assert rows["optimizer"]["remedy"] == fits["changes"][0]["change"] == "--stage 1"
    sent = plan("zero --params 8029995008 --ranks 64 --stage 0")["communication_bytes"]
    assert rows["communication"]["value"] == pytest.approx(sent / 450e9)
    assert rows["communication"]["limit"] == pytest.approx(6 * 8029995008 * 4096 / (0.4 * 989.5e12))
    better = plan(CHECK.replace("--gpus 64", "--gpus 512") + " --days 10 --stage 1")
    assert better["pass"] is True and all(row["remedy"] is None for row in better["checks"])
    text = shown(CHECK + " --days 10")
    assert re.search(r"^  FLOPs and time +FAIL  [\d.]+ days, at most 10 days; --gpus \d+", text, re.MULTILINE)
    assert re.search(r"^  model memory +pass ", text, re.MULTILINE) and re.search(r"^  pass +no$", text, re.MULTILINE)


def test_one_device_needs_no_link_and_fp16_needs_loss_scaling():
    one = plan("check --model gpt-2 --tokens 1B --mfu 0.3 --batch 4 --context 1024 --format fp16 --on h100")
    assert [row["pass"] for row in one["checks"]] == [True, True, True, True, False, True]
    assert "loss scaling" in one["checks"][4]["remedy"] and one["checks"][3]["limit"] is None
    slow = plan(CHECK.replace("nvlink4", "1G"))
    assert slow["checks"][5]["pass"] is False and "times the batch" in slow["checks"][5]["remedy"]
    refused(ridgebench("plan", *CHECK.replace("--link nvlink4", "").split()), "64 devices need --link", "nvlink4")
    refused(ridgebench("plan", *CHECK.replace("--model llama-3-8b", "").split()), "the model is missing")
    refused(ridgebench("plan", *CHECK.split(), "--days", "0"), "--days is 0")
    refused(ridgebench("plan", *CHECK.split(), "--mfu", "1.5"))


ONE = "check --model llama-3-8b --batch 1 --tokens 1T --mfu 0.4 --on h100-sxm"
PARAMETERS = 8029995008


@pytest.mark.parametrize(("ranks", "stage", "link"), [(1, 0, ""), (8, 0, " --link nvlink4"), (8, 2, " --link 10G")])
def test_offload_sends_over_the_link_to_the_host(ranks, stage, link):
    words = f"{ONE} --precision bf16-offload --gpus {ranks} --stage {stage}{link}"
    row = plan(words + " --host-link pcie5x16")["checks"][5]
    zero = plan(f"zero --params {PARAMETERS} --ranks {ranks} --stage {stage} --precision bf16-offload")
    host_s = zero["host_link_bytes"] / (32e9 * 16 * 128 / 130 / 8)
    peers_s = zero["communication_bytes"] / (10e9 if "10G" in link else 450e9)
    assert row["value"] == pytest.approx(max(host_s, peers_s)) and row["limit"] == pytest.approx(6 * PARAMETERS * 4096 / (0.4 * 989.5e12))
    assert "with the host" in row["check"]
    slow = plan(words + " --host-link 1G")["checks"][5]
    assert slow["pass"] is False and slow["value"] == pytest.approx(zero["host_link_bytes"] / 1e9)
    assert slow["remedy"].endswith("in no more micro-batches, or a faster link to the host")


def test_offload_and_a_link_to_the_host_need_each_other():
    for words in (ONE + " --precision bf16-offload", ONE + " --host-link 50G"):
        refused(ridgebench("plan", *words.split()), "--host-link, the link between a device and its host", "allowed: both or none")


def test_the_days_of_adapters_leave_out_the_gradients_of_frozen_parameters():
    full, lora = plan(ONE), plan(ONE + " --precision bf16-lora --adapters 1%")
    assert lora["checks"][3]["value"] == pytest.approx(full["checks"][3]["value"] * (4 + 6 * 0.01) / 6)
    assert "frozen parameters have no gradients" in lora["note"] and "frozen" not in full["note"]


@pytest.mark.parametrize("words", [
    "parallel --model gpt-2 --batch 4 --ranks 4", "activations --model gpt-2 --batch 1", "fits --model gpt-2 --batch 1 --on h100",
    "check --model gpt-2 --batch 1 --tokens 1B --mfu 0.3 --on h100"])
def test_a_context_beyond_the_config_is_noted(words):
    assert "the config allows a context of 1024 tokens" in plan(words)["note"]
    assert "the config allows" not in plan(f"{words} --context 1k").get("note", "")
