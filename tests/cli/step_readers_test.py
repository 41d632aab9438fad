"""What other commands make of a folder of `ridgebench step`: they serve it, or refuse it in one line."""

import csv
import json
import os
import re
import shutil

import pytest
from command_line import OK, ROW_FAILED, answer, refused, ridgebench, strict_json
from ridgebench.data.steps import KINDS
from ridgebench.exchange.export import frame
from step_records import edited, step_of

QUICK = ("--device", "cpu", "--seconds", "0.05")
CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 192,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
}


@pytest.fixture(scope="module", name="train")
def train_fixture(tmp_path_factory, ceilings):
    folder = tmp_path_factory.mktemp("train") / "trained"
    done = ridgebench("step", "train", "--layers", "3", "--width", "64", "--batch", "16", *QUICK, "--ceilings", ceilings, "--out", folder)
    assert done.returncode == OK, done.stderr
    return folder


@pytest.fixture(scope="module", name="decode")
def decode_fixture(tmp_path_factory, ceilings):
    """Folders of a decode step by their number of sequences, and the model's config."""
    parent = tmp_path_factory.mktemp("decode")
    config = parent / "config.json"
    config.write_text(json.dumps(CONFIG))
    for batch in (1, 3):
        done = ridgebench("step", "decode", "--model", config, "--batch", batch, "--context", "20", "--format", "fp32", *QUICK, "--ceilings", ceilings,
                          "--out", parent / str(batch))  # fmt: skip
        assert done.returncode == OK, done.stderr
    return {1: parent / "1", 3: parent / "3"}, config


def exported(*words) -> str:
    done = ridgebench("export", *words)
    assert (done.returncode, done.stderr) == (OK, "")
    return done.stdout


def table(*words) -> list[dict]:
    return list(csv.DictReader(exported(*words, "--csv").splitlines()))


def test_export_has_the_parts_of_a_step(train):
    step, lines = step_of(train), table(train)
    assert [(line["part"], line["phase"]) for line in lines] == [(part["name"], part["phase"]) for part in step["parts"]]
    for line, part in zip(lines, step["parts"]):
        assert line["run"] == "trained" and line["id"] == step["id"] and line["device_model"]
        assert all(float(line[key]) == part[key] for key in ("time_s", "flops", "bytes", "roof_s")) and line["sheet_s"] == ""
        assert line["shape"] == "/".join(f"{name}:{size}" for name, size in part["shape"].items())
    assert table(train, "--rows", "parts") == lines


def test_export_has_the_step(train, decode):
    folders, _ = decode
    lines = table(train, folders[1], "--rows", "step")
    for line, folder in zip(lines, (train, folders[1])):
        step = step_of(folder)
        for key in ("time_s", "sum_of_operations_s", "flops_model", "peak_bytes", "tokens_per_s"):
            assert line[key] == "" if step[key] is None else float(line[key]) == step[key]
        assert line["samples"] == str(len(step["samples_s"])) and float(line["verify_error"]) == step["verify"]["error"]
    assert [line["model"] for line in lines] == ["", "llama-2x64-heads:4-kv:2-d:16-network:192"]


def test_parts_without_an_interval_are_read(train, tmp_path):
    """Records of older programs lack the intervals of parts."""

    def older(step):
        for part in step["parts"]:
            del part["ci_low_s"], part["ci_high_s"]

    folder = edited(train, tmp_path / "older", older)
    assert [line["ci_low_s"] for line in table(folder)] == [""] * len(step_of(train)["parts"])
    shown = ridgebench("show", folder)
    assert shown.returncode == OK and re.search(r"^forward .* us +- ", shown.stdout, re.MULTILINE)
    assert answer("info", "--on", folder)


def test_export_has_the_memory_over_the_launches(train):
    step, lines = step_of(train), table(train, "--rows", "memory")
    assert [line["launch"] for line in lines] == [str(moment["launch"]) for moment in step["timeline"]]
    assert max(int(line["live_bytes"]) for line in lines) == step["peak_bytes"]
    assert [line["predicted_bytes"] for line in lines] == [line["live_bytes"] for line in lines]
    for line, moment in zip(lines, step["timeline"]):
        assert {kind: int(line[f"{kind}_bytes"]) for kind in KINDS} == dict.fromkeys(KINDS, 0) | moment["live"]


def test_every_kind_of_memory_has_a_column(train, decode):
    found = {kind for folder in (train, *decode[0].values()) for moment in step_of(folder)["timeline"] for kind in moment["live"]}
    assert found == set(KINDS)


