"""`info` and `list` show every format, device and case, and why a case is not supported."""

import json
import re

import pytest
from command_line import ROOT, answer, refused, ridgebench

ELEMENTWISE = ["fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
FUSED = ["fp32", "tf32", *ELEMENTWISE[1:], "fp8_e4m3xfp8_e5m2", "fp8_e5m2xfp8_e4m3"]
FORMATS = {
    "relu": ELEMENTWISE,
    "gelu": ELEMENTWISE,
    "dot": ELEMENTWISE,
    "matvec": ELEMENTWISE,
    "matmul": [*FUSED, "tf32x3"],
    "matmul_gelu": FUSED,
}


@pytest.fixture(scope="module", name="rows")
def rows_fixture() -> list[dict]:
    return answer("list", "--device", "sim")["cases"]


@pytest.fixture(scope="module", name="info")
def info_fixture() -> dict:
    return answer("info")


@pytest.mark.parametrize("operation", FORMATS)
def test_every_technique_lists_every_format_of_its_operation(rows, operation):
    techniques = {row["technique"] for row in rows if row["op"] == operation}
    assert "naive" in techniques and len(techniques) >= 2
    for technique in techniques:
        mine = [r for r in rows if (r["op"], r["technique"]) == (operation, technique)]
        assert sorted({row["format"] for row in mine}) == sorted(FORMATS[operation]), technique


@pytest.mark.parametrize("operation", FORMATS)
def test_naive_serves_every_format(rows, operation):
    naive = [r for r in rows if (r["op"], r["technique"]) == (operation, "naive")]
    assert {row["format"] for row in naive if row["supported"]} == set(FORMATS[operation])


def test_an_unsupported_row_has_a_reason_and_a_supported_one_none(rows):
    for row in rows:
        assert row["supported"] is (row["reason"] is None), row
        assert row["reason"] is None or len(row["reason"]) > 10, row


def test_ids_are_unique_and_say_what_the_row_is(rows):
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        operation, technique, form, *_ = row["id"].split("/")
        assert (operation, technique, form) == (row["op"], row["technique"], row["format"])
        assert row["id"].endswith("@sim") and row["device"] == "sim"


def test_text_and_json_list_the_same_rows(rows):
    result = ridgebench("list", "--device", "sim")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [row["id"] for row in rows]
    for line, row in zip(lines, rows, strict=True):
        assert line.endswith("supported" if row["supported"] else row["reason"])


def test_sources_are_the_files_that_register_a_technique():
    found = answer("list", "--sources")
    by_id = {one["id"]: one for one in found["techniques"]}
    assert by_id["relu/naive/fp32@cpu"]["source"] == "kernels/relu/naive.cpp"
    assert all((ROOT / one["source"]).is_file() for one in by_id.values() if one["source"].startswith("kernels/")), by_id
    chosen = answer("list", "--sources", "--op", "relu", "--technique", "naive", "--format", "fp32", "--filter", "@cpu$")
    assert [one["id"] for one in chosen["techniques"]] == ["relu/naive/fp32@cpu"] and chosen["libraries"] == found["libraries"]
    lines = [line.split() for line in ridgebench("list", "--sources").stdout.splitlines()]
    assert {line[0]: line[1] for line in lines if line[0] in by_id} == {key: one["source"] for key, one in by_id.items()}
    assert {line[0] for line in lines} == {*by_id, *found["libraries"]}


def test_sources_need_no_device_and_no_shape():
    for words in (["--device", "cpu"], ["--profile", "full"], ["--op", "relu", "--shape", "4096"]):
        refused(ridgebench("list", "--sources", *words), "--sources", "excludes")
    refused(ridgebench("list", "--sources", "--filter", "^zzz"), "^zzz")


def test_filter_is_a_regular_expression_on_ids(rows):
    chosen = answer("list", "--device", "sim", "--filter", "^(relu|dot)/naive/(fp32|bf16)/")["cases"]
    assert len(chosen) == 4
    assert chosen == [row for row in rows if row in chosen]
    refused(ridgebench("list", "--filter", "["), "'['", "not a regular expression")


def test_larger_profiles_have_more_rows(rows):
    standard = answer("list", "--device", "sim", "--profile", "standard")["cases"]
    full = answer("list", "--device", "sim", "--profile", "full")["cases"]
    assert len(rows) < len(standard) < len(full)
    assert any("layout:tn" in row["id"] for row in full)
    sizes = [re.sub(r"/(empty|skew):0(?=/)", "", row["id"]) for row in full]  # attributes of matmul_grouped
    assert not any(re.search(r":(0|-\d+)[/@]", one) for one in sizes), "sizes are positive"
    assert {row["id"].split("/")[-1] for row in full} == {"steady@sim", "cold@sim", "warm@sim"}


def test_info_lists_the_host_and_the_data_sheets(info):
    host = next(device for device in info["devices"] if device["name"] == "cpu")
    assert host["data_sheet"] is None and host["threads"] >= 1 and host["memory_bytes"] > 0
    assert {"h100-sxm", "h200", "a100-80-sxm", "l4", "b200"} <= set(info["data_sheets"])


@pytest.mark.parametrize(
    ("name", "layout", "storage_bytes", "max_finite", "min_normal"),
    [
        ("fp32", (8, 23), 4, 3.403e38, 1.175e-38),
        ("tf32", (8, 10), 4, 3.401e38, 1.175e-38),
        ("fp16", (5, 10), 2, 65504, 6.104e-5),
        ("bf16", (8, 7), 2, 3.39e38, 1.175e-38),
        ("fp8_e4m3", (4, 3), 1, 448, 2**-6),
        ("fp8_e5m2", (5, 2), 1, 57344, 2**-14),
        ("fp4_e2m1", (2, 1), 0.5, 6, 1),
    ],
)
def test_table_of_formats(info, name, layout, storage_bytes, max_finite, min_normal):
    row = next(row for row in info["formats"] if row["format"] == name)
    assert (row["exponent_bits"], row["mantissa_bits"]) == layout
    assert row["bits"] == 1 + sum(layout)
    assert row["storage_bytes"] == storage_bytes
    assert row["max_finite"] == pytest.approx(max_finite, rel=1e-3)
    assert row["min_normal"] == pytest.approx(min_normal, rel=1e-3)


def test_only_products_with_scales_have_fp4(info):
    assert info["formats"][-1]["format"] == "fp4_e2m1"
    assert all(row["supported"] for row in info["formats"])
    cases = answer("list", "--device", "sim", "--op", "matmul_nvfp4", "--op", "matmul", "--op", "relu")["cases"]
    assert {row["id"].split("/")[0] for row in cases if "fp4" in row["id"]} == {"matmul_nvfp4"}


def test_fp4_has_a_block_scale_and_fifteen_values(info):
    fp4 = info["formats"][-1]
    assert fp4["bytes_with_block_scale"] == 0.5625
    assert fp4["values"] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def test_numbers_that_people_know_have_all_their_digits():
    printed = ridgebench("info").stdout.split()
    for number in ("65504", "57344", "448", "0.015625", "0.0078125"):
        assert number in printed


def test_a_data_sheet_is_shown_with_sources_and_doubts():
    result = ridgebench("info", "--on", "H100")
    assert (result.returncode, result.stderr) == (0, "")
    for words in (
        "989.5 TFLOP/s",
        "source: product page, halved; clocks",
        "doubt: the H100 whitepaper prints 989.4e12",
        "80 GB HBM3, 3.35 TB/s; its pins carry 3.352 TB/s",
        "whitepaper: NVIDIA H100 whitepaper",
    ):
        assert words in result.stdout
    sheet = answer("info", "--on", "h100-sxm")
    stored = json.loads((ROOT / "roofline/devices/h100-sxm.json").read_text())
    assert [peak["flops_per_s"] for peak in sheet["peaks"][:-1]] == [p["flops_per_s"] for p in stored["peaks"]]
    assert sheet["peaks"][-1]["format"] == "tf32x3"
    for peak, printed in zip(sheet["peaks"], stored["peaks"], strict=False):
        assert (peak["source"], peak["doubt"]) == (printed["source"], printed["doubt"])


def test_a_results_folder_is_shown_with_the_rows_that_reached_its_roofs():
    folder = ROOT / "results/nvidia-h200/2026-11-22-7f6e7b5"
    facts = answer("info", "--on", folder)
    assert facts["data_sheet"] == "h200"
    [copy] = [roof for roof in facts["roofs"] if roof["written_fraction"] == 0.5]
    assert copy["measured_by"].startswith("relu/cub/bf16/"), "CUB's ReLU is faster than the copy ceiling"
    assert "measured by: relu/cub/bf16/" in ridgebench("info", "--on", folder).stdout


def test_info_of_an_unknown_device():
    refused(ridgebench("info", "--on", "h101"), "'h101'; nearest: h100", "data sheet file or a results directory")
    refused(ridgebench("info", "--on", ""), "unknown device ''")


def test_info_prints_a_table():
    result = ridgebench("info")
    assert (result.returncode, result.stderr) == (0, "")
    for words in ("cpu:", "h100-sxm", "fp8_e4m3", "1/5/2", "Blackwell"):
        assert words in result.stdout
    lines = result.stdout.splitlines()
    hopper = lines[lines.index("NVIDIA Hopper") :]
    h100 = next(line.split() for line in hopper if line.startswith("  h100-sxm "))
    assert h100 == "h100-sxm 989.5 TFLOP/s 3.35 TB/s 295 80 GB 85.02 GB".split()
    assert any(line.split()[:4] == ["t4", "fp16", "65", "TFLOP/s"] for line in lines)
    listed = [line.split()[0] for line in lines if line.startswith("  ") and "B/s" in line]
    assert sorted(listed) == answer("info")["data_sheets"], "each sheet has one line"
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith("format "))]
    assert all(len(line) <= 120 for line in table[1:])


