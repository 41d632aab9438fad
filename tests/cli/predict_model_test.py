"""`predict model` computes a transformer's work and times from a config.json or a built-in name."""

import csv
import io
import json
import os
import re
import shutil

import pytest
from command_line import OK, ROOT, answer, records, refused, ridgebench

CONFIGS = ROOT / "tests/data/model_configs"
MEASURED = ROOT / "results/nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5"
PEAK, BANDWIDTH = 989.5e12, 3.35e12  # of the data sheet h100-sxm, in bf16
LLAMA = {
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 4,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
}


def model(*arguments, on="h100-sxm"):
    return answer("predict", "model", *arguments, "--on", on)


@pytest.fixture(name="config")
def config_fixture(tmp_path):
    """Return a function that writes a config and returns its path."""

    def write(changes=None, text=None):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(LLAMA | (changes or {})) if text is None else text)
        return path

    return write


def test_keys_and_sums_of_llama_3_8b():
    reply = model("llama-3-8b", "--batch", "1,64,512", "--context", "4096")
    assert list(reply) == [
        *("schema", "model", "source", "device", "format", "weights_format", "cache_format", "context", "layers"),
        *("parameters", "active_parameters", "ranks", "link", "weights_bytes", "kv_cache_bytes_per_token", "memory_bytes", "largest_batch"),
        *("precision", "optimizer", "warnings", "phases", "notes"),
    ]
    assert [(p["phase"], p["batch"], p["tokens"]) for p in reply["phases"]] == [
        ("prefill", 1, 4096),
        ("decode", 1, 1),
        ("decode", 64, 64),
        ("decode", 512, 512),
    ]
    layers = [phase["layer_linear_s"] * 1e6 for phase in reply["phases"]]
    assert layers == pytest.approx([1806, 130, 133, 226], rel=0.01)
    assert reply["largest_batch"] == 119
    assert reply["phases"][-1]["fits"] is False
    # All weights but the embedding are read for a token, and the cache of 4096 tokens.
    moved = 2 * (reply["parameters"] - 128256 * 4096) + 4096 * reply["kv_cache_bytes_per_token"]
    assert reply["phases"][1]["bytes"] == pytest.approx(moved, rel=1e-3)
    assert reply["phases"][1]["tokens_per_s"] == pytest.approx(BANDWIDTH / moved, rel=1e-3)


def test_a_row_agrees_with_predict_matmul():
    for device, form in (("h100-sxm", "bf16"), ("h100-sxm", "fp8"), (MEASURED, "bf16")):
        rows = model("llama-3-8b", "--batch", "64", "--format", form, on=device)["phases"][1]["operations"]
        row = next(row for row in rows if row["name"] == "gate_up")
        alone = answer("predict", "matmul", "m:64/n:28672/k:4096", "--format", form, "--on", device)
        same = ("op", "shape", "flops", "bytes", "intensity_flop_per_byte", "bound", "time_lower_bound_s")
        assert {key: row[key] for key in same} == {key: alone[key] for key in same}


def test_training_has_three_products_for_each_linear_layer():
    reply = model("gpt-2", "--batch", "8", "--context", "1024", "--training")
    (phase,) = reply["phases"]
    assert phase["tokens"] == 8192
    up = {r["pass"]: r["shape"] for r in phase["operations"] if r["name"] == "up"}
    assert up == {
        "forward": {"m": 8192, "n": 3072, "k": 768, "layout": "nt"},
        "dX": {"m": 8192, "n": 768, "k": 3072, "layout": "nn"},
        "dW": {"m": 3072, "n": 768, "k": 8192, "layout": "tn"},
    }
    [left_out] = [note for note in reply["notes"] if "not counted are" in note]
    for part in ("rotations", "recomputed activations", "the embedding's look-up and gradient", "communication"):
        assert part in left_out
    assert {r["pass"] for r in phase["operations"] if r["name"] == "scores"} == {"forward", "backward"}
    assert not any("not counted are" in note for note in model("gpt-2")["notes"])


