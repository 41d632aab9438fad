"""Costs, MFU, links, ZeRO's communication, activations of transformers and `plan fits`."""

import json
import os
import random
import re
from fractions import Fraction
from itertools import permutations, product

import pytest
from accounting import all_sheets
from command_line import OK, ROOT, answer, environment, records, refused, ridgebench
from many_calls import answers
from plans import bytes_per_parameter, llama_activations, sent_per_parameter
from step_lifetimes import step_bands

H100 = ROOT / "results/nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5"
HOST = ROOT / "results/amd-epyc-2-threads/2026-11-23-d549ba8"
LLAMA = json.loads((ROOT / "roofline/models/llama-3-8b.json").read_text())
RUN = "train --params 70e9 --tokens 15e12 --gpus 1024 --mfu 0.5"


def plan(question: str, *more) -> dict:
    return answer("plan", *question.split(), *more)


def terms(reply: dict) -> dict[str, float]:
    return {term["name"]: term["value"] for term in reply["terms"]}


def shown(question: str, **variables) -> str:
    result = ridgebench("plan", *question.split(), env=environment() | variables)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_training_run_has_hours_energy_and_a_price():
    reply = plan(RUN + " --on h100-sxm --price-per-gpu-hour 2.5 --pue 1.2")
    hours = 6.3e24 / (0.5 * 989.5e12) / 3600
    assert reply["gpu_hours"] == pytest.approx(hours, rel=1e-3)
    assert reply["energy_j"] == pytest.approx(700 * 1.2 * reply["gpu_hours"] * 3600)
    assert reply["cost"] == pytest.approx(2.5 * reply["gpu_hours"])
    assert reply["flops_per_day"] == pytest.approx(6.3e24 / reply["days"])
    assert reply["inputs"]["pue"] == 1.2 and reply["inputs"]["price_per_gpu_hour"] == 2.5
    text = shown(RUN + " --on h100-sxm --price-per-gpu-hour 2.5 --watts 500")
    assert " GWh" in text and "in the currency of the price" in text and "500 W" in text


def test_without_a_price_or_the_power_nothing_is_invented():
    reply = plan(RUN + " --on h100-sxm")
    assert "cost" not in reply and reply["energy_j"] > 0
    host = plan(RUN + " --on", HOST)
    assert "energy_j" not in host and host["gpu_hours"] > 0
    assert plan(RUN + " --watts 100 --on", HOST)["energy_j"] > 0


def test_a_model_gives_the_parameters_that_a_token_meets():
    model = answer("predict", "model", "mixtral-8x7b", "--on", "h200")
    reply = plan("train --model mixtral-8x7b --tokens 1T --gpus 8 --mfu 40% --on h200")
    assert reply["flops"] == pytest.approx(6 * model["active_parameters"] * 1e12)
    assert terms(reply)["parameters of the model"] == model["parameters"]
    assert "attention" in reply["note"] and reply["inputs"]["model"] == "mixtral-8x7b"
    assert plan("mfu --model gpt-2 --tokens 1M --time 10 --on l4")["flops"] == 6 * 124318464 * 10**6
    refused(ridgebench("plan", "train", "--model", "gpt-2", "--params", "1B", "--tokens", "1B"), "give the work once")
    refused(ridgebench("plan", "train", "--model", "gpt-9", "--tokens", "1B"), "gpt-9", "gpt-2")


def test_a_peak_of_ones_own_needs_no_device():
    """Notes that round the peak to 1000 TFLOP/s, or promise 670, can be followed."""
    words = "train --params 70B --tokens 15T --gpus 1024 --mfu 0.5 --peak 1000T"
    assert plan(words)["days"] == pytest.approx(6.3e24 / (1024 * 0.5 * 1e15) / 86400)
    assert plan(words)["inputs"]["peak_from"] == "as given" and "energy_j" not in plan(words)
    on = plan(words + " --on h100")
    assert on["days"] == plan(words)["days"] and on["energy_j"] == pytest.approx(700 * 1024 * 86400 * on["days"])
    assert plan("mfu --flops 5.4e13 --time 0.1 --peak 670T")["mfu"] == pytest.approx(540 / 670)
    refused(ridgebench("plan", "mfu", "--flops", "1e14", "--time", "1"), "the peak is missing; allowed: --on DEVICE, or --peak")
    refused(ridgebench("plan", "train", "--flops", "1e20", "--peak", "-1", "--mfu", "0.5"), "--peak is -1")
    refused(ridgebench("plan", "train", "--flops", "1e20", "--peak", "1000T", "--mfu", H100), "allowed beside --peak: a number")