@pytest.mark.parametrize("path", sorted((ROOT / "roofline/devices").glob("*.json")), ids=lambda path: path.stem)
def test_every_sheet_prints_a_source_of_each_number(path):
    sheet = json.loads(path.read_text())
    result = ridgebench("info", "--on", path.stem)
    assert (result.returncode, result.stderr) == (0, "")
    formats = [peak["format"] for peak in sheet["peaks"]]
    facts = len(formats) + ("tf32" in formats) + 2 + bool(sheet["memory"]["usable_bytes"])
    assert result.stdout.count("\n      source: ") == facts
    assert sheet["title"] in result.stdout


def test_a_sheet_without_sms_clocks_and_power():
    printed = ridgebench("info", "--on", "v5p").stdout
    for words in ("2 compute units, power unknown", "131072 FLOP per clock and compute unit", "no clock is printed"):
        assert words in printed
    assert "compute capability" not in printed
    assert "141 GB HBM3e" in ridgebench("info", "--on", "h200").stdout
    assert "150.1 GB usable" in ridgebench("info", "--on", "h200").stdout


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("run",), ("run", "--dry-run"), ("run", "--fingerprint", "--dry-run")])
def test_a_filter_that_matches_nothing_is_an_error_of_every_command(words):
    refused(ridgebench(*words, "--filter", "^zzz"), "no case matches filter '^zzz'; `ridgebench list` shows all cases")
