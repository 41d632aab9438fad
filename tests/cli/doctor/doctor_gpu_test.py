"""`doctor` names what is wrong with one GPU, its settings and its health, and what helps."""

import pytest
from made_up_machine import doctor, found, healthy_root, names, write


@pytest.fixture(name="root")
def two_gpus(tmp_path):
    return healthy_root(tmp_path / "root")


@pytest.mark.parametrize(
    ("setting", "code", "remedy"),
    [
        ("open=15", "gpu_lost", "dmesg"),
        ("open=16", "gpu_reset_required", "-i 1 --gpu-reset"),
        ("open=8", "gpu_without_power", "power cables"),
    ],
)
def test_a_gpu_that_nvml_cannot_open_is_named(root, setting, code, remedy):
    answer = doctor(root, FAKE_GPU_1=setting, FAKE_CUDA_GPUS="1")
    names(answer, code, "error", "GPU", remedy, "nvidia-smi:1")
    assert found(answer, "gpu_works", "cuda:0")


def test_a_gpu_without_a_context_is_named(root):
    answer = doctor(root, FAKE_CUDA_CONTEXT="1:46", FAKE_GPU_1="compute_mode=3 processes=1")
    names(answer, "gpu_unavailable", "error", "CUDA error 46) in cuDevicePrimaryCtxRetain", "sudo nvidia-smi -c 0", "cuda:1")
    names(answer, "compute_mode_exclusive", "note", "one process at a time", "sudo nvidia-smi -i 1 -c 0", "cuda:1")
    names(answer, "other_processes", "warning", "4242 (3.0 GiB)", "ps -o pid,user,cmd -p 4242", "cuda:1")
    names(doctor(root, FAKE_CUDA_CONTEXT="0:214"), "ecc_uncorrectable", "error", "CUDA error 214", "--gpu-reset", "cuda:0")
    names(doctor(root, FAKE_CUDA_GPUS="1", FAKE_GPU_1="compute_mode=2"), "compute_mode_prohibited", "error", "prohibited", "-i 1 -c 0")
    names(doctor(root, FAKE_CUDA_GPUS="1"), "gpu_not_offered", "error", "CUDA does not offer", "dmesg", "0000:1c:00.0")