def test_a_step_has_the_optimizer_as_a_line_of_its_own():
    """AdamW reads 12 and writes 10 bytes a parameter in bf16; the norms, residuals and GeLU of gpt-2 move 226 MB a layer."""
    reply = model("llama-3-8b", "--training")
    (phase,) = reply["phases"]
    step = phase["operations"][-1]
    assert (step["name"], step["pass"], step["role"], step["bound"]) == ("adamw", "step", "optimizer", "memory")
    assert step["time_lower_bound_s"] == pytest.approx(22 * reply["parameters"] / BANDWIDTH)
    assert phase["state_bytes"] == 12 * reply["parameters"] and phase["fits"] is False
    assert phase["time_lower_bound_s"] == pytest.approx(
        sum(row["layers"] * row["time_lower_bound_s"] for row in phase["operations"])
    )
    rows = {row["name"]: row for row in model("gpt-2", "--batch", "8", "--context", "1024", "--training")["phases"][0]["operations"]
            if row["pass"] == "forward"}  # fmt: skip
    a_layer = 2 * rows["norm"]["bytes"] + 2 * rows["residual"]["bytes"] + rows["activation"]["bytes"]
    assert a_layer == 18 * 8192 * 768 * 2
    shown = ridgebench("predict", "model", "llama-3-8b", "--training", "--on", "h100").stdout
    assert "training state: bf16 with adamw" in shown and "state: 96.36 GB" in shown and "does not fit" in shown


def test_the_state_has_the_width_of_the_products_unless_it_is_given():
    words = ("gpt-2", "--context", "64", "--training")
    assert model(*words)["precision"] == "bf16" and model(*words, "--format", "fp32")["precision"] == "fp32"
    sgd = model(*words, "--optimizer", "sgd", "--precision", "bf16-master")
    assert sgd["phases"][0]["state_bytes"] == 8 * sgd["parameters"]
    refused(ridgebench("predict", "model", *words, "--on", "h100", "--optimizer", "none"), "'none'; allowed: sgd, momentum")
    refused(ridgebench("predict", "model", "gpt-2", "--on", "h100", "--optimizer", "sgd"), "--optimizer requires --training")


@pytest.mark.parametrize("option", ["--weights", "--cache"])
def test_training_has_no_stored_formats(option):
    refused(ridgebench("predict", "model", "gpt-2", "--on", "h100", "--training", option, "fp8"), "--training", option)


def test_training_leaves_quantization_config_out(config):
    """The weights are those of the training state, in the forward product and in that of dX."""
    plain = model(config({"model_type": "llama"}), "--training", "--context", "16")
    for quantisation in (FP8, FP8 | {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}, {"quant_method": "mine"}):
        reply = model(config({"model_type": "llama", "quantization_config": quantisation}), "--training", "--context", "16")
        assert reply["notes"].pop().startswith("quantization_config is left out: a training step ")
        assert reply == plain
    rows = {row["pass"]: row for row in plain["phases"][0]["operations"] if row["name"] == "gate_up"}
    assert rows["forward"]["bytes"] == rows["dX"]["bytes"]


def test_a_sheet_without_cuda_cores_says_what_its_step_leaves_out():
    notes = model("gpt-2", "--training", on="tpu-v5e")["notes"]
    assert any("has no fp32 peak of its FMA units" in note for note in notes)
    assert not any("FMA units" in note for note in model("gpt-2", "--training")["notes"])


def test_products_have_the_formats_of_matmul():
    for words in (("model", "gpt-2"), ("matmul", "n:64")):
        refused(ridgebench("predict", *words, "--format", "int8", "--on", "h100"), "int8", "bf16")
    refused(ridgebench("predict", "silu", "n:1M", "--on", "h100"), "silu", "relu", "matmul")