def test_a_reserve_makes_the_days_longer_and_the_work_of_given_days_less():
    plain, reserved = plan(RUN + " --on h100"), plan(RUN + " --on h100 --reserve 10%")
    assert reserved["days"] == pytest.approx(plain["days"] / 0.9)
    assert terms(reserved)["days of work, without the reserve"] == pytest.approx(plain["days"])
    assert reserved["gpu_hours"] == pytest.approx(plain["gpu_hours"] / 0.9)
    assert plan("train --days 14 --mfu 1 --on h100 --reserve 0.25")["flops"] == pytest.approx(0.75 * 14 * 86400 * 989.5e12)
    for bad in ("1", "150%", "-0.1"):
        refused(ridgebench("plan", *RUN.split(), "--on", "h100", f"--reserve={bad}"), "--reserve is", "below 1")
    refused(ridgebench("plan", "train", "--flops", "1e20", "--reserve", "0.1"), "need --on DEVICE")


@pytest.mark.parametrize(
    ("state", "moved"),
    [
        ("", 22),
        (" --precision fp32", 28),
        (" --precision bf16-master", 28),
        (" --precision fp32-bf16", 26),
        (" --optimizer momentum --precision fp32", 20),
        (" --optimizer lion", 14),
        (" --optimizer sgd", 6),
    ],
)
def test_the_optimizer_has_a_line_of_its_own(state, moved):
    reply = plan(RUN + " --on h100-sxm --step-tokens 4M" + state)
    step = reply["optimizer"]
    assert step["bytes"] == moved * 70e9
    assert step["time_s"] == pytest.approx(moved * 70e9 / 3.35e12) and step["shared_time_s"] == pytest.approx(step["time_s"] / 1024)
    assert step["steps"] == 3750000 and step["days"] == pytest.approx(3750000 * step["shared_time_s"] / 86400)
    assert reply["days"] == plan(RUN + " --on h100-sxm")["days"], "it is part of the MFU"
    assert terms(reply)[f"{reply['inputs'].get('optimizer', 'adamw')}'s step, {moved} bytes x parameters"] == moved * 70e9


def test_an_optimizer_needs_parameters():
    assert "optimizer" not in plan("train --flops 1e23 --mfu 0.5 --on h100")
    refused(ridgebench("plan", "train", "--flops", "1e23", "--optimizer", "sgd"), "need --parameters or --model")
    refused(ridgebench("plan", *RUN.split(), "--on", "h100", "--optimizer", "none"), "'none'; allowed: sgd")
    refused(ridgebench("plan", *RUN.split(), "--on", "h100", "--step-tokens", "0.5"), "--step-tokens is 0.5")


def test_the_help_has_what_a_step_on_the_device_takes():
    for words in ("plan train", "predict model"):
        text = " ".join(ridgebench(*words.split(), "--help-all").stdout.split())
        assert "fp32-bf16 (fp32 parameters, bf16 gradients)" in text
        assert [word for word in ("bf16-lora", "bf16-offload", "--adapters", "none (inference)") if word in text] == []
    for words in ("plan memory", "plan fits", "plan check"):
        text = ridgebench(*words.split(), "--help-all").stdout
        assert "bf16-lora" in text and "bf16-offload" in text and "none (inference)" in text


