"""The energy roofline: FLOP per joule of rows and of the ceilings that judge them."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from golden import GOLDEN, ROOT
from judged_view import judged_again

from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page import energy, style
from ridgebench.figures.plot import main

H200 = ROOT / "results" / "nvidia-h200" / "partial" / "2026-11-27-6abf65e-quick"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def view():
    cut = make_view(load_run(H200), None)
    return judged_again(replace(cut, environment=cut.environment | {"interrupted": False, "ended": "2026-11-27T00:00:00Z"}))


def test_a_ceiling_has_the_least_energy_of_its_format(view):
    found = {one.format: one.joules for one in energy.lines(view)}
    assert found["bf16"] == pytest.approx(8.231e-13, rel=1e-3) and found["fp8_e5m2"] == pytest.approx(4.436e-13, rel=1e-3)
    assert None not in found, "no memory ceiling of this run has an energy"


def test_a_burst_pauses_so_that_its_energy_is_no_ceiling(view):
    burst = [row for row in view.rows if row.burst and row.telemetry["window"].get("energy_per_flop_j")]
    assert burst and [energy.joules_per_flop(row) for row in burst] == [None] * len(burst)


def test_a_memory_ceiling_gives_the_energy_of_a_byte(view):
    copy = next(row for row in view.ceilings if row.saturates == "memory")
    known = replace(copy, telemetry={"window": {"energy_per_launch_j": 1e-10 * copy.bytes}})
    rows = [known if row is copy else row for row in view.rows]
    (line,) = [one for one in energy.lines(replace(view, rows=rows)) if one.format is None]
    assert line.joules == pytest.approx(1e-10)
    changed = replace(view, rows=rows)
    assert energy.title(changed, energy.lines(changed)).endswith("; a byte of main memory 100 pJ")


def with_energies(view, joules: dict[str, float]):
    """The view as if ceilings had these joules for a byte, by operation, and the only row of a kernel the energy that it has."""
    rows = [replace(row, telemetry={"window": {"energy_per_launch_j": joules[row.op] * row.bytes}}) if row.op in joules else row
            for row in view.rows]
    return replace(view, rows=rows)


def test_a_byte_of_each_level_has_its_own_energy(view):
    known = with_energies(view, {"shared_read": 2e-12, "cache_l2_read": 2e-11, "dram_read": 1e-10, "dram_copy": 2e-10})
    lines = energy.lines(known)
    assert [(one.place, one.joules) for one in lines if not one.format] == [
        ("L1", pytest.approx(2e-12)), ("L2", pytest.approx(2e-11)), ("main memory", pytest.approx(1e-10))]
    assert energy.title(known, lines).endswith("; a byte of main memory 100 pJ")
    assert energy.notes(known, lines) == ["A byte takes 2 pJ in L1, 20 pJ in L2 and 100 pJ in main memory; idle before the run: 125 W"]


def test_what_the_run_did_not_record_is_said(view):
    assert energy.notes(view, energy.lines(view)) == ["Energy of a byte not recorded: L1, L2, main memory; idle before the run: 125 W"]
    silent = replace(view, environment=view.environment | {"state": {"before": {}}})
    some = with_energies(silent, {"cache_l2_read": 2e-11})
    assert energy.notes(some, energy.lines(some)) == ["A byte takes 20 pJ in L2; energy of a byte not recorded: L1, main memory; idle power not recorded"]
    assert energy.title(some, energy.lines(some)).endswith("in bf16"), "a byte of a cache is none of main memory"


def test_a_single_row_has_numbers_at_its_axis(view, tmp_path):
    one = energy.placed(view)[0]
    figure = energy.draw(replace(view, rows=[one]), style.THEMES["light"])
    axes = figure.axes[-1]
    low, high = axes.get_ylim()
    assert len([tick for tick in axes.get_yticks() if low <= tick <= high]) >= 2


def test_the_title_is_what_a_flop_takes(view):
    assert energy.title(view, energy.lines(view)) == "A FLOP takes 0.444 pJ in fp8_e5m2, 0.451 pJ in fp8_e4m3 and 0.823 pJ in bf16"


def test_without_ceilings_the_title_names_the_kernel(view):
    assert energy.title(view, []) == "Matmul takes 0.545 pJ a FLOP in fp8_e4m3"


def test_points_are_the_rows_whose_energy_is_known(view):
    rows = energy.placed(view)
    assert rows and all(row.status == "ok" and row.telemetry["window"]["energy_per_flop_j"] > 0 for row in rows)
    assert len(rows) < len(view.points)


def test_it_is_drawn_where_rows_have_an_energy(tmp_path):
    main([str(GOLDEN), "--out", str(tmp_path), "--formats", "svg"])
    assert not (tmp_path / "roofline-energy.svg").exists()
    assert main([str(H200), "--out", str(tmp_path), "--formats", "svg"]) == 0
    texts = ["".join(node.itertext()) for node in ElementTree.parse(tmp_path / "roofline-energy.svg").iter(f"{SVG}text")]
    for text in ("Energy of a FLOP of an unfinished run", "pJ a FLOP: 0.444 fp8_e5m2, 0.451 fp8_e4m3", "GFLOP per joule of the board"):
        assert text in texts