def test_achieved_stands_beside_allowed_where_the_shape_was_measured(config):
    reply = model(config(), "--context", "8192", on=MEASURED)
    prefill = {row["name"]: row for row in reply["phases"][0]["operations"]}
    times = [
        record["time_median_s"]
        for record in records(MEASURED)
        if (record["op"], record["format"], record["status"]) == ("matmul", "bf16", "ok")
        and record["shape"] == {"m": 8192, "n": 8192, "k": 8192, "layout": "nt"}
        and record["regime"] == "steady"
    ]
    assert prefill["o"]["achieved_s"] == min(times)
    assert 0.5 < prefill["o"]["time_lower_bound_s"] / min(times) <= 1
    assert prefill["qkv"]["achieved_s"] is None
    text = ridgebench("predict", "model", config(), "--context", "8192", "--on", MEASURED).stdout
    assert "achieved" in text


@pytest.mark.parametrize("states, said", [(("capped", "full_clock"), True), (("capped", "capped"), False), ((None, None), False)])
def test_times_of_two_power_states_are_not_summed_without_a_word(config, tmp_path, states, said):
    folder = shutil.copytree(MEASURED, tmp_path / "run")
    shapes = {"down": (8192, 8192, 28672), "o": (8192, 8192, 8192)}
    found = [record for record in records(MEASURED) if (record["op"], record["format"], record["status"]) == ("matmul", "bf16", "ok")]
    lines = [record for record in records(MEASURED) if record["role"] == "ceiling" and not record["id"].endswith(":control")]
    for record, (m, n, k), state in zip(found, shapes.values(), states):
        lines.append(record | {"shape": {"m": m, "n": n, "k": k, "layout": "nt"}, "power_state": state, "regime": "steady"})
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    reply = model(config(), "--context", "8192", on=folder)
    assert all(row["achieved_s"] for row in reply["phases"][0]["operations"] if row["name"] in shapes)
    notes = [note for note in reply["notes"] if "power state" in note]
    assert bool(notes) == said
    if said:
        assert re.fullmatch("the measured times are of different power states: full_clock [0-9]+, capped [0-9]+", notes[0])


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIGS.iterdir()))
def test_each_style_as_json_csv_and_markdown(name):
    arguments = (CONFIGS / name, "--batch", "1,7", "--context", "100")
    reply = model(*arguments)
    rows = [(p, row) for p in reply["phases"] for row in p["operations"]]
    assert {row["name"] for _, row in rows} >= {"lm_head", "scores", "values"}
    assert {row["role"] for _, row in rows} >= {"linear", "attention"}
    for _, row in rows:
        time = max(row["flops"] / PEAK, row["bytes"] / BANDWIDTH)
        assert row["time_lower_bound_s"] == pytest.approx(time, rel=1e-12)
    line = ("predict", "model", *arguments, "--on", "h100-sxm")
    table = list(csv.DictReader(io.StringIO(ridgebench(*line, "--csv").stdout)))
    assert [(t["phase"], int(t["batch"]), t["name"], float(t["time_lower_bound_s"]), t["m"]) for t in table] == [
        (p["phase"], p["batch"], row["name"], row["time_lower_bound_s"], str((row["shape"] or {}).get("m", "")))
        for p, row in rows
    ]
    markdown = ridgebench(*line, "--md").stdout
    tables = re.findall(r"(?:^\|.*\|\n)+", markdown, re.MULTILINE)
    assert len(tables) == len(reply["phases"])
    assert [block.count("\n") - 2 for block in tables] == [len(p["operations"]) for p in reply["phases"]]
    assert all(len({row.count("|") for row in block.splitlines()}) == 1 for block in tables)
    text = ridgebench(*line).stdout
    assert text.count("linear operations of one layer") == len(reply["phases"])


def test_a_text_shows_what_experts_do():
    text = ridgebench("predict", "model", "mixtral-8x7b", "--on", "h100", "--context", "512").stdout
    assert "parameters: 46.7B (12.88B of them active), 93.41 GB" in text
    assert "8 of 128 x 28672 x 4096 nt" in text, "512 tokens, two experts each, on eight experts"
    assert "does not fit" in text


