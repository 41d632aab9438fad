"""Texts from elsewhere, before they are shown: without control characters, cut, and such that no form takes them for markup.

HTML is escaped by the standard library's html.escape().
"""

import os
import re
import textwrap
from typing import Any

LONGEST = 500  # characters that a figure or a page shows; measuring a text of megabytes takes minutes
_LONGEST_LINE = 900  # characters of a line for a terminal: a name in it may have megabytes
LONGEST_QUOTED = 60  # characters of a value in a message about it
_CONTEXT = 20  # characters before the difference of two texts
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula begins with; owasp.org, "CSV Injection"
_PAGE_WIDTH = 140  # characters of a line of a page; rows of tables are longer
_LINK_TEXT = re.compile(r"\[[^\]]*\]")
_JOINED = "\0"  # represents a space at which no line is wrapped
_MARKUP = re.compile(r"([\\`*_\[\]<>|~&])")  # of Markdown within a line
_PLAIN = " .,;%+=/-"  # besides letters and digits: what no dialect of Markdown takes for markup within a line


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


def clean(value: Any) -> Any:
    """The value with spaces in place of control characters and lone surrogates, which no figure can hold."""
    if isinstance(value, str):
        if value.isprintable():
            return value
        text = value.encode("utf-8", "replace").decode("utf-8")
        return "".join(c if c.isprintable() else " " for c in text)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def cut(value: Any, most: int = LONGEST) -> Any:
    """The value with a mark after `most` characters of a longer text, also in lists and objects."""
    if isinstance(value, str):
        return value if len(value) <= most else value[:most].rstrip() + "…"
    if isinstance(value, dict):
        return {key: cut(item, most) for key, item in value.items()}
    return [cut(item, most) for item in value] if isinstance(value, list) else value


def quoted(value: Any, most: int = LONGEST_QUOTED) -> str:
    """The text of a value in quotes, for a message about it; a long one is cut."""
    return repr(cut(str(value), most))


def ends(text: str, most: int, mark: str = "...") -> str:
    """The text; of a longer one both ends, `most` characters with the mark between them. Sizes are at the end of a name."""
    half = (most - len(mark)) // 2
    return text if len(text) <= most else f"{text[:half]}{mark}{text[-half:]}"


def one_line(text: str) -> str:
    """The text for a terminal: one line without control characters, of bounded length."""
    return clean(ends(text, _LONGEST_LINE, " ... "))


def apart(one: str, other: str, most: int) -> tuple[str, str]:
    """Two different texts, each with about `most` characters that show the difference.

    The common beginning gives way where the difference lies behind it; else the end does.
    """
    begin = len(os.path.commonprefix([one, other]))
    start = max(0, begin - _CONTEXT) if max(len(one), len(other)) > most and begin > most - _CONTEXT else 0
    if start:
        start = max(start, one.find(" ", start, begin) + 1)  # a whole word, if one begins there

    def shown(text: str) -> str:
        end = "..." if len(text) > start + most else ""
        return ("..." if start else "") + text[start : start + most] + end

    return shown(one), shown(other)


def page_lines(text: str) -> str:
    """A paragraph of Markdown in lines of _PAGE_WIDTH. No line ends within the text of a link."""
    unbroken = _LINK_TEXT.sub(lambda link: link.group().replace(" ", _JOINED), text)
    return textwrap.fill(unbroken, _PAGE_WIDTH, break_long_words=False, break_on_hyphens=False).replace(_JOINED, " ")


def csv_cell(value: Any) -> Any:
    """A spreadsheet takes a text that begins so for a formula, as in the report's download; an apostrophe makes it a text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def markdown(text: str) -> str:
    """A text within a line of Markdown, readable also as it is: a backslash before what could be markup."""
    return _MARKUP.sub(r"\\\1", text)


def markdown_references(text: str) -> str:
    """A text of strangers within a line of Markdown for a site that makes links of it: what is not plain is a reference."""
    return "".join(c if c.isalnum() or c in _PLAIN else f"&#{ord(c)};" for c in text)


def markdown_code(text: str) -> str:
    """A text as code within a line of Markdown. A pipe or a backtick would end a cell or a code span."""
    if text and text.strip() == text and not set(text) & set("`|\\"):
        return f"`{text}`"
    return f"<code>{markdown_references(text)}</code>"


def prometheus_label(value: Any) -> str:
    """The value of a label in Prometheus's text format."""
    text = "" if value is None else str(value)
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def capital(sentence: str) -> str:
    """The sentence with a capital first letter, unless it begins with a format or a camel-case name."""
    first = sentence.split(" ")[0]
    plain = first.isalpha() and first == first.lower()
    return sentence[0].upper() + sentence[1:] if plain else sentence
