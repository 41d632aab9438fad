"""The figure of rate, clock and power: drawn where rows know all three, and for their rows alone."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from golden import GOLDEN

from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page.page import footer
from ridgebench.figures.page.power import placed, title, watts
from ridgebench.figures.plot import main

SVG = "{http://www.w3.org/2000/svg}"


def texts(path: Path) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.parse(path).iter(f"{SVG}text")]


def with_power(records: list[dict], _: dict) -> None:
    """Gives all rows but the first kernel a clock and a power; matrix products draw more and slow down."""
    kernels = [record for record in records if record["role"] == "kernel" and record["status"] == "ok"]
    for record in kernels[1:]:
        product = record["op"] == "matmul"
        record["clock_hz"] = 1.45e9 if product else 1.98e9
        record["telemetry"] = {"window": {"power_w": 699.6 if product else 410.0}}


def test_there_is_none_without_power(tmp_path):
    main([str(GOLDEN), "--out", str(tmp_path), "--formats", "svg"])
    assert (tmp_path / "roofline.svg").exists()
    assert not (tmp_path / "power.svg").exists()


def test_it_names_the_slowest_clock_and_the_most_power(tmp_path, edit):
    folder = edit(with_power)
    assert main([str(folder), "--out", str(tmp_path), "--formats", "svg"]) == 0
    found = texts(tmp_path / "power.svg")
    assert {"clock, GHz", "power, W"} <= set(found)
    heading = " ".join(found)
    assert {"relu", "dot", "matmul"} <= set(found), "the key names the shapes"
    assert "fp32 matmul" in found or "bf16 matmul" in found, "the point of the lowest clock is named"
    assert not any(text.startswith("power limit") for text in found), "the device reports none"
    assert "The clock pays for power: 1.98 GHz at 410 W in " in heading and ", 1.45 GHz at 700 W in " in heading


def test_the_limits_of_the_board_are_lines(tmp_path, edit):
    def change(records: list[dict], environment: dict) -> None:
        with_power(records, environment)
        environment["devices"][0] |= {"power_limit_w": 700.0, "clocks": {"max_sm_hz": 1.98e9}}

    assert main([str(edit(change)), "--out", str(tmp_path), "--formats", "svg"]) == 0
    assert {"power limit 700 W", "highest clock 1.98 GHz"} <= set(texts(tmp_path / "power.svg"))


def test_the_title_follows_clocks_and_power(edit):
    rows = placed(make_view(load_run(edit(with_power)), None))
    even = [replace(row, telemetry={"window": {"power_w": 700.0}}) for row in rows]
    assert title(even).startswith("At 700 W the clock pays: 1.98 GHz in ")
    calm = [replace(row, clock_hz=1.98e9) for row in rows]
    assert title(calm) == "The clock stays at 1.98 GHz up to 700 W"


def test_a_row_that_lacks_one_of_them_is_left_out(edit):
    view = make_view(load_run(edit(with_power)), None)
    rows = placed(view)
    assert 0 < len(rows) < len(view.points)
    assert all(watts(row) and row.clock_hz for row in rows)
    assert "matmul" in title(rows)


def test_the_footer_counts_the_rows_that_the_power_limit_slowed_down(edit):
    def capped(records, _):
        for record, state in zip(records, ("capped", "mixed", "full_clock", "capped")):
            record["power_state"] = state

    foot = footer(make_view(load_run(edit(capped)), None))
    assert foot.startswith("3 of 4 rows at the power cap, 1 for a part of the time · ridgebench ")
    assert footer(make_view(load_run(GOLDEN), None)).startswith("ridgebench ")


def test_the_footer_counts_the_rows_of_own_kernels_that_were_not_isolated(edit):
    def own(records, _):
        kernels = [record for record in records if record["role"] == "kernel" and record["status"] == "ok"]
        for record, isolated in zip(kernels, (False, True, None, False)):
            record["isolated"] = isolated

    foot = footer(make_view(load_run(edit(own)), None))
    assert foot.startswith("2 rows of own kernels not isolated · ridgebench ")
