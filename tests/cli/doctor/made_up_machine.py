"""Machines with a made-up NVIDIA driver (tests/fake_libcuda, tests/fake_nvml) and made-up files of the kernel, as `doctor` sees them."""

import os
from pathlib import Path

from command_line import DEVICE_LOST, OK, environment, ridgebench, schema, strict_json

DRIVER = Path(os.environ["RIDGEBENCH_BUILD"]) / "tests" / "fake_driver"
MODULE = "580.65.06"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", "utf-8")


def healthy_root(root: Path) -> Path:
    """What the kernel shows of a machine with two GPUs that work."""
    write(root / "sys/module/nvidia/version", MODULE)
    write(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly: 0")
    write(root / "dev/nvidia-uvm", "")
    for index in (0, 1):
        write(root / f"dev/nvidia{index}", "")
        device = root / f"sys/bus/pci/devices/0000:{0x1B + index:02x}:00.0"
        write(device / "vendor", "0x10de")
        write(device / "class", "0x030200")
        (device / "driver").symlink_to("../../../bus/pci/drivers/nvidia")
    return root


def doctor(root: Path, libraries: Path = DRIVER, **variables: str) -> dict:
    """The answer, which obeys its schema; the exit code is 7 where a finding is an error, else 0."""
    variables = {"CUDA_VISIBLE_DEVICES": None, "LD_LIBRARY_PATH": str(libraries)} | variables
    env = {key: value for key, value in (environment() | variables).items() if value is not None}
    done = ridgebench("doctor", "--json", "--root", root, "--timeout", "60", env=env)
    answer = strict_json(done.stdout)
    assert done.stderr == "" and [error.message for error in schema("doctor").iter_errors(answer)] == []
    failed = any(one["status"] == "error" for one in answer["findings"])
    assert done.returncode == (DEVICE_LOST if failed else OK) and answer["usable"] is not failed
    return answer


def found(answer: dict, code: str, device: str | None = None) -> dict:
    """The one finding with this code, of this device."""
    some = [one for one in answer["findings"] if one["code"] == code and (device is None or one["device"] == device)]
    assert len(some) == 1, (code, device, [(one["code"], one["device"]) for one in answer["findings"]])
    return some[0]


def names(answer: dict, code: str, status: str, text: str, remedy: str, device: str | None = None) -> None:
    one = found(answer, code, device)
    assert one["status"] == status and text in one["text"] and remedy in (one["help"] or ""), one
