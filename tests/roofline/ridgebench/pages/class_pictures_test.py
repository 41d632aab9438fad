"""docs/pictures/class: the slides that the class shows are those that the program draws today."""

import pytest
from golden import ROOT

from ridgebench.base.files import ResultsError
from ridgebench.pages import class_pictures

PICTURES = {"bits": "h100-sxm", "gelu": "h100-sxm", "batching": "h100-sxm", "matmul": "h100-sxm", "formats": "h100-sxm",
            "devices": "h100-sxm h200"}  # fmt: skip


@pytest.mark.parametrize("slug", PICTURES)
def test_the_class_shows_the_slide_of_today(slug):
    kept = (ROOT / "docs" / class_pictures.FOLDER / f"{slug}.svg").read_text("utf-8")
    assert class_pictures.words(kept) == class_pictures.words(class_pictures.svg(slug, PICTURES[slug])), "scripts/python.sh -m ridgebench tables"
    assert len(class_pictures.words(kept)) > 10
    page = (ROOT / "docs/lecture.md").read_text("utf-8")
    assert f"![{class_pictures.title(slug, PICTURES[slug])}](pictures/class/{slug}.svg)" in page


def test_no_picture_is_left_over():
    assert {path.stem for path in (ROOT / "docs" / class_pictures.FOLDER).iterdir()} == set(PICTURES)


def test_an_unknown_slide_is_named():
    with pytest.raises(ResultsError, match="no slide 'gleu' of h100-sxm; allowed: .*gelu"):
        class_pictures.svg("gleu", "h100-sxm")
