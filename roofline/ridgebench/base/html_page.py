"""Pages of one HTML file: no network, nothing in them that a text of the results could end or start."""

import base64
import hashlib
import json
from typing import Any

# A page's own scripts and its style, by their hashes; nothing that a browser would have to request.
POLICY = "default-src 'none'; script-src {scripts}; style-src {style}; base-uri 'none'; form-action 'none'"

_HEAD = """<!DOCTYPE html>
<html lang="@@lang@@">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="@@policy@@">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@@title@@</title>
<style>@@style@@</style>
</head>
"""


def digest(text: str) -> str:
    """The hash of an inline script or style as a Content-Security-Policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def script_json(value: Any) -> str:
    """JSON that no text in it can end: a script element ends at `</script`, a comment in it begins with `<!--`."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def filled(body: str, parts: dict[str, str], language: str = "en") -> str:
    """The page with each part in place of its @@name@@; the head takes the policy, the title and the style.

    One pass: a text that looks like a placeholder stays a text.
    """
    pieces = (_HEAD + body).split("@@")
    parts = parts | {"lang": language}
    return "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))