def test_an_mfu_has_a_meaning_and_published_ones_beside_it():
    for share, meaning in ((0.2, "low"), (0.3, "usual"), (0.5, "good"), (0.75, "very good"), (0.95, "above what a step")):
        reply = plan(f"mfu --flops {share * 989.5e12:.6e} --time 1 --on h100-sxm")
        assert reply["meaning"].startswith(meaning)
    assert [row["from"] for row in reply["expected"]] == [0.9, 0.6, 0.5, 0.3, 0]
    assert all("arXiv" in row["source"] and 0.2 < row["mfu"] < 0.5 for row in reply["published"])
    text = shown("mfu --flops 5.4e14 --time 1 --on h100-sxm")
    assert re.search(r"^  meaning +good$", text, re.MULTILINE) and "PaLM 540B, TPU v4" in text and "46.2 %" in text


def test_the_mfu_of_a_time_of_ones_own():
    reply = plan("mfu --flops 5.4e14 --time 1 --on h100-sxm")
    assert reply["mfu"] == pytest.approx(5.4e14 / 989.5e12)
    assert reply["flops_per_s"] == 5.4e14
    whole = plan("mfu --params 70e9 --tokens 4M --time 10 --gpus 1024 --on h100-sxm --format fp8")
    assert whole["mfu"] == pytest.approx(6 * 70e9 * 4e6 / 10 / 1024 / 1979e12)
    assert "above the peak" in plan("mfu --flops 5.4e15 --time 0.1 --on h100-sxm")["note"]
    assert "share of the measured peak" in plan("mfu --flops 1e9 --time 1 --on", HOST)["note"]
    assert plan("mfu --flops 1e15 --time 2 --on", H100)["mfu"] == pytest.approx(1e15 / 2 / 989.5e12)


@pytest.mark.parametrize(
    ("link", "rate"),
    [
        ("pcie4x16", 16e9 * 16 * 128 / 130 / 8),
        ("PCIe5x16", 32e9 * 16 * 128 / 130 / 8),
        ("nvlink4", 450e9),
        ("50G", 50e9),
        ("50GB/s", 50e9),
        ("2.5e9", 2.5e9),
    ],
)
def test_a_transfer_takes_bytes_over_the_rate_of_the_link(link, rate):
    reply = answer("plan", "transfer", "--bytes", "140G", "--link", link)
    assert reply["time_s"] == pytest.approx(140e9 / rate)
    assert terms(reply)["rate of the link, one direction"] == pytest.approx(rate)


@pytest.mark.parametrize(
    ("expression", "sizes", "flops", "elements"),
    [
        ("bd,dk->bk", "b=1024,d=256,k=64", 2 * 1024 * 256 * 64, 1024 * 256 + 256 * 64 + 1024 * 64),
        ("bshd,bthd->bhst", "b=2,s=8,t=16,h=4,d=32", 2 * 2 * 8 * 16 * 4 * 32, 2 * 4 * (8 * 32 + 16 * 32 + 8 * 16)),
        ("i,i->i", "i=1k", 1000, 3000),
        ("i,j->ij", "i=10,j=20", 200, 230),
        ("ii->", "i=7", 7, 8),
        ("ab,bc,cd->ad", "a=2,b=3,c=5,d=7", 3 * 210, 6 + 15 + 35 + 14),
    ],
)
def test_an_einsum_multiplies_and_adds_in_each_step(expression, sizes, flops, elements):
    reply = answer("plan", "einsum", expression, "--size", sizes, "--format", "fp32")
    assert (reply["flops"], reply["bytes"]) == (flops, 4 * elements)
    assert reply["intensity_flop_per_byte"] == pytest.approx(flops / (4 * elements))


NAMED = "batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2"


def einsum(expression: str, sizes: str) -> dict:
    return answer("plan", "einsum", expression, "--size", sizes)


def test_names_are_indices_too():
    named = einsum(NAMED, "batch=2,seq1=3,seq2=3,hidden=4")
    letters = einsum("bsh,bth->bst", "b=2,s=3,t=3,h=4")
    assert (named["flops"], named["bytes"]) == (letters["flops"], letters["bytes"]) == (144, 2 * (24 + 24 + 18))
    assert named["inputs"]["seq1"] == 3 and terms(named)["batch seq1 hidden"] == 48
    mean = einsum("b h w c -> b c", "b=8,h=32,w=32,c=64")
    assert (mean["flops"], "view" in mean) == (8 * 32 * 32 * 64, False)
    heads = einsum("seq (heads hidden1), hidden1 hidden2 -> seq (heads hidden2)", "seq=5,heads=2,hidden1=3,hidden2=4")
    assert heads["flops"] == 2 * 5 * 2 * 3 * 4