def test_mig_is_named(root):
    answer = doctor(root, FAKE_CUDA_ERROR="100", FAKE_GPU="mig=1")
    assert [one["device"] for one in answer["findings"] if one["code"] == "mig_without_slice"] == ["0000:1b:00.0", "0000:1c:00.0"]
    names(answer, "mig_without_slice", "error", "no slice", "sudo nvidia-smi mig -i 1 -cgi 0 -C", "0000:1c:00.0")
    one = {"FAKE_GPU_NAME": "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "FAKE_CUDA_GPUS": "1", "FAKE_NVML_GPUS": "1"}
    answer = doctor(root, FAKE_GPU="mig=1 slices=2", **one)
    names(answer, "mig_slice", "note", "no data sheet", "-i 0 -mig 0", "cuda:0")


SETTINGS = [
    ("persistence=0", "persistence_off", "note", "sudo nvidia-smi -i 0 -pm 1"),
    ("limit_mw=500000", "power_cap", "warning", "with the owner's consent: sudo nvidia-smi -i 0 -pl 700"),
    ("ecc=0", "ecc_off", "note", "with the owner's consent: sudo nvidia-smi -i 0 -e 1"),
    ("pending_ecc=1", "ecc_pending", "warning", "--gpu-reset"),
    ("uncorrected=2", "ecc_errors", "warning", "--gpu-reset"),
    ("corrected=5", "ecc_corrected", "note", ""),
    ("used_mib=20000", "memory_in_use", "warning", "sudo fuser -v /dev/nvidia0"),
    ("events=238", "hw_slowdown", "warning", "cooling"),
    ("application_mhz=1200", "application_clocks", "warning", "with the owner's consent: sudo nvidia-smi -i 0 -rac"),
    ("celsius=86", "hot", "warning", "cooling"),
    ("lanes=8", "pcie_lanes", "warning", "lspci -vv -s 0000:1b:00.0"),
    ("generation=1", "pcie_generation", "note", ""),
    ("links_down=3", "nvlinks_down", "warning", "nvidia-smi nvlink -s -i 0"),
    ("rows_pending=1", "rows_pending", "warning", "--gpu-reset"),
    ("rows_failed=1", "rows_failed", "warning", "replace the GPU"),
    ("life_uncorrected=3", "ecc_lifetime", "note", "RMA"),
    ("pages_double=2", "pages_retired", "note", "RMA"),
    ("banks_empty=1", "banks_without_spares", "warning", "RMA"),
    ("replays=12", "pcie_replays", "note", "riser"),
    ("crc=7", "nvlink_errors", "warning", "nvidia-smi nvlink -e -i 0"),
    ("fabric=2", "fabric_not_ready", "warning", "nvidia-fabricmanager"),
]


def test_settings_and_states_of_a_gpu_are_named(root):
    answer = doctor(root, FAKE_GPU_0=" ".join(setting for setting, *_ in SETTINGS))
    for _, code, status, remedy in SETTINGS:
        names(answer, code, status, "", remedy, "cuda:0")
    for code in ("sw_power_cap", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"):
        assert found(answer, code, "cuda:0")["status"] == "warning"
    assert {one["code"] for one in answer["findings"] if one["device"] == "cuda:1" and one["subject"] == "gpu"} == {"gpu_works"}


def test_worn_parts_have_their_numbers(root):
    answer = doctor(root, FAKE_GPU_0="life_corrected=9 pages_single=1 pages_double=2 crc=7 replays=12")
    gpu = answer["facts"]["gpus"][0]
    assert gpu["ecc_lifetime"] == {"corrected": 9, "uncorrected": 0} and gpu["retired_pages"] == {"single_bit": 1, "double_bit": 2}
    assert gpu["spare_rows"] == {"max": 640, "high": 0, "partial": 0, "low": 0, "none": 0}
    assert gpu["pcie_replays"] == 12 and gpu["fabric"] == {"state": 3, "status": 0}
    assert gpu["nvlink_errors"] == {"replay": 0, "recovery": 0, "crc_flit": 14, "crc_data": 0}  # of two links
    assert "3 pages of its memory are retired" in found(answer, "pages_retired")["text"]
    assert "14 crc_flit" in found(answer, "nvlink_errors")["text"]


def test_a_reading_that_the_driver_refuses_is_no_finding(root):
    answer = doctor(root, FAKE_GPU_0="life_corrected=-1 life_uncorrected=-1 pages_single=-1 pages_double=-1 banks_empty=-1 replays=-1 fabric=-1")
    gpu = answer["facts"]["gpus"][0]
    assert not {"ecc_lifetime", "retired_pages", "spare_rows", "pcie_replays", "fabric"} & set(gpu)
    assert {one["code"] for one in answer["findings"] if one["device"] == "cuda:0" and one["subject"] == "gpu"} == {"gpu_works"}


def test_a_gpu_outside_its_fabric(root):
    answer = doctor(root, FAKE_GPU_0="fabric=3 fabric_status=9", FAKE_GPU_1="fabric=0")
    assert "could not join the NVLink fabric (error 9)" in found(answer, "fabric_not_ready", "cuda:0")["text"]
    assert not [one for one in answer["findings"] if one["code"] == "fabric_not_ready" and one["device"] == "cuda:1"]


LOG = """6,1,100,-;Linux version 6.1
4,2,200,-;NVRM: Xid (PCI:0000:1B:00): 79, pid=7, GPU has fallen off the bus.
4,3,300,-;NVRM: Xid (PCI:0000:1b:00.0): 79, GPU has fallen off the bus.
4,4,400,-;NVRM: Xid (PCI:0000:1c:00): 31, pid=9, MMU Fault
4,5,450,-;NVRM: Xid (PCI:0000:1c:00): 154, GPU recovery action changed
4,5,500,-;NVRM: Xid (PCI:0000:1b:00): many
4,6,600,-;NVRM: Xid (PCI:0000:1b:00"""


def test_errors_in_the_kernels_log(root):
    write(root / "dev/kmsg", LOG)
    answer = doctor(root)
    assert [gpu["xids"] for gpu in answer["facts"]["gpus"]] == [[{"xid": 79, "count": 2}], [{"xid": 31, "count": 1}, {"xid": 154, "count": 1}]]
    names(answer, "xid_hardware", "warning", "XID 79, the GPU fell off the bus (2 times)", "dmesg", "cuda:0")
    names(answer, "xid_others", "note", "XID 31: errors of programs", "dmesg", "cuda:1")
    names(answer, "xid_unknown", "warning", "XID 154, which this program has in no list", "dmesg", "cuda:1")


SWITCHES = """4,1,100,-;nvidia-nvswitch3: SXid (PCI:0000:C1:00.0): 24007, Fatal, Link 40 sourcetrack timeout error (First)
4,2,110,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, Severity 1 Engine instance 40 Sub-engine instance 00
4,3,120,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, Data {0x00000001, 0x00000002}
4,4,200,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, Fatal, Link 41 sourcetrack timeout error (First)
4,5,300,-;nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)
4,6,400,-;nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 10003, Host_unhandled_interrupt
4,7,500,-;nvidia-nvswitch0: SXid (PCI:0000:05:00.0): garbled, Fatal, Link 1
4,8,600,-;nvidia-nvswitch0: SXid (PCI:0000"""


def test_errors_of_switches_in_the_kernels_log(root):
    write(root / "dev/kmsg", SWITCHES)
    answer = doctor(root)
    assert [(one["pci_address"], one["sxid"], one["severity"], one["count"]) for one in answer["facts"]["driver"]["log"]["sxids"]] == [
        ("0000:c1:00", 24007, "fatal", 2), ("0000:05:00", 12028, "non_fatal", 1), ("0000:05:00", 10003, None, 1)]  # fmt: skip
    assert [gpu["xids"] for gpu in answer["facts"]["gpus"]] == [[], []]
    names(answer, "sxid_fatal", "warning", "fatal SXid 24007 of NVSwitch 0000:c1:00 (2 times)", "Fabric Manager")
    names(answer, "sxid_non_fatal", "note", "SXid 12028 of NVSwitch 0000:05:00: not fatal", "dmesg")
    names(answer, "sxid_unknown", "warning", "SXid 10003 of NVSwitch 0000:05:00, and does not say if it is fatal", "dmesg")


def test_without_a_log_there_is_no_word_about_it(root):
    answer = doctor(root)
    assert all(gpu["xids"] is None for gpu in answer["facts"]["gpus"])
    assert not [one for one in answer["findings"] if one["code"].startswith(("xid", "sxid"))]
