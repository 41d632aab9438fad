"""The figure of copies and collectives under the rates of links."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from golden import GOLDEN, ROOT

from ridgebench.__main__ import main as ridgebench
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page import links
from ridgebench.figures.plot import main

FILES = ROOT / "tests" / "data" / "imports"
H200 = ROOT / "results" / "nvidia-h200" / "partial" / "2026-11-27-6abf65e-characterise"
PCIE = links.Link("pcie5x16", 63e9)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def nccl(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("nccl") / "out"
    assert ridgebench(["import", "nccl-tests", str(FILES / "nccl_all_reduce.txt"), "-o", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def copies(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("copies") / "out"
    assert ridgebench(["import", "nvbandwidth", str(FILES / "nvbandwidth.json"), "--buffer-size", "512", "-o", str(out)]) == 0
    return out


def view_of(folder: Path):
    return make_view(load_run(folder), None)


def texts_of(path: Path) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.parse(path).iter(f"{SVG}text")]


def test_collectives_under_their_link(nccl, tmp_path):
    assert main([str(nccl), "--link", "nvlink4", "--out", str(tmp_path), "--formats", "svg"]) == 0
    texts = texts_of(tmp_path / "links.svg")
    assert "All-reduce (nccl sum in place) reaches 361 GB/s, 80 % of nvlink4" in texts
    for text in ("nvlink4: 450 GB/s", "Measured by another tool, not verified", "361 GB/s"):
        assert any(text in found for found in texts), text


def test_few_sizes_are_drawn_only_under_named_links(copies):
    view = view_of(copies)
    assert links.wanted(view, (PCIE,)) and not links.wanted(view, ())


@pytest.mark.parametrize(("words", "why"), [
    ([str(GOLDEN)], "the run has no row of a copy or a collective"), (["--on", "h100-sxm"], "one results directory"),
])  # fmt: skip
def test_a_link_that_no_figure_would_show_is_refused(tmp_path, capfd, words, why):
    assert main([*words, "--link", "nvlink4", "--out", str(tmp_path), "--formats", "svg"]) == 2
    error = capfd.readouterr().err
    assert why in error and "allowed" in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_rate_above_every_link_is_said(copies, tmp_path):
    assert main([str(copies), "--link", "pcie5x16", "--out", str(tmp_path), "--formats", "svg"]) == 0
    assert "Copies to another device reach 396 GB/s, more than any link that is drawn" in texts_of(tmp_path / "links.svg")


def test_an_unfinished_run_claims_nothing(tmp_path):
    assert main([str(H200), "--link", "pcie5x16", "--out", str(tmp_path), "--formats", "svg"]) == 0
    assert "Rates of links over bytes of an unfinished run" in texts_of(tmp_path / "links.svg")


def test_a_link_that_is_unknown_is_refused(nccl, tmp_path, capsys):
    assert ridgebench(["plot", str(nccl), "--link", "usb", "--out", str(tmp_path)]) == 2
    assert "usb" in capsys.readouterr().err


def test_a_point_has_the_bytes_of_the_message_and_the_rate_of_the_link(nccl):
    (fastest, _) = links.all_series(view_of(nccl))
    points = [(size, row.bytes_per_s) for size, row in fastest.rows]
    assert points[0] == pytest.approx((8, 8 * 1.75 / 20.97e-6)) and points[-1] == pytest.approx((2**30, 2**30 * 1.75 / 5198e-6))


def test_a_line_is_broken_at_a_size_that_was_left_out(nccl, tmp_path):
    """In place, nccl-tests found wrong values at 131072 bytes."""
    in_place, out_of_place = sorted(links.all_series(view_of(nccl)), key=lambda one: one.best.technique)
    assert [size for size, rate in in_place.line if rate != rate] == [131072] and len(in_place.line) == 5
    assert all(rate == rate for _, rate in out_of_place.line) and [size for size, _ in out_of_place.line][2] == 131072
    assert main([str(nccl), "--link", "nvlink4", "--out", str(tmp_path), "--formats", "svg"]) == 0
    assert any("A line is broken at a size that was left out" in text for text in texts_of(tmp_path / "links.svg"))


@pytest.mark.parametrize(("sizes", "gaps"), [
    ([8, 16, 32, 128, 256], [64]), ([8, 16, 32, 256, 512, 1024], [64, 128]), ([8, 16, 32, 64], []), ([8, 32], []), ([8, 16, 1000], []),
    ([8, 16, 64, 256, 1024], []), ([8], [])])
def test_a_sweep_by_one_factor_shows_the_size_that_no_row_has(nccl, sizes, gaps):
    view = view_of(nccl)
    rows = [replace(view.rows[0], id=str(size), shape={"message_bytes": size, "ranks": 8}) for size in sizes]
    (found,) = links.all_series(replace(view, rows=rows))
    assert list(found.left_out) == gaps


def test_a_size_whose_copy_failed_breaks_the_line():
    view = view_of(H200)
    middle = sorted(row.bytes for row in view.rows if row.op == "copy_to_host" and row.status == "ok")[1]
    broken = [replace(row, status="failed", bytes_per_s=None) if row.op == "copy_to_host" and row.bytes == middle else row for row in view.rows]
    found = next(one for one in links.all_series(replace(view, rows=broken)) if one.best.op == "copy_to_host")
    assert [size for size, rate in found.line if rate != rate] == [middle]
    assert links.notes([found]) == ["A line is broken at a size that was left out"]


def test_each_peer_has_a_line_of_its_own(copies):
    assert all(len(one.rows) == 1 for one in links.all_series(view_of(copies)) if one.best.op == "copy_to_peer")


def test_copies_both_ways_have_the_rate_of_both():
    both, *others = links.all_series(view_of(H200))
    assert both.best.op == "copy_both_ways"
    assert [(link.shown, link.bytes_per_s) for link in links.roofs_of(both.best, (PCIE,))] == [("pcie5x16 in both directions", 126e9)]
    assert [link for one in others for link in links.roofs_of(one.best, (PCIE,))] == [PCIE] * 2


def test_slower_series_are_counted(nccl):
    view = view_of(nccl)
    rows = [replace(row, id=f"{row.id}{n}", technique=f"t{n}", bytes_per_s=row.bytes_per_s / (n + 1)) for n in range(8) for row in view.rows[:4]]
    every = links.all_series(replace(view, rows=rows))
    assert [one.best.technique for one in every] == [f"t{n}" for n in range(8)]
    assert links.notes(every) == ["Measured by another tool, not verified", "2 slower series are not drawn"]
    assert links.notes(links.all_series(view_of(H200))) == []


def test_lines_across_axes_invert_no_matrix():
    """A figure is drawn in a forked process, where OpenBLAS with OpenMP hangs if the parent has used it: canvas.across() does not."""
    for path in (ROOT / "roofline/ridgebench/figures").rglob("*.py"):
        assert not any(name in path.read_text() for name in (".axhline(", ".axvline(", ".axhspan(", ".axvspan(")), path