@pytest.mark.parametrize(
    ("expression", "sizes", "view"),
    [
        ("seq (heads hidden) -> seq heads hidden", "seq=6,heads=2,hidden=4", True),
        ("seq heads hidden -> seq (heads hidden)", "seq=6,heads=2,hidden=4", True),
        ("seq (heads hidden) -> heads seq hidden", "seq=6,heads=2,hidden=4", True),
        ("heads seq hidden -> seq (heads hidden)", "seq=6,heads=2,hidden=4", False),
        ("a b c -> a (c b)", "a=6,b=2,c=4", False),
        ("bchw->bhwc", "b=6,c=2,h=2,w=2", True),
        ("a b -> (b a)", "a=48,b=1", True),
        ("a b c -> (a c) b", "a=1,b=6,c=8", True),
        ("a b c -> (a c) b", "a=2,b=6,c=4", False),
        ("ab->ba", "a=12,b=4", True),
    ],
)
def test_a_view_moves_nothing_and_a_copy_says_its_bytes(expression, sizes, view):
    reply = einsum(expression, sizes)
    assert (reply["flops"], reply["view"], reply["copy_bytes"]) == (0, view, 2 * 2 * 48)
    assert reply["bytes"] == (0 if view else reply["copy_bytes"]) and "intensity_flop_per_byte" not in reply
    assert ("a view moves nothing" if view else "it is a copy") in reply["note"]
    words = ("einsum", expression, "--size", sizes)
    assert re.search(rf"^  view +{'yes' if view else 'no'}$", ridgebench("plan", *words).stdout, re.MULTILINE)


def offsets(order: str, sizes: dict[str, int], axis: str) -> list[int]:
    """Where the elements of one axis of the result lie in the operand, by a walk over its memory."""
    shape = [sizes[index] for index in order]
    places = {tuple(at): number for number, at in enumerate(product(*map(range, shape)))}
    steps = product(*(range(sizes[index]) for index in axis))
    return [places[tuple(dict(zip(axis, step)).get(index, 0) for index in order)] for step in steps]


def is_view(order: str, sizes: dict[str, int], axes: tuple[str, ...]) -> bool:
    """Each axis of a view goes through the memory in equal steps."""
    walks = [offsets(order, sizes, axis) for axis in axes]
    return all(len({after - before for before, after in zip(walk, walk[1:])}) <= 1 for walk in walks)


def groupings(indices: str):
    """The ways to put these indices, in their order, into axes."""
    if not indices:
        yield ()
    for length in range(1, len(indices) + 1):
        for rest in groupings(indices[length:]):
            yield (indices[:length], *rest)


@pytest.mark.parametrize("order", ["ab", "aab", "aba", "baa", "abc"])
def test_a_view_is_what_a_walk_over_the_memory_finds(order):
    names = sorted(set(order))
    calls, expected = [], []
    for shape in product((1, 2, 3), repeat=len(names)):
        sizes = dict(zip(names, shape))
        given = ",".join(f"{index}={size}" for index, size in sizes.items())
        for axes in (axes for result in permutations(names) for axes in groupings("".join(result))):
            result = " ".join(f"({' '.join(axis)})" for axis in axes)
            calls.append(["plan", "einsum", f"{' '.join(order)} -> {result}", "--size", given, "--json"])
            expected.append(is_view(order, sizes, axes))
    assert {True, False} == set(expected)
    for call, view, (code, text) in zip(calls, expected, answers(calls), strict=True):
        assert code == OK and json.loads(text)["view"] is view, call


