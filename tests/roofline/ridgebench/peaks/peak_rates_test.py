"""peak(), bandwidth(), mfu() and devices(): the numbers of the program, with source, doubt and clock, or a reason."""

import math

import pytest
import ridgebench
from command_line import answer
from ridgebench.peaks.sheets import devices, format_of

FORMATS = ("fp32", "tf32", "tf32x3", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "fp64", "int8")
SUMS = {"fp64": "fp64", "int8": "int32"}


@pytest.mark.parametrize("device", devices(), ids=lambda device: device.name)
def test_numbers_equal_those_of_the_program(device):
    told = answer("info", "--on", device.name)
    assert (told["device"], told["sms"], told["tdp_w"]) == (device.name, device.sms, device.power_w)
    assert tuple(told["aliases"]) == device.aliases and tuple(told["sources"]) == device.sources
    rate = ridgebench.bandwidth(device.name)
    memory = told["memory"]
    assert (rate.value, rate.kind, rate.source, rate.doubt) == tuple(memory[key] for key in ("bandwidth_bytes_per_s", "kind", "source", "doubt"))
    for form in FORMATS:
        known = [one for one in told["peaks"] if one["format"] == form and one["accumulator"] == SUMS.get(form, "fp32")]
        best = max(known, key=lambda one: one["flops_per_s"], default=None)
        found = ridgebench.peak(device.name, form)
        assert (found.value is None) == (best is None) == (form not in device.formats)
        if best:
            assert (found.value, found.engine, found.accumulator) == (best["flops_per_s"], best["engine"], best["accumulator"])
            assert (found.clock_hz, found.source, found.doubt) == (best["clock_hz"], best["source"], best["doubt"])
            assert found.references and not found.sparse and not found.reason


def test_the_peaks_of_figures_are_those_peaks():
    for device in devices():
        [sheet] = answer("show", "--on", device.name)["sheets"]
        assert {one["format"]: (one["engine"], one["flops_per_s"]) for one in sheet["peaks"]} == {
            form: (peak.engine, peak.value) for form in FORMATS[:7] if (peak := ridgebench.peak(device.name, form))
        }


@pytest.mark.parametrize("sheet, form, gpus", [("h100", "bf16", 1), ("a100-40", "tf32", 8), ("mi300x", "fp8", 64), ("l4", "fp32", 3)])
def test_mfu_equals_the_plan_of_the_program(sheet, form, gpus):
    words = ("plan", "mfu", "--flops", "5.4e16", "--time", "100", "--gpus", str(gpus), "--format", form, "--on", sheet)
    share = ridgebench.mfu(5.4e16, 100, sheet, form, gpus=gpus)
    assert share.value == pytest.approx(answer(*words)["mfu"], rel=1e-15)
    assert share.peak == ridgebench.peak(sheet, form) and share.device == share.peak.device


def test_more_than_the_peak_is_doubted():
    assert "FLOPs, seconds, format or the number of GPUs is wrong" in ridgebench.mfu(1e17, 1, "h100", "bf16").doubt
    assert ridgebench.mfu(1e17, 1, "h100", "bf16", 128) == ridgebench.mfu(1e17, 1, "h100", "bf16", gpus=128)
    assert ridgebench.mfu(1e17, 1, "h100", "bf16", 128).doubt == ridgebench.peak("h100", "bf16").doubt


def test_a_device_of_the_list_is_a_device():
    h200 = next(device for device in ridgebench.devices() if device.name == "h200")
    assert ridgebench.peak(h200, "bf16") == ridgebench.peak("NVIDIA H200", "bf16")
    assert h200.memory.bytes_per_s == ridgebench.bandwidth(h200).value


@pytest.mark.parametrize("sheet, form, dense, sparse", [
    ("a100", "bf16", 312e12, 624e12),  # NVIDIA's A100 data sheet prints both
    ("h100", "fp8", 1979e12, 3958e12),  # the H100 page prints 3,958 with sparsity
    ("l4", "fp16", 121e12, 242e12),  # the L4 page prints 242 with sparsity
    ("rtx4090", "bf16", 165.2e12, 330.4e12),  # Ada whitepaper, appendix A
])  # fmt: skip
def test_a_sparse_peak_comes_only_when_asked_for(sheet, form, dense, sparse):
    assert ridgebench.peak(sheet, form).value == dense
    told = ridgebench.peak(sheet, form, sparse=True)
    assert told.value == sparse and told.sparse and "computed" in told.doubt and told.source.startswith("2 x the dense peak: ")


