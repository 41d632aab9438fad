"""Texts that are cut before they are shown: at the end, or where two of them begin to differ."""

import os
from typing import Any

LONGEST = 500  # characters that a figure or a page shows; measuring a text of megabytes takes minutes
CONTEXT = 20  # characters before the difference of two texts


class Cut(str):
    """A whole text, which files get, with a short form for people."""

    short: str

    def __new__(cls, whole: str, short: str = "") -> "Cut":
        made = super().__new__(cls, whole)
        made.short = short or whole
        return made


def short(text: str) -> str:
    """The short form of a text that has one."""
    return getattr(text, "short", text)


def cut(value: Any, most: int = LONGEST) -> Any:
    """The value with texts of at most `most` characters, also in lists and objects."""
    if isinstance(value, str):
        return value if len(value) <= most else value[:most] + "…"
    if isinstance(value, dict):
        return {key: cut(item, most) for key, item in value.items()}
    return [cut(item, most) for item in value] if isinstance(value, list) else value


def apart(one: str, other: str, most: int) -> tuple[str, str]:
    """Two different texts, each with about `most` characters that show the difference.

    The common beginning gives way where the difference lies behind it; else the end does.
    """
    begin = len(os.path.commonprefix([one, other]))
    start = max(0, begin - CONTEXT) if max(len(one), len(other)) > most and begin > most - CONTEXT else 0
    if start:
        start = max(start, one.find(" ", start, begin) + 1)  # a whole word, if one begins there

    def shown(text: str) -> str:
        end = "..." if len(text) > start + most else ""
        return ("..." if start else "") + text[start : start + most] + end

    return shown(one), shown(other)
