"""The table "I want to" of README.md: which pages serve which reader. And how a page begins."""

import re
from pathlib import Path

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_ROW = re.compile(r"^\| ([^|]+) \| (\[.*) \|$", re.MULTILINE)


def table_of_readers(root: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """The rows: what a reader wants, and label and path of each page."""
    part = (root / "README.md").read_text("utf-8").partition("\n| I want to | page |\n")[2]
    return [(wish, _LINK.findall(pages)) for wish, pages in _ROW.findall(part)]


def summary(page: Path) -> str:
    """The title of a page and its first sentence, in one line and without links."""
    text = _COMMENT.sub("", FENCE.sub("", page.read_text("utf-8")))
    title, *paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip())
    first = next(part for part in paragraphs if not re.match(r"[#|!-]|\d+\.", part))
    words = _LINK.sub(r"\1", first).replace("**", "")
    return f"{title.removeprefix('# ')}{'' if title.endswith('?') else '.'} {re.split(r'(?<=[.?!]) ', words)[0].rstrip(':')}"
