"""`ridgebench step train`: its memory counted again, its record, its errors and exit codes."""

import json
import math

import pytest
from command_line import OK, ROOT, ROW_FAILED, answer, ids, read_environment, refused, ridgebench, strict_json
from step_lifetimes import rounded, step_bands
from step_records import changed_copy, edited, step_of, without_predictions

SIZES = ("--layers", "6", "--width", "96", "--batch", "24")
QUICK = ("--device", "cpu", "--seconds", "0.05")


def train(*arguments, **options):
    return ridgebench("step", "train", *arguments, **options)


def counted(layers, width, batch, parts, checkpoint, gelu) -> int:
    """The peak of a step in fp32 with adamw, by an execution that shares nothing with the program."""
    return layers * 4 * rounded(4 * width**2) + max(size for *_, size in step_bands(layers, width, batch, parts, gelu, checkpoint, 4))


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize(("checkpoint", "again"), [("none", 0), ("sqrt", 8), ("every:3", 8), ("layer", 8), ("every:8", 8), ("full", 28)])
def test_the_peak_is_what_a_walk_counts(activation, parts, checkpoint, again):
    done = train("--layers", "8", "--width", "1024", "--batch", "256", "--activation", activation, "--micro-batches", str(parts),
                 "--checkpoint", checkpoint, "--device", "cpu", "--dry-run", "--json")  # fmt: skip
    step = strict_json(done.stdout)
    assert step["peak_bytes"] == step["peak_predicted_bytes"] == counted(8, 1024, 256, parts, checkpoint, activation == "gelu")
    assert max(moment["predicted_bytes"] for moment in step["timeline"]) == step["peak_bytes"]
    assert step["flops_model"] == 6 * 8 * 256 * 1024**2
    assert step["flops_executed"] == (6 * 8 - 2 + 2 * again) * 256 * 1024**2, "a product for each layer that is computed again"


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("parts", [1, 3, 4])
@pytest.mark.parametrize("cleared", ["none", "fill"])
def test_the_outline_is_the_sum_of_what_lives_at_each_launch(activation, parts, cleared):
    for checkpoint in ("none", "sqrt", "every:3", "full"):
        for layers, width in ((2, 8), (7, 640)):  # gradients of weights below and above an output
            done = train("--layers", layers, "--width", width, "--batch", "256", "--activation", activation, "--micro-batches", parts,
                         "--checkpoint", checkpoint, "--zero-grad", cleared, "--device", "cpu", "--dry-run", "--json")  # fmt: skip
            step = strict_json(done.stdout)
            live = [sum(moment["live"].values()) for moment in step["timeline"]]
            assert [moment["predicted_bytes"] for moment in step["timeline"]] == live, (checkpoint, layers)
            assert max(live) == step["peak_predicted_bytes"] == step["peak_bytes"]