def test_export_as_markdown_parquet_and_metrics(train, tmp_path):
    step = step_of(train)
    text = exported(train, "--md")
    assert text.startswith("| part | phase |") and len(text.splitlines()) == 2 + len(step["parts"])
    text = exported(train, "--prom")
    assert "ridgebench_step_ok{" in text and f"}} {float(step['time_s'])!r}\n" in text and f"}} {step['peak_bytes']}\n" in text
    assert sum(line.startswith("ridgebench_step_part_time_seconds{") for line in text.splitlines()) == len(step["parts"])
    parquet = pytest.importorskip("pyarrow.parquet")
    exported(train, "--rows", "memory", "--parquet", "-o", tmp_path / "x.parquet")
    assert max(parquet.read_table(tmp_path / "x.parquet").to_pydict()["live_bytes"]) == step["peak_bytes"]


def test_a_data_frame_of_a_step(train):
    pytest.importorskip("pandas")
    parts = frame.load(train)
    assert list(parts["time_s"]) == [part["time_s"] for part in step_of(train)["parts"]]
    assert frame.load(train, rows="memory")["live_bytes"].max() == step_of(train)["peak_bytes"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("{run}", "--csv", "--rows", "step"), "allowed: a folder that `ridgebench step` wrote"),
        (("{run}", "{step}", "--csv"), "some folders hold a step, and others do not; allowed: folders of one kind"),
        (("{step}", "--prom", "--rows", "step"), "allowed: --rows with --csv, --md or --parquet"),
        (("{step}", "--csv", "--rows", "launches"), "'launches'"),
        (("{step}", "{step}", "--csv"), "named twice"),
    ],
)
def test_what_export_refuses(words, part, train, golden_folder):
    done = ridgebench("export", *(word.format(run=golden_folder, step=train) for word in words))
    assert done.returncode == 2 and part in done.stderr and done.stderr.count("\n") == 1


@pytest.fixture(scope="module", name="golden_folder")
def golden_folder_fixture():
    from golden import GOLDEN

    return GOLDEN


def test_a_step_that_was_not_measured_has_a_line_and_no_parts(tmp_path):
    words = ("--layers", "1000", "--width", "65536", "--batch", "1", "--device", "cpu", "--out", tmp_path / "big")
    assert ridgebench("step", "train", *words).returncode == ROW_FAILED
    done = ridgebench("export", tmp_path / "big", "--csv")
    assert done.returncode == 2 and "was not measured and has no parts; allowed: rows step or memory" in done.stderr
    (line,) = table(tmp_path / "big", "--rows", "step")
    assert (line["status"], line["time_s"]) == ("skipped", "") and "memory" in line["reason"]
    assert len(table(tmp_path / "big", "--rows", "memory")) == len(step_of(tmp_path / "big")["timeline"])
    assert "ridgebench_step_ok{" in exported(tmp_path / "big", "--prom")
    refused(ridgebench("predict", "relu", "n:64", "--format", "fp32", "--on", tmp_path / "big"), "allowed: a step with status ok")


def test_show_prints_what_the_step_printed(train, decode):
    done = ridgebench("show", train)
    assert (done.returncode, done.stderr) == (OK, "")
    assert done.stdout.startswith(f"{step_of(train)['id']}\n") and "measured roofs" in done.stdout and "are free" not in done.stdout
    both = ridgebench("show", train, decode[0][1]).stdout
    assert both.startswith(f"{train}\n") and "tokens/s" in both


def test_show_refuses_what_a_step_has_not(train, golden_folder):
    refused(ridgebench("show", train, "--json"), f"{train} holds a step", f"{train}/step.jsonl")
    refused(ridgebench("show", train, golden_folder), "some folders hold a step", "allowed: one kind")


RUN_ONLY = [
    ("compare", "{}", "{}"),
    ("compare", "--describe", "{}", "{}"),
    ("report", "{}"),
    ("slides", "{}"),
    ("counters", "{}"),
    ("stream", "{}"),
    ("plot", "--terminal", "{}"),
    ("plot", "--style", "lecture", "{}"),
    ("plot", "--formats", "svg,bf16", "{}"),
    ("plot", "--device", "all", "{}"),
    ("plan", "transfer", "--bytes", "1G", "--link", "{}"),
    ("baseline", "promote", "{}"),
    ("baseline", "drift", "{}"),
    ("run", "--resume", "{}"),
    ("run", "--device", "cpu", "--op", "relu", "--out", "{}.new", "--ceilings", "{}"),
    ("fleet", "report", "{}"),
]


