"""Every --json obeys the schema that `ridgebench schema` prints; the other way round, a damaged answer does not."""

import copy
import json

import pytest
from command_line import OK, ROOT, answer, records, ridgebench, schema, strict_json

RESULTS = ROOT / "results" / "intel-r-xeon-r-processor-2-threads" / "2026-11-26-ac38e7c"
SHEET = ROOT / "roofline" / "devices" / "l4.json"
ANSWERS = [
    ("list", ("list", "--device", "sim")),
    ("list", ("list", "--device", "cpu")),
    ("sources", ("list", "--sources")),
    ("doctor", ("doctor",)),
    ("info", ("info",)),
    ("info", ("info", "--on", "b200")),
    ("info", ("info", "--on", "tpu-v6e")),
    ("info", ("info", "--on", RESULTS)),
    ("predict", ("predict", "matmul", "n:64", "--format", "bf16", "--on", "h100-sxm")),
    ("predict", ("predict", "gelu", "n:4096", "--format", "fp32", "--on", RESULTS)),
    ("predict", ("predict", "dot", "n:1M", "--format", "fp16", "--on", SHEET)),
    ("predict_model", ("predict", "model", "llama-3-8b", "--batch", "1,8", "--on", "h100-sxm")),
    ("predict_model", ("predict", "model", "mixtral-8x7b", "--training", "--on", "b200")),
    ("predict_model", ("predict", "model", "gpt-2", "--format", "fp32", "--context", "64", "--on", RESULTS)),
    ("predict", ("predict", "relu", "n:1M", "--format", "fp8", "--on", "a100")),
    ("predict_table", ("predict", "table", "--on", "h100")),
    ("predict_table", ("predict", "table", "--format", "fp8", "--on", "a100", "--n", "1k", "--m", "16")),
    ("predict_table", ("predict", "table", "--format", "fp32", "--on", RESULTS)),
    ("predict_solve", ("predict", "matmul", "--solve", "n", "--format", "bf16", "--on", "h100")),
    ("predict_solve", ("predict", "relu", "--solve", "n", "--format", "bf16", "--on", RESULTS)),
    ("judged", ("show", RESULTS)),
    ("explained", ("explain", RESULTS)),
    ("judged", ("show", "--on", "h100", "--on", SHEET)),
    ("number", ("number", "1e39")),
    ("number", ("number", "0x7f")),
    ("number_histogram", ("number", "--histogram", "normal:1e-7", "--scale", "1024")),
    ("plan", ("plan", "train", "--params", "7e9", "--tokens", "1e12", "--gpus", "8", "--mfu", "0.4", "--on", "h100")),
    ("plan", ("plan", "train", "--model", "gpt-2", "--tokens", "1B", "--mfu", "0.4", "--on", "h100", "--step-tokens", "1M", "--reserve", "0.1")),
    ("plan", ("plan", "memory", "--on", "h200")),
    ("plan", ("plan", "tensor", "--shape", "10x10", "--format", "fp4")),
    ("plan", ("plan", "activations", "--layers", "4", "--width", "512", "--batch", "8", "--checkpoint", "sqrt")),
    ("plan", ("plan", "activations", "--model", "mixtral-8x7b", "--batch", "1", "--scores", "--checkpoint", "layer")),
    ("plan", ("plan", "zero", "--params", "7e9", "--stage", "3", "--ranks", "8")),
    ("plan", ("plan", "zero", "--ranks", "8", "--on", "h100")),
    ("plan", ("plan", "fits", "--model", "llama-3-8b", "--batch", "1", "--on", "h100")),
    ("plan", ("plan", "fits", "--params", "1e9", "--layers", "4", "--width", "512", "--batch", "8", "--on", RESULTS)),
    ("plan", ("plan", "mfu", "--flops", "5.4e14", "--time", "1", "--on", "h100")),
    ("plan", ("plan", "fits", "--params", "1e9", "--layers", "4", "--width", "8", "--batch", "8", "--timeline", "--on", "h100")),
    ("plan", ("plan", "fits", "--model", "gpt-2", "--precision", "bf16-offload", "--batch", "1", "--on", "h100")),
    ("plan", ("plan", "parallel", "--model", "gpt-2", "--batch", "4", "--ranks", "4", "--link", "nvlink4", "--on", "h100")),
    ("plan", ("plan", "parallel", "--model", "gpt-2", "--batch", "16", "--ranks", "16")),
    ("plan", ("plan", "check", "--model", "gpt-2", "--tokens", "1B", "--mfu", "0.3", "--batch", "1", "--format", "fp16", "--on", "h100")),
    ("plan", ("plan", "einsum", "seq (heads dim) -> heads seq dim", "--size", "seq=4,heads=2,dim=8")),
    ("plan", ("plan", "einsum", "bd,dk->bk", "--size", "b=1k,d=256,k=64")),
    ("plan", ("plan", "transfer", "--bytes", "140G", "--link", "pcie5x16")),
    ("plan", ("plan", "transfer", "--bytes", "140G", "--link", "pcie5x16", "--on", "h100")),
]


