"""Reads a report as a program without JavaScript does."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ridgebench.figures.html.cli import main

SVG = "{http://www.w3.org/2000/svg}"
URLS = {"src", "href", "action", "formaction", "poster", "srcset", "data", "background", "manifest"}  # attributes


def make(folder: Path, *words: Any) -> str:
    """The page of a results directory and of what `words` add."""
    out = folder.parent / "report.html"
    assert main([str(folder), *map(str, words), "-o", str(out)]) == 0
    return out.read_text("utf-8")


class Tags(HTMLParser):
    """Every start tag with its attributes, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        (self.scripts if self.tags and self.tags[-1][0] == "script" else self.texts).append(data)

    def of(self, name: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def requests(self) -> list[str]:
        """What a browser would load or call, other than parts of the page."""
        pairs = [pair for _, some in self.tags for pair in some.items()]
        urls = [value for key, value in pairs if key in URLS and not value.startswith("#")]
        handlers = [key for _, some in self.tags for key in some if key.startswith("on")]
        return urls + handlers


def chart(page: str) -> ElementTree.Element:
    """The picture, which must be XML by itself."""
    found = re.search(r'<svg xmlns[^>]*id="chart".*?</svg>(?=\n<ul id="roof-list")', page, re.DOTALL)
    return ElementTree.fromstring(found[0])


def points(page: str) -> list[ElementTree.Element]:
    return [link for link in chart(page).iter(f"{SVG}a") if link.get("class", "").startswith("point")]


def data(page: str) -> dict[str, Any]:
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
