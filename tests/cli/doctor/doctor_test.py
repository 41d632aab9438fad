"""`doctor` names what is wrong with a machine and its driver, and what helps."""

import json
import os
import shutil
from ctypes.util import find_library

import pytest
from command_line import DEVICE_LOST, USAGE, environment, refused, ridgebench, schema, strict_json
from made_up_machine import DRIVER, MODULE, doctor, found, healthy_root, names, write

has_cuda = pytest.mark.skipif(not os.environ.get("RIDGEBENCH_FAKE_LIBCUDA"), reason="built without CUDA")


@pytest.fixture(name="root")
def two_gpus(tmp_path):
    return healthy_root(tmp_path / "root")


@has_cuda
def test_a_healthy_machine_is_ready(root):
    answer = doctor(root)
    assert answer["verdict"].startswith("ready to measure 2 GPUs")
    assert [one for one in answer["findings"] if one["subject"] in ("driver", "gpu") and one["status"] in ("warning", "error")] == []
    names(answer, "gpu_works", "ok", "NVIDIA H100 80GB HBM3 (h100-sxm), 9.0, 79.5 of 80.0 GiB free, 345 of 1980 MHz", "", "cuda:1")
    gpus = answer["facts"]["gpus"]
    assert [(gpu["device"], gpu["pci_address"]) for gpu in gpus] == [("cuda:0", "0000:1b:00.0"), ("cuda:1", "0000:1c:00.0")]
    assert {row["device"] for row in answer["facts"]["skipped"]} == {"cuda:0", "cuda:1"}


@pytest.mark.parametrize(
    ("error", "code", "text", "remedy"),
    [
        (18, "cuda_error", "CUDA error 18", "dmesg"),
        (34, "libcuda_stub", "stub", "LD_LIBRARY_PATH"),
        (35, "driver_too_old", "CUDA error 35", "newer driver"),
        (100, "no_device", "offers no GPU", "nvidia-smi -L"),
        (304, "no_permission", "refuses a call", "ls -l /dev/nvidia*"),
        (802, "fabric_manager_missing", "fabric manager", "sudo systemctl enable --now nvidia-fabricmanager"),
        (803, "driver_library_mismatch", "different versions", "sudo reboot"),
        (804, "compat_not_supported", "cuda-compat", "LD_LIBRARY_PATH"),
        (805, "mps_failed", "MPS", "nvidia-cuda-mps-control"),
        (999, "driver_broken", "CUDA error 999", "sudo nvidia-modprobe -u -c 0"),
        (12345, "cuda_error", "CUDA error 12345", "dmesg"),
    ],
)
def test_an_error_of_the_driver_has_its_cause_and_its_remedy(root, error, code, text, remedy):
    answer = doctor(root, FAKE_CUDA_ERROR=str(error))
    names(answer, code, "error", text, remedy)
    assert answer["verdict"].startswith("no GPU can be used: ")


@has_cuda
def test_versions_of_driver_and_build_are_compared(root):
    names(doctor(root, FAKE_CUDA_VERSION="11080"), "driver_too_old", "error", "serves CUDA up to 11.8", "install driver 5")
    built = doctor(root)["facts"]["build"]["cuda"]
    newest_code = max(int(word.split("-")[0]) for word in built.split("architectures ")[1].split(";"))
    answer = doctor(root, FAKE_CUDA_CAPABILITY=str(newest_code + 30))
    one = found(answer, "ptx_only" if built.endswith(str(newest_code)) else "no_code", "cuda:0")
    assert one["help"].startswith("scripts/build.sh cuda -DCMAKE_CUDA_ARCHITECTURES=")
    names(doctor(root, FAKE_CUDA_CAPABILITY="61"), "no_code", "error", "no code for compute capability 6.1", "ARCHITECTURES=61", "cuda:0")
    answer = doctor(root, FAKE_CUDA_CAPABILITY="100", FAKE_GPU_NAME="NVIDIA X1", FAKE_GPU="pci=1")
    names(answer, "no_tensor_roof", "note", "which tcgen05 drives", "", "cuda:0")
    names(answer, "no_data_sheet", "note", "no data sheet matches", "run --roof", "cuda:0")


def test_versions_of_module_and_libraries_are_compared(root, tmp_path):
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    shutil.copy(DRIVER / "libcuda.so.1", libraries / "libcuda.so.550.54.14")
    (libraries / "libcuda.so.1").symlink_to("libcuda.so.550.54.14")
    (libraries / "libnvidia-ml.so.1").symlink_to(DRIVER / "libnvidia-ml.so.1")
    answer = doctor(root, libraries, FAKE_CUDA_ERROR="999", FAKE_NVML_ERROR="18")
    names(answer, "driver_library_mismatch", "error", f"module {MODULE}, libcuda 550.54.14", "sudo rmmod nvidia_uvm")
    answer = doctor(root, FAKE_CUDA_ERROR="999", FAKE_NVML_ERROR="18")
    names(answer, "driver_library_mismatch", "error", "different versions", "sudo reboot")


