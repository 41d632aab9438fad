"""Names of devices from public logs find their sheet or are refused, and the program agrees about every name of every sheet."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import ridgebench
from command_line import answer, ridgebench as run
from ridgebench.peaks.matching import sheet_of
from ridgebench.peaks.sheets import devices

NAMES = Path(__file__).resolve().parents[3] / "data" / "device_names"
GIB = 2**30
REFUSED = "-"


def listed(file: str) -> list[tuple[str, str, str]]:
    """(form, sheet, name) of a list; a name may begin with spaces."""
    lines = (NAMES / file).read_text("utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if not line.startswith("#")]


PUBLIC, HELD_OUT = listed("public.tsv"), listed("held_out.tsv")


def printed(form: str, name: str):
    """What a program gets: a text, or an object of torch or JAX with the name."""
    return {"torch": SimpleNamespace(name=name), "jax": SimpleNamespace(device_kind=name)}.get(form, name)


def found(device) -> str:
    told = sheet_of(device)
    return REFUSED if isinstance(told, str) else told.name


@pytest.mark.parametrize("names", [PUBLIC, HELD_OUT], ids=["public", "held-out"])
def test_printed_names_match_their_sheet_or_none(names):
    assert {(form, name): found(printed(form, name)) for form, _, name in names} == {(form, name): sheet for form, sheet, name in names}


def test_the_lists_are_large_and_have_every_form():
    assert len(set(PUBLIC)) == len(PUBLIC) >= 300 and len(HELD_OUT) >= 50
    assert not {name for _, _, name in PUBLIC} >= {name for _, _, name in HELD_OUT}
    forms = {form for form, _, _ in PUBLIC}
    assert forms == {"torch", "lspci", "vllm", "jax", "nvidia-smi -L"} == {form for form, _, _ in HELD_OUT}
    assert {sheet for _, sheet, _ in PUBLIC} >= {device.name for device in devices() if device.printed}


def test_the_program_agrees_about_every_name_of_every_sheet():
    for device in devices():
        known = [device.name, *device.aliases, *device.printed]
        for name in [*known, *(one.removeprefix("NVIDIA ") for one in known), *map(str.upper, known)]:
            assert found(name) == answer("info", "--on", name)["device"] == device.name


def test_the_program_refuses_what_is_refused_here():
    refused = [name for form, sheet, name in PUBLIC if form in ("torch", "jax") and sheet == REFUSED]
    assert len(refused) > 100
    for name in refused[::7]:
        assert run("info", "--on", name).returncode == 2, name


@pytest.mark.parametrize("pci_id", ["10de:2330", "10DE:2330", "[10de:2330]", "0x233010DE"])
def test_a_pci_id_is_a_device(pci_id):
    assert found(pci_id) == "h100-sxm"


def test_an_unknown_pci_id_is_named():
    assert ridgebench.peak("10de:ffff", "bf16").reason == "no data sheet has the PCI id 10de:ffff; ridgebench.devices() lists the sheets"


@dataclass
class Properties:
    """As torch.cuda.get_device_properties() returns them."""

    name: str
    total_memory: int
    multi_processor_count: int


@pytest.mark.parametrize("sheet, properties", [
    ("h100-sxm", Properties("NVIDIA H100 80GB HBM3", 85017493504, 132)),
    ("a10g", Properties("NVIDIA A10G", 22587 << 20, 80)),
    ("rtx-a6000", Properties("NVIDIA RTX A6000", 48676 << 20, 84)),
    ("rtx4080", Properties("NVIDIA GeForce RTX 4080", 16049 << 20, 76)),
    ("rtx5080", Properties("NVIDIA GeForce RTX 5080", 16302 << 20, 84)),
    ("mi250x-gcd", Properties("AMD Instinct MI250X", 65520 << 20, 110)),
    ("mi300x", Properties("AMD Instinct MI300X", 196592 << 20, 304)),
    ("h20", Properties("NVIDIA H20", 97285 << 20, 78)),
    ("t4", Properties("Tesla T4", 15102 << 20, 40)),
])  # fmt: skip
def test_properties_of_torch_are_a_device(sheet, properties):
    assert found(properties) == sheet


@pytest.mark.parametrize("properties, reason", [
    (Properties("NVIDIA A100 80GB PCIe MIG 1g.10gb", 9728 << 20, 14), "is a slice of a device (MIG)"),
    (Properties("NVIDIA H100 80GB HBM3", 85017493504, 114), "has 114 multiprocessors; h100-sxm has 132"),
    (Properties("NVIDIA H20", 141 * GIB, 78), "has 151.4 GB of memory; h20 has 96 GB"),
    (Properties("AMD Instinct MI300X", 24574 << 20, 38), "has 38 multiprocessors; mi300x has 304"),  # a partition (CPX)
    (Properties("NVIDIA A10-24Q", 24 * GIB, 72), "is a virtual GPU"),
    (Properties("H100", 85017493504, 132), "may be one of several devices: h100-nvl, h100-pcie, h100-sxm; allowed: "),
])  # fmt: skip
def test_a_part_or_a_variant_of_a_device_is_refused_with_the_reason(properties, reason):
    for told in (ridgebench.peak(properties, "bf16"), ridgebench.bandwidth(properties), ridgebench.mfu(1, 1, properties)):
        assert told.value is None and reason in told.reason and properties.name in told.reason


@pytest.mark.parametrize("name, reason", [
    ("NVIDIA A100", "'NVIDIA A100' may be one of several devices: a100-40-pcie, a100-40-sxm, a100-80-pcie, a100-80-sxm; allowed: "
                    "the whole name of one of them"),
    ("NVIDIA GeForce RTX 4090 Laptop GPU", "'NVIDIA GeForce RTX 4090 Laptop GPU' has less power than the board of that number, "
                                           "and no data sheet of its own"),
    ("NVIDIA RTX 4090", "no data sheet 'NVIDIA RTX 4090'; nearest: rtx4090; ridgebench.devices() lists the sheets"),
    ("TPU v4", "no data sheet 'TPU v4'; ridgebench.devices() lists the sheets"),
    ("GRID A100X-4C", "'GRID A100X-4C' is a virtual GPU, which has a part of a device's time or memory"),
    ("", "the device has an empty name"),
    ("x" * 1000, f"no data sheet '{'x' * 60}…'; ridgebench.devices() lists the sheets"),
    ("line\n\x1b[31mend", "no data sheet 'line \\x1b[31mend'; ridgebench.devices() lists the sheets"),
])  # fmt: skip
def test_a_refused_name_has_one_line_of_reason(name, reason):
    assert ridgebench.peak(name, "bf16").reason == reason


def test_a_name_in_bytes_is_a_name():
    assert found(b"NVIDIA H200") == "h200" and found(b"\xff") == REFUSED