@pytest.mark.parametrize("words", RUN_ONLY, ids=lambda words: " ".join(words))
def test_what_serves_runs_only_refuses_a_step(words, train, tmp_path):
    folder = shutil.copytree(train, tmp_path / "step")
    done = ridgebench(*(word.format(folder) for word in words), cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1 and "allowed: " in done.stderr and "Traceback" not in done.stderr
    assert "records.jsonl" not in done.stderr, "the line names the folder's kind, and no file that a step does not have"


def test_verify_says_that_a_step_is_sound(train):
    assert ridgebench("verify", train).stdout == f"{train}: sound\n"


def test_the_ceilings_of_a_step_are_roofs(train):
    ceilings = {one["id"]: one for one in step_of(train)["ceilings"]}
    assert ceilings and all(one["per_s"] > 0 for one in ceilings.values())
    roofs = {rate["measured_by"]: rate["rate"] for rate in answer("info", "--on", train)["roofs"]}
    assert roofs == {name: one["per_s"] for name, one in ceilings.items()}
    reply = answer("predict", "relu", "n:1M", "--format", "fp32", "--on", train)
    copy = next(one["per_s"] for one in ceilings.values() if (one["resource"], one["written_fraction"]) == ("memory", 0.5))
    assert reply["time_lower_bound_s"] == pytest.approx(2 * 4 * 1e6 / copy)


def uncached(folder, copy):
    """A copy of the folder whose parts no cache serves."""
    shutil.copytree(folder, copy)
    step = strict_json((folder / "step.jsonl").read_text())
    for part in step["parts"]:
        part["served_by_cache"] = False
    (copy / "step.jsonl").write_text(json.dumps(step) + "\n")
    return copy, {part["name"]: part["time_s"] / part["launches"] for part in step["parts"]}


@pytest.mark.parametrize("batch", [1, 3])
def test_the_parts_of_a_step_are_what_a_prediction_finds_achieved(batch, decode, tmp_path):
    folders, config = decode
    question = ("predict", "model", config, "--batch", batch, "--context", "20", "--format", "fp32", "--on")
    folder, times = uncached(folders[batch], tmp_path / "copy")
    phase = answer(*question, folder)["phases"][-1]
    rows = {row["name"]: row["achieved_s"] for row in phase["operations"]}
    # Products of one shape have the best of their times.
    q, k = min(times["q"], times["o"]), min(times["k"], times["v"])
    gate = min(times["gate"], times["up"])
    assert rows["qkv"] == pytest.approx(q + 2 * k) and rows["o"] == q and rows["down"] == times["down"]
    assert rows["gate_up"] == pytest.approx(2 * gate) and rows["lm_head"] is None
    assert phase["attention_achieved_s"] == times["attention"]
    assert phase["layer_linear_achieved_s"] == pytest.approx(2 * q + 2 * k + 2 * gate + times["down"])


def test_a_part_that_caches_serve_is_no_time_of_a_prediction(decode):
    folders, config = decode
    assert all(part["served_by_cache"] for part in step_of(folders[3])["parts"])
    reply = answer("predict", "model", config, "--batch", "3", "--context", "20", "--format", "fp32", "--on", folders[3])
    phase = reply["phases"][-1]
    assert {row["achieved_s"] for row in phase["operations"]} == {None} and phase["attention_achieved_s"] is None
    assert "the step measured no row of this table" in reply["notes"][-1]


def test_a_step_without_ceilings_names_what_is_missing(train, tmp_path):
    copy = shutil.copytree(train, tmp_path / "copy")
    (copy / "step.jsonl").write_text(json.dumps(step_of(train) | {"ceilings": []}) + "\n")
    refused(ridgebench("predict", "relu", "n:64", "--format", "fp32", "--on", copy), "holds no ceiling with status ok")
    (copy / "step.jsonl").write_text("")
    refused(ridgebench("predict", "relu", "n:64", "--format", "fp32", "--on", copy), "holds no ceiling with status ok")
    refused(ridgebench("show", copy), "holds no step")
    done = ridgebench("export", copy, "--csv")
    assert done.returncode == 2 and "no step; allowed" in done.stderr


def test_a_tree_of_a_fleet_may_hold_steps(train, golden_folder, tmp_path):
    shutil.copytree(golden_folder, tmp_path / "tree" / "gn1")
    shutil.copytree(train, tmp_path / "tree" / "step")
    done = ridgebench("fleet", "report", tmp_path / "tree", "--out", tmp_path / "report")
    assert "step" not in done.stdout.replace(str(tmp_path), "") and "gn1" in done.stdout, done.stdout + done.stderr


def test_the_gate_refuses_commands_that_measure_a_step(ceilings, tmp_path):
    command = f"{os.environ['RIDGEBENCH']} step train --layers 1 --width 16 --batch 4 --device cpu --seconds 0.02 --ceilings {ceilings}"
    done = ridgebench("gate", "--reader", "ridgebench", "--baseline", command, "--candidate", command, "--out", tmp_path / "gate")
    assert done.returncode == 2 and "holds a step; allowed: a folder that `ridgebench run` wrote" in done.stderr