def test_what_the_kernel_lacks_is_named(root):
    pci = root / "sys/bus/pci/devices/0000:1b:00.0"
    shutil.rmtree(root / "sys/module/nvidia")
    absent = {"FAKE_CUDA_ERROR": "999", "FAKE_NVML_ERROR": "9"}
    names(doctor(root, **absent), "module_missing", "error", "module nvidia is not loaded", "sudo modprobe nvidia")
    for module, code, remedy in (("nouveau", "nouveau", "blacklist nouveau"), ("vfio-pci", "gpu_passed_through", "virtual machine")):
        (pci / "driver").unlink()
        (pci / "driver").symlink_to(f"../../../bus/pci/drivers/{module}")
        names(doctor(root, **absent), code, "error", "GPU", remedy)
    (pci / "driver").unlink()
    shutil.rmtree(root / "dev")
    names(doctor(root, **absent, APPTAINER_CONTAINER="a.sif"), "container_without_gpu", "error", "a.sif", "apptainer run --nv")
    write(root / "sys/module/nvidia/version", MODULE)
    names(doctor(root, **absent), "no_device_files", "error", "no /dev/nvidia0", "sudo nvidia-modprobe -c 0 -u")


def test_a_lack_of_permission_is_named(root):
    answer = doctor(root, FAKE_CUDA_ERROR="100", FAKE_NVML_ERROR="4")
    names(answer, "no_permission", "error", "/dev/nvidia*", "NVreg_DeviceFileMode=0666")
    for index in (0, 1):
        file = root / f"dev/nvidia{index}"
        file.unlink()
        file.symlink_to(file)  # root may open any file but one that leads to itself
    names(doctor(root, FAKE_CUDA_ERROR="304"), "no_permission", "error", "/dev/nvidia0: Too many levels", "request a GPU")


@pytest.mark.skipif(bool(find_library("cuda")), reason="this machine has a driver")
def test_a_missing_library_of_the_driver_is_named(root, tmp_path):
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    (libraries / "libcuda.so.1").symlink_to(DRIVER / "libcuda.so.1")
    names(doctor(root, libraries), "nvml_missing", "warning", "stay unknown", "libnvidia-ml1")
    (libraries / "libcuda.so.1").unlink()
    names(doctor(root, libraries), "libcuda_missing", "error", "libcuda.so.1", "libcuda1")


def test_hidden_and_unknown_gpus_are_named(root):
    names(doctor(root, CUDA_VISIBLE_DEVICES="-1"), "gpus_hidden", "error", "CUDA_VISIBLE_DEVICES='-1' hides every GPU", "unset CUDA_")
    answer = doctor(root, CUDA_VISIBLE_DEVICES="1")
    names(answer, "gpu_hidden", "note", "hides it", "unset CUDA_VISIBLE_DEVICES", "0000:1b:00.0")
    gpus = {gpu["pci_address"]: gpu for gpu in answer["facts"]["gpus"]}
    assert gpus["0000:1c:00.0"]["device"] == "cuda:0" and gpus["0000:1c:00.0"]["nvidia_smi"] == 1
    names(doctor(root, CUDA_VISIBLE_DEVICES="0,7,1"), "visible_devices_unknown", "warning", "lists 3 GPUs, but", "nvidia-smi -L")


@pytest.mark.parametrize(
    ("variables", "code", "device"),
    [
        ({"FAKE_CUDA_HANGS": "init"}, "driver_hangs", None),
        ({"FAKE_CUDA_CRASHES": "init"}, "driver_crashes", None),
        ({"FAKE_NVML_HANGS": "1"}, "nvml_hangs", None),
        ({"FAKE_CUDA_HANGS": "1"}, "gpu_hangs", "cuda:1"),
        ({"FAKE_CUDA_CRASHES": "1"}, "gpu_crashes", "cuda:1"),
    ],
)
def test_what_hangs_or_crashes_is_named_and_hides_nothing(root, variables, code, device):
    env = environment(LD_LIBRARY_PATH=str(DRIVER), **variables)
    done = ridgebench("doctor", "--json", "--root", root, "--timeout", "5", env=env)
    answer = strict_json(done.stdout)
    assert done.returncode == DEVICE_LOST and found(answer, code, device)["status"] == "error"
    if device:
        assert found(answer, "gpu_works", "cuda:0")
        assert f"GPU {device} cannot be used" in answer["verdict"] or "build" in answer["verdict"]


def test_a_driver_under_windows_has_no_module(root):
    shutil.rmtree(root)
    write(root / "proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2")
    names(doctor(root), "driver_works", "ok", "WSL", "")


def test_permissions_of_counters_are_named(root):
    write(root / "proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1")
    names(doctor(root, PATH="/nowhere"), "counters_restricted", "note", "only root", "NVreg_RestrictProfilingToAdminUsers=0")
    names(doctor(root, PATH="/nowhere"), "ncu_missing", "note", "ncu", "")


