"""`predict` and `plan` compute the facts of the lecture from data sheets and from published results."""

import json
import shutil

import pytest
from command_line import ROOT, answer, read_environment, refused, ridgebench

GPU = "h100-sxm"
H100 = ROOT / "results/nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5"
HOST = ROOT / "results/amd-epyc-2-threads/2026-11-23-d549ba8"


def predict(operation: str, shape: str, form: str = "bf16", device: str = GPU) -> dict:
    return answer("predict", operation, shape, "--format", form, "--on", device)


def plan(question: str) -> dict:
    return answer("plan", *question.split())


def terms(reply: dict) -> dict[str, float]:
    return {term["name"]: term["value"] for term in reply["terms"]}


def test_keys_of_predict():
    reply = predict("matmul", "m:64/n:32/k:16/layout:nn")
    assert list(reply) == [
        "schema", "op", "shape", "format", "device", "flops", "bytes", "intensity_flop_per_byte",
        "ridge_flop_per_byte", "bound", "peak_flops_per_s", "bandwidth_bytes_per_s",
        "attainable_flops_per_s", "mfu_bound", "time_lower_bound_s", "time_without_overlap_s",
        "peak_from", "bandwidth_from", "launch_floor_s", "notes",
    ]  # fmt: skip
    assert reply["shape"] == {"m": 64, "n": 32, "k": 16, "layout": "nn"}
    assert (reply["op"], reply["format"], reply["device"]) == ("matmul", "bf16", GPU)


def test_relu_moves_four_bytes_per_flop():
    reply = predict("relu", "n:1048576")
    assert reply["flops"] == 1048576
    assert reply["bytes"] == 4 * 1048576
    assert reply["intensity_flop_per_byte"] == 0.25
    assert reply["bound"] == "memory"
    assert reply["mfu_bound"] == pytest.approx(0.25 / 295.4, rel=1e-3)


def test_gelu_counts_twenty_flops_and_takes_as_long_as_relu():
    gelu, relu = predict("gelu", "n:1048576"), predict("relu", "n:1048576")
    assert gelu["flops"] == 20 * relu["flops"]
    assert gelu["intensity_flop_per_byte"] == 5
    assert gelu["bound"] == "memory"
    assert gelu["time_lower_bound_s"] == relu["time_lower_bound_s"]


def test_dot_product_has_intensity_one_half():
    reply = predict("dot", "n:1048576")
    assert reply["intensity_flop_per_byte"] == pytest.approx(0.5, rel=1e-5)
    assert reply["bound"] == "memory"


def test_matrix_vector_tends_to_intensity_one():
    reply = predict("matvec", "n:4096")
    assert reply["intensity_flop_per_byte"] == pytest.approx(1.0, rel=1e-3)
    assert reply["intensity_flop_per_byte"] < 1
    assert reply["bytes"] == 2 * (4096**2 + 2 * 4096)
    assert reply["bound"] == "memory"


def test_square_matmul_has_intensity_of_a_third_of_its_size():
    reply = predict("matmul", "n:1024")
    assert reply["intensity_flop_per_byte"] == pytest.approx(341.3, abs=0.05)
    assert reply["bytes"] == 3 * 2 * 1024**2
    assert reply["bound"] == "compute"
    assert reply["attainable_flops_per_s"] == reply["peak_flops_per_s"]
    assert reply["mfu_bound"] == 1


@pytest.mark.parametrize(("device", "last_memory_bound"), [("h100-sxm", 886), ("h200", 618)])
def test_matmul_bends_at_the_ridge(device, last_memory_bound):
    assert predict("matmul", f"n:{last_memory_bound}", device=device)["bound"] == "memory"
    assert predict("matmul", f"n:{last_memory_bound + 1}", device=device)["bound"] == "compute"


def test_general_matmul_counts_two_flops_per_product():
    reply = predict("matmul", "m:8/n:32/k:128")
    assert reply["flops"] == 2 * 8 * 32 * 128
    assert reply["bytes"] == 2 * (8 * 128 + 128 * 32 + 8 * 32)


def test_fp8_matmul_writes_bf16():
    reply = predict("matmul", "n:2048", "fp8")
    assert reply["format"] == "fp8_e4m3"
    assert reply["bytes"] == 4 * 2048**2
    assert reply["intensity_flop_per_byte"] == 1024


