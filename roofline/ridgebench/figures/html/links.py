"""The links of GPUs: what they are, the copies over them, and those between GPUs as a matrix."""

from typing import Any, Optional

from ridgebench.base.printers import html_table
from ridgebench.base.units import rate
from ridgebench.data import transfers
from ridgebench.data.records import Row
from ridgebench.data.view import View

from .cells import text

_PEER_COPY = "copy_to_peer"
# Gbit/s of a lane by the generation of PCIe, of which 128 of 130 bits are data (PCI Express Base Specification).
_GBITS_OF_A_LANE = {3: 8, 4: 16, 5: 32}


def _pcie_text(pcie: dict[str, Any]) -> str:
    """'PCIe 5.0 x16, 63 GB/s each way'; a link that could be faster says so."""
    generation, lanes = pcie.get("generation"), pcie.get("lanes")
    if generation is None or lanes is None:
        return ""
    text = f"PCIe {generation}.0 x{lanes}"
    if generation in _GBITS_OF_A_LANE:
        text += f", {rate(_GBITS_OF_A_LANE[generation] * 1e9 * 128 / 130 / 8 * lanes, 'B/s')} each way"
    best = (pcie.get("max_generation") or generation, pcie.get("max_lanes") or lanes)
    return text if best == (generation, lanes) else f"{text} (possible: {best[0]}.0 x{best[1]})"


def link_text(device: dict[str, Any]) -> str:
    """A device's links by NVML: PCIe, and the number of its active NVLinks."""
    nvlinks = device.get("nvlinks")
    parts = [_pcie_text(device.get("pcie") or {}), f"{nvlinks} NVLinks" if nvlinks is not None else ""]
    return "; ".join(filter(None, parts))


def copies(view: View) -> str:
    """The copies over the links of a device beside the time to create as many bytes on it; empty if none was measured."""
    found = transfers.cells(view)
    if not found:
        return ""
    table = html_table(transfers.HEAD, [map(text, line) for line in found])
    return f"<h3>Copies over links, and creating the bytes on the device</h3>{table}<p>{text(transfers.note(view))}</p>"


def _peer_of(row: Row) -> str:
    return f"cuda:{int(row.shape['peer'])}"


def _cell(row: Optional[Row]) -> str:
    """The rate of a copy, or why there is none."""
    if row is None:
        return ""
    return rate(row.bytes_per_s, "B/s") if row.bytes_per_s else f"{row.status}: {row.reason}"


def peer_copies(views: list[View]) -> str:
    """From which GPU to which one, with the links of each; empty if no copy between GPUs was measured.

    Of several sizes the largest counts.
    """
    rows = [row for view in views for row in view.rows if row.op == _PEER_COPY and row.role == "ceiling"]
    if not any(row.status == "ok" for row in rows):
        return ""
    largest = {(row.device, _peer_of(row)): row for row in sorted(rows, key=lambda row: row.bytes)}
    peers = sorted({to for _, to in largest}, key=lambda name: int(name.removeprefix("cuda:")))
    links = {view.device["name"]: link_text(view.device) for view in views}
    lines = [(device, link, *(_cell(largest.get((device, to))) for to in peers)) for device, link in links.items()
             if any((device, to) in largest for to in peers)]
    head = ("From", "Links", *(f"to {to}" for to in peers))
    return f"<h3>Copies between GPUs</h3>{html_table(head, [map(text, line) for line in lines])}"
