"""The page of a fleet's report: its map, its colours, and what it does in a browser."""

import json

import chromium
import numpy as np
import pytest
from fleet_page import Page
from made_fleet import at, changed, make_fleet, slowed, troubled
from ridgebench.figures.page.style import contrast
from ridgebench.fleet.judge import assess
from ridgebench.fleet.render import colours, layout, page


def test_a_large_fleet_is_drawn_by_node_and_by_histogram():
    assessment = assess(troubled(nodes=300))
    text = page.document(assessment)
    found = Page(text)
    assert sum("cell" in attributes.get("class", "") for _, attributes in found.elements) == 300
    assert len(found.elements) < 4000 and len(text) < 400_000
    table = layout.by_node(assessment)
    assert layout.make_layout(table).whole_nodes and not layout.make_layout(dict(list(table.items())[:100])).whole_nodes


def test_cells_do_not_overlap_and_stay_within_the_map():
    for nodes, gpus in ((1, 8), (4, 8), (3, 16), (64, 8), (300, 8)):
        place = layout.make_layout(layout.by_node(assess(make_fleet(nodes, gpus))))
        boxes = np.array([(cell.x, cell.y) for cell in place.cells])
        assert len({tuple(box) for box in boxes.tolist()}) == len(boxes) == (300 if nodes == 300 else nodes * gpus)
        assert (boxes >= 0).all() and (boxes + place.size <= (place.width + 0.1, place.height + 0.1)).all()
        assert place.width <= layout.WIDTH


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_are_legible_on_every_step(theme):
    assert min(contrast(step.fill, step.ink) for step in colours.steps(theme)) >= 4.5
    assert [colours.step_of(ratio) for ratio in (0.9, 0.95, 0.975, 1.0, 1.025, 1.05, 1.1)] == list(range(7))


@pytest.mark.skipif(chromium.PROGRAM is None, reason="no chromium; scripts/setup.sh --dev installs it")
def test_the_page_shows_another_row_and_the_other_theme(tmp_path):
    fleet = changed(make_fleet(), {("gn2", 3): lambda gpu: slowed(gpu, 0.08, "dram_read", "loaded")})
    (tmp_path / "report.html").write_text(page.document(assess(fleet)), "utf-8")
    with chromium.Browser(tmp_path / "profile") as browser:
        browser.open(tmp_path / "report.html")
        cell = f"document.getElementById('c{at(fleet, 'gn2', 3)}')"
        first = browser.run(f"{cell}.textContent")
        assert browser.run(f"{cell}.classList.contains('slow')") and "dram_read/bulk/fp32 (loaded)" in first
        choose = """(() => {{ const list = document.getElementById('choice');
            list.value = [...list.options].find((option) => option.text === {}).value;
            list.dispatchEvent(new Event('change')); }})()"""
        browser.run(choose.format(json.dumps("dram_read/bulk/fp32 (isolated)")))
        assert not browser.run(f"{cell}.classList.contains('slow')")
        assert 0.97 < float(browser.run(f"{cell}.querySelector('text').textContent")) / 100 < 1.03
        browser.run(choose.format(json.dumps("lowest row of each GPU")))
        assert browser.run(f"{cell}.textContent") == first
        light = browser.run("getComputedStyle(document.documentElement).backgroundColor")
        browser.run("document.getElementById('theme').click()")
        assert browser.run("getComputedStyle(document.documentElement).backgroundColor") != light
        assert browser.errors == [] and all(url.startswith("file:") for url in browser.requests)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
