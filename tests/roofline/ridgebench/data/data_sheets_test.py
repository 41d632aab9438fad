"""Every data sheet obeys the schema, agrees with its own clocks, and holds dense peaks only."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from command_line import answer
from ridgebench.base.files import ResultsError
from ridgebench.data.data_sheets import find_sheet

ROOT = Path(__file__).resolve().parents[4]
SCHEMA = json.loads((ROOT / "results/schema/device.schema.json").read_text())
SHEETS = {
    path.stem: json.loads(path.read_text())
    for path in sorted((ROOT / "roofline/devices").glob("*.json"))
}

# Dense FLOP per clock and SM with fp32 accumulators, by compute capability or, without one, by
# architecture. Written down here a second time on purpose: a sparse number entered in both places of
# a sheet would pass every check that the sheet makes of itself.
DENSE = {
    "7.0": {"fp32": 128, "fp16": 1024},
    "7.5": {"fp32": 128, "fp16": 1024},
    "8.0": {"fp64": 64, "fp64 tensor": 128, "fp32": 128, "tf32": 1024, "fp16": 2048, "bf16": 2048, "int8": 4096},
    "8.6": {"fp32": 256, "tf32": 512, "fp16": 1024, "bf16": 1024},
    "8.7": {"fp32": 256, "fp16": 2048, "bf16": 2048},
    "8.9": {"fp32": 256, "tf32": 512, "fp16": 1024, "bf16": 1024, "fp8": 2048, "int8": 2048},
    "9.0": {"fp64": 128, "fp64 tensor": 256, "fp32": 256, "tf32": 2048, "fp16": 4096, "bf16": 4096, "fp8": 8192, "int8": 8192},
    "10.0": {"fp32": 256, "tf32": 4096, "fp16": 8192, "bf16": 8192, "fp8": 16384, "int8": 16384, "fp4": 32768},
    "10.3": {"fp32": 256, "tf32": 4096, "fp16": 8192, "bf16": 8192, "fp8": 16384, "fp4": 49152},
    "11.0": {"fp32": 256, "fp16": 8192, "bf16": 8192, "fp8": 16384, "fp4": 32768},
    "12.0": {"fp32": 256, "tf32": 512, "fp16": 1024, "bf16": 1024, "fp8": 2048, "fp4": 4096},
    "12.1": {"fp32": 256, "fp16": 1024, "bf16": 1024, "fp8": 2048, "fp4": 4096},
    "CDNA 2": {"fp32": 128, "fp16": 1024, "bf16": 1024},
    "CDNA 3": {"fp32": 256, "tf32": 1024, "fp16": 2048, "bf16": 2048, "fp8": 4096},
    "CDNA 4": {"fp32": 256, "fp16": 4096, "bf16": 4096, "fp8": 8192, "fp4": 16384},
    "TPU": {"bf16": 2 * 4 * 128 * 128},
}
EXPECTED = {
    "a10", "a100-40-pcie", "a100-40-sxm", "a100-80-pcie", "a100-80-sxm", "a10g", "a30", "a800-80-sxm", "b200",
    "b300", "gb10", "gb200", "gb300", "gh200-144", "gh200-96", "h100-nvl", "h100-pcie", "h100-sxm", "h20",
    "h20-141", "h200", "h800-sxm", "jetson-agx-orin", "jetson-thor", "l4", "l40", "l40s", "mi250x-gcd", "mi300x",
    "mi325x", "mi350x", "mi355x", "rtx-a6000", "rtx-pro-6000", "rtx3090", "rtx4080", "rtx4090", "rtx5080",
    "rtx5090", "t4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "v100-16-sxm2", "v100-32-sxm2",
}  # fmt: skip
# Boards whose tensor cores sum in fp32 at half of the full rate, but for products of fp4.
HALVED = ("GeForce", "NVIDIA L40 ", "NVIDIA A10G ")


def each_peak():
    for name, sheet in SHEETS.items():
        for peak in sheet["peaks"]:
            key = f"{name}-{peak['format']}-{peak['engine']}-{peak['accumulator']}"
            yield pytest.param(sheet, peak, id=key)


def test_the_promised_devices_have_sheets():
    assert EXPECTED == SHEETS.keys()


@pytest.mark.parametrize("name", SHEETS)
def test_sheet_obeys_the_schema(name):
    jsonschema.Draft202012Validator(SCHEMA).validate(SHEETS[name])
    assert SHEETS[name]["name"] == name, "the file is named by its device"


def test_the_schema_refuses_a_sparse_or_unknown_key():
    sheet = json.loads(json.dumps(SHEETS["h100-sxm"]))
    sheet["peaks"][0]["sparse_flops_per_s"] = 1979e12
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(sheet)


@pytest.mark.parametrize(("sheet", "peak"), each_peak())
def test_peak_is_sms_times_clock_times_rate(sheet, peak):
    clock, rate = peak["clock_hz"], peak["flops_per_clock_per_sm"]
    computed = sheet["sms"] * rate * clock if rate and clock else None
    assert peak["flops_per_s"] == pytest.approx(computed, rel=0.01) or peak["doubt"]


@pytest.mark.parametrize(("sheet", "peak"), [p for p in each_peak() if p.values[1]["flops_per_clock_per_sm"]])
def test_peak_is_dense(sheet, peak):
    form = peak["format"].split("_")[0]
    if (form, peak["engine"]) == ("fp64", "tensor"):
        form = "fp64 tensor"
    dense = DENSE[sheet["compute_capability"] or sheet["architecture"]][form]
    tensor = peak["engine"] == "tensor" and form != "fp4"
    if tensor and peak["accumulator"] == "fp32" and any(name in sheet["title"] for name in HALVED):
        dense /= 2
    assert peak["flops_per_clock_per_sm"] == dense


@pytest.mark.parametrize("name", SHEETS)
def test_fewer_bits_are_never_slower(name):
    best: dict[str, float] = {}
    for peak in SHEETS[name]["peaks"]:
        if peak["accumulator"] == "fp32":
            form = peak["format"].split("_")[0]
            best[form] = max(peak["flops_per_s"], best.get(form, 0))
    ladder = [best[form] for form in ("fp32", "tf32", "bf16", "fp8", "fp4") if form in best]
    assert ladder == sorted(ladder)
    assert best.get("fp16", best.get("bf16")) == best.get("bf16", best.get("fp16")), "both have 16 bits"


@pytest.mark.parametrize("name", SHEETS)
def test_usable_memory_is_near_the_nominal_one(name):
    memory = SHEETS[name]["memory"]
    if memory.get("usable_bytes"):
        # A GB of the name may be a GiB, and ECC and the driver take a part.
        assert 0.92 < memory["usable_bytes"] / memory["bytes"] < 2**30 / 1e9


@pytest.mark.parametrize("name", SHEETS)
def test_only_devices_of_nvidia_have_a_compute_capability(name):
    sheet = SHEETS[name]
    assert (sheet["compute_capability"] is None) == (sheet["vendor"] != "NVIDIA")


@pytest.mark.parametrize("name", [name for name in SHEETS if SHEETS[name]["memory"]["pin"]])
def test_pins_carry_the_printed_bandwidth(name):
    memory = SHEETS[name]["memory"]
    pins = memory["pin"]["bus_bits"] / 8 * 2 * memory["pin"]["memory_clock_hz"]
    assert memory["bandwidth_bytes_per_s"] == pytest.approx(pins, rel=0.005)


@pytest.mark.parametrize("name", SHEETS)
def test_every_fact_names_a_listed_source(name):
    sheet = SHEETS[name]
    labels = [source.split(":")[0] for source in sheet["sources"]]
    facts = [fact["source"] for fact in [*sheet["peaks"], sheet["memory"], sheet["l2"]]]
    for source in filter(None, [*facts, sheet["memory"].get("usable_source")]):
        assert any(label in source for label in labels), source


def test_names_and_match_rules_are_unique():
    names = [n.lower() for s in SHEETS.values() for n in [s["name"], *s["aliases"]]]
    matches = [m for s in SHEETS.values() for m in s["match"]["names"] + s["match"]["pci_ids"]]
    assert len(set(names)) == len(names)
    assert len(set(matches)) == len(matches)


def test_figures_draw_peaks_that_sum_in_fp32():
    fp16 = [peak for peak in SHEETS["rtx4090"]["peaks"] if peak["format"] == "fp16"]
    assert {peak["accumulator"] for peak in fp16} == {"fp16", "fp32"}
    [summed_in_fp32] = [p["flops_per_s"] for p in fp16 if p["accumulator"] == "fp32" and p["engine"] == "tensor"]
    assert find_sheet("rtx4090").peaks["fp16"] == ("tensor", summed_in_fp32)


def test_figures_draw_no_peak_of_fp4():
    assert any(peak["format"] == "fp4_e2m1" for peak in SHEETS["b200"]["peaks"])
    assert "fp8_e4m3" in find_sheet("b200").peaks
    assert not any("fp4" in form for form in find_sheet("b200").peaks)


@pytest.mark.parametrize("name", ["mi300x", "v5e", "Trillium"])
def test_a_device_that_is_no_gpu_of_nvidia_is_a_sheet_like_others(name):
    assert find_sheet(name).peaks["bf16"][0] == "tensor"


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_never_ends_is_no_sheet(kind, tmp_path):
    path = tmp_path / "sheet.json"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(ResultsError, match=f"no data sheet '{path}'; allowed: "):
        find_sheet(str(path))


@pytest.mark.parametrize(
    ("model", "sheet"),
    [("NVIDIA H100 80GB HBM3", "h100-sxm"), ("A100-SXM4-40GB", "a100-40-sxm"), ("nvidia a100-sxm4-40gb", "a100-40-sxm"), ("H200", "h200")],
)
def test_the_name_that_nvidia_smi_prints_is_a_device(model, sheet):
    assert find_sheet(model).name == sheet


def test_both_halves_know_the_same_names():
    for stem, sheet in SHEETS.items():
        known = [*sheet["aliases"], *sheet["match"]["names"]]
        for name in [stem, *known, *(one.removeprefix("NVIDIA ") for one in known)]:
            assert find_sheet(name).name == stem
            assert answer("info", "--on", name)["device"] == stem
