"""The playground in a real Chromium: the program's answers, sliders, keys, the address, and its look on a phone."""

import json
import random

import pytest
from command_line import ROOT, environment, ridgebench
from playground import PHONE, PRINTED, READY, RUNS, SKIPS, TOUCHING, WIDE, check, some

pytestmark = SKIPS
MOST_BYTES = 4e6
FINDING = "document.getElementById('finding').textContent"
CHART = "document.getElementById('chart').innerHTML"
VIEWS = ("operation", "serving", "training")
COMMANDS = "[...document.querySelectorAll('#answers code')].map((one) => one.textContent)"
# What a drag of the first slider over all its places asks the model, and how many files of runs the model reads.
DRAG = """new Promise((done) => {
    const {model} = playground, {ccall} = model, {open} = model.FS, count = {answers: 0, reads: 0};
    model.ccall = (name, ...rest) => { count.answers += name === 'answer'; return ccall(name, ...rest); };
    model.FS.open = (...given) => { count.reads += 1; return open(...given); };
    const range = [...document.querySelectorAll('input[type=range]')].find((one) => one.checkVisibility());
    for (let step = Number(range.min); step <= Number(range.max); step += 1) { range.value = step; range.dispatchEvent(new Event('input')); }
    requestAnimationFrame(() => requestAnimationFrame(() => { Object.assign(model, {ccall}), model.FS.open = open; done(count); })); })"""


def go(browser, address: str) -> None:
    """Puts a question into the address, and waits until the page has read it."""
    browser.run(f"""new Promise((done) => {{
        if (location.hash === {json.dumps("#" + address)}) {{ done(); return; }}
        addEventListener("hashchange", () => setTimeout(done), {{once: true}});
        location.hash = {json.dumps(address)}; }})""")


def choose(browser, name: str, value: str) -> None:
    browser.run(f"""(() => {{ const one = document.getElementById('{name}'); one.value = {json.dumps(value)};
        one.dispatchEvent(new Event('change')); }})()""")


def dot(browser) -> list[float]:
    return browser.run("['cx', 'cy'].map((one) => Number(document.querySelector('.dot').getAttribute(one)))")


def test_the_page_is_one_small_file_that_requests_nothing(opened, page):
    assert opened.requests == [page.as_uri()]
    assert page.stat().st_size < MOST_BYTES
    assert opened.run(FINDING) == "matmul is compute-bound on h100-sxm: 138.9 us at best"


def test_300_random_questions_have_the_answers_of_the_program(opened):
    check(opened, 300, seed=61)


def test_every_choice_of_a_box_has_an_answer_or_names_what_a_device_lacks(opened):
    for view, boxes in (("operation", ("op", "also")), ("serving", ("model", "weights")),
                        ("training", ("stage", "checkpoint", "optimizer", "precision"))):
        for name in boxes:
            go(opened, f"view={view}")
            values = opened.run(f"[...document.getElementById('{name}').options].map((one) => one.value)")
            for value in (v for v in values if v != "config.json"):
                choose(opened, name, value)
                problem = opened.run("document.getElementById('problem').textContent")
                code = opened.run("document.body.dataset.code")
                assert code == "0" or name == "also" and f"{value} has no peak for bf16" in problem, (name, value, problem)


@pytest.mark.parametrize("view", VIEWS)
def test_commands_of_the_page_print_what_the_page_says(opened, view):
    go(opened, f"view={view}&batch=8&price=2")
    printed = opened.run(f"Promise.all({PRINTED})")
    commands = opened.run(COMMANDS)
    assert len(commands) == len(printed) == (2 if view == "training" else 1)
    for command, text in zip(commands, printed):
        assert command.split()[0] == "ridgebench"
        assert ridgebench(*command.split()[1:], cwd=ROOT, env=environment(LC_ALL="C.UTF-8")).stdout == text


def test_the_dot_walks_the_roof_as_a_slider_moves(opened):
    opened.run("document.querySelector('#sizes input[type=range]').focus()")
    opened.press("Home")
    assert "is memory-bound" in opened.run(FINDING)
    places = [dot(opened)]
    for _ in range(30):
        opened.press("ArrowRight")
        places.append(dot(opened))
    assert all(a[0] < b[0] for a, b in zip(places, places[1:])), "more rows have more FLOP per byte"
    assert all(a[1] >= b[1] for a, b in zip(places, places[1:])), "and never fewer FLOP/s"
    assert places[-1][1] == places[-2][1] < places[0][1], "until the roof is flat"
    assert "is compute-bound" in opened.run(FINDING)


