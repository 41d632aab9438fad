"""Elements of SVG and HTML as text; everything that comes from a file is escaped here."""

from html import escape
from typing import Optional, Union

_Value = Union[str, float, None]


def number(value: float) -> str:
    """A coordinate with a hundredth of a pixel: the reader may zoom."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def path(*parts: _Value) -> str:
    """The `d` of a path: letters as they are, numbers with a hundredth of a pixel."""
    return " ".join(part if isinstance(part, str) else number(part) for part in parts)


def element(name: str, *inner: str, text: Optional[str] = None, **attributes: _Value) -> str:
    """An element. inner: elements; text: plain text in front of them. In names of attributes _ represents -."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            shown = value if isinstance(value, str) else number(value)
            parts.append(f'{key.strip("_").replace("_", "-")}="{escape(shown)}"')
    body = (escape(text) if text else "") + "".join(inner)
    return f"<{' '.join(parts)}>{body}</{name}>" if body else f"<{' '.join(parts)}/>"
