"""Reads the page of a fleet's report."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Elements and their texts; every element but void ones must be closed."""

    VOID = {"meta", "br", "input"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data if self.open and self.open[-1] not in ("script", "style") else ""
