"""The slides as a PowerPoint file: read again by python-pptx."""

import io
import sys

import matplotlib.image
import pytest

from ridgebench.__main__ import main
from ridgebench.figures.slides import slides

MISSING = "python-pptx is not installed; scripts/setup.sh --dev installs it"
PAGE = (12192000, 6858000)  # EMU: 13.33 x 7.5 inches


def made(path, *more: str):
    pptx = pytest.importorskip("pptx", reason=MISSING)
    assert slides.main(["--on", "h100-sxm", *more, "-o", str(path)]) == 0
    return pptx.Presentation(str(path))


def test_a_slide_has_a_title_a_picture_and_notes(tmp_path, capfd):
    show = made(tmp_path / "deck.pptx")
    assert abs(show.slide_width - PAGE[0]) < 1000 and show.slide_height == PAGE[1]
    assert capfd.readouterr().out == f"{tmp_path / 'deck.pptx'}: {len(show.slides)} slides\n"
    titles = [page.shapes.title.text_frame.text for page in show.slides]
    assert titles[0] == "One byte takes as long as 295 FLOP" and "GeLU: 20 times the work, the same time" in titles
    notes = show.slides[0].notes_slide.notes_text_frame.text
    assert "While memory delivers one byte" in notes and "one byte: 299 fs" in notes and "ridgebench info --on h100-sxm" in notes
    for page in show.slides:
        picture, title = page.shapes
        assert title == page.shapes.title, "the title lies over the picture"
        assert (picture.width, picture.height) == (show.slide_width, show.slide_height)
        assert picture._element.nvPicPr.cNvPr.get("descr").startswith(title.text_frame.text)
        assert title.text_frame.paragraphs[0].runs[0].font.size.pt >= 18


def test_pictures_have_twice_the_points_of_a_slide_and_no_title(tmp_path):
    show = made(tmp_path / "deck.pptx", "--theme", "dark")
    pixels = matplotlib.image.imread(io.BytesIO(show.slides[0].shapes[0].image.blob))
    assert pixels.shape[0] >= 2 * 540 and pixels.shape[1] >= 2 * 960
    head = pixels[: int(0.1 * pixels.shape[0])]
    assert (head == head[0, 0]).all(), "the title is text of the file"


def test_without_python_pptx_its_name_is_said(tmp_path, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "pptx", None)
    assert main(["slides", "--on", "h100-sxm", "-o", str(tmp_path / "deck.pptx")]) == 2
    assert capfd.readouterr().err == "slides: a .pptx file needs python-pptx; `pip install 'ridgebench[pptx]'` installs it\n"
    assert not list(tmp_path.iterdir())
