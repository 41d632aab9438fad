"""`ridgebench step decode`: its memory counted again, its record, its figures, its errors and exit codes."""

import json
import math

import pytest
from command_line import OK, ROOT, ROW_FAILED, refused, ridgebench, strict_json
from ridgebench.base.units import percent
from ridgebench.data.steps import load_steps
from ridgebench.figures.page import step as step_figures
from step_records import changed_copy, rounded, step_of

CONFIG = {
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "hidden_act": "silu",
}
BUILT_IN = sorted(path.stem for path in (ROOT / "roofline/models").glob("*.json"))
SIZES = {"--batch": "2", "--context": "64", "--format": "fp32"}
QUICK = ("--device", "cpu", "--seconds", "0.05")


def config(folder, **keys):
    path = folder / "config.json"
    path.write_text(json.dumps(CONFIG | keys))
    return path


def decode(model, sizes, *arguments):
    return ridgebench("step", "decode", "--model", model, *(word for pair in sizes.items() for word in pair), *arguments)


@pytest.fixture(scope="module", name="measured")
def measured_fixture(tmp_path_factory, ceilings):
    """Two measured layers of six, which caches keep, their folder, and what the command printed."""
    folder = tmp_path_factory.mktemp("decode")
    done = decode(config(folder), SIZES, *QUICK, "--ceilings", ceilings, "--layers", "2", "--out", folder / "out")
    assert done.returncode == OK, done.stderr
    return folder / "out", done


def test_layers_are_measured_verified_and_kept(measured):
    folder, done = measured
    step = step_of(folder)
    assert (step["step"], step["status"], step["reason"], step["verify"]["repeated"]) == ("decode", "ok", None, True)
    assert 0 < step["verify"]["error"] <= 1 and step["verify"]["tensors"] == len(step["timeline"]) == 30
    train = ("activation", "optimizer", "master", "checkpoint", "micro_batches", "zero_grad")
    assert [step[key] for key in train] == [None] * len(train)
    sizes = ("layers", "model_layers", "width", "batch", "context", "heads", "kv_heads", "head_dim", "network_width")
    assert [step[key] for key in sizes] == [2, 6, 256, 2, 64, 4, 2, 64, 512]
    assert {(part["name"], part["launches"]) for part in step["parts"]} == {
        (name, 2) for name in ("norm", "q", "k", "v", "rope q", "rope k", "attention", "o", "add", "gate", "up", "swiglu", "down")}  # fmt: skip
    products = sum(part["flops"] for part in step["parts"] if part["operation"] == "matmul")
    assert step["flops_model"] == step["flops_executed"] == products + 2 * 4 * 2 * 4 * 64 * 64
    assert ridgebench("verify", folder).stdout == f"{folder}: sound\n"
    assert "verified" in done.stdout and "measured roofs" in done.stdout and "step, launch by launch" in done.stdout


def test_layers_that_caches_keep_are_not_scaled_to_the_whole_model(measured):
    folder, done = measured
    step = step_of(folder)
    assert step["flags"][-1] == "served_by_cache" and step["model_time_s"] is step["model_tokens_per_s"] is None
    assert math.isclose(step["tokens_per_s"], 2 / step["time_s"])
    attention = sum(part["time_s"] for part in step["parts"] if part["operation"] == "attention_decode")
    assert math.isclose(step["attention_share"], attention / step["sum_of_operations_s"])
    assert "all 6 layers: not scaled, because caches can keep" in done.stdout and "allowed: more --layers" in done.stdout
    assert f"attention: {100 * step['attention_share']:.1f} % of the sum of the parts" in done.stdout


def test_all_layers_need_no_scale(ceilings, tmp_path):
    done = decode(config(tmp_path, num_hidden_layers=2), SIZES, *QUICK, "--ceilings", ceilings, "--layers", "2", "--out", tmp_path / "out")
    step = step_of(tmp_path / "out")
    assert step["model_time_s"] == step["time_s"] and "served_by_cache" not in step["flags"]
    assert "all 2 layers: " in done.stdout and "embedding, last norm and lm_head are left out" in done.stdout
    assert ridgebench("verify", changed_copy(tmp_path / "out", tmp_path / "changed", "model_time_s")).returncode == ROW_FAILED


def walk(layers: int, batch: int, context: int) -> int:
    """Peak bytes of fp32 layers of CONFIG, by a walk through the layers that shares nothing with the program."""
    width, network, heads, kv, dim = 256, 512, 4, 2, 64
    size = {name: rounded(4 * batch * count) for name, count in (("x", width), ("q", heads * dim), ("k", kv * dim), ("f", network))}
    weights = 2 * rounded(4 * width) + sum(rounded(4 * width * n) for n in (heads * dim, heads * dim, kv * dim, kv * dim, network, network, network))
    live = layers * (weights + 2 * rounded(4 * batch * context * kv * dim)) + size["x"] + rounded(4 * batch * dim)
    peak = live
    for layer in range(layers):
        #    norm, q, k, v, -norm, turned q, -q, turned k, -k, attention, -turned q, o, -attention, sum, -o, and from the second layer on -x
        for change in ("+x", "+q", "+k", "+k", "-x", "+q", "-q", "+k", "-k", "+q", "-q", "+x", "-q", "+x", "-x", "-x" if layer else "",
                       "+x", "+f", "+f", "-x", "+f", "-f", "-f", "+x", "-f", "+x", "-x", "-x"):  # fmt: skip
            if change:
                live += size[change[1]] if change[0] == "+" else -size[change[1]]
                peak = max(peak, live)
    return peak