@pytest.mark.parametrize("sheet, form", [("h100", "fp32"), ("b300", "fp4"), ("t4", "fp16"), ("mi300x", "bf16"), ("tpu-v5e", "bf16")])
def test_an_unknown_sparse_peak_is_no_number(sheet, form):
    told = ridgebench.peak(sheet, form, sparse=True)
    assert told.value is None and "with 2:4 sparsity is known; allowed: " in told.reason


def test_a_limited_power_is_no_number():
    told = ridgebench.peak("h100", "bf16", power_limit_w=500)
    assert told.value is None and told.device == "h100-sxm"
    assert told.reason == "h100-sxm is limited to 500 W; its peaks assume 700 W"
    assert ridgebench.mfu(1e15, 1, "h100", power_limit_w=500.0).reason == told.reason
    assert ridgebench.peak("h100", "bf16", power_limit_w=700).value == 989.5e12
    assert "prints no power" in ridgebench.peak("tpu-v5e", "bf16", power_limit_w=100).reason


def test_a_format_without_a_peak_is_no_number():
    told = ridgebench.peak("a100", "fp8")
    assert told.value is None and told.reason.startswith("a100-80-sxm has no peak of fp8_e4m3; allowed: fp32, tf32, fp16, bf16")


def test_an_answer_without_a_number_is_false_and_cannot_be_computed_with():
    known, unknown = ridgebench.peak("h100", "bf16"), ridgebench.peak("TPU v4", "bf16")
    assert known and float(known) == 989.5e12 and not unknown
    with pytest.raises(ridgebench.RequestError, match="no data sheet 'TPU v4'"):
        float(unknown)
    with pytest.raises(TypeError):
        1e15 / unknown.value


class Bfloat16:
    """As torch prints its types."""

    def __str__(self) -> str:
        return "torch.bfloat16"


@pytest.mark.parametrize("given, name", [
    ("BF16", "bf16"), (Bfloat16(), "bf16"), (float, "fp32"), ("torch.float8_e4m3fn", "fp8_e4m3"), ("fp8", "fp8_e4m3"), ("nvfp4", "fp4_e2m1"),
])  # fmt: skip
def test_a_format_has_the_names_of_other_libraries(given, name):
    assert format_of(given) == name


@pytest.mark.parametrize("call, message", [
    (lambda: ridgebench.peak("h100", "bf15"), "unknown format 'bf15'; allowed: fp32, tf32, tf32x3, fp16, bf16, fp8_e4m3"),
    (lambda: ridgebench.peak("h100", None), "unknown format 'None'; allowed: "),
    (lambda: ridgebench.peak(3, "bf16"), "a device of type int has no name; allowed: a text, the properties of torch or a device of JAX"),
    (lambda: ridgebench.peak("h100", "bf16", power_limit_w=0), "power_limit_w is 0; allowed: a number above 0"),
    (lambda: ridgebench.mfu(0, 1, "h100"), "flops is 0; allowed: a number above 0"),
    (lambda: ridgebench.mfu(math.nan, 1, "h100"), "flops is nan; allowed: a number above 0"),
    (lambda: ridgebench.mfu(1, -1.0, "h100"), "seconds is -1.0; allowed: a number above 0"),
    (lambda: ridgebench.mfu(1, 1, "h100", gpus=1.5), "gpus is 1.5; allowed: a whole number above 0"),
    (lambda: ridgebench.mfu(1, 1, "h100", gpus=True), "gpus is True; allowed: a whole number above 0"),
])  # fmt: skip
def test_a_request_without_an_answer_is_one_line(call, message):
    with pytest.raises(ridgebench.RequestError) as refused:
        call()
    assert str(refused.value).startswith(message) and "\n" not in str(refused.value)
    assert isinstance(refused.value, ValueError) and refused.value.code == 2
