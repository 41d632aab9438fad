"""docs/pictures/class: the slides that the class shows are those that the program draws today."""

import pytest
from golden import ROOT

from ridgebench.base.files import ResultsError
from ridgebench.base.text import markdown
from ridgebench.figures.page.language import has_chinese_font
from ridgebench.pages import class_pictures

PICTURES = {"bits": "h100-sxm", "gelu": "h100-sxm", "batching": "h100-sxm", "matmul": "h100-sxm", "formats": "h100-sxm",
            "devices": "h100-sxm h200"}  # fmt: skip
# Those on other pages than lecture.md.
OTHERS = {"passes": "napkin", "state": "napkin", "memory": "napkin", "activations": "napkin", "zones": "napkin", "tokens": "models",
          "phases": "before_training"}  # fmt: skip
FOLDERS = {"en": "docs", "zh": "docs/zh"}
SHOWN = [("en", slug, sheets) for slug, sheets in (PICTURES | dict.fromkeys(OTHERS, "h100-sxm")).items()]
SHOWN += [("zh", slug, sheets) for slug, sheets in (PICTURES | {"passes": "h100-sxm", "state": "h100-sxm", "memory": "h100-sxm"}).items()]
IN_CHINESE = {"memory": "exercises"}  # on another page than lecture.md


@pytest.mark.parametrize("language, slug, sheets", SHOWN)
def test_the_class_shows_the_slide_of_today(language, slug, sheets):
    if language == "zh" and not has_chinese_font():
        pytest.skip("no font with Chinese characters")
    folder = ROOT / FOLDERS[language]
    kept = (folder / class_pictures.FOLDER / f"{slug}.svg").read_text("utf-8")
    assert class_pictures.words(kept) == class_pictures.words(class_pictures.svg(slug, sheets, language)), "scripts/python.sh -m ridgebench tables"
    assert len(class_pictures.words(kept)) > 10
    page = (folder / f"{(OTHERS if language == 'en' else IN_CHINESE).get(slug, 'lecture')}.md").read_text("utf-8")
    assert f"![{markdown(class_pictures.title(slug, sheets, language))}](pictures/class/{slug}.svg)" in page


@pytest.mark.skipif(not has_chinese_font(), reason="no font with Chinese characters")
def test_the_language_that_comes_first_changes_no_title():
    """A slide chooses the longest title that fits, and Chinese ones are shorter."""
    found = []
    for languages in (("en", "zh"), ("zh", "en")):
        class_pictures.slides_of.cache_clear()
        found.append({(language, slug): class_pictures.title(slug, sheets, language) for language in languages for slug, sheets in PICTURES.items()})
    assert found[0] == found[1]


def test_no_picture_is_left_over():
    for language, folder in FOLDERS.items():
        kept = {path.stem for path in (ROOT / folder / class_pictures.FOLDER).iterdir()}
        assert kept == {slug for shown_in, slug, _ in SHOWN if shown_in == language}


def test_an_unknown_language_is_named():
    with pytest.raises(ResultsError, match="no words in 'fr'; allowed: en, zh"):
        class_pictures.svg("gelu", "h100-sxm", "fr")


def test_an_unknown_slide_is_named():
    with pytest.raises(ResultsError, match="no slide 'gleu' of h100-sxm; allowed: .*gelu"):
        class_pictures.svg("gleu", "h100-sxm", "en")
