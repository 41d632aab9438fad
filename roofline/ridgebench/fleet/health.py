"""The health of GPUs beside their rates: the findings of `ridgebench doctor`, and what happened during rows.

The job of a node runs `doctor --json` first and leaves its answer beside the folder of the run. `doctor --recorded` judges
what an environment.json holds. Nothing is judged a second time here: a finding keeps doctor's words, and only its weight
for a fleet is decided.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Iterable, NamedTuple, Optional

from ridgebench.base.files import malformed, parse_json, read
from ridgebench.base.text import one_line, quoted
from ridgebench.base.units import counted
from ridgebench.data import program

DOCTOR_END = ".doctor.json"  # beside the folder of an attempt: nodes/gn1/attempt-1.doctor.json
_SCHEMA = "urn:ridgebench:doctor:1"
_LONGEST = 200
# Codes of doctor's warnings that take a GPU out of service: it will not get well by itself.
_SEVERE = ("rows_failed", "pcie_lanes", "nvlinks_down")
# Keys of a device that say something of its health, and those that the rules of a fleet name.
_RECORDED = ("pcie", "nvlinks", "nvlinks_present", "remapped_rows",
             "model", "power_limit_w", "driver", "vbios", "ecc", "mig", "persistence")  # fmt: skip
# Settings of an administrator. A whole fleet may have them; among peers they are keys that must agree.
_SETTINGS = ("power_cap", "sw_power_cap", "application_clocks", "ecc_pending")


class Health(NamedTuple):
    """One thing that is not well with a GPU. severe: the GPU should not work on."""

    severe: bool
    text: str


class Examined(NamedTuple):
    """Doctor's findings on a node, by its name of the device: cuda:3. Devices that CUDA does not offer have other names."""

    by_device: dict[str, tuple[Health, ...]]

    def of(self, device: str) -> tuple[Health, ...]:
        return self.by_device.get(device, ())

    def others(self, devices: set[str]) -> tuple[Health, ...]:
        """The findings on devices that no result is of."""
        absent = ((name, found) for name, found in self.by_device.items() if name not in devices)
        return tuple(Health(one.severe, f"{name}: {one.text}") for name, found in absent for one in found)


def recorded_of(device: dict[str, Any]) -> str:
    """The keys of environment.json that concern a GPU's health, as one text; empty of a host."""
    if device.get("backend") != "cuda":
        return ""
    return json.dumps({key: device[key] for key in _RECORDED if device.get(key) is not None}, sort_keys=True)


def judge_recorded(texts: Iterable[str], rules: Optional[Path] = None) -> dict[str, tuple[Health, ...]]:
    """Doctor's findings on each text of recorded_of(), by one call for all, and what breaks the rules of a file.

    Raises ResultsError without the program.
    """
    different = sorted(set(filter(None, texts)))
    if not different:
        return {}
    devices = [{"backend": "cuda", "name": str(number), **json.loads(text)} for number, text in enumerate(different)]
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "environment.json"
        path.write_text(json.dumps({"devices": devices}), "utf-8")
        found = _findings_of(program.ask("doctor", "--recorded", str(path), *(("--rules", str(rules)) if rules else ())), str(path))
    return {text: found.get(str(number), ()) for number, text in enumerate(different)}


def _health_of(finding: dict[str, Any]) -> Optional[Health]:
    """The weight of a finding of doctor; None for what is well or a setting."""
    status, code = finding["status"], finding["code"]
    if status not in ("warning", "error") or code in _SETTINGS:
        return None
    return Health(status == "error" or code in _SEVERE, f"doctor: {one_line(str(finding['text']))[:_LONGEST]}")


def examined(folder: Path) -> Optional[Examined]:
    """Doctor's findings before the run of this folder; None if it left no answer. Raises ResultsError."""
    path = folder.with_name(folder.name + DOCTOR_END)
    if not path.exists() or not (text := read(path, "an answer of `ridgebench doctor --json`")).strip():
        return None
    return Examined(_findings_of(parse_json(text, str(path)), str(path)))


def _findings_of(value: Any, origin: str) -> dict[str, tuple[Health, ...]]:
    """The findings of an answer of doctor against each device. Raises ResultsError."""
    found: dict[str, tuple[Health, ...]] = {}
    try:
        if value["schema"] != _SCHEMA:
            raise ValueError(f"schema is {quoted(value['schema'])}; allowed: {_SCHEMA}")
        for finding in value["findings"]:
            if finding["subject"] == "gpu" and finding["device"] and (one := _health_of(finding)):
                found[str(finding["device"])] = (*found.get(str(finding["device"]), ()), one)
    except (KeyError, TypeError, ValueError) as error:
        raise malformed(origin, error, "no answer of doctor") from None
    return found


def during_run(environment: dict[str, Any], device: str) -> tuple[Health, ...]:
    """The counters of faults that grew during a run, as the program recorded them (harness/results/worn.hpp)."""
    worn = (one for one in environment.get("conditions") or () if one["code"] == "worn" and one.get("device") == device)
    return tuple(Health(one["severe"] is True, one_line(str(one["text"]))[:_LONGEST]) for one in worn)


def during_rows(uncorrected: float, disturbed: int) -> tuple[Health, ...]:
    """The findings of the rows: errors of the memory that ECC could not correct, and rows beside another process."""
    found = []
    if uncorrected > 0:
        found.append(Health(True, f"ECC could not correct {counted(round(uncorrected), 'error')} of the memory during the run"))
    if disturbed:
        found.append(Health(False, f"another process used the GPU during {counted(disturbed, 'row')}"))
    return tuple(found)
