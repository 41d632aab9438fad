"""Cells and small tables."""

from html import escape
from typing import Iterable

from ridgebench.text import cut


def text(value: str) -> str:
    """Plain text as HTML; a name of megabytes is cut."""
    return escape(cut(value))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A small table; its cells are HTML."""
    heads = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
