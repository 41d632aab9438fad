"""Finds the data sheet of a device by a whole name, a PCI id, or the properties that torch and JAX have of it.

The functions guess no part of a name: an SXM, a PCIe and an NVL board of one chip differ. The rules for names are those of
roofline/device_spec.cpp. The forms around a name are those of nvidia-smi -L, lspci, JAX and vLLM.
"""

import re
from functools import cache
from typing import Any, Callable, Optional, Union

from ridgebench.base.errors import RequestError
from ridgebench.peaks.sheets import Device, devices
from ridgebench.base.text import quoted

_Found = Union[Device, str]  # the sheet, or why the device has none

_PCI_ID = re.compile(r"\[?([0-9a-f]{4}:[0-9a-f]{4})\]?", re.IGNORECASE)
_NVML_ID = re.compile(r"0x([0-9a-f]{4})(10de)", re.IGNORECASE)  # pci.device_id of nvidia-smi: device, then vendor
_OF_LSPCI = re.compile(r"(?:\S+ )?(?:VGA compatible controller|3D controller|Display controller|Processing accelerators)"
                       r"(?: \[\d{4}\])?: (.*)")
_REVISION = re.compile(r" \((?:rev|prog-if) [^)]*\)")
_VENDORS = re.compile(r"(?:NVIDIA Corporation|Advanced Micro Devices, Inc\. \[AMD/ATI\]) ")
_OF_SMI = re.compile(r"(?:GPU \d+: )(.*?)(?: \(UUID: [^)]*\))?")
_MIG = re.compile(r"(?:^|.* )MIG[ -].*", re.IGNORECASE)
_VIRTUAL = re.compile(r"(?:NVIDIA )?GRID .*|.*-(?:\d+[ABCQ](?:ME)?|\d{1,2})")  # is_virtual() of device_spec.cpp: NVIDIA A100-40C
_LESS_POWER = re.compile(r".*\b(?:Laptop GPU|Max-Q|Mobile|Embedded GPU)\b.*", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+[0-9]+[a-z0-9]*|[0-9]+[a-z]*|[a-z]+")
_COMMON = {"nvidia", "amd", "google", "tesla", "geforce", "instinct", "gpu", "corporation", "one", "of", "its"}
_MEMORY = (0.9, 1.08)  # memory that a driver reports, over the bytes of the name: less by ECC, more where a GB is a GiB


def _without_vendor(name: str) -> str:
    return name.lower().removeprefix("nvidia ")


def _first(fits: Callable[[Device], bool]) -> Optional[Device]:
    return next((device for device in devices() if fits(device)), None)


def _by_printed(name: str) -> Optional[Device]:
    """The sheet whose device software calls so, with or without NVIDIA before the name, in any case."""
    wanted = _without_vendor(name)
    return _first(lambda device: any(_without_vendor(printed) == wanted for printed in device.printed))


def _by_name(name: str) -> Optional[Device]:
    """The same; also by the name or an alias of a sheet, as on the command line."""
    wanted = name.lower()
    return _first(lambda device: wanted in (device.name, *device.aliases)) or _by_printed(name)


def _by_pci_id(pci_id: str) -> _Found:
    found = _first(lambda device: pci_id.lower() in device.pci_ids)
    return found or f"no data sheet has the PCI id {pci_id.lower()}; ridgebench.devices() lists the sheets"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON


@cache
def _words_of_sheets() -> dict[str, set[str]]:
    return {one.name: set().union(*map(_words, (one.name, one.title, *one.printed))) for one in devices()}


def _unknown(name: str) -> str:
    """Why a name has no sheet."""
    wanted = _words(name)
    near = [sheet for sheet, words in _words_of_sheets().items() if wanted and wanted <= words]
    if len(near) > 1:
        return f"{quoted(name)} may be one of several devices: {', '.join(near)}; allowed: the whole name of one of them"
    if _LESS_POWER.fullmatch(name):
        return f"{quoted(name)} has less power than the board of that number, and no data sheet of its own"
    nearest = f"nearest: {near[0]}; " if near else ""
    return f"no data sheet {quoted(name)}; {nearest}ridgebench.devices() lists the sheets"


def _part(name: str) -> str:
    """Why a device has a part of a sheet's peaks only; empty if its name does not say so."""
    if _MIG.fullmatch(name):
        return f"{quoted(name)} is a slice of a device (MIG), which has a part of its peaks"
    if _VIRTUAL.fullmatch(name):
        return f"{quoted(name)} is a virtual GPU, which has a part of a device's time or memory"
    return ""


def _of_text(text: str, by_name: Callable[[str], Optional[Device]]) -> _Found:
    """The sheet of a name in one of the forms that software prints."""
    name = " ".join(text.split())
    if not name:
        return "the device has an empty name"
    if nvml := _NVML_ID.fullmatch(name):
        return _by_pci_id(f"{nvml[2]}:{nvml[1]}")
    if plain := _PCI_ID.fullmatch(name):
        return _by_pci_id(plain[1])
    if line := _OF_LSPCI.fullmatch(name):
        name, by_name = _REVISION.sub("", line[1]), _by_printed
        if numbers := re.fullmatch(r".* \[([0-9a-f]{4}:[0-9a-f]{4})\]", name):
            return _by_pci_id(numbers[1])
    if listed := _OF_SMI.fullmatch(name):
        name, by_name = listed[1], _by_printed
    if vendor := _VENDORS.match(name):
        name, by_name = name[vendor.end():], _by_printed
    if " " not in name and "_" in name:  # vLLM and SGLang name the files of a device so
        name = name.replace("_", " ")
    return by_name(name) or _part(name) or _unknown(name)


def _checked(device: Device, given: Any) -> _Found:
    """The sheet, unless the object's memory or number of multiprocessors is not that of the sheet: a slice or another board."""
    units = getattr(given, "multi_processor_count", None)
    if isinstance(units, int) and units != device.sms:
        return f"{quoted(given.name)} has {units} multiprocessors; {device.name} has {device.sms}"
    size = getattr(given, "total_memory", None)
    if isinstance(size, int) and not _MEMORY[0] <= size / device.memory.bytes <= _MEMORY[1]:
        return f"{quoted(given.name)} has {size / 1e9:.1f} GB of memory; {device.name} has {device.memory.bytes / 1e9:g} GB"
    return device


def sheet_of(device: Any) -> _Found:
    """The data sheet of a device, or why it has none.

    A text is the name or alias of a sheet, a whole name as torch, nvidia-smi, lspci, JAX or vLLM prints it, or a PCI id. An object
    has `name` (torch.cuda.get_device_properties(); its memory and multiprocessors are compared with the sheet) or `device_kind`
    (a device of JAX). Raises RequestError for another object.
    """
    if isinstance(device, Device):
        return device
    if isinstance(device, (str, bytes)):
        return _of_text(device.decode("utf-8", "replace") if isinstance(device, bytes) else device, _by_name)
    kind, name = getattr(device, "device_kind", None), getattr(device, "name", None)
    if isinstance(kind, str):
        return _of_text(kind, _by_printed)
    if not isinstance(name, str):
        allowed = "a text, the properties of torch or a device of JAX"
        raise RequestError(f"a device of type {type(device).__name__} has no name; allowed: {allowed}")
    found = _of_text(name, _by_printed)
    return found if isinstance(found, str) else _checked(found, device)
