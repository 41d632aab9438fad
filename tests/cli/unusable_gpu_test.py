"""A GPU that cannot be used is an error with its reason, never the host in its place."""

import os

import pytest
from command_line import DEVICE_LOST, OK, USAGE, environment, refused, ridgebench

FAKE = os.environ.get("RIDGEBENCH_FAKE_LIBCUDA")
has_cuda = pytest.mark.skipif(not FAKE, reason="built without CUDA")
UUID = "GPU-0bb0e1f2-3c4d-5e6f-7081-92a3b4c5d6e7"
ROWS = ("--filter", "^relu/naive/fp32/")


def with_fake_driver(*arguments, **variables: str):
    return ridgebench(*arguments, *ROWS, env=environment(LD_LIBRARY_PATH=FAKE, **variables))


@has_cuda
@pytest.mark.parametrize("selection", [(), ("--device", "all"), ("--device", "cuda:0"), ("--device", UUID)])
@pytest.mark.parametrize(("error", "reason"), [(18, "error 18"), (35, "error 35"), (803, "driver combination"), (999, "unknown error")])
def test_a_driver_that_fails_is_an_error_with_its_reason(error, reason, selection):
    result = with_fake_driver("list", *selection, FAKE_CUDA_ERROR=str(error))
    refused(result, "cannot be used: ", reason, f"CUDA error {error}", "allowed: --device cpu", code=DEVICE_LOST)


@has_cuda
def test_a_driver_older_than_the_toolkit_is_named_with_both_versions():
    result = with_fake_driver("list", FAKE_CUDA_VERSION="12040")
    refused(result, "the driver serves CUDA up to 12.4", "this binary was built with 1", code=DEVICE_LOST)


@has_cuda
def test_the_host_is_measured_where_it_is_named_and_shown_by_info(tmp_path):
    result = with_fake_driver("list", "--device", "cpu", FAKE_CUDA_ERROR="803")
    assert (result.returncode, result.stderr) == (OK, "")
    result = ridgebench("info", env=environment(LD_LIBRARY_PATH=FAKE, FAKE_CUDA_ERROR="803"))
    assert result.returncode == DEVICE_LOST and "cannot be used" in result.stderr
    assert "cpu: " in result.stdout and "h100-sxm" in result.stdout
    result = with_fake_driver("run", "--out", tmp_path / "results", FAKE_CUDA_ERROR="803")
    refused(result, "cannot be used", code=DEVICE_LOST)
    assert list(tmp_path.iterdir()) == []


@has_cuda
@pytest.mark.parametrize("visible", ["", "-1", "9", "MIG-12345678", "GPU-1", "-1,0"])
def test_a_variable_that_hides_every_gpu_is_named(visible):
    result = with_fake_driver("list", "--device", "cuda:0", CUDA_VISIBLE_DEVICES=visible)
    refused(result, "device cuda:0 is absent", f"CUDA_VISIBLE_DEVICES='{visible}'", code=DEVICE_LOST)


@has_cuda
@pytest.mark.parametrize("visible", ["0", "1", "0,,1", "0,0", "0,1", "GPU-0bb0e1f2", UUID])
def test_a_broken_gpu_is_an_error_where_the_variable_shows_it(visible):
    result = with_fake_driver("list", CUDA_VISIBLE_DEVICES=visible)
    refused(result, "cannot be used", "CUDA error 999", code=DEVICE_LOST)


@pytest.mark.parametrize("device", [UUID, f"cuda:{UUID}", "MIG-12345678-1234-1234-1234-123456789012", "cuda:MIG-12345678"])
def test_uuids_name_devices(device):
    result = ridgebench("list", "--device", device)
    refused(result, device.removeprefix("cuda:"), " is absent", "allowed: ", code=DEVICE_LOST)


@pytest.mark.parametrize("device", ["GPU-", "MIG-", "GPU", "cuda:GPU-", "cuda:gpu", "cuda:0,1", "cuda", "0", "nvidia:0"])
def test_other_texts_are_no_devices(device):
    result = ridgebench("list", "--device", device)
    refused(result, "unknown device", "cuda:N", code=USAGE)
