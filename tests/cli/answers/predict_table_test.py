"""`predict table`, `predict --solve`, and both as CSV and Markdown."""

import csv
import io
import json
from fractions import Fraction

import pytest
from accounting import all_sheets, folder_device, predict, work
from command_line import ROOT, answer, refused, ridgebench
from many_calls import answers

H100 = ROOT / "results/nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5"
SHEETS = all_sheets()


def table(*words, on="h100-sxm") -> dict:
    return answer("predict", "table", *words, "--on", on)


def test_the_table_holds_the_operations_of_the_lecture():
    reply = table()
    assert (reply["device"], reply["format"], reply["n"], reply["m"]) == ("h100-sxm", "bf16", 8192, 8192)
    bounds = {row["name"]: row["bound"] for row in reply["rows"]}
    assert bounds == {
        "relu": "memory",
        "gelu": "memory",
        "dot": "memory",
        "matvec": "memory",
        "matmul, one row": "memory",
        "matmul": "compute",
        "matmul dX": "compute",
        "matmul dW": "compute",
        "matmul and gelu, fused": "compute",
    }


@pytest.mark.parametrize("words", [(), ("--n", "1k", "--m", "3", "--format", "fp8"), ("--n", "777", "--format", "fp32")])
def test_each_row_is_what_predict_says(words):
    for row in table(*words, on="b200")["rows"]:
        shape = "/".join(f"{dimension}:{size}" for dimension, size in row["shape"].items())
        single = answer("predict", row["op"], shape, "--format", row["format"], "--on", "b200")
        assert single == {"schema": "urn:ridgebench:predict:1"} | {key: row[key] for key in single if key != "schema"}
        sizes = {key: size for key, size in row["shape"].items() if key != "layout"}
        exact = predict(row["op"], sizes, row["format"], SHEETS["b200"])
        assert row["time_lower_bound_s"] == pytest.approx(float(exact["time_lower_bound_s"]))


def test_the_backward_pass_costs_twice_the_forward_pass():
    rows = {row["name"]: row for row in table("--n", "512", "--m", "2048")["rows"]}
    assert rows["matmul"]["shape"] == {"m": 2048, "n": 512, "k": 512, "layout": "nt"}
    assert rows["matmul dX"]["shape"]["layout"] == "nn" and rows["matmul dW"]["shape"]["layout"] == "tn"
    assert rows["matmul dX"]["flops"] + rows["matmul dW"]["flops"] == 2 * rows["matmul"]["flops"]


def test_what_a_device_or_a_format_lacks_is_left_out_and_named():
    reply = table("--format", "fp8", on="a100")
    assert [row["name"] for row in reply["rows"]] == ["relu", "gelu", "dot", "matvec"]
    assert len(reply["notes"]) == 1 and "no peak for fp8_e4m3" in reply["notes"][0]
    reply = table("--format", "tf32")
    assert {row["op"] for row in reply["rows"]} == {"matmul", "matmul_gelu"}
    assert "relu has no format tf32" in reply["notes"]
    shown = ridgebench("predict", "table", "--format", "tf32", "--on", "h100").stdout
    assert "note: left out: relu has no format tf32" in shown
    lacking = ridgebench("predict", "table", "--format", "fp8_e4m3xfp8_e5m2", "--on", "a100")
    refused(lacking, "a100", "no peak for fp8_e4m3xfp8_e5m2")


def test_text_csv_and_markdown_say_the_same():
    words = ("predict", "table", "--on", "h100", "--n", "1024")
    rows = table("--n", "1024", on="h100")["rows"]
    lines = list(csv.DictReader(io.StringIO(ridgebench(*words, "--csv").stdout)))
    assert [line["name"] for line in lines] == [row["name"] for row in rows]
    assert [float(line["bytes"]) for line in lines] == [row["bytes"] for row in rows]
    assert lines[4]["shape"] == "m:1/n:1024/k:1024/layout:nt"
    text, markdown = ridgebench(*words).stdout, ridgebench(*words, "--md").stdout
    for row in rows:
        assert any(line.startswith(row["name"]) and f"{row['bound']}-bound" in line for line in text.splitlines())
        assert f"| {row['name']} |" in markdown
    widths = {line.count("|") for line in markdown.splitlines() if line.startswith("|")}
    assert widths == {10}


def test_one_prediction_as_csv_and_markdown():
    words = ("predict", "relu", "n:1M", "--format", "fp8", "--on", "a100")
    reply = json.loads(ridgebench(*words, "--json").stdout)
    (line,) = csv.DictReader(io.StringIO(ridgebench(*words, "--csv").stdout))
    assert ["schema", *line] == list(reply)
    assert (line["shape"], line["mfu_bound"]) == ("n:1000000", "")
    assert float(line["time_lower_bound_s"]) == reply["time_lower_bound_s"]
    assert "| bound | memory |" in ridgebench(*words, "--md").stdout
    refused(ridgebench(*words, "--csv", "--md"), "excludes --md")