@pytest.mark.parametrize(("layers", "batch", "context"), [(1, 2, 64), (1, 300, 1), (2, 1, 4096), (6, 7, 1000)])
def test_the_peak_is_what_a_walk_counts(layers, batch, context, tmp_path):
    sizes = {"--layers": layers, "--batch": batch, "--context": context, "--format": "fp32"}
    step = strict_json(decode(config(tmp_path), sizes, "--device", "cpu", "--dry-run", "--json").stdout)
    assert step["peak_bytes"] == step["peak_predicted_bytes"] == walk(layers, batch, context)
    assert all(sum(moment["live"].values()) == moment["predicted_bytes"] for moment in step["timeline"])
    assert max(moment["predicted_bytes"] for moment in step["timeline"]) == step["peak_bytes"]
    assert all(moment["live"]["cache"] == 2 * layers * rounded(4 * batch * context * 128) for moment in step["timeline"])


@pytest.mark.parametrize(
    ("keys", "arguments", "parts"),
    [
        ({}, {"--layers": "7"}, ("--layers 7", "allowed: 1 to 6")),
        ({}, {"--batch": "0"}, ("--batch", "whole number")),
        ({}, {"--context": "1e13"}, ("--context", "whole number")),
        ({}, {"--context": "1e12", "--batch": "1e9"}, ("too large together",)),
        ({}, {"--format": "fp8"}, ("--format fp8_e4m3", "allowed: bf16, fp16, fp32")),
        ({}, {"--technique": "softmax=naive"}, ("the step has no softmax", "allowed: rmsnorm")),
        ({}, {"--technique": "rope=fast"}, ("rope=fast", "allowed: ", "naive")),
        ({"hidden_act": "gelu"}, {}, ("hidden_act is \"gelu\"", "allowed: silu and swish")),
        ({"attention_bias": True}, {}, ("attention_bias is true", "allowed: false")),
        ({"model_type": "qwen3"}, {}, ("model_type is qwen3", "a norm of each query and key", "allowed: llama, mistral")),
        ({"model_type": "mistral", "sliding_window": 16}, {}, ("sliding_window is 16", "allowed: null")),
        ({"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2}, {}, ("num_local_experts is 4", "allowed: a model without")),
        ({"head_dim": 63}, {}, ("head_dim is 63", "allowed: an even number")),
    ],
)
def test_bad_input_is_one_line_before_anything_is_measured(keys, arguments, parts, tmp_path):
    refused(decode(config(tmp_path, **keys), SIZES | arguments, *QUICK, "--out", tmp_path / "out"), *parts)
    assert not (tmp_path / "out").exists()


def test_a_decode_step_of_one_sequence_has_no_matrix_product(tmp_path):
    refused(decode(config(tmp_path), SIZES | {"--batch": 1, "--technique": "matmul=packed"}, *QUICK), "the step has no matmul", "matvec")


@pytest.mark.parametrize("words", ["--batch 1 --context 1 --format fp16", "--batch 1 --context 33 --layers 2 --library",
                                   "--batch 3 --context 7 --layers 3 --format bf16 --library"])  # fmt: skip
def test_odd_sizes_are_measured_and_right(words, ceilings, tmp_path):
    odd = {"hidden_size": 30, "intermediate_size": 37, "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 2}
    done = ridgebench("step", "decode", "--model", config(tmp_path, **odd), *words.split(), "--device", "cpu", "--seconds", "0.01",
                      "--ceilings", ceilings, "--out", tmp_path / "out")  # fmt: skip
    step = step_of(tmp_path / "out")
    assert (done.returncode, step["status"], step["reason"]) == (OK, "ok", None)
    assert ridgebench("verify", tmp_path / "out").returncode == OK


def test_the_id_depends_on_no_folder(tmp_path):
    ids = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        reply = strict_json(decode(config(tmp_path / name), SIZES, "--device", "cpu", "--dry-run", "--json").stdout)
        assert reply["model"] == "llama-6x256-heads:4-kv:2-d:64-network:512" and str(tmp_path) not in json.dumps(reply)
        ids.append(reply["id"])
    assert ids[0] == ids[1] == "decode/llama-6x256-heads:4-kv:2-d:64-network:512/layers:1/b:2/s:64/fp32@cpu"
    other = strict_json(decode(config(tmp_path, intermediate_size=513), SIZES, "--device", "cpu", "--dry-run", "--json").stdout)
    assert other["id"] not in ids
    refused(decode(config(tmp_path), SIZES | {"--layers": 7}, "--dry-run"), f"the layers of {tmp_path}/config.json")


@pytest.mark.parametrize("model", BUILT_IN)
def test_every_built_in_model_is_served_or_refused_by_name(model):
    done = decode(model, {"--batch": 2, "--context": 128}, "--device", "cpu", "--dry-run", "--json")
    if model.startswith("llama"):
        step = strict_json(done.stdout)
        assert step["model"] == model and step["id"].startswith(f"decode/{model}/layers:1/b:2/s:128/bf16@")
        assert step["peak_bytes"] == step["peak_predicted_bytes"]
    else:
        refused(done, f"{model}: ", "allowed: ")


@pytest.mark.parametrize(
    ("keys", "parts"),
    [
        ({"num_key_value_heads": 3}, ("num_key_value_heads is 3", "allowed: a divisor of num_attention_heads, 4")),
        ({"num_key_value_heads": 8}, ("num_key_value_heads is 8", "allowed: a divisor")),
        ({"num_key_value_heads": 0}, ("num_key_value_heads is 0", "allowed: a whole number")),
        ({"head_dim": 0}, ("head_dim is 0", "allowed: a whole number")),
        ({"hidden_size": 257}, ("num_attention_heads is 4", "allowed: a divisor of the width 257, or a head_dim")),
        ({"model_type": ""}, ('model_type is ""', "allowed: a text that is not empty")),
        ({"partial_rotary_factor": 0.5}, ("partial_rotary_factor is 0.5", "allowed: 1")),
        ({"quantization_config": {"quant_method": "fp8"}}, ("quantization_config", "allowed: a config without it")),
        ({"model_type": "minicpm3", "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "q_lora_rank": 8},
         ("kv_lora_rank is 8", "allowed: attention without latent vectors")),
    ],
)  # fmt: skip
def test_other_layers_are_refused_by_their_key(keys, parts, tmp_path):
    refused(decode(config(tmp_path, **keys), SIZES, "--device", "cpu", "--dry-run"), *parts)


@pytest.mark.parametrize(("text", "part"), [("", "not JSON"), ("[]", "allowed: an object"), ("{}", "keys of a decoder-only transformer are missing")])
def test_a_file_that_is_no_config_is_refused(text, part, tmp_path):
    (tmp_path / "config.json").write_text(text)
    refused(decode(tmp_path / "config.json", SIZES, "--dry-run"), part)


def test_an_unknown_model_is_refused():
    refused(decode("", SIZES), "no model ''", "allowed: ")
    refused(decode("/tmp", SIZES), "/tmp: is not a file", "allowed: ")
    refused(decode("llama-9", SIZES), "no model 'llama-9'", "allowed: ")


def test_too_little_memory_is_a_row_that_says_so(tmp_path):
    done = decode(config(tmp_path), {"--batch": "1e6", "--context": "1e5"}, "--device", "cpu", "--out", tmp_path / "out")
    assert done.returncode == ROW_FAILED
    step = step_of(tmp_path / "out")
    assert step["status"] == "skipped" and "memory" in step["reason"] and step["tokens_per_s"] is None
    assert step["reason"].endswith("; allowed: smaller --layers, --batch or --context")
    assert ridgebench("verify", tmp_path / "out").returncode == OK


@pytest.mark.parametrize("key", ["peak_bytes", "flops_model", "context", "tokens_per_s", "attention_share"])
def test_verify_finds_a_changed_number(key, measured, tmp_path):
    done = ridgebench("verify", changed_copy(measured[0], tmp_path / "changed", key))
    assert done.returncode == ROW_FAILED and (key in done.stderr or key == "context")


def test_verify_finds_a_changed_part_and_a_missing_size(measured, tmp_path):
    folder = changed_copy(measured[0], tmp_path / "changed", "layers")
    step = step_of(measured[0])
    step["parts"][1]["bytes"] *= 2
    (folder / "step.jsonl").write_text(json.dumps(step) + "\n")
    done = ridgebench("verify", folder)
    assert done.returncode == ROW_FAILED and "bytes of q" in done.stderr
    (folder / "step.jsonl").write_text(json.dumps(step | {"heads": None}) + "\n")
    done = ridgebench("verify", folder)
    assert done.returncode == ROW_FAILED and "heads is null" in done.stderr and "because step is decode" in done.stderr


def test_plot_draws_the_waterfall_and_the_memory(measured, tmp_path):
    folder, _ = measured
    assert ridgebench("plot", folder, "--out", tmp_path, "--formats", "svg").returncode == OK
    assert {path.name for path in tmp_path.iterdir()} == {"mfu-of-a-step.svg", "step-memory.svg", "step-waterfall.svg"}
    (step,) = load_steps(folder).steps
    share = step.record["attention_share"]
    step.record["sum_of_operations_s"] = step.record["time_s"]  # whatever else the machine did
    assert f"attention is {percent(share)} % of its parts" in step_figures.waterfall_title(step).replace("≈", "")
    text = (tmp_path / "step-waterfall.svg").read_text("utf-8")
    assert "2 of 6 layers of" in text and "tokens of each in the cache" in text and "attention" in text
    assert "keys and values" in (tmp_path / "step-memory.svg").read_text("utf-8")
