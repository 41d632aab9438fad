"""The deck in a real Chromium: keys, URL, swipes, the window of the notes, print, a phone, both colour schemes."""

import re
from pathlib import Path

import chromium
import pytest

from ridgebench.figures.slides import slides

pytestmark = pytest.mark.skipif(chromium.PROGRAM is None, reason="no chromium; scripts/setup.sh --dev installs it")
PLACE = "document.getElementById('place').textContent"
SHOWN = "document.querySelector('.step.shown h2').textContent"
VISIBLE = """[...document.querySelectorAll('.step svg.whole')].filter((svg) => svg.checkVisibility({ visibilityProperty: true }))
    .map((svg) => svg.closest('.picture').className)"""
SECOND = "window.open('', 'ridgebench-notes')"
PHONE = (390, 844)
LEAST_TEXT = 8.5  # px of a text in a picture on a phone; its numbers are below it once more
STEPS = 8  # of the roofline


def made(folder: Path, *more: str) -> Path:
    path = folder / "deck.html"
    assert slides.main(["--on", "h100-sxm", *more, "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    return made(tmp_path_factory.mktemp("deck"))


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with chromium.Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def browser(window, page):
    window.open(page)
    go(window, "1")
    yield window
    assert window.errors == []


def go(browser, name: str) -> None:
    """Changes the number in the URL."""
    browser.run(f"""new Promise((done) => {{ if (location.hash === '#{name}') return done();
        addEventListener('hashchange', () => setTimeout(done), {{ once: true }}); location.hash = '{name}'; }})""")


def number_of_slides(browser) -> int:
    return browser.run("document.querySelectorAll('.slide').length")


def test_it_opens_without_network(browser, page):
    own, *others = browser.requests
    assert own == page.as_uri() and all(one.startswith("data:font/woff") for one in others)


@pytest.mark.parametrize(("on", "back"), [("ArrowRight", "ArrowLeft"), ("ArrowDown", "ArrowUp"), ("PageDown", "PageUp"), (" ", None)])
def test_keys_go_through_slides_and_their_steps(browser, on, back):
    count = number_of_slides(browser)
    seen = [browser.run(PLACE)]
    for _ in range(5):
        browser.press(on)
        seen.append(browser.run(PLACE))
    assert seen == [*(f"{slide} of {count}" for slide in (1, 2, 3)), *(f"4 of {count}, step {step} of {STEPS}" for step in (1, 2, 3))]
    assert browser.run(SHOWN).startswith("Arithmetic ends at 990 TFLOP/s")
    assert browser.run("document.getElementById('heard').textContent").startswith(f"{seen[-1]}: Arithmetic ends"), "a screen reader says it"
    for place in reversed(seen[:-1]):
        browser.press(back) if back else browser.press(" ", chromium.SHIFT)
        assert browser.run(PLACE) == place


def test_the_ends_are_ends(browser):
    browser.press("ArrowLeft")
    assert browser.run(PLACE).startswith("1 of ") and browser.run("document.getElementById('back').disabled")
    browser.press("End")
    last = browser.run(PLACE)
    assert last == "{0} of {0}".format(number_of_slides(browser))
    browser.press("ArrowRight")
    assert browser.run(PLACE) == last
    browser.press("Home")
    assert browser.run(PLACE).startswith("1 of ")


def test_the_url_has_the_number(browser, page):
    for _ in range(4):
        browser.press("ArrowRight")
    assert browser.run("location.hash") == "#4.2"
    go(browser, "4.6")
    assert browser.run(PLACE).endswith(f"step 6 of {STEPS}") and browser.run(SHOWN).startswith("GeLU: 20 times the work")
    go(browser, "4")
    assert browser.run(PLACE).endswith(f"step 1 of {STEPS}")
    go(browser, "99")
    assert browser.run(PLACE).endswith(f"step 1 of {STEPS}"), "an unknown number changes nothing"
    browser.navigate(page, "#4.6")
    assert browser.run("document.title").startswith("4 of ") and browser.run(SHOWN).startswith("GeLU")


def test_one_picture_is_seen_in_the_scheme_of_the_reader(browser):
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        for key in ("Home", "ArrowRight", "ArrowRight"):
            browser.press(key)
            assert browser.run(VISIBLE) == [f"picture {scheme}"]


def test_a_step_appears_over_the_one_before_it(browser):
    go(browser, "4.4")
    before = browser.run(SHOWN)
    browser.press("ArrowRight")
    assert browser.run("document.querySelector('.step.before h2').textContent") == before
    assert browser.run("document.querySelector('.step.before').inert")
    browser.press("ArrowLeft")
    assert browser.run("document.querySelectorAll('.step.before').length") == 0


def test_a_picture_says_its_finding(browser):
    labels = browser.run("[...document.querySelectorAll('svg.whole')].map((svg) => svg.getAttribute('aria-label'))")
    titles = browser.run("[...document.querySelectorAll('.step h2')].map((title) => title.textContent)")
    assert len(labels) == 2 * len(titles)
    assert all(label.startswith(f"{title}. ") for label, title in zip(labels[::2], titles))


def test_buttons_work_with_the_keyboard(browser):
    browser.press("Tab")
    assert browser.run("document.activeElement.id") == "on", "the first button has nowhere to go on the first slide"
    browser.press("Enter")
    assert browser.run(PLACE).startswith("2 of ")
    browser.press(" ")
    assert browser.run(PLACE).startswith("3 of "), "space presses the button once"


def test_the_notes_follow_in_a_second_window(browser):
    browser.press("n")
    text = f"{SECOND}.document.body.textContent"
    assert "While memory delivers one byte" in browser.run(text) and "minutes 0 to 3 of " in browser.run(text)
    browser.press("ArrowRight")
    assert "Which of them wait for memory" in browser.run(text) and "ridgebench predict matmul" in browser.run(text)
    go(browser, "4.6")
    assert "Its arithmetic runs while the bytes arrive" in browser.run(text)
    assert "Next: Batching climbs" in browser.run(text)
    browser.run(f"{SECOND}.document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight', bubbles: true }}))")
    assert browser.run(PLACE).endswith(f"step 7 of {STEPS}"), "keys in the window of the notes move the slides"
    browser.run(f"{SECOND}.close()")


def test_a_page_of_paper_has_one_step(browser):
    browser.prefer("dark")
    pdf = browser.printed()
    assert len(re.findall(rb"/Type /Page\b", pdf)) == browser.run("document.querySelectorAll('.step').length")
    assert {tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[(.*?)\]", pdf)} == {(0.0, 0.0, 960.0, 540.0)}


def test_a_phone_shows_each_slide_without_a_scroll_to_the_side(window, page):
    window.open(page, *PHONE)
    for _ in range(window.run("document.querySelectorAll('.step').length")):
        assert window.run("[document.documentElement.scrollWidth, innerWidth]") == [PHONE[0]] * 2
        assert window.run("document.querySelector('.step.shown h2').getBoundingClientRect().height") > 15
        sizes = window.run("""[...document.querySelectorAll('.step.shown .picture.light svg text')].map((text) =>
            parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)""")
        assert min(filter(None, sizes)) > LEAST_TEXT
        window.press("ArrowRight")
    assert window.errors == []


def test_fingers_swipe(window, page):
    window.open(page, *PHONE)
    go(window, "1")
    window.swipe((300, 300), (120, 310))
    assert window.run(PLACE).startswith("2 of ")
    window.swipe((120, 300), (300, 310))
    assert window.run(PLACE).startswith("1 of ")
    window.swipe((200, 600), (180, 300))
    assert window.run(PLACE).startswith("1 of "), "a scroll is no swipe"
    assert window.errors == []


def test_one_theme_is_the_only_one(window, tmp_path):
    window.open(made(tmp_path, "--theme", "dark"))
    assert window.run("document.querySelectorAll('.picture:not(.dark)').length") == 0
    assert window.run("getComputedStyle(document.documentElement).backgroundColor") == "rgb(17, 17, 17)"


def test_without_scripts_all_slides_and_notes_are_there(window, page):
    window.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        window.open(page)
        text = page.read_text("utf-8")
    finally:
        window.send("Emulation.setScriptExecutionDisabled", value=False)
    assert window.run(VISIBLE) == ["picture light"] * text.count('class="picture light"')


def test_texts_of_a_run_are_texts(window, edit, tmp_path):
    name = "</style></script><img src=x onerror=alert(1)>&\"'"
    folder = edit(lambda _, environment: environment["devices"][0].update(model=name))
    assert slides.main([str(folder), "-o", str(tmp_path / "deck.html")]) == 0
    window.open(tmp_path / "deck.html")
    assert window.errors == [] and window.run("document.images.length") == 0
    assert window.run("document.querySelector('h1').textContent").startswith(name[:10]) and window.run(PLACE).startswith("1 of ")
