"""`predict model` computes a transformer's work and times from a config.json or a built-in name."""

import csv
import io
import json
import os
import re

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
        *("schema", "model", "source", "device", "format", "context", "layers", "parameters", "active_parameters"),
        *("weights_bytes", "kv_cache_bytes_per_token", "memory_bytes", "largest_batch", "phases", "notes"),
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
    assert any("plan memory --parameters 124318464" in note for note in reply["notes"])
    ok = ridgebench("plan", "memory", "--parameters", "124318464")
    assert ok.returncode == OK


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


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIGS.iterdir()))
def test_each_style_as_json_csv_and_markdown(name):
    arguments = (CONFIGS / name, "--batch", "1,7", "--context", "100")
    reply = model(*arguments)
    rows = [(p, row) for p in reply["phases"] for row in p["operations"]]
    assert {row["name"] for _, row in rows} >= {"qkv", "o", "lm_head", "scores", "values"}
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
    assert "parameters: 46.7B (12.88B of them active), 93.4 GB" in text
    assert "8 of 128 x 28672 x 4096 nt" in text, "512 tokens, two experts each, on eight experts"
    assert "does not fit" in text


BAD = {
    "empty": ("", "not JSON"),
    "not JSON": ("hidden_size: 8", "not JSON"),
    "not UTF-8": ("\udcff", "not JSON"),
    "array": ("[1]", "an object"),
    "deep": ("[" * 200000, "nested more than 100"),
    "beyond double": ('{"hidden_size": 1e999}', "double precision"),
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
        ("llama-3-8b --on h100 --format int4", ("'int4'", "bf16")),
        ("llama-3-8b --on a100 --format fp8", ("no peak for fp8_e4m3",)),
        ("llama-3-8b --on h100 --json --csv", ("--csv",)),
        (". --on h100", (".: is no file", "config.json")),
        ("/dev/zero --on h100", ("/dev/zero: is no file",)),
        ("/no/such/config.json --on h100", ("no model '/no/such/config.json'",)),
    ],
)
def test_a_mistake_gets_one_line(arguments, parts):
    refused(ridgebench("predict", "model", *arguments.split()), *parts)


def test_a_config_without_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    refused(ridgebench("predict", "model", tmp_path / "fifo", "--on", "h100"), "is no file")
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
        ({"model_type": "my_model", "hidden_act": "gelu"}, False),
    ],
)
def test_the_family_decides_before_the_activation_whether_there_is_a_gate(config, changes, gated):
    names = {row["name"] for row in model(config(changes))["phases"][0]["operations"]}
    assert ("gate_up" in names, "up" in names) == (gated, not gated)


@pytest.mark.parametrize("key", ["type_vocab_size", "block_types", "lru_width"])
def test_encoders_and_recurrent_layers_are_refused(config, key):
    refused(ridgebench("predict", "model", config({key: 2}), "--on", "h100-sxm"), key, "not counted")


def test_a_note_says_what_the_config_does_not_allow_or_the_model_leaves_out(config):
    path = config({"max_position_embeddings": 2048, "word_embed_proj_dim": 512})
    notes = model(path, "--context", "4096")["notes"]
    assert "the config allows a context of 2048 tokens" in notes
    assert any(note.startswith("word_embed_proj_dim is 512") for note in notes)
    assert not any("allows a context" in note for note in model(path, "--context", "2048")["notes"])