BAD = {
    "empty": ("", "not JSON"),
    "not JSON": ("hidden_size: 8", "not JSON"),
    "not UTF-8": ("\udcff", "not JSON"),
    "array": ("[1]", "an object"),
    "deep": ("[" * 200000, "nested more than 100"),
    "beyond double": ('{"hidden_size": 1e999}', "double precision"),
    "a key twice": ('{"text_config": {"hidden_size": 64, "hidden_size": 128}}', 'key "hidden_size" comes twice'),
    "no keys": ("{}", "missing: hidden_size or n_embd"),
    "terminal escape": ('{"hidden_size": "\\u001b]0;owned\\u0007"}', "missing"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_malformed_config_gets_one_line(case, config, tmp_path):
    text, part = BAD[case]
    path = tmp_path / "config.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    refused(ridgebench("predict", "model", path, "--on", "h100"), f"{path}: ", part)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0; allowed: a whole number from 1 to 100000"),
        ({"hidden_size": -8192}, "hidden_size is -8192"),
        ({"hidden_size": 1e18}, "hidden_size is 1e+18; allowed"),
        ({"hidden_size": 2**63}, "hidden_size is 9223372036854775808; allowed"),
        ({"hidden_size": True}, "hidden_size is true"),
        ({"vocab_size": "many\x1b[31m\n"}, "vocab_size is "),
        ({"vocab_size": {}}, "vocab_size is an object"),
        ({"num_attention_heads": 60}, "num_key_value_heads is 8; allowed: a divisor"),
        ({"num_attention_heads": 24}, "num_attention_heads is 24; allowed: a divisor of the width 8192"),
        ({"num_local_experts": 8, "num_experts_per_tok": 9}, "num_experts_per_tok is 9; allowed"),
        ({"num_local_experts": 8}, "missing: num_experts_per_tok"),
        ({"mlp_only_layers": ["x"], "num_experts": 8, "num_experts_per_tok": 1}, "mlp_only_layers is"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings is "),
        ({"kv_lora_rank": 512}, "kv_lora_rank is 512"),
    ],
)
def test_a_value_out_of_range_is_named(changes, part, config):
    refused(ridgebench("predict", "model", config(changes), "--on", "h100"), "config.json: ", part)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("lama-3-8b --on h100", ("no model 'lama-3-8b'", "nearest: llama-3-8b", "config.json")),
        ("llama-3-8b", ("--on is required", "`ridgebench predict model --help")),
        ("llama-3-8b --on h1000", ("'h1000'", "nearest: h100")),
        ("llama-3-8b --on h100 --batch 0", ("--batch is '0'", "whole number from 1")),
        ("llama-3-8b --on h100 --batch 1,,8", ("--batch is ''",)),
        ("llama-3-8b --on h100 --batch 1.5", ("--batch is '1.5'",)),
        ("llama-3-8b --on h100 --batch many", ("--batch is 'many'",)),
        ("llama-3-8b --on h100 --context -1", ("--context is '-1'",)),
        ("llama-3-8b --on h100 --context 1e30", ("--context is '1e30'",)),
        ("llama-3-8b --on h100 --context 1T", ("is too large",)),
        ("llama-3-8b --on h100 --batch 1M --context 1M --training", ("is too large",)),
        ("llama-3-8b --on h100 --batch 1T --context 1T --training", ("tokens; allowed: at most",)),
        ("llama-3-8b --on h100 --format int4", ("'int4'", "--weights int4", "bf16")),
        ("llama-3-8b --on h100 --format mxfp4", ("'mxfp4'", "--weights mxfp4", "bf16")),
        ("llama-3-8b --on h100 --format mxfp3", ("no format mxfp3", "bf16")),
        ("llama-3-8b --on a100 --format fp8", ("no peak for fp8_e4m3",)),
        ("llama-3-8b --on h100 --json --csv", ("--csv",)),
        (". --on h100", (".: is not a file", "config.json")),
        ("/dev/zero --on h100", ("/dev/zero: is not a file",)),
        ("/no/such/config.json --on h100", ("no model '/no/such/config.json'",)),
    ],
)
def test_a_mistake_gets_one_line(arguments, parts):
    refused(ridgebench("predict", "model", *arguments.split()), *parts)


