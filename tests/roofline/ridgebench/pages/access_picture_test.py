"""docs/pictures/access.svg: it follows from the kernels' constants, and nothing in it is cut."""

import re
from xml.etree import ElementTree

import pytest
from golden import ROOT

from ridgebench.base.files import ResultsError
from ridgebench.pages import access_picture

SVG = "{http://www.w3.org/2000/svg}"
WIDEST_LETTER = 0.62  # of a letter, over the size of the font


@pytest.fixture(name="picture", scope="module")
def picture_fixture():
    return ElementTree.fromstring(access_picture.svg())


def test_the_page_has_the_picture_of_these_kernels():
    assert (ROOT / "docs/pictures/access.svg").read_text("utf-8") == access_picture.svg(), "scripts/python.sh -m ridgebench tables"
    assert "pictures/access.svg" in (ROOT / "docs/matmul.md").read_text("utf-8")


def test_loads_follow_from_the_tiles(picture):
    title = picture.find(f"{SVG}title").text
    assert title == "Tiles cut what a multiply-add loads from global memory: 2, 2, 1/16, 1/64 elements"
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert "global 1/64, shared 0.19" in texts  # (8 + 16) / (8 x 16)
    assert len([rect for rect in picture.iter(f"{SVG}rect") if rect.get("class") == "thread"]) == 3 + 2 * 4


def test_nothing_lies_beyond_the_page(picture):
    width, height = float(picture.get("width")), float(picture.get("height"))
    for rect in picture.iter(f"{SVG}rect"):
        assert 0 <= float(rect.get("x")) and float(rect.get("x")) + float(rect.get("width")) <= width
        assert 0 <= float(rect.get("y")) and float(rect.get("y")) + float(rect.get("height")) <= height
    sizes = {"title": 19, "name": 15}
    for text in picture.iter(f"{SVG}text"):
        letters = WIDEST_LETTER * sizes.get(text.get("class"), 13) * len(text.text)
        assert float(text.get("x")) + letters <= width and float(text.get("y")) < height, text.text


def test_a_kernel_without_its_constant_is_named(tmp_path, monkeypatch):
    for path in (ROOT / "kernels/matmul").rglob("*.cu*"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(re.sub("kTileM = ", "kRows = ", path.read_text("utf-8")), "utf-8")
    monkeypatch.setattr(access_picture, "ROOT", tmp_path)
    with pytest.raises(ResultsError, match=r"naive\.cu has no constexpr int kTileM"):
        access_picture.svg()