@pytest.fixture(scope="module", name="measured")
def measured_fixture(tmp_path_factory):
    """A measured step, its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("step") / "out"
    done = train(*SIZES, *QUICK, "--checkpoint", "sqrt", "--activation", "gelu", "--micro-batches", "2", "--out", folder)
    assert done.returncode == OK, done.stderr
    return folder, done


def test_a_step_is_measured_verified_and_kept(measured):
    folder, done = measured
    step = step_of(folder)
    assert (step["status"], step["reason"], step["verify"]["repeated"]) == ("ok", None, True)
    assert 0 < step["verify"]["error"] <= 1 and step["verify"]["tensors"] > len(step["timeline"])
    assert step["verify"]["loss_error"] < 1e-5 and step["verify"]["gradients_error"] < 1e-4
    assert sum(part["launches"] for part in step["parts"]) == len(step["timeline"])
    assert math.isclose(step["sum_of_operations_s"], sum(part["time_s"] for part in step["parts"]))
    assert all(0 <= part["ci_low_s"] <= part["time_s"] <= part["ci_high_s"] for part in step["parts"])
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("95 % interval of the step: "))
    assert line.endswith(f", a median of {len(step['samples_s'])} samples") and "95 % interval  of the step" in done.stdout
    assert step["sum_of_roofs_s"] > 0 and step["sheet_s"] is None and step["mfu"] is None, "no data sheet promises anything of a host"
    assert sum(part["flops"] for part in step["parts"] if part["operation"] == "matmul") == step["flops_executed"]
    assert read_environment(folder)["interrupted"] is False
    assert ridgebench("verify", folder).stdout == f"{folder}: sound\n"
    assert "verified" in done.stdout and "measured roofs" in done.stdout
    assert "; the process grew by " in done.stdout


def test_techniques_are_those_that_were_named(ceilings, tmp_path):
    named = ("--technique", "matmul=naive", "--technique", "relu=naive")
    done = train(*SIZES, *QUICK, "--ceilings", ceilings, *named, "--json", "--out", tmp_path / "out")
    techniques = strict_json(done.stdout)["techniques"]
    assert {name for shape, name in techniques.items() if shape.startswith(("matmul/", "relu/"))} == {"naive"}


def test_the_ceilings_of_a_run_are_the_roofs_of_its_steps(ceilings, tmp_path):
    for name in ("first", "second"):
        done = train(*SIZES, *QUICK, "--ceilings", ceilings, "--out", tmp_path / name)
        assert (done.returncode, ridgebench("verify", tmp_path / name).returncode) == (OK, OK), done.stderr
    first, second = (step_of(tmp_path / name)["ceilings"] for name in ("first", "second"))
    assert first == second and {roof["id"] for roof in first} <= set(ids(ceilings))
    assert read_environment(tmp_path / "first")["ceilings"] == str(ceilings)


def test_ceilings_of_other_inputs_are_measured_again(ceilings, tmp_path):
    done = train(*SIZES, *QUICK, "--seed", "7", "--ceilings", ceilings, "--out", tmp_path / "out")
    assert f"the ceilings of {ceilings} are not comparable with this run: " in done.stderr and "the step measures its own" in done.stderr
    assert read_environment(tmp_path / "out")["ceilings"] is None and step_of(tmp_path / "out")["ceilings"]


def test_ceilings_of_another_device_are_refused(tmp_path):
    refused(train(*SIZES, *QUICK, "--ceilings", ROOT / "tests/data/golden_results", "--out", tmp_path / "out"), "holds no ceilings of cpu")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--layers", "0"), ("--layers", "whole number")),
        (("--layers", "7"), ("--layers is given 2 times", "allowed: once")),
        (("--micro-batches", "25"), ("--micro-batches 25", "allowed: 1 to the batch of 24")),
        (("--checkpoint", "every:0"), ("'every:0'", "allowed: none, layer, sqrt, full, or every:K")),
        (("--checkpoint", "all"), ("'all'", "allowed: none, layer, sqrt, full, or every:K")),
        (("--checkpoint", ""), ("''", "allowed: none, layer, sqrt, full, or every:K")),
        (("--checkpoint", "every:"), ("'every:'", "whole number of layers")),
        (("--checkpoint", "every:1.5"), ("'every:1.5'", "whole number of layers")),
        (("--checkpoint", "every:-2"), ("'every:-2'", "whole number of layers")),
        (("--checkpoint", "every:2:3"), ("'every:2:3'", "whole number of layers")),
        (("--checkpoint", "EVERY:2"), ("'EVERY:2'", "allowed: none")),
        (("--micro-batches", "48"), ("--micro-batches 48", "allowed: 1 to the batch of 24")),
        (("--micro-batches", "1.5"), ("'1.5' is not a whole number from 1 to 2^40",)),
        (("--seed", "0.5"), ("'0.5' is not a whole number from 0 to 2^53",)),
        (("--seed", "-1"), ("'-1' is not a whole number from 0 to 2^53",)),
        (("--seconds", "0"), ("'0' is not a number of seconds",)),
        (("--seconds", "nan"), ("'nan' is not a number of seconds",)),
        (("--format", "int8"), ("--format int8; allowed: bf16, fp16, fp32",)),
        (("--format", "bf16,fp32"), ("--format bf16,fp32; allowed: bf16, fp16, fp32",)),
        (("--format", ""), ("--format ; allowed: bf16, fp16, fp32",)),
        (("--zero-grad", "maybe"), ("'maybe'", "allowed: none, fill")),
        (("--technique", "=naive"), ("'=naive'", "allowed: OPERATION=TECHNIQUE")),
        (("--technique", "matmul=naive", "--technique", "matmul=packed"), ("each operation once",)),
        (("--technique", "adamw=simd", "--optimizer", "sgd"), ("the step has no adamw", "sgd")),
        (("--threads", "1"), ("--threads", "allowed")),
        (("--format", "fp8_e4m3"), ("fp8_e4m3", "allowed: bf16, fp16, fp32")),
        (("--format", "fp9"), ("fp9", "allowed")),
        (("--format", "tf32"), ("--format tf32; allowed: bf16, fp16, fp32",)),
        (("--master",), ("--master", "allowed with bf16 and fp16")),
        (("--activation", "silu"), ("silu", "relu", "gelu")),
        (("--optimizer", "adam"), ("adam", "adamw")),
        (("--technique", "matmul"), ("'matmul'", "allowed: OPERATION=TECHNIQUE")),
        (("--technique", "matmul=fast"), ("matmul=fast", "allowed: ", "naive")),
        (("--technique", "gelu=naive"), ("the step has no gelu", "allowed: matmul")),
    ],
)
def test_bad_input_is_one_line_before_anything_is_measured(arguments, parts, tmp_path):
    refused(train(*SIZES, "--device", "cpu", "--out", tmp_path / "out", *arguments), *parts)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("--layers", "1.5", "'1.5' is not a whole number from 1 to 10000"),
        ("--layers", "10001", "'10001' is not a whole number from 1 to 10000"),
        ("--width", "-1", "'-1' is not a whole number from 1 to 2^40"),
        ("--width", "2e12", "'2e12' is not a whole number from 1 to 2^40"),
        ("--batch", "0", "'0' is not a whole number from 1 to 2^40"),
        ("--batch", "2.5", "'2.5' is not a whole number from 1 to 2^40"),
        ("--batch", "many", "'many' is not a whole number from 1 to 2^40"),
    ],
)
def test_bad_sizes_name_their_range(option, value, part):
    sizes = dict(zip(SIZES[::2], SIZES[1::2])) | {option: value}
    refused(train(*(word for pair in sizes.items() for word in pair), "--device", "cpu", "--dry-run"), option, part)


def test_full_checkpoints_need_two_layers():
    refused(train("--layers", "1", "--width", "8", "--batch", "8", "--checkpoint", "full", "--dry-run"), "--layers 1; allowed: --layers 2 or more")


def test_an_empty_folder_or_device_is_refused(tmp_path):
    for option in ("--out", "--device"):
        refused(train(*SIZES, option, "", cwd=tmp_path), option, "an empty text names nothing")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", ["/dev/null", "/dev/full", "/proc/x"])
def test_a_folder_that_cannot_be_written_is_refused(out):
    refused(train(*SIZES, *QUICK, "--out", out), f"cannot write results to {out}", "allowed: a folder that can be written to")


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        (("6", "1e9", "24"), ("too large together", "allowed: layers x batch x width^2 up to 2^58")),
        (("10000", "1e9", "1e9"), ("too large together",)),
        (("400", "8", "8", "--checkpoint", "full"), ("launches; allowed: up to 100000",)),
        (("2", "4", "1e6", "--micro-batches", "1e6"), ("launches; allowed: up to 100000",)),
    ],
)
def test_a_step_without_end_is_refused_at_once(sizes, parts):
    layers, width, batch, *others = sizes
    refused(train("--layers", layers, "--width", width, "--batch", batch, "--device", "cpu", "--dry-run", *others), *parts)


@pytest.mark.parametrize(("given", "recorded"), [("every:2k", "every:6"), ("every:1e0", "every:1"), ("every:99999999999999999999", "every:6"),
                                                 ("every:3", "every:3"), ("layer", "layer"), ("sqrt", "sqrt")])  # fmt: skip
def test_one_step_has_one_id_however_k_is_written(given, recorded):
    step = strict_json(train(*SIZES, "--checkpoint", given, "--device", "cpu", "--dry-run", "--json").stdout)
    assert step["checkpoint"] == recorded and f"/checkpoint:{recorded}/" in step["id"]


# Widths that no vector divides, one row, one layer, one element, micro-batches of one row, each optimizer, each format.
ODD = [
    "--layers 1 --width 1 --batch 1",
    "--layers 1 --width 1 --batch 1 --format bf16 --master --optimizer lion",
    "--layers 2 --width 7 --batch 6 --micro-batches 6 --format fp16 --activation gelu --checkpoint sqrt",
    "--layers 3 --width 33 --batch 5 --format bf16 --optimizer momentum --zero-grad fill --checkpoint every:99",
    "--layers 7 --width 17 --batch 9 --micro-batches 3 --format fp16 --master --optimizer sgd --checkpoint full",
    "--layers 5 --width 63 --batch 1 --activation gelu --checkpoint full --library",
    "--layers 3 --width 65 --batch 3 --format bf16 --library --micro-batches 3 --zero-grad fill",
    "--layers 3 --width 33 --batch 7 --format bf16 --micro-batches 3 --checkpoint every:2",
    "--layers 2 --width 8 --batch 5 --format fp16 --activation gelu --micro-batches 4 --zero-grad fill",
]


@pytest.mark.parametrize("words", ODD)
def test_odd_sizes_are_measured_and_right(words, ceilings, tmp_path):
    done = train(*words.split(), "--device", "cpu", "--seconds", "0.01", "--ceilings", ceilings, "--out", tmp_path / "out")
    step = step_of(tmp_path / "out")
    assert (done.returncode, step["status"], step["reason"]) == (OK, "ok", None)
    assert step["peak_bytes"] == step["peak_predicted_bytes"]
    assert ridgebench("verify", tmp_path / "out").returncode == OK


@pytest.mark.parametrize("layers", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("parts", [1, 4, 6])
def test_the_peak_of_few_layers_is_what_a_walk_counts(layers, activation, parts):
    for checkpoint in ("none", "sqrt", "every:1", "every:9", *["full"] * (layers > 1)):
        done = train("--layers", layers, "--width", "7", "--batch", "6", "--activation", activation, "--micro-batches", parts,
                     "--checkpoint", checkpoint, "--device", "cpu", "--dry-run", "--json")  # fmt: skip
        step = strict_json(done.stdout)
        assert step["peak_bytes"] == step["peak_predicted_bytes"] == counted(layers, 7, 6, parts, checkpoint, activation == "gelu")


def test_a_dry_run_says_that_memory_is_too_little():
    words = ("--width", "65536", "--batch", "1", "--device", "cpu", "--dry-run")
    much = train("--layers", "1000", *words)
    assert "are free: too little" in much.stdout and much.returncode == ROW_FAILED
    step = strict_json(train("--layers", "1000", *words, "--json").stdout)
    allowed = "bytes are free; allowed: smaller --layers, --width or --batch, more --micro-batches, another --checkpoint"
    assert step["status"] == "skipped" and step["reason"].startswith(f"needs {step['arena_bytes']} bytes of device memory, ")
    assert step["reason"].endswith(allowed) and "skipped: needs " in much.stdout and f"{allowed}\n" in much.stdout
    few = train("--layers", "1", "--width", "8", "--batch", "1", "--device", "cpu", "--dry-run")
    assert "too little" not in few.stdout and few.returncode == OK


def test_too_little_memory_is_a_row_that_says_so(tmp_path):
    done = train("--layers", "1000", "--width", "65536", "--batch", "1", "--device", "cpu", "--out", tmp_path / "out")
    assert done.returncode == ROW_FAILED
    step = step_of(tmp_path / "out")
    assert step["status"] == "skipped" and "memory" in step["reason"] and step["time_s"] is None
    assert step["reason"].endswith("; allowed: smaller --layers, --width or --batch, more --micro-batches, another --checkpoint")
    assert step["reason"] in done.stdout
    assert ridgebench("verify", tmp_path / "out").returncode == OK


@pytest.mark.parametrize("key", ["peak_bytes", "flops_executed", "sum_of_operations_s", "time_s"])
def test_verify_finds_a_changed_number(key, measured, tmp_path):
    folder, _ = measured
    changed = changed_copy(folder, tmp_path / "changed", key)
    done = ridgebench("verify", changed)
    assert done.returncode == ROW_FAILED and key in done.stderr


def test_verify_finds_another_prediction_of_a_launch(measured, tmp_path):
    def change(step):
        step["timeline"][3]["predicted_bytes"] += 256

    done = ridgebench("verify", edited(measured[0], tmp_path / "changed", change))
    assert done.returncode == ROW_FAILED and "predicted_bytes of launch 3 is " in done.stderr


def test_verify_reads_older_records_without_predictions_of_launches(measured, tmp_path):
    folder = edited(measured[0], tmp_path / "older", without_predictions)
    (problem,) = ridgebench("verify", folder).stderr.splitlines()
    assert problem == "ridgebench: step.jsonl is not what the run wrote: its checksum differs", "and nothing of its keys"
    assert ridgebench("show", folder).returncode == OK


def test_verify_finds_a_part_outside_of_its_interval(measured, tmp_path):
    def widen(step):
        step["parts"][0]["ci_low_s"] = 2 * step["parts"][0]["time_s"]

    done = ridgebench("verify", edited(measured[0], tmp_path / "changed", widen))
    assert done.returncode == ROW_FAILED and "lies outside of its interval" in done.stderr


@pytest.mark.parametrize(("rows", "key"), [("parts", "roof_s"), ("ceilings", "per_s")])
def test_verify_finds_a_part_that_its_ceilings_do_not_judge_so(rows, key, measured, tmp_path):
    def double(step):
        for row in step[rows]:
            row[key] *= 2
        step["sum_of_roofs_s"] = sum(part["roof_s"] for part in step["parts"])

    done = ridgebench("verify", edited(measured[0], tmp_path / "changed", double))
    assert done.returncode == ROW_FAILED and "roof_s of forward is" in done.stderr
    lacking = edited(measured[0], tmp_path / "lacking", lambda step: step.update(ceilings=[]))
    assert "roof_s of forward is set without a roof" in ridgebench("verify", lacking).stderr


def on_a_gpu(mfu, form="bf16", kind="train"):
    """Makes the step one of a device with a data sheet: none was measured on a GPU."""
    return lambda step: step.update(mfu=mfu, format=form, step=kind)


def with_sheet(folder):
    facts = read_environment(folder)
    facts["devices"][0]["data_sheet"] = "h100-sxm"
    (folder / "environment.json").write_text(json.dumps(facts))
    return folder


PLAN = ("plan", "train", "--params", "1B", "--tokens", "1T", "--on", "h100-sxm", "--mfu")


def test_a_plan_takes_the_mfu_of_a_step(measured, tmp_path):
    folder = with_sheet(edited(measured[0], tmp_path / "step", on_a_gpu(0.25)))
    reply = answer(*PLAN, folder)
    assert reply["days"] == answer(*PLAN, "0.25")["days"] and reply["inputs"]["mfu"] == 0.25
    step = step_of(folder)
    assert reply["inputs"]["mfu_row"] == step["id"]
    assert f"the MFU is that of the measured step {step['id']}: equal layers without attention, on one device" in reply["note"]
    assert "single matmul" not in reply["note"]


def test_a_folder_without_such_a_step_is_refused(measured, tmp_path):
    refused(ridgebench(*PLAN, measured[0]), "no MFU: the device of its step has no data sheet", "allowed: --mfu as a number")
    fp16 = with_sheet(edited(measured[0], tmp_path / "fp16", on_a_gpu(0.25, "fp16")))
    refused(ridgebench(*PLAN, fp16), "no step of training in bf16; allowed: --format fp16")
    decode = with_sheet(edited(measured[0], tmp_path / "decode", on_a_gpu(0.25, kind="decode")))
    refused(ridgebench(*PLAN, decode), "no step of training with status ok")


def test_a_folder_holds_one_kind_of_results(measured):
    folder, _ = measured
    refused(train(*SIZES, *QUICK, "--out", folder), "already holds a step")
    refused(ridgebench("run", "--device", "cpu", "--op", "relu", "--out", folder), "holds step.jsonl")


def test_the_simulated_device_runs_a_step_once(tmp_path):
    done = train(*SIZES, "--device", "sim", "--seconds", "0.05", "--out", tmp_path / "out")
    assert (done.returncode, step_of(tmp_path / "out")["status"]) == (OK, "ok"), done.stdout