def test_a_config_without_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    refused(ridgebench("predict", "model", tmp_path / "fifo", "--on", "h100"), "is not a file")
    huge = tmp_path / "huge.json"
    with open(huge, "wb") as file:
        file.truncate(1 << 40)
    refused(ridgebench("predict", "model", huge, "--on", "h100"), "larger than 16 MiB")


def test_a_hostile_name_is_printed_safely(tmp_path):
    path = tmp_path / 'a,"b\x1b]0;x\x07.json'
    path.write_text(json.dumps(LLAMA | {"model_type": "\x1b[31m,evil"}))
    for flag in ((), ("--csv",), ("--md",), ("--json",)):
        result = ridgebench("predict", "model", path, "--on", "h100", *flag)
        assert result.returncode == OK
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", result.stdout)
    table = ridgebench("predict", "model", path, "--on", "h100", "--csv").stdout
    assert {len(row) for row in csv.reader(io.StringIO(table))} == {23}


@pytest.mark.parametrize(
    ("changes", "gated"),
    [
        ({"model_type": "llama", "hidden_act": "relu"}, True),
        ({"model_type": "gpt_neox"}, False),
        ({"model_type": "my_model", "hidden_act": "silu"}, True),
        ({"model_type": "gemma", "hidden_act": "gelu"}, True),
    ],
)
def test_the_family_decides_before_the_activation_whether_there_is_a_gate(config, changes, gated):
    names = {row["name"] for row in model(config(changes))["phases"][0]["operations"]}
    assert ("gate_up" in names, "up" in names) == (gated, not gated)


@pytest.mark.parametrize("key", ["type_vocab_size", "block_types", "lru_width", "conv_L_cache", "mamba_d_state"])
def test_encoders_and_recurrent_layers_are_refused(config, key):
    refused(ridgebench("predict", "model", config({key: 2}), "--on", "h100-sxm"), key, "not counted")


def test_a_note_says_what_the_config_does_not_allow_or_the_model_leaves_out(config):
    path = config({"max_position_embeddings": 2048})
    notes = model(path, "--context", "4096")["notes"]
    assert "the config allows a context of 2048 tokens" in notes
    assert not any("allows a context" in note for note in model(path, "--context", "2048")["notes"])


def warnings_of(path):
    return model(path)["warnings"]


def test_a_config_without_a_model_type_is_read_strictly(config):
    assert warnings_of(config()) == ["the config has no model_type: its keys are read as those of Llama"]
    for key in ("moe_layer_freq_of_mine", "n_extra_layers"):
        result = ridgebench("predict", "model", config({key: 2}), "--on", "h100")
        refused(result, f"{key} is 2; allowed: keys that are read", "there is no model_type", "nearest supported key")
    refused(ridgebench("predict", "model", config({"hidden_act": "relu2"}), "--on", "h100"), "hidden_act", "may have a gate")


def test_keys_of_one_name_with_different_numbers_are_a_warning(config):
    llama = {"model_type": "llama", "n_layer": 4}
    assert warnings_of(config(llama)) == []
    assert warnings_of(config(llama | {"n_layer": 8})) == ["num_hidden_layers is 4 and n_layer is 8: the first is counted"]
    uncounted = {"max_position_embeddings": 4096, "seq_length": 2048, "num_nextn_predict_layers": 1, "num_mtp_modules": 7}
    assert warnings_of(config({"model_type": "llama"} | uncounted)) == []


def test_an_unknown_model_type_names_the_nearest(config):
    (warning,) = warnings_of(config({"model_type": "lama"}))
    assert warning == "model_type lama is unknown, nearest: llama: its keys are read as those of Llama"
    result = ridgebench("predict", "model", config({"model_type": "lama", "num_exprts": 8}), "--on", "h100")
    refused(result, "num_exprts is 8", "nearest supported key: num_experts; nearest model_type: llama")


