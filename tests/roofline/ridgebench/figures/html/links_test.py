"""The copies between GPUs as a matrix, with what NVML says of the links."""

import re
from dataclasses import replace

from golden import GOLDEN

from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.html.links import link_text, peer_copies

PCIE = {"generation": 5, "max_generation": 5, "lanes": 16, "max_lanes": 16}


def view(name: str, copies: dict[int, float], **device) -> View:
    """A device with a copy of 256 MiB to each peer at a rate; 0: skipped."""
    known = make_view(load_run(GOLDEN), None)
    ceiling = next(row for row in known.rows if row.role == "ceiling" and row.status == "ok")
    rows = [replace(ceiling, id=f"{peer}@{name}", op="copy_to_peer", technique="direct", device=name, saturates="link",
                    shape={"n": 1 << 26, "peer": float(peer)}, bytes=2.0**28, flops=0.0, flops_per_s=None,
                    bytes_per_s=speed or None, status="ok" if speed else "skipped",
                    reason=None if speed else "no way") for peer, speed in copies.items()]
    return replace(known, rows=rows, device=known.device | {"name": name} | device)


def cells(html: str) -> list[list[str]]:
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line) for line in re.findall(r"<tr>(.*?)</tr>", html)]


def test_a_link_has_its_width_and_its_speed():
    assert link_text({"pcie": PCIE, "nvlinks": 18}) == "PCIe 5.0 x16, 63 GB/s each way; 18 NVLinks"
    narrow = PCIE | {"lanes": 8, "generation": 4}
    assert link_text({"pcie": narrow, "nvlinks": None}) == "PCIe 4.0 x8, 15.8 GB/s each way (possible: 5.0 x16)"
    assert link_text({"pcie": PCIE | {"generation": 7}}) == "PCIe 7.0 x16 (possible: 5.0 x16)"
    assert link_text({}) == ""


def test_the_matrix_has_every_ordered_pair():
    first = view("cuda:0", {1: 400e9, 2: 0}, pcie=PCIE)
    second = view("cuda:1", {0: 390e9, 2: 200e9}, nvlinks=18)
    assert cells(peer_copies([first, second])) == [
        ["From", "Links", "to cuda:0", "to cuda:1", "to cuda:2"],
        ["cuda:0", "PCIe 5.0 x16, 63 GB/s each way", "", "400 GB/s", "skipped: no way"],
        ["cuda:1", "18 NVLinks", "390 GB/s", "", "200 GB/s"],
    ]


def test_the_largest_copy_counts():
    both = view("cuda:0", {1: 400e9})
    small = replace(both.rows[0], id="small", bytes=4096.0, bytes_per_s=1e9)
    assert "400 GB/s" in peer_copies([replace(both, rows=[*both.rows, small])])


def test_one_gpu_has_no_matrix():
    assert peer_copies([view("cuda:0", {1: 0})]) == ""
    assert peer_copies([make_view(load_run(GOLDEN), None)]) == ""