VERSIONS = {"judged": 2}  # others have 1


@pytest.mark.parametrize(("name", "words"), ANSWERS)
def test_an_answer_obeys_its_schema(name, words):
    found = answer(*words)
    checked = schema(name)
    assert [error.message for error in checked.iter_errors(found)] == []
    assert next(iter(found.items())) == ("schema", f"urn:ridgebench:{name}:{VERSIONS.get(name, 1)}")
    for key in ("schema", list(found)[1]):
        damaged = copy.deepcopy(found)
        del damaged[key]
        assert not checked.is_valid(damaged)


def test_a_run_prints_the_rows_that_it_stores(tmp_path):
    words = ("run", "--device", "sim", "--op", "relu", "--format", "fp32", "--shape", "4k", "--budget", "1")
    done = ridgebench(*words, "--json", "--out", tmp_path / "run")
    found = strict_json(done.stdout)
    assert done.returncode == OK and list(schema("run").iter_errors(found)) == []
    assert found["rows"] == records(tmp_path / "run") and 1 <= len(found["findings"]) <= 3
    assert found["folder"] == str(tmp_path / "run")


def test_a_soak_obeys_its_schema(tmp_path):
    done = ridgebench("soak", "--device", "sim", "--format", "bf16", "--minutes", "0.01", "--json", "--out", tmp_path / "soak")
    found = strict_json(done.stdout)
    assert done.returncode == OK and list(schema("soak").iter_errors(found)) == []
    assert found["schema"] == "urn:ridgebench:soak:1" and {unit["mismatches"] for unit in found["units"]} == {0}


def test_duels_obey_their_schemas(tmp_path):
    words = ("duel", "naive", "naive", "--op", "relu", "--format", "fp32", "--shape", "4k", "--seconds", "2")
    done = ridgebench(*words, "--device", "sim", "--json", "--out", tmp_path / "duels")
    found = strict_json(done.stdout)
    assert found["schema"] == "urn:ridgebench:duels:1" and list(schema("duels").iter_errors(found)) == []
    assert [list(schema("duel").iter_errors(one)) for one in found["duels"]] == [[]]

FILES = ("device", "duel", "environment", "fleet_job", "fleet_manifest", "node", "record", "step")  # stored: they keep their published key
WRITTEN_BY_HAND = "rules"  # whose keys are names of models


def test_every_schema_names_itself_with_a_version():
    names = {path.name.removesuffix(".schema.json") for path in (ROOT / "results" / "schema").glob("*.json")}
    assert len(names) > 10
    for name in names:
        named = schema(name).schema
        assert named["$id"] == f"urn:ridgebench:{name}:{VERSIONS.get(name, 1)}"
        if name == WRITTEN_BY_HAND:
            continue
        accepted = named["properties"]["schema"]
        names_of_it = accepted.get("enum", [accepted.get("const")])
        assert named["$id"] in names_of_it or (name in FILES and f"ridgebench.{name}/1" in names_of_it)


def test_the_schema_of_a_device_is_that_of_the_sheets():
    for path in (ROOT / "roofline" / "devices").glob("*.json"):
        assert list(schema("device").iter_errors(json.loads(path.read_text()))) == []


def test_the_binary_prints_them():
    done = ridgebench("schema", "predict")
    assert done.returncode == OK and strict_json(done.stdout) == schema("predict").schema