def test_a_key_that_a_known_family_does_not_read_is_the_first_line(config):
    path = config({"model_type": "llama", "layers_of_mine": 2})
    text = ridgebench("predict", "model", path, "--on", "h100").stdout
    assert text.startswith("warning: layers_of_mine is not read, and may change the counts\n")
    result = ridgebench("predict", "model", path, "--on", "h100", "--csv")
    assert result.stderr == "warning: layers_of_mine is not read, and may change the counts\n"
    assert warnings_of(config({"model_type": "llama", "layers_of_mine": None})) == []


def test_an_unknown_activation_of_a_known_family_is_a_warning(config):
    (warning,) = warnings_of(config({"model_type": "llama", "hidden_act": "mine"}))
    assert warning == "hidden_act is mine, an unknown activation: networks are counted with a gate"


def test_sizes_that_a_nested_config_leaves_out_are_defaults(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "llava", "text_config": {"model_type": "llama"}, "vision_config": {}}))
    reply = model(path)
    assert reply["parameters"] == pytest.approx(6.738e9, rel=1e-3)
    assert any("sizes" in warning and "vocab_size 32000" in warning for warning in reply["warnings"])


def test_the_index_beside_a_config_is_compared(config, tmp_path):
    path = config({"model_type": "llama"})
    counted = model(path)["weights_bytes"]
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": counted}, "weight_map": {}}))
    assert warnings_of(path) == []
    index.write_text(json.dumps({"metadata": {"total_size": 1.5 * counted}, "weight_map": {}}))
    (warning,) = warnings_of(path)
    assert warning.startswith("model.safetensors.index.json beside the config has ")


@pytest.mark.parametrize(("name", "fits"), [("Mine-70B", False), ("Mine-3.8B-v2", True), ("Mine-30B-A3B", False), ("Mine", True)])
def test_the_size_in_a_name_is_compared(tmp_path, name, fits):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA | {"model_type": "llama"}))
    assert [warning.startswith(f"the name {name} does not fit") for warning in warnings_of(folder / "config.json")] == [True] * (not fits)


GPT_OSS = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "num_hidden_layers": 36,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "vocab_size": 201088,
    "num_local_experts": 128,
    "num_experts_per_tok": 4,
    "sliding_window": 128,
}
LEFT_OUT = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]


def test_a_quantised_model_has_the_bytes_of_its_file(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GPT_OSS | {"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": LEFT_OUT}}))
    reply = model(path)
    assert reply["weights_format"] == "mxfp4"
    assert reply["weights_bytes"] == pytest.approx(65.25e9, rel=0.01)
    assert reply["phases"][1]["fits"] is True
    path.write_text(json.dumps(GPT_OSS))
    assert model(path)["weights_bytes"] == pytest.approx(233.6e9, rel=0.01)
    assert model(path, "--weights", "mxfp4")["weights_bytes"] < 66e9
    path.write_text(json.dumps(GPT_OSS | {"quantization_config": {"quant_method": "mine"}}))
    assert "--weights FORMAT" in warnings_of(path)[0]


@pytest.mark.parametrize(
    ("quantisation", "name", "bytes_each"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4", 4.15625 / 8),
        ({"quant_method": "gptq", "bits": 8, "group_size": 32}, "int8", 8.75 / 8),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8_e4m3", 1),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4", 4.5 / 8),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8", 1),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "nf4", 4.5 / 8),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "nf4", (4 + 8 / 64 + 32 / 64 / 256) / 8),
    ],
)
def test_the_formats_of_quantised_files(config, quantisation, name, bytes_each):
    plain = model(config({"model_type": "llama"}))
    reply = model(config({"model_type": "llama", "quantization_config": quantisation}))
    assert reply["weights_format"] == name
    in_16_bits = 2 * 32000 * 8192
    assert reply["weights_bytes"] == pytest.approx((plain["parameters"] - in_16_bits) * bytes_each + 2 * in_16_bits)
    down = [next(r for r in answer["phases"][1]["operations"] if r["name"] == "down") for answer in (plain, reply)]
    assert down[0]["bytes"] - down[1]["bytes"] == pytest.approx((2 - bytes_each) * 8192 * 28672)