def test_backward_of_a_linear_layer_costs_twice_its_forward():
    # Y[B,K] = X[B,D] W[D,K]; dX[B,D] = dY W^T sums over K, dW[D,K] = X^T dY sums over B.
    b, d, k = 512, 1024, 4096
    forward = predict("matmul", f"m:{b}/n:{k}/k:{d}/layout:nt")["flops"]
    input_gradient = predict("matmul", f"m:{b}/n:{d}/k:{k}/layout:nn")["flops"]
    weight_gradient = predict("matmul", f"m:{d}/n:{k}/k:{b}/layout:tn")["flops"]
    assert input_gradient + weight_gradient == 2 * forward


def test_fused_epilogue_counts_bias_and_gelu():
    reply = predict("matmul_gelu", "m:64/n:32/k:16")
    assert reply["flops"] == 2 * 64 * 32 * 16 + 21 * 64 * 32


@pytest.mark.parametrize(
    ("device", "ridge"), [("h100-sxm", 295), ("h200", 206), ("a100-80-sxm", 153)]
)
def test_ridge_point_is_peak_over_bandwidth(device, ridge):
    reply = predict("matmul", "n:1024", device=device)
    assert reply["ridge_flop_per_byte"] == pytest.approx(ridge, rel=2e-3)
    quotient = reply["peak_flops_per_s"] / reply["bandwidth_bytes_per_s"]
    assert reply["ridge_flop_per_byte"] == pytest.approx(quotient)


@pytest.mark.parametrize("operation", ["relu", "gelu", "dot", "matvec"])
def test_cuda_cores_limit_all_but_matmul(operation):
    reply = predict(operation, "n:1024")
    assert (reply["peak_flops_per_s"], reply["peak_from"]) == (67e12, GPU)
    assert reply["ridge_flop_per_byte"] == pytest.approx(20, rel=1e-3)


def test_gelu_turns_compute_bound_in_fp8():
    reply = predict("gelu", "n:1048576", "fp8", "b200")
    assert reply["bound"] == "compute"
    assert reply["ridge_flop_per_byte"] == pytest.approx(9.74, abs=0.005)
    assert reply["intensity_flop_per_byte"] == 10


def test_fp8_relu_on_an_a100_takes_the_time_of_its_bytes():
    reply = predict("relu", "n:1M", "fp8", "a100")
    assert reply["bound"] == "memory"
    assert reply["time_lower_bound_s"] == pytest.approx(2e6 / reply["bandwidth_bytes_per_s"])
    assert reply["mfu_bound"] is None, "the sheet promises no fp8 that an MFU could be a share of"
    refused(
        ridgebench("predict", "matmul", "n:64", "--format", "fp8", "--on", "a100"),
        "no peak for fp8_e4m3; it has: fp32",
    )


def test_a_results_folder_has_the_ridge_of_its_records():
    reply = predict("gelu", "n:64M", device=H100)
    assert reply["ridge_flop_per_byte"] == pytest.approx(21.1, abs=0.05)
    assert reply["peak_from"].startswith("fma_peak/")
    assert reply["bandwidth_from"].startswith("dram_copy/")


def test_an_mfu_needs_a_data_sheet():
    assert predict("matmul", "4096", device=HOST)["mfu_bound"] is None
    measured = predict("matmul", "4096", device=H100)
    assert measured["mfu_bound"] == pytest.approx(measured["peak_flops_per_s"] / 989.5e12)


def test_no_time_is_below_the_launch_floor_of_the_folder():
    reply = predict("relu", "n:8192", device=H100)
    assert reply["launch_floor_s"] == pytest.approx(0.777e-6, rel=1e-3)
    assert reply["time_lower_bound_s"] == reply["launch_floor_s"]
    assert reply["bound"] == "launch"
    assert "at least 777.1 ns" in reply["notes"][0]
    assert predict("relu", "n:8192")["launch_floor_s"] is None, "a data sheet has none"


@pytest.mark.parametrize(
    ("form", "peak"), [("fp32", 67e12), ("tf32", 494.7e12), ("bf16", 989.5e12), ("fp8", 1979e12)]
)
def test_peaks_are_dense(form, peak):
    for device in ("h100-sxm", "h200"):
        reply = predict("matmul", "n:1024", form, device)
        assert reply["peak_flops_per_s"] == pytest.approx(peak, rel=2e-3)


def test_time_is_the_longer_of_work_and_traffic_and_without_overlap_their_sum():
    reply = predict("matvec", "n:8192", "fp32")
    work = reply["flops"] / reply["peak_flops_per_s"]
    traffic = reply["bytes"] / reply["bandwidth_bytes_per_s"]
    assert reply["time_lower_bound_s"] == pytest.approx(max(work, traffic))
    assert reply["time_without_overlap_s"] == pytest.approx(work + traffic)


