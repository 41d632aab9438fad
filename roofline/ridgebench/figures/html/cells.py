"""Texts as cells of HTML."""

from html import escape

from ridgebench.base.text import cut


def text(value: str) -> str:
    """Plain text as HTML; a name of megabytes is cut."""
    return escape(cut(value))