def solved(*words) -> tuple:
    reply = answer("predict", *words)
    return reply["largest_memory_bound"], reply["smallest_compute_bound"]


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        ("matmul --solve n --format bf16 --on h100", (886, 887)),
        ("matmul --solve n --format bf16 --on h200", (618, 619)),
        ("matmul n:12288/k:12288 --solve m --format bf16 --on h100", (310, 311)),
        ("matmul 12288 --solve m --format bf16 --on h100", (310, 311)),
        ("matmul m:7/n:12288/k:12288/layout:nn --solve m --format bf16 --on h100", (310, 311)),
        ("matmul layout:tn --solve k --format bf16 --on h100", (886, 887)),
        ("relu --solve n --format bf16 --on h100", (2**40, None)),
        ("matvec --solve m --format bf16 --on h100", (2**31 - 1, None)),
        ("gelu --solve n --format fp8 --on b200", (None, 1)),
    ],
)
def test_the_size_from_which_an_operation_is_compute_bound(words, sizes):
    assert solved(*words.split()) == sizes


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("matmul_grouped m:8192/n:2048/k:7168 --solve g --format bf16 --on h100",
         "compute-bound up to g = 22, memory-bound from g = 23 on"),
        ("attention_decode b:1/h:128/s:4096/d:128 --solve kv --format bf16 --on h100",
         "compute-bound up to kv = 4, memory-bound from kv = 8 on"),
        ("attention_decode b:1/kv:8/s:4096/d:128 --solve h --format bf16 --on h100",
         "memory-bound up to h = 152, compute-bound from h = 160 on"),
        ("matmul_nvfp4 m:4096/n:4096 --solve k --format nvfp4 --on b200", "memory-bound up to k = 1392, compute-bound from k = 1394 on"),
        ("matmul_block_scaled m:425/n:425 --solve k --format fp8 --on h200",
         "memory-bound below k = 28263, both in turn up to k = 28328, compute-bound from k = 28329 on"),
        ("rope b:1/s:4096/h:32 --solve d --format bf16 --on h100", "never compute-bound, whatever d is"),
        ("cross_entropy m:64 --solve n --format bf16 --on h100", "never compute-bound, whatever n is"),
    ],
)  # fmt: skip
def test_a_verdict_is_that_of_predict(words, verdict):
    """`predict` itself says so at the sizes that the verdict names."""
    assert verdict in ridgebench("predict", *words.split()).stdout
    reply = answer("predict", *words.split())
    shape = "/".join(f"{name}:{size}" for name, size in reply["shape"].items())
    sizes = [(key, reply[key]) for key in reply if key.endswith("_bound") and reply[key]]
    calls = [["predict", words.split()[0], f"{shape}/{reply['dimension']}:{size}", *words.split()[-4:], "--json"] for _, size in sizes]
    bounds = [json.loads(text)["bound"] for _, text in answers(calls)]
    assert bounds == [key.split("_")[1] for key, _ in sizes]


def test_what_memory_always_decides_is_said():
    shown = ridgebench(*"predict relu --solve n --format bf16 --on h100".split()).stdout
    assert "never compute-bound, whatever n is" in shown
    shown = ridgebench(*"predict matmul --solve n --format bf16 --on h100".split()).stdout
    assert "memory-bound up to n = 886, compute-bound from n = 887 on" in shown


@pytest.mark.parametrize("words", ["relu", "gelu", "dot", "matvec"])
@pytest.mark.parametrize("on", ["tpu-v5e", "tpu-v6e"])
def test_without_a_peak_nothing_is_decided(words, on):
    words = ["predict", words, "--solve", "n", "--format", "fp8", "--on", on]
    reply = answer(*words)
    assert [reply[key] for key in reply if key.endswith(("_bound", "_per_byte", "_from"))] == [None] * 7
    shown = ridgebench(*words).stdout
    assert "cannot be decided" in shown and "never" not in shown and "intensity" not in shown
    plain = answer("predict", words[1], "4096", "--format", "fp8", "--on", on)["notes"]
    assert plain and set(plain) <= set(reply["notes"]) and f"note: {plain[0]}" in shown