def test_halving_the_bytes_doubles_memory_bound_speed():
    wide, narrow = predict("relu", "n:1048576", "fp32"), predict("relu", "n:1048576", "bf16")
    assert wide["time_lower_bound_s"] == 2 * narrow["time_lower_bound_s"]


def test_training_takes_six_flops_per_parameter_and_token():
    reply = plan("train --params 70e9 --tokens 15e12")
    assert reply["flops"] == pytest.approx(6.3e24)
    assert sum(terms(reply).values()) == pytest.approx(reply["flops"])


def test_seventy_billion_parameters_train_in_144_days():
    question = "train --params 70e9 --tokens 15e12 --gpus 1024 --mfu 0.5 --on h100-sxm"
    assert plan(question)["days"] == pytest.approx(143.9, abs=0.05)


@pytest.mark.parametrize(
    ("precision", "parameters"), [("bf16", 53.3e9), ("fp32", 40e9), ("bf16-master", 40e9)]
)
def test_the_largest_model_on_eight_gpus(precision, parameters):
    reply = plan(f"memory --gpus 8 --optimizer adamw --precision {precision} --on h100-sxm")
    assert reply["parameters"] == pytest.approx(parameters, rel=1e-3)
    assert reply["fits"] is True
    assert reply["bytes_per_parameter"] == (12 if precision == "bf16" else 16)


@pytest.mark.parametrize(
    ("optimizer", "states"),
    [("sgd", 0), ("momentum", 4), ("adagrad", 4), ("rmsprop", 4), ("adam", 8), ("adamw", 8)],
)
def test_bytes_of_optimizer_state_per_parameter(optimizer, states):
    reply = plan(f"memory --params 1e9 --optimizer {optimizer}")
    assert terms(reply).get(f"{optimizer} states", 0) == states * 1e9


@pytest.mark.parametrize(("form", "mebibytes"), [("fp32", 2304), ("bf16", 1152)])
def test_a_feed_forward_matrix_of_gpt3(form, mebibytes):
    reply = plan(f"tensor --shape 49152x12288 --format {form}")
    assert reply["bytes"] == mebibytes * 2**20


def test_seventy_billion_parameters_do_not_fit():
    weights = plan("memory --params 70e9 --optimizer none --on h100-sxm")
    assert (weights["bytes"], weights["fits"]) == (140e9, False)
    training = plan("memory --params 70e9 --optimizer adamw --gpus 8 --on h100-sxm")
    assert (training["bytes"], training["fits"]) == (840e9, False)
    assert terms(training)["parameters"] == 140e9


@pytest.mark.parametrize(("stage", "bytes_each"), [(1, 2 + 2 + 1), (2, 2 + 1.25), (3, 1.5)])
def test_zero_shards_optimizer_then_gradients_then_parameters(stage, bytes_each):
    reply = plan(f"zero --stage {stage} --ranks 8 --params 1e9 --optimizer adamw")
    assert reply["bytes_per_parameter"] == bytes_each


def test_activations_grow_with_layers_or_with_their_root():
    base = "activations --layers 64 --width 1024 --batch 32"
    assert plan(base)["bytes"] == 2 * 32 * 1024 * 64
    assert plan(base + " --pre-activations")["bytes"] == 4 * 32 * 1024 * 64
    assert plan(base + " --micro-batches 4")["bytes"] == 2 * 32 * 1024 * 64 / 4
    checkpointed = plan(base + " --checkpoint sqrt")
    assert checkpointed["bytes"] == 2 * 32 * 1024 * (8 + 8 - 1)
    assert terms(checkpointed)["extra forward passes"] == 1


def test_eight_gpus_for_two_weeks_at_peak():
    reply = plan("train --days 14 --gpus 8 --mfu 1 --on h100-sxm")
    assert reply["flops"] == pytest.approx(9.58e21, rel=1e-3)


@pytest.mark.parametrize("device", [GPU, "H100", H100])
def test_a_measured_mfu_is_discounted_once(device):
    question = ["train", "--params", "70B", "--tokens", "15T", "--gpus", "1024", "--mfu", H100]
    reply = answer("plan", *question, "--on", device)
    assert reply["days"] == pytest.approx(96.14, abs=0.005)
    assert reply["inputs"]["peak_from"] == GPU
    assert "upper bound of a model's MFU" in reply["note"]


def test_an_mfu_of_another_device_is_refused():
    question = ["plan", "train", "--flops", "1e23", "--mfu", H100]
    refused(ridgebench(*question, "--on", "b200"), "peak of h100-sxm", "--on names b200", "--on h100-sxm")