def test_the_strides_of_a_diagonal_are_a_sum():
    reply = einsum("a b a -> (a b)", "a=2,b=3")
    assert reply["view"] is False and "it is a copy" in reply["note"]
    assert (terms(reply)["stride of a, in elements"], terms(reply)["stride of b, in elements"]) == (7, 2)


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("seq (heads hidden -> seq heads hidden", "parentheses that do not match"),
        ("seq heads) hidden -> seq heads hidden", "parentheses that do not match"),
        ("seq ((heads) hidden) -> seq heads hidden", "parentheses that do not match"),
        ("seq () -> seq", "empty parentheses"),
        ("1 seq -> seq", "does not begin with a letter"),
        ("seq, -> seq", "operand without indices"),
        ("seq -> heads", "no operand has"),
        ("seq -> seq seq", "index twice"),
        ("format seq -> seq format", "called format"),
        ("a b -> b a\x1b", "does not begin with a letter"),
        ("seq heads -> seq", "lacks the index 'heads'"),
    ],
)
def test_malformed_names_are_refused(expression, part):
    sizes = "seq=2,hidden=4" if "lacks" in part else "seq=2,format=3" if "format" in expression else "seq=2,heads=2,hidden=4"
    if expression.startswith("a b"):
        sizes = "a=1,b=1"
    refused(ridgebench("plan", "einsum", expression, "--size", sizes), part)


def test_a_link_has_the_rate_that_a_run_measured():
    folder = ROOT / "results/nvidia-h200/partial/2026-11-27-6abf65e-characterise"
    rows = [row for row in records(folder) if row["op"] == "copy_to_host" and row["status"] == "ok"]
    best = max(rows, key=lambda row: row["bytes"] / row["time_median_s"])
    reply = answer("plan", "transfer", "--bytes", "140G", "--link", folder, "--direction", "to-host")
    assert reply["time_s"] == pytest.approx(140e9 / (best["bytes"] / best["time_median_s"]))
    assert reply["inputs"]["rate_from"] == best["id"] and "fastest copy" in reply["note"]
    device = answer("plan", "transfer", "--bytes", "140G", "--link", folder)
    assert device["inputs"]["rate_from"].startswith("copy_to_device/") and device["time_s"] != reply["time_s"]
    refused(ridgebench("plan", "transfer", "--bytes", "512B", "--link", "50G"),
            "--bytes is '512B'", "allowed: 512 for bytes, 512G for billions of bytes")
    refused(ridgebench("plan", "transfer", "--bytes", "1G", "--link", "50B"), "--link is '50B'", "50GB/s")
    refused(ridgebench("plan", "transfer", "--bytes", "1G", "--link", H100), "no steady row of copy_to_device", "byte/s")
    refused(ridgebench("plan", "transfer", "--bytes", "1G", "--link", "50G", "--direction", "up"), "--direction is 'up'", "to-host")


def test_creating_on_the_device_stands_beside_moving():
    """By the measured copies of the link's results, or by the device of --on; without a device nothing is said."""
    folder = ROOT / "results/nvidia-h200/partial/2026-11-27-6abf65e-characterise"
    rows = [row for row in records(folder) if row["op"] == "dram_copy" and row["status"] == "ok"]
    best = max(rows, key=lambda row: row["bytes"] / row["time_median_s"])
    reply = answer("plan", "transfer", "--bytes", "140G", "--link", folder)
    assert reply["creation_time_s"] == pytest.approx(140e9 / (best["bytes"] / best["time_median_s"]))
    assert reply["inputs"]["memory_rate_from"] == best["id"] and "only writes them" in reply["note"]
    words = "transfer --bytes 140G --link pcie5x16"
    assert plan(words + " --on h100-sxm")["creation_time_s"] == pytest.approx(140e9 / 3.35e12)
    assert re.search(r"^  time to create them on the device +41.79 ms$", shown(words + " --on h100-sxm"), re.MULTILINE)
    assert plan(f"transfer --bytes 140G --link {folder} --on h100-sxm")["inputs"]["device"] == "h100-sxm"
    collective = "transfer --bytes 1G --link nvlink4 --collective all-reduce --ranks 8"
    for other in (words, collective, f"transfer --bytes 140G --link {folder} --direction to-host"):
        assert "creation_time_s" not in plan(other)
    refused(ridgebench("plan", *words.split(), "--direction", "to-host", "--on", "h100"), "the bytes go to; allowed: --direction to-device")
    refused(ridgebench("plan", *collective.split(), "--on", "h100"), "--on")


