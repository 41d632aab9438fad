"""A report in a real Chromium: keys, mouse, filters, arrows, table, zoom, downloads, and its look in three windows."""

import csv
import io
import json
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import chromium
import matplotlib.image
import numpy as np
import pytest
from golden import GOLDEN, ROOT, read_environment, read_records, write_records

from ridgebench.__main__ import main
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.page.finding import roofline_title

pytestmark = pytest.mark.skipif(chromium.PROGRAM is None, reason="no chromium; scripts/setup.sh --dev installs it")
PUBLISHED = [str(next((ROOT / "results").glob(f"{device}/2*"))) for device in
             ("nvidia-h100-80gb-hbm3", "nvidia-h200", "amd-epyc-2-threads", "intel-r-xeon-r-processor-2-threads")]
SHOWN = "[...document.querySelectorAll('.point:not(.off)')]"
FOCUSED = "document.activeElement.id"
PLACES = "[...document.querySelectorAll('.point')].map((point) => point.getAttribute('transform')).join()"
BODY = "[...document.querySelectorAll('#rows tbody tr:not([hidden])')]"
# What a browser would hand to the user as a file.
CATCH = """URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#"; };
HTMLAnchorElement.prototype.click = () => {};"""
SAVED = "new Promise((done) => setTimeout(() => done(window.saved), 50))"


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Reports of four published runs, and of one small run that ran again with its products three times as slow."""
    folder = tmp_path_factory.mktemp("pages")
    names = {name: folder / f"{name}.html" for name in ("four", "twice")}
    again = folder / "again"
    again.mkdir()
    (again / "environment.json").write_text(json.dumps(read_environment(GOLDEN) | {"run_id": "again"}))
    records = read_records(GOLDEN)
    for record in records:
        if record["op"] == "matmul" and record["status"] == "ok":
            for key in ("time_median_s", "time_ci_low_s", "time_ci_high_s", "time_p10_s", "time_p90_s"):
                record[key] *= 3
            record["flops_per_s"] /= 3
            record["bytes_per_s"] /= 3
        if record["op"] == "relu":
            record["technique"] = record["technique"].replace("naive", "</script><img src=x onerror=alert(1)>")
    write_records(again, records)
    assert main(["report", *PUBLISHED, "--on", "b200", "-o", str(names["four"])]) == 0
    assert main(["report", str(GOLDEN), str(again), "-o", str(names["twice"])]) == 0
    return names


@pytest.fixture
def four(browser, pages):
    browser.open(pages["four"])
    show(browser, "Everything")
    yield browser
    assert browser.errors == []


@pytest.fixture
def twice(browser, pages):
    browser.open(pages["twice"])
    show(browser, "Everything")
    yield browser
    assert browser.errors == []


def click(browser, selector: str) -> None:
    browser.run(f"document.querySelector({json.dumps(selector)}).click()")


def choose(browser, name: str, value: str) -> None:
    browser.run(f"""(() => {{ const one = document.getElementById('{name}'); one.value = '{value}';
        one.dispatchEvent(new Event('change')); }})()""")


def show(browser, name: str) -> None:
    """Chooses one of the views."""
    options = browser.run("[...document.querySelectorAll('#preset option')].map((one) => one.textContent)")
    choose(browser, "preset", str(options.index(name)))


CELLS = f"{BODY}.map((row) => [...row.cells].map((cell) => cell.textContent))"
HEADING = "document.getElementById('heading').textContent"
STATES = """[...document.querySelectorAll('.source')].map(
    (group) => group.getAttribute('class').replace(/source | named/g, ''))"""


def card(browser) -> dict[str, str]:
    return browser.run("""Object.fromEntries([...document.querySelectorAll('#card dt')].map(
        (one) => [one.textContent, one.nextSibling.textContent]))""")


def focus_first(browser) -> None:
    """By Tab from the last control before the picture, as a user without a mouse."""
    browser.run("document.getElementById('save-csv').focus()")
    browser.press("Tab")


def test_it_opens_without_network(four, pages):
    assert four.requests == [pages["four"].as_uri()]
    assert four.run("document.documentElement.classList.contains('live')")


def test_it_opens_on_one_format_of_one_run_with_its_finding(browser, pages):
    browser.open(pages["four"])
    rows = browser.run(CELLS)
    assert rows and {row[0] for row in rows} == {"A"} and {row[3] for row in rows} == {"bf16"}
    run = make_view(load_run(Path(PUBLISHED[0])), None)
    assert browser.run(HEADING) == roofline_title(run.only("bf16"))
    assert browser.run(STATES) == ["solid", "dashed", "off", "off", "off", "off", "dashed"], "the sheet of --on stays"
    assert browser.run("[document.getElementById('pairs').hidden, document.getElementById('solid').parentNode.hidden]") == [True, True]
    assert browser.errors == []


def test_views_of_one_operation_and_of_all_runs(browser, pages):
    browser.open(pages["four"])
    show(browser, "matmul of A")
    rows = browser.run(CELLS)
    assert {row[0] for row in rows} == {"A"} and {row[1] for row in rows} == {"matmul"} and len({row[3] for row in rows}) > 5
    assert browser.run(HEADING).startswith("matmul: ")
    show(browser, "All runs in bf16")
    rows = browser.run(CELLS)
    assert {row[0] for row in rows} == {"A", "B", "C", "D"} and {row[3] for row in rows} == {"bf16"}
    assert browser.run(STATES)[2] == "faint" and "NVIDIA H200 is" in browser.run(HEADING)
    show(browser, "A in bf16")
    assert browser.run(STATES)[2] == "off" and {row[0] for row in browser.run(CELLS)} == {"A"}
    choose(browser, "preset", "0")
    assert browser.errors == []


def test_a_phone_sees_the_picture_first(browser, pages):
    browser.open(pages["four"], 390, 844)
    top, bottom, box = browser.run("""(() => { const box = document.getElementById('chart').getBoundingClientRect();
        return [box.top, box.bottom, document.getElementById('filter-box').open]; })()""")
    assert top < bottom < 844 and not box
    assert browser.run("getComputedStyle(document.querySelector('.hint')).display") == "none"
    assert browser.run("getComputedStyle(document.querySelector('.swipe')).display") == "block"
    for name in ("A in bf16", "Everything"):
        show(browser, name)
        boxes = browser.run("""[...document.querySelectorAll('.label:not(.off) .value')].map((one) => { const box = one.getBoundingClientRect();
            return [box.left, box.right, box.top, box.bottom]; })""")
        assert boxes
        for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
            assert b <= e + 1 or f <= a + 1 or d <= g + 3 or h <= c + 3, name  # the boxes of two lines of text share some pixels


def test_every_point_is_reached_by_keys(twice):
    focus_first(twice)
    seen = [twice.run(FOCUSED)]
    count = twice.run(f"{SHOWN}.length")
    for _ in range(count - 1):
        twice.press("ArrowRight")
        seen.append(twice.run(FOCUSED))
    assert len(set(seen)) == count == 30
    assert set(seen) == set(twice.run(f"{SHOWN}.map((point) => point.id)"))
    twice.press("ArrowRight")  # the last one stays
    assert twice.run(FOCUSED) == seen[-1]
    twice.press("Home")
    assert twice.run(FOCUSED) == seen[0]
    by_rate = {twice.run(FOCUSED)}
    for _ in range(count):
        twice.press("ArrowDown")
    for _ in range(count):
        by_rate.add(twice.run(FOCUSED))
        twice.press("ArrowUp")
    assert by_rate == set(seen)


def test_all_points_of_four_runs_are_reached(four):
    walk = f"""(() => {{ const first = document.querySelector('.point[tabindex="0"]'), seen = new Set([first.id]);
        first.focus();
        for (let step = 0; step < {SHOWN}.length; ++step) {{
          const press = new KeyboardEvent('keydown', {{ key: 'ArrowRight', bubbles: true, cancelable: true }});
          document.activeElement.dispatchEvent(press);
          seen.add(document.activeElement.id); }}
        return [seen.size, {SHOWN}.length, document.querySelectorAll('.point[tabindex="0"]').length]; }})()"""
    assert four.run(walk) == [580, 580, 1]


def test_focus_and_hover_show_the_point(four):
    focus_first(four)
    focused = card(four)
    ratios = ("Of measured roof", "Of roof at clock", "MFU")
    for key in ("Shape", "Time", "Achieved", *ratios, "Limiter", "Samples", "Judged by"):
        assert focused[key], key
    index = four.run(FOCUSED).removeprefix("point-")
    row = four.run(f"[...document.getElementById('row-{index}').cells].map((cell) => cell.textContent)")
    assert focused["Row"] == row[-1] and focused["Achieved"] in row
    assert four.run("document.querySelector('#card h3').textContent").split()[2] in row
    target = four.run("""(() => { const point = document.querySelector('.points .point:last-child');
        point.scrollIntoView({ block: 'center' }); const box = point.querySelector('.mark').getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2, point.id]; })()""")
    four.point_at(target[0] + 3, target[1] + 2)
    assert card(four)["Row"] != focused["Row"]
    stack = []
    for _ in range(40):  # clicks lead through all points on one place
        four.point_at(target[0] + 1, target[1] + 1, "left")
        stack.append(four.run(FOCUSED))
    assert len(set(stack)) > 1 and stack[0] in stack[1:] and target[2] in stack


def test_filters_hold_for_picture_table_and_roofs(four):
    boxes = four.run("""[...document.querySelectorAll('[data-filter]')].map(
        (box) => [box.dataset.filter, box.nextElementSibling.nextElementSibling.textContent])""")
    assert {group for group, _ in boxes} == {"f", "o", "k", "r"}
    assert ["k", "naive"] in boxes and ["f", "bf16"] in boxes and ["r", "B: NVIDIA H200"] in boxes
    points = "JSON.parse(document.getElementById('data').textContent).points"
    for group in "fokr":
        expected = four.run(f"{points}.filter((point) => point.{group} === 0).length")
        before = four.run(f"{SHOWN}.length")
        click(four, f"[data-filter={group}][value='0']")
        assert four.run(f"{SHOWN}.length") == four.run(f"{BODY}.length") == before - expected < before
        click(four, f"[data-filter={group}][value='0']")
        assert four.run(f"{SHOWN}.length") == before == 580
    flats = "document.querySelectorAll('.source.solid .flat:not(.off)').length"
    roofs = four.run(flats)
    for value in range(1, four.run("document.querySelectorAll('[data-filter=f]').length")):
        click(four, f"[data-filter=f][value='{value}']")
    assert four.run(flats) == 1 < roofs  # of fp32 alone
    assert four.run("document.querySelectorAll('.label:not(.off) .name').length") == 1


# The height of the highest flat roof that is shown, then the ends and the bands of the slopes: in coordinates of the file.
HEIGHTS = """(() => {
    const all = (what, which) => [...document.querySelectorAll(`.source.solid ${what}`)].map((path) =>
        which(path.getAttribute('d').match(/-?[\\d.]+/g).map(Number)));
    return [Math.min(...all('.flat:not(.off) .edge', (d) => d[1])), all('.memory .edge', (d) => d[3]),
            all('.memory .band', (d) => (d[1] - d[6]) - (d[3] - d[4]))];
})()"""


def test_slopes_end_at_the_highest_flat_roof_that_is_shown(four):
    highest, ends, bands = whole = four.run(HEIGHTS)
    assert ends and ends == pytest.approx([highest] * len(ends), abs=0.02)
    for value in range(1, four.run("document.querySelectorAll('[data-filter=f]').length")):
        click(four, f"[data-filter=f][value='{value}']")
    lower, ends, narrowed = four.run(HEIGHTS)
    assert lower > highest + 20 and ends == pytest.approx([lower] * len(ends), abs=0.02), "of fp32 only"
    assert narrowed == pytest.approx(bands, abs=0.02), "a band is as wide as before"
    for value in range(1, four.run("document.querySelectorAll('[data-filter=f]').length")):
        click(four, f"[data-filter=f][value='{value}']")
    assert four.run(HEIGHTS) == whole


def test_search_filters_both(four):
    four.run("""const box = document.getElementById('search'); box.value = 'MATMUL cublas bf16';
        box.dispatchEvent(new Event('input'))""")
    texts = four.run(f"{BODY}.map((row) => row.textContent)")
    assert 0 < len(texts) < 100 and all("matmul" in text and "cublas" in text and "bf16" in text for text in texts)
    assert four.run(f"{SHOWN}.length") == len(texts)
    assert four.run("document.getElementById('count').textContent") == f"{len(texts)} of 580"


def test_arrows_join_the_cases_that_changed(four):
    browser = four
    options = browser.run("[...document.querySelectorAll('#arrows option')].map((one) => one.textContent)")
    pairs = browser.run("JSON.parse(document.getElementById('data').textContent).changes")
    assert options[0] == "none" and len(options) == 1 + len(pairs) == 3
    assert browser.run("document.querySelectorAll('.arrows path').length") == 0
    for number, pair in enumerate(pairs):
        choose(browser, "arrows", str(number))
        assert browser.run("document.querySelectorAll('.arrows path').length") == len(pair["changed"])
    click(browser, "[data-filter=r][value='3']")  # an arrow needs both of its ends
    assert browser.run("document.querySelectorAll('.arrows path').length") == 0
    choose(browser, "arrows", "")
    assert browser.run("document.querySelectorAll('.arrows path').length") == 0


def test_two_runs_open_with_their_arrows(twice):
    arrows = twice.run("""[...document.querySelectorAll('.arrows path')].map(
        (path) => path.getAttribute('d').match(/[-.\\d]+/g).map(Number))""")
    assert len(arrows) == 8  # the products, and no other row
    assert all(abs(x1 - x2) < 0.1 and y2 > y1 for x1, y1, x2, y2 in arrows)  # slower: down


def test_the_table_sorts_by_number_and_by_text(four):
    values = f"{BODY}.map((row) => row.cells[COLUMN].dataset.v).map((value) => value === undefined ? null : +value)"
    column = four.run("[...document.querySelectorAll('#rows th')].findIndex((head) => head.dataset.key === 'mfu')")
    for order in ("ascending", "descending"):
        click(four, "#rows th[data-key=mfu] button")
        found = four.run(values.replace("COLUMN", str(column)))
        known = [value for value in found if value is not None]
        assert 0 < len(known) < len(found) and set(found[len(known):]) == {None}  # a host has none
        assert known == sorted(known, reverse=order == "descending")
        assert four.run("document.querySelector('#rows th[data-key=mfu]').getAttribute('aria-sort')") == order
    click(four, "#rows th[data-key=technique] button")
    names = four.run(f"{BODY}.map((row) => row.cells[2].textContent)")
    assert names[0] != names[-1] and len(names) == 580
    assert four.run("document.querySelectorAll('#rows th[aria-sort]').length") == 1


def test_rows_and_points_lead_to_each_other(twice):
    focus_first(twice)
    index = twice.run(FOCUSED).removeprefix("point-")
    twice.press("Enter")
    assert twice.run("document.activeElement.closest('tr').id") == f"row-{index}"
    twice.press("Enter")
    assert twice.run(FOCUSED) == f"point-{index}"


def test_zoom_by_keys_buttons_and_wheel_and_back(four):
    start = four.run(PLACES)
    focus_first(four)
    four.press("+")
    assert (near := four.run(PLACES)) != start
    four.press("ArrowRight", chromium.SHIFT)
    assert four.run(PLACES) not in (start, near)
    four.press("0")
    assert four.run(PLACES) == start
    click(four, "#zoom-in")
    assert four.run(PLACES) == near
    click(four, "#reset")
    assert four.run(PLACES) == start
    x, y = four.run("""(() => { const box = document.getElementById('chart').getBoundingClientRect();
        return [box.x + 300, box.y + 300]; })()""")
    for modifiers, moves in ((0, False), (2, True)):  # the wheel alone scrolls the page
        wheel = {"x": x, "y": y, "deltaX": 0, "deltaY": -200, "modifiers": modifiers}
        four.send("Input.dispatchMouseEvent", type="mouseWheel", **wheel)
        four.run("new Promise((done) => setTimeout(done, 100))")
        assert (four.run(PLACES) != start) == moves
    for _ in range(12):
        click(four, "#zoom-in")
    four.press("End")  # a point outside of the window is brought into it
    assert four.run("document.querySelector('.finder').classList.contains('off')") is False


def test_roofs_of_other_runs_and_sheets(four):
    classes = """[...document.querySelectorAll('.source')].map(
        (group) => group.getAttribute('class').replace(/source | named/g, ''))"""
    assert four.run(classes) == ["solid", "dashed", "faint", "off", "faint", "faint", "dashed"]
    labels = "[...document.querySelectorAll('.label:not(.off)')].map((one) => one.textContent).join()"
    before = four.run(labels)
    assert "85 % of data sheet" in before and "b200" in before
    choose(four, "solid", "1")
    assert four.run(classes) == ["faint", "off", "solid", "dashed", "faint", "faint", "dashed"]
    assert four.run(labels) != before
    titles = four.run("[...document.querySelectorAll('#overlays label')].map((one) => one.textContent.trim())")
    assert titles[0] == "A: NVIDIA H100 80GB HBM3" and "B200" in titles[-1] and len(titles) == 6
    for checked in (False, True):
        click(four, "#overlays label:last-child input")
        assert (four.run(classes)[-1] == "dashed") == checked
        assert ("b200" in four.run(labels)) == checked
    assert four.run("document.querySelector('.source.solid .flat title').textContent").startswith("B: NVIDIA H200: ")


def test_downloads(twice):
    twice.run(CATCH)
    click(twice, "[data-filter=r][value='1']")
    click(twice, "#save-csv")
    table = list(csv.DictReader(io.StringIO(twice.run(SAVED))))
    verified = [r for r in read_records(GOLDEN) if r["role"] == "kernel" and r["status"] == "ok"]
    records = [r for r in verified if r["regime"] == "steady"]
    assert {row["id"]: float(row["time_median_s"]) for row in table} == {r["id"]: r["time_median_s"] for r in records}
    assert {row["run"] for row in table} == {"A"} and table[0]["mfu"] == ""
    click(twice, "#save-svg")
    text = twice.run(SAVED)
    names = [node.get("class", "") for node in ElementTree.fromstring(text).iter()]
    assert sum(name.startswith("point ") for name in names) == len(table) and "--background" in text


def picture(browser) -> np.ndarray:
    """The window as rows of pixels with three bytes each."""
    return (matplotlib.image.imread(io.BytesIO(browser.screenshot()))[..., :3] * 255).astype(np.uint32)


def colours(pixels: np.ndarray) -> int:
    return len(np.unique(pixels @ np.array([65536, 256, 1], np.uint32)))


@pytest.mark.parametrize("width", [1280, 390])
def test_light_dark_and_phone(browser, pages, width):
    browser.open(pages["four"], width, 900)
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.run("document.getElementById('plot-box').scrollIntoView()")
    for prefer, background, other in (("light", 255, "Dark"), ("dark", 17, "Light")):
        browser.prefer(prefer)
        pixels = picture(browser)
        assert pixels.shape[1] == width and colours(pixels) > 100
        blank = (abs(pixels.astype(int) - background) < 3).all(axis=2)
        assert 0.6 < blank.mean() < 0.99
        assert browser.run("document.getElementById('theme').textContent") == other
    click(browser, "#theme")
    assert picture(browser).mean() > 200  # light again
    assert width * 0.4 < browser.run("document.getElementById('chart').getBoundingClientRect().width") <= width
    assert browser.run("parseFloat(getComputedStyle(document.querySelector('.grid text')).fontSize)") >= 12
    assert browser.errors == []


def test_the_table_fits_and_a_phone_shows_format_and_rate(browser, pages):
    ends = """[...document.querySelector('#rows tbody tr:not([hidden])').cells].map((cell) => cell.getBoundingClientRect().right)"""
    browser.open(pages["four"], 1280, 900)
    assert max(browser.run(ends)) <= 1280 - 32
    browser.open(pages["four"], 390, 900)
    heads = browser.run("[...document.querySelectorAll('#rows th')].map((head) => head.dataset.key)")
    seen = {key for key, end in zip(heads, browser.run(ends)) if 0 < end <= 390}
    assert {"run", "op", "technique", "format", "time_median_s", "flops_per_s"} <= seen
    assert browser.run("document.querySelector('#rows tbody tr').getBoundingClientRect().height") < 50


def test_names_of_the_results_stay_text(twice):
    hostile = "</script><img src=x onerror=alert(1)>"
    assert twice.run("document.querySelectorAll('img').length") == 0
    assert twice.run(f"{BODY}.filter((row) => row.cells[2].textContent === {json.dumps(hostile)}).length") == 2
    row = twice.run(f"{BODY}.find((row) => row.cells[2].textContent === {json.dumps(hostile)}).id")
    index = row.removeprefix("row-")
    twice.run(f"document.getElementById('point-{index}').focus()")
    assert hostile in twice.run("document.querySelector('#card h3').textContent")
    assert twice.run("document.querySelectorAll('img, #card script').length") == 0 and len(twice.requests) == 1


def nodes(browser, selector: str) -> list[int]:
    """The elements that the selector finds, without a script in the page."""
    root = browser.send("DOM.getDocument")["root"]["nodeId"]
    return browser.send("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]


def test_without_javascript(browser, pages):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.navigate(pages["twice"])
        found = nodes(browser, ".point:not(.off)")
        assert len(found) == 30
        assert nodes(browser, "[data-filter]:not([hidden]), #tools:not([hidden])") == []
        assert colours(picture(browser)) > 100
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("width", [1280, 1000, 390])
def test_roofs_and_paths_stay_with_the_points_at_any_width_and_zoom(browser, pages, width):
    """The lines are moved as a whole, the points one by one: the first corner of a path remains at its point, a ridge on its roof."""
    browser.open(pages["four"], width, 900)
    show(browser, "Everything")
    apart = """(() => { const far = [];
        const still = JSON.parse(document.getElementById('data').textContent);
        const box = document.getElementById('chart').getScreenCTM(), on = (node, x, y) => new DOMPoint(x, y).matrixTransform(node.getScreenCTM());
        document.querySelectorAll('.sweeps path').forEach((path, index) => {
          const [x, y] = path.getAttribute('d').match(/[-.\\d]+/g).slice(0, 2).map(Number), place = on(path, x, y);
          const point = on(document.getElementById(`point-${still.sweeps[index][0]}`), 0, 0);
          far.push(Math.hypot(point.x - place.x, point.y - place.y)); });
        document.querySelectorAll('.source.solid .flat').forEach((roof) => {
          const ridge = roof.querySelector('.ridge'), edge = roof.querySelector('.edge').getAttribute('d').match(/[-.\\d]+/g).map(Number);
          far.push(Math.abs(on(ridge, 0, +ridge.getAttribute('cy')).y - on(roof, 0, edge[1]).y));
          far.push(Math.abs(ridge.getAttribute('r') * ridge.getScreenCTM().a / box.a - 3.5)); });
        return [far.length, Math.max(...far)]; })()"""
    for _ in range(2):
        count, farthest = browser.run(apart)
        assert count > 4 and farthest < 0.5, width
        for _ in range(4):
            click(browser, "#zoom-in")
    assert browser.errors == []


def test_names_of_roofs_are_at_their_lines_where_they_have_room_and_apart_elsewhere(four):
    boxes = """[...document.querySelectorAll('.label:not(.off) .name text')].map((one) => {
        const box = one.getBoundingClientRect(); return [box.top, box.bottom]; })"""
    levels = "[...document.querySelectorAll('.label:not(.off) .name path')].map((one) => one.getAttribute('d').split(' ').at(-1) === '0')"
    crowded = sorted(four.run(boxes))
    assert len(crowded) > 4 and not all(four.run(levels))
    assert all(one[1] <= other[0] + 1 for one, other in zip(crowded, crowded[1:]))
    show(four, "A in bf16")
    assert 0 < len(four.run(boxes)) < len(crowded) and all(four.run(levels))