def test_a_machine_without_a_gpu_is_ready_for_the_host(tmp_path):
    answer = doctor(tmp_path, FAKE_CUDA_ERROR="100", FAKE_NVML_GPUS="0")
    assert answer["verdict"].startswith("no NVIDIA GPU: the host will be measured")
    assert [row["device"] for row in answer["facts"]["skipped"]] == ["cpu"]


def test_python_is_needed_by_no_measurement(tmp_path):
    answer = doctor(tmp_path, FAKE_CUDA_ERROR="100", FAKE_NVML_GPUS="0", RIDGEBENCH_PYTHON="/nowhere/python3")
    names(answer, "python_missing", "note", "/nowhere/python3 does not run", "RIDGEBENCH_PYTHON=FILE")
    write(tmp_path / "old", '#!/bin/sh\necho \'{"version": [3, 8, 1], "missing": ["scipy"]}\'')
    (tmp_path / "old").chmod(0o755)
    answer = doctor(tmp_path, FAKE_CUDA_ERROR="100", FAKE_NVML_GPUS="0", RIDGEBENCH_PYTHON=str(tmp_path / "old"))
    names(answer, "python_too_old", "note", "3.8.1 is older than 3.9", "RIDGEBENCH_PYTHON=FILE")


def test_the_text_has_one_line_for_what_gpus_share(root):
    env = environment(LD_LIBRARY_PATH=str(DRIVER), FAKE_GPU="persistence=0", FAKE_GPU_1="celsius=40")
    done = ridgebench("doctor", "--root", root, env=env)
    lines = done.stdout.splitlines()
    shared = next(i for i, line in enumerate(lines) if "persistence mode is off" in line)
    assert lines[shared].startswith("cuda:0,1 ") and "\033" not in done.stdout
    assert lines[shared + 1].strip() == "> sudo nvidia-smi -i 0 -pm 1  # likewise for the others"
    assert lines[-2] == "" and ("ready to measure 2 GPUs" in lines[-1] or "this build has no CUDA" in lines[-1])


def test_wrong_options_are_refused(tmp_path):
    refused(ridgebench("doctor", "--root", tmp_path / "nowhere"), "is not a folder; allowed:", code=USAGE)
    refused(ridgebench("doctor", "--timeout", "0"), "--timeout 0; allowed: above 0", code=USAGE)


@pytest.mark.skipif(bool(os.environ.get("RIDGEBENCH_FAKE_LIBCUDA")), reason="built with CUDA")
def test_a_build_without_cuda_is_an_error_where_there_is_a_gpu(root):
    names(doctor(root), "build_without_cuda", "error", "this build has no CUDA", "scripts/build.sh cuda")


def recorded(tmp_path, devices, *options):
    (tmp_path / "environment.json").write_text(json.dumps({"devices": devices}))
    return ridgebench("doctor", "--recorded", tmp_path / "environment.json", *options)


def test_a_run_recorded_the_health_of_its_gpus(tmp_path):
    links = {"nvlinks": 2, "nvlinks_present": 18, "pcie": {"generation": 5, "max_generation": 5, "lanes": 8, "max_lanes": 16}}
    rows = {"remapped_rows": {"corrected": 0, "uncorrected": 1, "pending": True, "failed": True}}
    devices = [{"backend": "cuda", "name": "cuda:0", "model": "NVIDIA H200"}, {"backend": "cuda", "name": "cuda:1"} | links | rows,
               {"backend": "cpu", "name": "cpu"}]
    done = recorded(tmp_path, devices, "--json")
    answer = strict_json(done.stdout)
    assert (done.returncode, done.stderr) == (0, "") and [error.message for error in schema("doctor").iter_errors(answer)] == []
    assert [one["code"] for one in answer["findings"] if one["device"] == "cuda:1" and one["status"] == "warning"] == [
        "pcie_lanes", "nvlinks_down", "rows_pending", "rows_failed"]
    assert [one["code"] for one in answer["findings"] if one["device"] == "cuda:0"] == ["gpu_recorded"]
    assert answer["verdict"] == "2 GPUs, 4 warnings" and all(one["help"] is None for one in answer["findings"])
    assert "its PCIe link has 8 of 16 lanes" in recorded(tmp_path, devices).stdout


@pytest.mark.parametrize("devices", [[], None, 3, "x", {"a": 1}, [{"backend": "cpu", "name": "cpu"}], [[]], [{"backend": 3}]])
def test_an_environment_without_gpus_is_refused(devices, tmp_path):
    refused(recorded(tmp_path, devices), "holds no GPU; allowed: the environment.json of a run on GPUs")


def test_a_recorded_environment_that_is_none_is_refused(tmp_path):
    (tmp_path / "broken").write_text("{")
    refused(ridgebench("doctor", "--recorded", tmp_path / "broken"), "broken")
    refused(ridgebench("doctor", "--recorded", tmp_path / "absent"), "absent")
    refused(ridgebench("doctor", "--recorded", ""), "--recorded")
