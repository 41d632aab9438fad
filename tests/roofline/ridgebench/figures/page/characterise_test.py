"""The figures of a GPU's characterisation: latency and bandwidth over the working set, and what must be in flight."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from golden import GOLDEN
from judged_view import judged_again

from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.html.cli import main as report
from ridgebench.figures.page import parallelism, working_set
from ridgebench.figures.page.doubt import doubt
from ridgebench.figures.page.finding import roofline_title
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.plot import main

ROOT = Path(__file__).resolve().parents[5]
H200 = ROOT / "results" / "nvidia-h200" / "partial" / "2026-11-27-6abf65e-characterise"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def view():
    return make_view(load_run(H200), None)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    out = tmp_path_factory.mktemp("figures")
    assert main([str(H200), "--out", str(out), "--formats", "svg"]) == 0
    return {
        path.stem: ["".join(node.itertext()) for node in ElementTree.parse(path).iter(f"{SVG}text")]
        for path in out.glob("*.svg")
    }


def test_a_run_of_ceilings_has_no_empty_figure(drawn):
    assert set(drawn) == {"roofline", "links", "working-set", "parallelism"}


def test_its_roofline_says_what_the_roofs_are(view):
    assert roofline_title(view) == "Roofs of an unfinished run"
    assert doubt(view) == "No claim: the run was interrupted"
    whole = judged_again(replace(view, environment=view.environment | {"interrupted": False, "ended": "2026-11-27T00:00:00Z"}))
    assert roofline_title(whole) == "Roofs alone, no kernel: main memory 4.29 TB/s (copy), fp32 FMA 65.9 TFLOP/s"


def test_levels_are_where_neighbouring_sizes_agree(view):
    found = {level.name: level for level in working_set.levels(view)}
    assert list(found) == ["level 1", "level 2", "main memory"]
    assert (found["level 1"].low, found["level 1"].high) == (4 * 2**10, 2**17)
    assert (found["level 2"].low, found["level 2"].high) == (2**19, 2**24)
    assert found["level 2"].latency_s == pytest.approx(142e-9, rel=0.01)
    assert found["level 2"].cycles == pytest.approx(281, rel=0.01)


def test_a_size_between_two_levels_belongs_to_neither(view):
    sizes = {size for size, *_ in working_set.chases(view, dense=True)}
    within = {s for s in sizes for level in working_set.levels(view) if level.low <= s <= level.high}
    assert sizes - within == {2**18, 2**25}


def test_the_figure_names_levels_shared_memory_and_the_distance(drawn):
    texts = drawn["working-set"]
    for text in ("level 2: 142 ns · 281 clocks", "shared memory: 11.6 ns", "a line of each 2 MiB: it rises beyond the reach of the TLB"):
        assert any(text in found for found in texts), text


def test_bandwidth_over_the_working_set(view):
    row = next(row for row in view.rows if row.op == "dram_copy")
    reads = [replace(row, op="dram_read", id=str(k), shape={"n": 4096 * k}) for k in (1, 8, 64)]
    assert not working_set.panels(replace(view, rows=reads[:2])), "two sizes are no sweep"
    assert working_set.panels(replace(view, rows=reads)) == [working_set.draw_bandwidth]
    assert [size for size, *_ in working_set.reads(replace(view, rows=reads))] == [2**14, 2**17, 2**20]


def test_a_rate_is_drawn_at_the_sizes_that_were_measured(view):
    row = next(row for row in view.rows if row.op == "dram_copy")
    reads = replace(view, rows=[replace(row, op="dram_read", id=str(k), shape={"n": 4096 * k}) for k in (1, 8, 64)])
    (axes,) = working_set.draw(reads, THEMES["light"]).axes[1:]
    series = next(line for line in axes.lines if line.get_marker() == "s")
    assert list(series.get_xdata()) == [2**14, 2**17, 2**20] and series.get_drawstyle() == "default", "no rate beyond a size"


def test_rows_that_the_budget_cut_are_no_title(view):
    ended = view.environment | {"interrupted": False, "ended": "2026-11-27T00:00:00Z"}
    row = next(row for row in view.rows if row.op == "dram_copy")
    rows = [replace(row, op="dram_read", id=str(k), shape={"n": 4096 * k}, cut_by_budget=False) for k in (1, 8, 64)]
    whole = replace(judged_again(replace(view, environment=ended)), rows=rows)
    assert working_set.title(whole).startswith("Reads bring ")
    cut = replace(whole, rows=[replace(row, cut_by_budget=True) for row in rows])
    assert working_set.title(cut) == "Reads over working-set size; --budget cut their samples"


def test_capacity_is_what_all_threads_have(view):
    host = replace(view, device={**view.device, "caches": [{"level": 1, "bytes": 2**15, "shared_by": 2},
                                                           {"level": 3, "bytes": 2**25, "shared_by": 16}]})
    assert [size for size, _ in working_set.capacities(host, 8)] == [2**17, 2**25]
    assert [size for size, _ in working_set.capacities(host, 1)] == [2**15, 2**25]


def test_what_hides_the_latency(view):
    assert [parallelism.needed(sweep, view) for sweep in parallelism.SWEEPS] == ["16 chains", "32 KiB", "16 KiB"]


def test_littles_law(view):
    fma, dram, _ = parallelism.SWEEPS
    assert fma.latency(fma.rows(view)[0], 132) == "4.12 clocks"
    least = dram.rows(view)[0]
    assert dram.in_flight(least) == 512
    assert dram.latency(least, 132) == "411 ns", "512 bytes of each of 132 SMs over 164.6 GB/s"


def test_there_are_none_without_the_sweeps(tmp_path):
    main([str(GOLDEN), "--out", str(tmp_path), "--formats", "svg"])
    assert not (tmp_path / "parallelism.svg").exists()


@pytest.mark.parametrize("keys", [("accesses",), ("n",), ("warps",), ("lines", "stride", "iterations")])
def test_rows_whose_shape_lacks_a_key_are_left_out(tmp_path, keys):
    copy = tmp_path / "run"
    shutil.copytree(H200, copy, ignore=shutil.ignore_patterns("figures"))
    records = [json.loads(line) for line in (copy / "records.jsonl").read_text().splitlines()]
    for record in records:
        record["shape"] = {key: value for key, value in record["shape"].items() if key not in keys}
    (copy / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert main([str(copy), "--out", str(tmp_path / "figures"), "--formats", "svg"]) == 0
    assert report([str(copy), "-o", str(tmp_path / "report.html")]) == 0