@pytest.mark.parametrize("view, answers", [("operation", 2), ("serving", 2), ("training", 2)])
def test_a_drag_has_one_answer_a_frame_and_reads_no_run_again(opened, view, answers):
    first, second = opened.run(RUNS)[-2:]
    go(opened, f"view={view}&format=bf16&on={first}&also={second}")
    address, chart = opened.run("location.href"), opened.run(CHART)
    assert opened.run("document.body.dataset.code") == "0"
    assert opened.run(DRAG) == {"answers": answers, "reads": 0}
    assert opened.run(CHART) != chart
    assert opened.run("location.href") == address, "the address follows when the slider is let go"
    opened.run("[...document.querySelectorAll('input[type=range]')].find((one) => one.checkVisibility()).dispatchEvent(new Event('change'))")
    assert opened.run("location.href") != address


def test_the_time_of_gelu_is_that_of_relu(opened):
    found = set()
    for operation in ("relu", "gelu"):
        go(opened, f"view=operation&op={operation}")
        found.add(opened.run(FINDING).split(": ")[1])
    assert len(found) == 1


def test_the_address_restores_the_question(opened):
    go(opened, "view=operation&op=dot&format=fp32")
    choose(opened, "on", "h200")
    choose(opened, "also", "b200")
    opened.run("document.querySelector('#sizes input[type=range]').focus()")
    opened.press("Home")
    address, commands, finding = opened.run("location.href"), opened.run(COMMANDS), opened.run(FINDING)
    assert commands == [f"ridgebench predict dot n:1 --format fp32 --on {sheet}" for sheet in ("h200", "b200")]
    opened.visit("about:blank")
    opened.visit(address)
    assert opened.run(READY) == "yes"
    assert (opened.run("location.href"), opened.run(COMMANDS), opened.run(FINDING)) == (address, commands, finding)


def test_a_pasted_config_is_answered_as_its_model(opened):
    go(opened, "view=serving&model=llama-3-8b")
    [text] = opened.run(f"Promise.all({PRINTED})")
    choose(opened, "model", "config.json")
    assert opened.run("document.body.dataset.code") != "0", "nothing was pasted"
    choose(opened, "config", (ROOT / "roofline/models/llama-3-8b.json").read_text())
    assert opened.run("document.querySelector('#answers pre').textContent") == text.replace("llama-3-8b", "config.json", 1)


def test_a_refused_question_is_named_in_one_line(opened):
    choose(opened, "size-m", "-3")
    assert opened.run("document.getElementById('problem').textContent").startswith("ridgebench: ")
    assert opened.run("document.body.dataset.code") == "2"
    choose(opened, "size-m", "16")
    assert opened.run("document.getElementById('problem').hidden")


def test_a_question_in_the_address_is_text_and_no_markup(opened):
    go(opened, "view=operation&on=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert opened.run("document.images.length") == 0
    assert opened.run("document.body.dataset.code") == "2"


@pytest.mark.parametrize("size", [WIDE, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_is_wider_than_its_window(browser, page, size, scheme):
    browser.visit("about:blank")
    browser.open(page, *size)
    browser.prefer(scheme)
    assert browser.run(READY) == "yes"
    for view in VIEWS:
        go(browser, f"view={view}&also=b200")
        browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
        assert browser.run("document.documentElement.scrollWidth") <= size[0], view
        texts = browser.run("""[...document.querySelectorAll('#picture svg text')].map((one) => { const box = one.getBoundingClientRect();
            return [box.left, box.right]; })""")
        assert all(0 <= left and right <= size[0] for left, right in texts), view
    assert browser.errors == []


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_no_name_touches_another_one_or_a_mark(browser, page, size):
    rng = random.Random(390)
    browser.visit("about:blank")
    browser.open(page, *size)
    assert browser.run(READY) == "yes"
    choices, runs = browser.run("playground.choices"), browser.run(RUNS)
    devices = [sheet["name"] for sheet in choices["sheets"]] + 8 * runs
    for _ in range(60):
        operation = rng.choice(choices["operations"])
        sizes = "".join(f"&size-{name}={some(rng, 1 << 12)}" for name in operation["dimensions"])
        asked = f"op={operation['name']}&format={rng.choice(operation['formats'])}&on={rng.choice(devices)}&also={rng.choice(['', *devices])}{sizes}"
        go(browser, asked)
        assert browser.run(TOUCHING) == [], asked
    for model in rng.sample(choices["models"], 8):
        go(browser, f"view=serving&model={model}&batch={some(rng, 512)}&on={rng.choice(devices)}")
        assert browser.run(TOUCHING) == [], model
    assert browser.errors == []