FP8 = {"quant_method": "fp8"}
LLAMA_LAYERS = LLAMA["num_hidden_layers"]
WHOLE = {"attn": ("q_proj", "k_proj", "v_proj", "o_proj"), "mlp": ("gate_proj", "up_proj", "down_proj")}


def numbered(layers, *modules):
    return [f"model.layers.{layer}.{module}" for layer in layers for module in modules]


@pytest.mark.parametrize(("modules", "operation", "layers"), [
    (numbered([0, 3], "mlp"), "down", 2),
    (numbered([0, 3], *(f"mlp.{part}" for part in WHOLE["mlp"])), "down", 2),
    (numbered(range(LLAMA_LAYERS), *(f"self_attn.{part}" for part in WHOLE["attn"])), "o", LLAMA_LAYERS),
    (["re:model\\.layers\\.3\\.self_attn.*"], "o", 1),
    (["model.layers.*.self_attn"], "o", LLAMA_LAYERS),
    (numbered([0], "mlp.gate_proj"), "down", 0),
    (["vision_tower.layers.0.self_attn", "visual.blocks.1.attn"], "o", 0),
    (["re:model.layers.(0|1).self_attn"], "o", 2),
    (["re:model.layers.[01].self_attn"], "o", 0),
])  # fmt: skip
def test_a_module_of_one_layer_is_left_out_there_only(config, modules, operation, layers):
    reply = model(config({"model_type": "llama", "quantization_config": FP8 | {"modules_to_not_convert": modules}}))
    all_fp8, row = (next(r for r in answer["phases"][1]["operations"] if r["name"] == operation)
                    for answer in (model(config({"model_type": "llama", "quantization_config": FP8})), reply))
    weights = {"down": 8192 * 28672, "o": 8192 * 8192}[operation]
    assert row["bytes"] - all_fp8["bytes"] == pytest.approx(weights * layers / LLAMA_LAYERS)
    unread = [warning for warning in reply["warnings"] if "counted as quantised" in warning]
    assert len(unread) == modules[0].endswith("[01].self_attn")


@pytest.mark.parametrize(("quantisation", "name", "bytes_each"), [
    ({"kv_cache_scheme": {"num_bits": 8, "type": "float"}}, "fp8_e4m3", 1), ({"kv_cache_scheme": {"num_bits": 8, "type": "int"}}, "int8", 1),
    ({"kv_cache_quant_algo": "FP8"}, "fp8_e4m3", 1), ({"kv_cache_quant_algo": "NVFP4"}, "nvfp4", 4.5 / 8),
    ({"kv_cache_scheme": None}, "bf16", 2), ({"kv_cache_quant_algo": "mine"}, "bf16", 2),
])  # fmt: skip
def test_a_quantised_cache_is_counted_as_the_config_says(config, quantisation, name, bytes_each):
    path = config({"model_type": "llama", "quantization_config": FP8 | quantisation})
    reply = model(path)
    assert (reply["cache_format"], reply["kv_cache_bytes_per_token"]) == (name, pytest.approx(2 * 8 * 128 * LLAMA_LAYERS * bytes_each))
    assert any("keys and values" in note for note in reply["notes"]) == (None not in quantisation.values())
    assert model(path, "--cache", "bf16")["kv_cache_bytes_per_token"] == 2 * 8 * 128 * LLAMA_LAYERS * 2


@pytest.mark.parametrize("method", ["awq", "gptq"])
@pytest.mark.parametrize(
    "sizes", [{"bits": 99}, {"bits": 0}, {"bits": 3.5}, {"bits": "4"}, {"group_size": 1e-300}, {"group_size": -5}, {"group_size": [8]}]
)
def test_sizes_that_no_format_has_are_not_understood(config, method, sizes):
    path = config({"model_type": "llama", "quantization_config": {"quant_method": method} | sizes})
    assert "quantization_config is not understood" in warnings_of(path)[0]
    assert model(path)["weights_bytes"] == model(config({"model_type": "llama"}))["weights_bytes"]


INT4 = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}}


