"""Every data sheet obeys the schema, agrees with its own clocks, and holds dense peaks only."""

import json
import os
from pathlib import Path

import jsonschema
import pytest

from ridgebench.data_sheets import find_sheet
from ridgebench.files import ResultsError

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "results/schema/device.schema.json").read_text())
SHEETS = {
    path.stem: json.loads(path.read_text())
    for path in sorted((ROOT / "roofline/devices").glob("*.json"))
}

# Dense FLOP per clock and SM with fp32 accumulators, by compute capability. Written down here a
# second time on purpose: a sparse number entered in both places of a sheet would pass every check
# that the sheet makes of itself.
DENSE = {
    "8.0": {"fp32": 128, "tf32": 1024, "fp16": 2048, "bf16": 2048},
    "8.9": {"fp32": 256, "tf32": 512, "fp16": 1024, "bf16": 1024, "fp8": 2048},
    "9.0": {"fp32": 256, "tf32": 2048, "fp16": 4096, "bf16": 4096, "fp8": 8192},
    "10.0": {"fp32": 256, "tf32": 4096, "fp16": 8192, "bf16": 8192, "fp8": 16384},
}
EXPECTED = {
    "h100-sxm", "h100-pcie", "h100-nvl", "h200", "gh200-96", "gh200-144", "a100-80-sxm", "l4",
    "l40s", "rtx4090", "b200",
}  # fmt: skip


def each_peak():
    for name, sheet in SHEETS.items():
        for peak in sheet["peaks"]:
            key = f"{name}-{peak['format']}-{peak['engine']}-{peak['accumulator']}"
            yield pytest.param(sheet, peak, id=key)


def test_the_promised_devices_have_sheets():
    assert EXPECTED <= SHEETS.keys()


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
    computed = sheet["sms"] * peak["flops_per_clock_per_sm"] * peak["clock_hz"]
    assert peak["flops_per_s"] == pytest.approx(computed, rel=0.015) or peak["doubt"]


@pytest.mark.parametrize(("sheet", "peak"), each_peak())
def test_peak_is_dense(sheet, peak):
    dense = DENSE[sheet["compute_capability"]][peak["format"].split("_")[0]]
    # GeForce tensor cores run at half rate with fp32 accumulators and at full rate with fp16.
    geforce = "GeForce" in sheet["title"] and peak["engine"] == "tensor"
    if geforce and peak["accumulator"] == "fp32":
        dense /= 2
    assert peak["flops_per_clock_per_sm"] == dense


@pytest.mark.parametrize("name", [name for name in SHEETS if SHEETS[name]["memory"]["pin"]])
def test_pins_carry_the_printed_bandwidth(name):
    memory = SHEETS[name]["memory"]
    pins = memory["pin"]["bus_bits"] / 8 * 2 * memory["pin"]["memory_clock_hz"]
    assert memory["bandwidth_bytes_per_s"] == pytest.approx(pins, rel=0.005)


@pytest.mark.parametrize("name", SHEETS)
def test_every_fact_names_a_listed_source(name):
    sheet = SHEETS[name]
    labels = [source.split(":")[0] for source in sheet["sources"]]
    for fact in [*sheet["peaks"], sheet["memory"], sheet["l2"]]:
        assert any(label in fact["source"] for label in labels), fact["source"]


def test_names_and_match_rules_are_unique():
    names = [n for s in SHEETS.values() for n in [s["name"], *s["aliases"]]]
    matches = [m for s in SHEETS.values() for m in s["match"]["names"] + s["match"]["pci_ids"]]
    assert len(set(names)) == len(names)
    assert len(set(matches)) == len(matches)


def test_figures_draw_peaks_that_sum_in_fp32():
    fp16 = [peak for peak in SHEETS["rtx4090"]["peaks"] if peak["format"] == "fp16"]
    assert {peak["accumulator"] for peak in fp16} == {"fp16", "fp32"}
    [summed_in_fp32] = [p["flops_per_s"] for p in fp16 if p["accumulator"] == "fp32" and p["engine"] == "tensor"]
    assert find_sheet("rtx4090").peaks["fp16"] == ("tensor", summed_in_fp32)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_never_ends_is_no_sheet(kind, tmp_path):
    path = tmp_path / "sheet.json"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(ResultsError, match="is no regular file"):
        find_sheet(str(path))
