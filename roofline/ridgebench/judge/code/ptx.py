"""The functions of a PTX text, which the driver compiles: without comments, lines, files and numbers that depend on neighbours."""

import re

from ridgebench.base.files import ResultsError

from .cubin import Cubin
from .names import plain
from .piece import Piece, add, digest

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEBUG = re.compile(r"\.section\s+\.debug\w*\s*\{[^}]*\}")  # tables of lines, which name files
_LINES = re.compile(r"^\s*\.(?:loc|file)\b[^\n]*$", re.MULTILINE)
# Labels and the local depot carry the number of their function in the file: $L__BB3_2, __local_depot3.
_NUMBERED = ((re.compile(r"\$L__BB\d+_"), "$L__BB_"), (re.compile(r"__local_depot\d+"), "__local_depot"))
_FUNCTION = re.compile(r"\.(entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$]+)")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_KERNEL = "entry"


def _bodies(text: str, origin: str) -> list[tuple[int, int, str, str]]:
    """Where each function begins, with its linking directive, and ends; its kind and its name. Raises ResultsError."""
    found: list[tuple[int, int, str, str]] = []
    at = 0
    while match := _FUNCTION.search(text, at):
        start = max(text.rfind(";", 0, match.start()), text.rfind("}", 0, match.start()), at - 1) + 1
        end, semicolon = text.find("{", match.end()), text.find(";", match.end())
        if end < 0 and semicolon < 0:
            raise ResultsError(f"{origin}: malformed PTX: {match[2]} has no end")
        if end < 0 or 0 <= semicolon < end:  # a declaration
            at = semicolon + 1
        else:
            depth, at = 1, end + 1
            while depth:
                brace = re.compile(r"[{}]").search(text, at)
                if brace is None:
                    raise ResultsError(f"{origin}: malformed PTX: {match[2]} has no end")
                depth += 1 if brace[0] == "{" else -1
                at = brace.end()
        found.append((start, at, match[1], match[2]))
    return found


def read_ptx(data: bytes, origin: str) -> Cubin:
    """The functions of a PTX text. Each holds what is declared outside of functions as well."""
    text = plain(_LINES.sub("", _DEBUG.sub("", _COMMENT.sub("", data.rstrip(b"\0").decode("latin-1")))))
    for pattern, replacement in _NUMBERED:
        text = pattern.sub(replacement, text)
    found, outside, at = Cubin(), [], 0
    bodies: dict[str, list[str]] = {}
    for start, end, kind, name in _bodies(text, origin):
        outside.append(text[at:start])
        body = text[start:end]
        bodies.setdefault(name, []).append(" ".join(body.split()))
        if kind == _KERNEL:
            found.kernels.add(name)
        at = end
    shared = digest(" ".join(" ".join([*outside, text[at:]]).split()))
    for name, parts in bodies.items():
        calls = frozenset(word for part in parts for word in _WORD.findall(part) if word in bodies and word != name)
        add(found.pieces, name, Piece(digest(shared, *sorted(parts)), calls))
    return found