def test_a_table_of_the_stages_of_zero():
    reply = plan("zero --params 70e9 --ranks 64 --on h100-sxm")
    for stage, row in enumerate(reply["stages"]):
        assert row == {"stage": stage} | {
            key: value for key, value in plan(f"zero --params 70e9 --ranks 64 --stage {stage} --on h100-sxm").items()
            if key in row
        }
        assert row["bytes"] == pytest.approx(float(70 * 10**9 * bytes_per_parameter("bf16", "adamw", stage, 64)))
        sent = 70 * 10**9 * sent_per_parameter("bf16", "adamw", stage, 64)
        assert row["communication_bytes"] == pytest.approx(float(sent))
    assert [row["fits"] for row in reply["stages"]] == [False, False, False, True]
    lines = shown("zero --params 70e9 --ranks 64 --on h100-sxm").splitlines()
    assert [line.split()[-1] for line in lines if re.match(r"\s+[0-3]\s|^[0-3]\s", line)] == ["no", "no", "no", "yes"]


def test_precisions_and_optimizers_of_the_lecture():
    assert plan("memory --params 1e9 --precision fp32-bf16")["bytes_per_parameter"] == 14
    assert plan("memory --params 1e9 --optimizer lion")["bytes_per_parameter"] == 8
    adafactor = plan("memory --params 1e9 --optimizer adafactor")
    assert adafactor["bytes_per_parameter"] == 4 and "row and column sums" in adafactor["note"]


def test_fp4_has_the_peak_of_the_sheet():
    for words in ("train --flops 1e22 --mfu 0.4 --on b200", "mfu --flops 1e15 --time 1 --on b200"):
        named, short = (plan(f"{words} --format {form}") for form in ("fp4_e2m1", "fp4"))
        assert named == short and named["inputs"]["format"] == "fp4_e2m1"
        assert {term["name"]: term["value"] for term in named["terms"]}["peak of one device"] == 9e15
    refused(ridgebench("plan", "train", "--flops", "1e22", "--mfu", "0.4", "--on", "h100", "--format", "fp4"),
            "h100-sxm has no peak for fp4_e2m1")
    refused(ridgebench("predict", "table", "--on", "b200", "--format", "fp4"), "no operation has the format fp4_e2m1")


def test_fp4_formats_differ_in_their_blocks():
    assert plan("tensor --shape 64x64 --format nvfp4")["bytes"] == 64 * 64 * 0.5625
    assert plan("tensor --shape 64x64 --format mxfp4")["bytes"] == 64 * 64 * 0.53125


@pytest.mark.parametrize("checkpoint", ["none", "layer", "sqrt", "full"])
@pytest.mark.parametrize("scores", [False, True])
def test_activations_of_a_transformer(checkpoint, scores):
    words = "activations --model llama-3-8b --batch 4 --micro-batches 3 --context 2000"
    reply = plan(f"{words} --checkpoint {checkpoint}" + (" --scores" if scores else ""))
    assert reply["bytes"] == pytest.approx(float(llama_activations(LLAMA, 2, 2000, checkpoint, scores)))
    assert reply["inputs"]["context"] == 2000 and reply["inputs"]["scores"] is scores


def test_a_layer_of_gpt_keeps_16_outputs_per_token_as_published():
    """Korthikanti et al.: 34 bytes x h in 16 bits with the two masks of dropout, which are 2 of them."""
    reply = plan("activations --model gpt-2 --batch 1 --context 1024")
    assert terms(reply)["what the largest layer keeps"] == 1024 * 768 * 32
    with_scores = plan("activations --model gpt-2 --batch 1 --context 1024 --scores")
    more = terms(with_scores)["what the largest layer keeps"] - 1024 * 768 * 32
    assert more == 2 * 12 * 1024 * 1024


