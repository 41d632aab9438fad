"""The playground's page in a Chromium."""

from pathlib import Path

import pytest
from playground import MODEL, READY, WIDE

from ridgebench.__main__ import main


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("playground") / "page.html"
    assert main(["playground", "--wasm", str(MODEL), "-o", str(path)]) == 0
    return path


@pytest.fixture
def opened(browser, page):
    """The page on a wide screen; whatever a test does leaves no error."""
    browser.visit("about:blank")
    browser.open(page, *WIDE)
    assert browser.run(READY) == "yes"
    yield browser
    assert browser.errors == []