def test_a_given_mfu_is_a_share_of_the_data_sheets_peak():
    question = ["train", "--flops", "1e23", "--mfu", "0.5", "--on"]
    assert answer("plan", *question, H100)["days"] == answer("plan", *question, GPU)["days"]
    host = answer("plan", *question, HOST)
    assert "share of the measured peak" in host["note"]
    assert host["inputs"]["peak_from"].startswith("fma_pairs_peak/")


def test_mixed_fp8_trains_as_it_is_predicted():
    question = "train --flops 1e23 --mfu 0.4 --on h100 --format "
    assert plan(question + "fp8_e4m3xfp8_e5m2")["days"] == plan(question + "fp8")["days"]


def test_fp4_counts_its_block_scales():
    reply = plan("tensor --shape 49152x12288 --format fp4")
    assert reply["bytes"] == 49152 * 12288 * 0.5625


def test_few_layers_have_no_checkpoints():
    base = "activations --layers 3 --width 8 --batch 1"
    few = plan(base + " --checkpoint sqrt")
    assert few["bytes"] == plan(base)["bytes"]
    assert terms(few)["extra forward passes"] == 0
    assert "save nothing" in few["note"]


@pytest.mark.parametrize("shape", ["1048576", "n:1048576", "n:1048.576k", "n:1.048576M", "1.048576e6"])
def test_one_grammar_of_numbers_in_shapes(shape):
    assert predict("relu", shape)["shape"] == {"n": 1048576}


def test_json_echoes_the_number_that_was_given():
    result = ridgebench("plan", "train", "--flops", "1e23", "--json")
    assert '"flops": 1e+23' in result.stdout


def test_text_has_units():
    result = ridgebench("predict", "matmul", "8192", "--format", "bf16", "--on", "h100")
    for line in ("989.5 TFLOP/s", "295.4 FLOP/B", "3.35 TB/s", "1.111 ms", "1.1 TFLOP", "402.7 MB"):
        assert line in result.stdout, result.stdout
    result = ridgebench("plan", "train", *"--params 70B --tokens 15T --gpus 1024 --mfu 40% --on h100".split())
    for line in ("989.5 TFLOP/s", "405.3 PFLOP/s", "179.9 days"):
        assert line in result.stdout, result.stdout


def test_own_sheet_without_a_compute_capability(tmp_path):
    sheet = json.loads((ROOT / "roofline/devices/h100-sxm.json").read_text())
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(sheet | {"name": "mine", "compute_capability": None}))
    assert predict("relu", "n:4", device=path)["device"] == "mine"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("predict rellu 4 --format bf16 --on h100", ("'rellu'; nearest: relu", "allowed: adamw, adamw_master, ", " dot, gelu, gelu_backward, ")),
        ("predict dram_copy 4 --format fp32 --on h100", ("dram_copy is a ceiling", "relu or matmul")),
        ("predict relu 4 --format bf16 --on h101", ("'h101'; nearest: h100", "h100-sxm")),
        ("predict relu 4 --format bf16 --on rtx409", ("'rtx409'; nearest: rtx4090",)),
    ],
)
def test_the_nearest_name_is_offered(arguments, parts):
    result = ridgebench(*arguments.split())
    refused(result, *parts)
    assert "atomic" not in result.stderr and "sfu" not in result.stderr


@pytest.fixture(name="hostile")
def hostile_fixture(tmp_path):
    """Return a folder whose device has a name with escape sequences."""
    folder = shutil.copytree(H100, tmp_path / "results")
    environment = read_environment(folder)
    environment["devices"][0]["model"] = "\x1b[31mH100\x1b[0m\nbound\u202e"
    (folder / "environment.json").write_text(json.dumps(environment))
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        "predict relu n:4 --format bf16 --on",
        "plan train --flops 1e23 --mfu 0.5 --on",
        "plan tensor --shape 4 --on",
        "plan train --flops 1e23 --on h100 --mfu",
        "info --on",
    ],
)
def test_text_from_files_does_not_reach_the_terminal_raw(arguments, hostile):
    result = ridgebench(*arguments.split(), hostile)
    assert result.returncode == 0, result.stderr
    assert all(line.isprintable() for line in result.stdout.splitlines())
    assert not result.stdout.count("\nbound?")


def test_gpu_days_of_a_run_of_given_flops():
    reply = plan("train --flops 3.14e23 --mfu 0.4 --on h100-sxm")
    assert reply["days"] == pytest.approx(3.14e23 / (0.4 * 989.5e12) / 86400, rel=2e-4)
    assert terms(reply)["device-days, gpus x days"] == pytest.approx(reply["days"])