def test_what_fits_is_the_sum_of_the_other_plans():
    rng = random.Random(3)
    sheets = all_sheets()
    for _ in range(12):
        name = rng.choice(["h100-sxm", "h200", "b200", "l4"])
        parameters, ranks, stage = rng.randint(1, 9) * 10 ** rng.randint(8, 11), rng.randint(1, 100), rng.randint(0, 3)
        layers, width, batch = rng.randint(1, 100), rng.randint(1, 20000), rng.randint(1, 100000)
        state = ["--params", str(parameters), "--precision", "bf16-master", "--stage", str(stage), "--ranks", str(ranks)]
        checkpoint = rng.choice(["none", "layer", "sqrt", "full"])
        network = f"--layers {layers} --width {width} --batch {batch} --pre-activations --checkpoint {checkpoint}".split()
        reply = answer("plan", "fits", *state, *network, "--on", name)
        each = Fraction(parameters) * bytes_per_parameter("bf16-master", "adamw", stage, ranks)
        bands = step_bands(layers, width, batch, 1, True, checkpoint, scattered=stage >= 2 and ranks > 1)
        gathered = 2 * width**2 if stage == 3 and ranks > 1 else 0
        whole = float(each) + gathered + max(size for *_, size in bands)
        assert reply["bytes"] == pytest.approx(whole)
        assert sum(part["bytes"] for part in reply["parts"]) == pytest.approx(whole)
        assert reply["memory_bytes"] == float(sheets[name].memory_bytes)
        assert reply["fits"] is (whole <= reply["memory_bytes"])
        assert bool(reply["changes"]) <= (not reply["fits"])
        for change in reply["changes"]:
            changed = answer("plan", "fits", *overridden([*state, *network], change["change"].split()), "--on", name)
            assert changed["fits"] is True and changed["bytes"] == pytest.approx(change["bytes"])


def overridden(words: list[str], changes: list[str]) -> list[str]:
    """The words with other values of the options that `changes` has."""
    words = list(words)
    for option, value in zip(changes[::2], changes[1::2], strict=True):
        if option in words:
            words[words.index(option) + 1] = value
        else:
            words += [option, value]
    return words


FITS = "fits --params 70e9 --layers 80 --width 8192 --batch 4096 --ranks 64 --stage 3 --on h100-sxm"


def test_the_bar_has_a_letter_for_each_part():
    ascii_bar = next(line for line in shown(FITS, LC_ALL="C").splitlines() if "|" in line)
    letters = [letter for letter, _ in re.findall(r"(\w)(\1*)", ascii_bar.split("|")[0])]
    assert letters == ["P", "G", "O", "W", "A", "T"]
    reply = plan(FITS)
    share = reply["parts"][2]["bytes"] / reply["memory_bytes"]
    assert ascii_bar.count("O") == pytest.approx(60 * share, abs=1.01)
    lines = shown(FITS, LC_ALL="C.UTF-8").splitlines()
    bar = next(index for index, line in enumerate(lines) if "\u2503" in line)
    assert len(lines[bar]) <= 80 and lines[bar + 1].replace(" ", "") == "PGOWAT"


def test_the_bar_shows_where_the_memory_ends():
    too_much = FITS.replace("--stage 3", "--stage 0")
    bar = next(line for line in shown(too_much, LC_ALL="C").splitlines() if "|" in line).strip()
    reply = plan(too_much)
    assert bar.index("|") == pytest.approx(60 * reply["memory_bytes"] / reply["bytes"], abs=1)
    widened = sum(part["bytes"] < reply["bytes"] / 120 for part in reply["parts"])  # less than half a column is one
    assert len(bar) == pytest.approx(61 + widened, abs=1)
    assert "fits with --stage 3" in shown(too_much)


def test_a_hostile_config_stays_inert(tmp_path):
    path = tmp_path / "\x1b[31mconfig.json"
    path.write_text(json.dumps(LLAMA))
    result = ridgebench("plan", "fits", "--model", path, "--batch", "1", "--on", "h100")
    assert result.returncode == 0 and "\x1b" not in result.stdout
    path.write_text("{" * 1000)
    refused(ridgebench("plan", "activations", "--model", path, "--batch", "1"), "config.json")
    os.chmod(path, 0)
    missing = ridgebench("plan", "fits", "--model", tmp_path / "none.json", "--batch", "1", "--on", "h100")
    refused(missing, "none.json", "llama-3-8b")
