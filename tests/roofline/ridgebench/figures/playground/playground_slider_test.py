"""The playground's page over a made-up model, which needs no Emscripten: what a drag of a slider asks, and where its names are."""

from pathlib import Path

import chromium
import pytest
from golden import GOLDEN
from playground import PHONE, PRINTED, READY, TOUCHING, WIDE

from ridgebench.__main__ import main

pytestmark = pytest.mark.skipif(chromium.PROGRAM is None, reason="no chromium; scripts/setup.sh --dev installs it")
MODEL = Path(chromium.__file__).with_name("made_up_model.js")
MOVE = "(step) => { range.value = step; range.dispatchEvent(new Event('input')); }"
# The questions of a drag of the first slider over all its places within one frame, and of the frame after it.
DRAG = f"""new Promise((done) => {{
    const {{asked}} = playground.model, before = asked.length, range = document.querySelector('#sizes input[type=range]');
    for (let step = Number(range.min); step <= Number(range.max); step += 1) ({MOVE})(step);
    const at_once = asked.length - before;
    requestAnimationFrame(() => requestAnimationFrame(() => done({{at_once, drawn: asked.slice(before + at_once)}}))); }})"""
LET_GO = "document.querySelector('#sizes input[type=range]').dispatchEvent(new Event('change'))"


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("playground")
    (folder / "playground.js").write_text(MODEL.read_text("utf-8"), "utf-8")
    (folder / "playground.wasm").write_bytes(b"\0asm")
    assert main(["playground", str(GOLDEN), "--wasm", str(folder), "-o", str(folder / "page.html")]) == 0
    return folder / "page.html"


@pytest.fixture(params=[WIDE, PHONE], ids=["wide", "phone"])
def opened(request, browser, made_up):
    browser.visit("about:blank")
    browser.open(made_up, *request.param)
    assert browser.run(READY) == "yes"
    yield browser
    assert browser.errors == []


def test_a_drag_asks_one_question_for_each_device_and_frame(opened):
    address = opened.run("location.href")
    opened.run("(() => { const one = document.getElementById('also'); one.value = 'h200'; one.dispatchEvent(new Event('change')); })()")
    found = opened.run(DRAG)
    assert found["at_once"] == 0, "the slider is faster than the screen"
    assert len(found["drawn"]) == 2 and all("m:65536/" in one and "--json" in one for one in found["drawn"])
    assert "m=" not in opened.run("location.href"), "the address follows when the slider is let go"
    opened.run(LET_GO)
    assert "size-m=65536" in opened.run("location.href") != address


def test_what_a_command_prints_is_asked_when_its_box_is_open(opened):
    assert all("--json" in one for one in opened.run("playground.model.asked"))
    [text] = opened.run(f"Promise.all({PRINTED})")
    assert text.startswith("the text of ") and "--json" not in text


def test_the_axes_stay_while_a_point_moves_and_no_name_touches_another_one(opened):
    ticks = "[...document.querySelectorAll('#chart .axis')].map((one) => one.textContent + one.getBoundingClientRect().x).join()"
    opened.run(DRAG)
    kept = opened.run(ticks)
    for step in range(1, 27):
        opened.run(f"(() => {{ const range = document.querySelector('#sizes input[type=range]'); ({MOVE})({step}); }})(); {LET_GO}")
        assert opened.run(TOUCHING) == [], step
        assert opened.run(ticks) == kept, step