@pytest.mark.parametrize(
    ("words", "unused"),
    [("matmul n:4096 --solve n", "n:4096"), ("relu 77 --solve n", "n:77"), ("matmul m:7/n:4/k:4 --solve m", "m:7")],
)
def test_a_size_of_the_solved_dimension_is_named(words, unused):
    reply = answer("predict", *words.split(), "--format", "bf16", "--on", "h100")
    assert any(note.startswith(f"the size {unused} does not count") for note in reply["notes"])
    bare = answer("predict", "matmul", "n:4/k:4", "--solve", "m", "--format", "bf16", "--on", "h100")
    assert not any("does not count" in note and "size" in note for note in bare["notes"])


def test_the_notes_of_rows_stand_under_the_table():
    for on in ("tpu-v5e", H100):
        words = ("predict", "table", "--n", "300", "--on", on)
        notes = {note for row in answer(*words)["rows"] for note in row["notes"]}
        text, markdown = ridgebench(*words).stdout, ridgebench(*words, "--md").stdout
        assert notes and all(f": {note}\n" in text and f": {note}.\n" in markdown for note in notes)
        assert text.count("note: ") == len(notes)


def test_a_launch_that_binds_is_explained():
    row = answer("predict", "relu", "n:5.5M", "--format", "bf16", "--on", H100)
    assert row["bound"] == "launch" and row["time_lower_bound_s"] > 5 * row["launch_floor_s"]
    assert row["notes"] == ["launch: the lower bound is below ten launches, and one takes at least 777.1 ns here"]


def test_on_a_folder_every_larger_size_is_compute_bound():
    """The bandwidth there depends on the traffic mix, and so on the size."""
    device = folder_device(H100, SHEETS)

    def compute_bound(m: int, n: int, k: int) -> bool:
        amount = work("matmul", {"m": m, "n": n, "k": k}, "bf16")
        traffic = amount["bytes"] / device.bandwidth(amount["written"])
        return amount["flops"] / device.peak("matmul", "bf16") >= traffic

    for n, k in ((4096, 4096), (512, 8192), (8192, 512), (300, 5000), (40000, 400)):
        words = ("matmul", f"n:{n}/k:{k}", "--solve", "m", "--format", "bf16", "--on", H100)
        below, found = solved(*words)
        slow = [m for m in range(1, 4000) if not compute_bound(m, n, k)]
        assert below >= 4000 if slow[-1] == 3999 else (slow[-1], slow[-1] + 1) == (below, found)


def test_a_launch_is_not_counted_and_named():
    reply = answer("predict", "matmul", "--solve", "n", "--format", "bf16", "--on", H100)
    assert any("launch" in note for note in reply["notes"])


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("matmul --solve b --format bf16 --on h100", ("--solve is 'b'", "m, n, k")),
        ("matmul --solve layout --format bf16 --on h100", ("--solve is 'layout'", "m, n, k")),
        ("relu --solve m --format bf16 --on h100", ("--solve is 'm'", "relu: n")),
        ("matmul k:4 --solve m --format bf16 --on h100", ("lacks dimension 'n'",)),
        ("matmul n:4/q:4 --solve m --format bf16 --on h100", ("'q'", "m, n, k")),
        ("matmul n:x/k:4 --solve m --format bf16 --on h100", ("n:x", "whole number")),
        ("matmul --solve n --format fp8 --on a100", ("no peak for fp8_e4m3",)),
        ("matmul --solve n --on h100", ("--format is required",)),
        ("matmul --format bf16 --on h100", ("shape is required",)),
        ("table", ("--on is required",)),
        ("table --on h101", ("'h101'", "nearest: h100")),
        ("table --on h100 --n 0", ("--n is '0'", "whole number from 1 to 1048576")),
        ("table --on h100 --n 2M", ("--n is '2M'", "1048576")),
        ("table --on h100 --m many", ("--m is 'many'",)),
        ("table --on v100 --format tf32", ("v100", "no peak for tf32")),
        ("table --on h100 --format int4", ("'int4'", "bf16")),
    ],
)
def test_refusals(words, parts):
    refused(ridgebench("predict", *words.split()), *parts)


def test_a_solved_size_has_the_verdict_that_it_claims():
    """Around the answer `predict` itself says memory, then compute."""
    calls = [
        ["predict", "matmul", f"m:{m}/n:4096/k:4096", "--format", form, "--on", on, "--json"]
        for form, on in (("bf16", "h100"), ("fp8", "h200"), ("fp32", "a100"))
        for m in solved("matmul", "n:4096/k:4096", "--solve", "m", "--format", form, "--on", on)
    ]
    bounds = [json.loads(text)["bound"] for _, text in answers(calls)]
    assert bounds == ["memory", "compute"] * 3


def test_exact_ridge_is_reached():
    reply = answer("predict", "matmul", "--solve", "n", "--format", "bf16", "--on", "h100")
    assert Fraction(reply["intensity_flop_per_byte"]) >= Fraction(reply["ridge_flop_per_byte"])
