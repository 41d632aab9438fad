"""`--model CONFIG --tokens LIST` measures the matrix products of a transformer, which `predict model` then finds."""

import json

import pytest
from command_line import OK, ROOT, answer, records, refused, ridgebench, run

LLAMA = ROOT / "tests/data/model_configs/llama.json"
MODEL = ("--model", LLAMA, "--technique", "naive", "--format", "fp32")


def shapes_listed(*arguments):
    cases = answer("list", "--device", "cpu", *arguments, "--technique", "naive", "--format", "fp32")["cases"]
    return [case["id"].split("/fp32/")[1].removesuffix("/steady@cpu") for case in cases]


def test_the_shapes_are_those_of_predict_model():
    listed = shapes_listed("--model", LLAMA, "--tokens", "1,7")
    predicted = answer("predict", "model", LLAMA, "--batch", "1,7", "--on", "h100")
    shapes = [
        "/".join(f"{key}:{value}" for key, value in row["shape"].items())
        for phase in predicted["phases"]
        if phase["phase"] == "decode"
        for row in phase["operations"]
        if row["role"] == "linear"
    ]
    assert sorted(listed) == sorted(shapes)
    assert len(listed) == 10


def test_training_adds_the_backward_products():
    listed = shapes_listed("--model", LLAMA, "--tokens", "7", "--training")
    assert len(listed) == 15
    assert [s for s in listed if "40" in s] == [
        "m:7/n:40/k:8/layout:nt",
        "m:7/n:8/k:40/layout:nn",
        "m:40/n:8/k:7/layout:tn",
    ]


def test_active_experts_are_measured_with_their_share_of_the_tokens():
    config = ROOT / "tests/data/model_configs/mixtral.json"
    listed = shapes_listed("--model", config, "--tokens", "64")
    assert "m:16/n:40/k:8/layout:nt" in listed, "64 tokens, two experts each, on eight experts"
    assert "m:64/n:40/k:8/layout:nt" not in listed


def test_a_shape_beside_a_model_is_listed_too():
    listed = shapes_listed("--model", LLAMA, "--tokens", "1", "--op", "matmul", "--shape", "m:5/n:6/k:7")
    assert listed[0] == "m:5/n:6/k:7/layout:nt"
    assert len(listed) == 6


def test_what_run_measured_stands_in_predict(tmp_path):
    folder = tmp_path / "results"
    assert run(folder, "--device", "sim", *MODEL, "--tokens", "1,7", "--budget", "3").returncode == OK
    times = {
        json.dumps(row["shape"]): row["time_median_s"]
        for row in records(folder)
        if (row["op"], row["status"]) == ("matmul", "ok")
    }
    assert len(times) == 10
    reply = answer("predict", "model", LLAMA, "--batch", "7", "--format", "fp32", "--on", folder)
    decode = reply["phases"][1]
    linear = [row for row in decode["operations"] if row["role"] == "linear"]
    assert [row["achieved_s"] for row in linear] == [times[json.dumps(row["shape"])] for row in linear]
    layer = sum(row["achieved_s"] for row in linear if row["name"] != "lm_head")
    assert decode["layer_linear_achieved_s"] == pytest.approx(layer)
    assert decode["attention_achieved_s"] is None, "no row of attention_decode"


def test_measured_attention_stands_in_predict(tmp_path):
    folder = tmp_path / "results"
    shape = ("--op", "attention_decode", "--shape", "b:7/h:4/kv:2/s:10/d:2", "--format", "fp32", "--budget", "3")
    assert run(folder, "--device", "sim", *shape).returncode == OK
    times = [row["time_median_s"] for row in records(folder) if (row["op"], row["status"]) == ("attention_decode", "ok")]
    question = ("predict", "model", LLAMA, "--batch", "7", "--format", "fp32", "--on", folder, "--context")
    prefill, decode = answer(*question, "10")["phases"]
    assert decode["attention_achieved_s"] == min(times) and prefill["attention_achieved_s"] is None
    assert answer(*question, "11")["phases"][1]["attention_achieved_s"] is None
    assert "achieved" in ridgebench(*question, "10").stdout


@pytest.mark.parametrize("command", ["run", "list"])
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("--model gpt-2", ("--model requires --tokens",)),
        ("--tokens 1", ("--tokens requires --model",)),
        ("--training", ("--training requires --model",)),
        ("--model gtp-2 --tokens 1", ("no model 'gtp-2'", "nearest: gpt-2")),
        ("--model gpt-2 --tokens 1,x", ("--tokens is 'x'", "whole number")),
        ("--model gpt-2 --tokens 0", ("--tokens is '0'",)),
        ("--model gpt-2 --tokens 1 --op relu", ("--model has shapes of matmul",)),
        ("--model gpt-2 --tokens 1 --shape 64", ("--shape needs --op",)),
        ("--model /dev/null --tokens 1", ("/dev/null: is not a file",)),
    ],
)
def test_a_mistake_gets_one_line(command, arguments, parts, tmp_path):
    refused(ridgebench(command, "--device", "cpu", *arguments.split(), cwd=tmp_path), *parts)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["run", "list", "duel", "plan"])
def test_each_command_says_what_predict_says(command, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(json.loads(LLAMA.read_text()) | {"layers_of_mine": 2}))
    lines = {
        "run": ["run", "--device", "sim", "--tokens", "1", "--budget", "1", "--out", tmp_path / "out", "--model", config],
        "list": ["list", "--device", "cpu", "--tokens", "1", "--model", config],
        "duel": ["duel", "naive", "naive", "--format", "fp32", "--device", "sim", "--seconds", "1", "--tokens", "1", "--model", config],
        "plan": ["plan", "activations", "--batch", "1", "--model", config],
    }
    assert "warning: layers_of_mine is not read, and may change the counts" in ridgebench(*lines[command], cwd=tmp_path).stderr
    config.write_text(json.dumps(json.loads(LLAMA.read_text()) | {"model_type": "mine", "layers_of_mine": 2}))
    refused(ridgebench(*lines[command]), "layers_of_mine is 2; allowed: keys that are read")