@pytest.mark.parametrize(
    "quantisation",
    [
        "fp8",
        ["fp8"],
        {"quant_method": "bitsandbytes", "load_in_8bit": False, "load_in_4bit": False},
        {"quant_method": "bitsandbytes", "load_in_8bit": True, "load_in_4bit": True},
        INT4 | {"format": "marlin-24"},
        INT4 | {"sparsity_config": {"format": "sparse-24-bitmask"}},
    ],
)
def test_weights_of_no_stated_format_are_counted_in_16_bits_with_a_warning(config, quantisation):
    path = config({"model_type": "llama", "quantization_config": quantisation})
    assert "quantization_config is not understood" in warnings_of(path)[0]
    assert model(path)["weights_bytes"] == model(config({"model_type": "llama"}))["weights_bytes"]
    dense = config({"model_type": "llama", "quantization_config": INT4 | {"sparsity_config": {"format": "dense"}}})
    assert model(dense)["weights_format"] == "int4"


def test_groups_of_whole_columns_have_no_bytes_of_scales(config):
    quantisation = {"quant_method": "gptq", "bits": 4, "group_size": -1}
    plain = model(config({"model_type": "llama"}))
    reply = model(config({"model_type": "llama", "quantization_config": quantisation}))
    in_16_bits = 2 * 32000 * 8192
    assert reply["weights_bytes"] == pytest.approx((plain["parameters"] - in_16_bits) / 2 + 2 * in_16_bits)


def cached(config, keys):
    return model(config(keys), "--context", "32768")["phases"][1]["kv_cache_bytes"]


def test_the_first_28_layers_of_qwen2_have_no_window_unless_the_file_says_so(config):
    windows = {"model_type": "qwen2", "num_hidden_layers": 80, "use_sliding_window": True}
    whole = cached(config, windows | {"use_sliding_window": False})
    assert cached(config, windows | {"num_hidden_layers": 28}) == whole * 28 / 80
    assert cached(config, windows) == whole * (28 + 52 / 8) / 80, "a window of 4096 if the file names none"
    assert cached(config, windows | {"max_window_layers": 0, "sliding_window": 2048}) == whole / 16
    experts = windows | {"model_type": "qwen2_moe", "sliding_window": 4096}
    refused(ridgebench("predict", "model", config(experts), "--on", "h100"), "layer_types is missing")


def test_windows_limit_the_cache_and_the_batch(config):
    path = config({"model_type": "mistral", "sliding_window": 4096})
    reply, whole = model(path, "--context", "32768"), model(config({"model_type": "llama"}), "--context", "32768")
    assert reply["phases"][1]["kv_cache_bytes"] == whole["phases"][1]["kv_cache_bytes"] / 8
    assert reply["largest_batch"] > 7 * whole["largest_batch"]
    rows = {row["name"]: row for row in reply["phases"][0]["operations"]}
    assert rows["local_scores"]["flops"] == 2 * 8192 * (4096 * 4097 / 2 + (32768 - 4096) * 4096)
    off = config({"model_type": "mistral", "sliding_window": -1})
    assert model(off, "--context", "32768")["largest_batch"] == whole["largest_batch"]


def test_a_cache_has_a_format_of_its_own(config):
    path = config({"model_type": "llama"})
    whole, half = model(path), model(path, "--cache", "fp8")
    assert half["cache_format"] == "fp8_e4m3"
    assert half["kv_cache_bytes_per_token"] == whole["kv_cache_bytes_per_token"] / 2
    refused(ridgebench("predict", "model", path, "--on", "h100", "--cache", "fp3"), "--cache is 'fp3'", "nvfp4", "int4")


def test_python_infinity_is_read(config):
    text = json.dumps(LLAMA | {"model_type": "llama", "time_step_limit": [0.0, float("inf")], "source": "NaN"})
    assert "Infinity" in text
    assert model(config(text=text))["source"] == "NaN"


def test_a_tower_beside_the_sizes_is_said(config):
    path = config({"model_type": "qwen2_vl", "vision_config": {"depth": 32}})
    assert warnings_of(path) == ["only the language model is counted, without vision_config"]
