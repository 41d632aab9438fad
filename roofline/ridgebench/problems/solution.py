"""Reads a solution: the sources of a program that solves a problem. Nothing of it is imported here.

Sources of the form: docs/flashinfer-trace/solution.mdx of flashinfer-ai/flashinfer-bench, docs/solution.md of
NVIDIA/SOL-ExecBench.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ridgebench.base.files import ResultsError, parse_json, read
from ridgebench.base.text import quoted

_LANGUAGES = ("python", "pytorch")


@dataclass(frozen=True)
class Solution:
    """`file` is the path, in the sources, of the file that has `function`."""

    name: str
    definition: str
    file: str
    function: str
    passes_outputs: bool  # the function gets the outputs, and does not return them
    sources: dict[str, str]


def _text(found: dict[str, Any], key: str, origin: str) -> str:
    value = found.get(key)
    if not isinstance(value, str) or not value:
        raise ResultsError(f"{origin}: {key} is {quoted(value)}; allowed: a text")
    return value


def _source(entry: Any, origin: str) -> tuple[str, str]:
    if not isinstance(entry, dict) or not isinstance(entry.get("content"), str):
        raise ResultsError(f"{origin}: a source is {quoted(entry)}; allowed: an object with path and content")
    path = PurePosixPath(_text(entry, "path", f"{origin}: sources"))
    if path.is_absolute() or ".." in path.parts or "\0" in str(path) or str(path) == ".":
        raise ResultsError(f"{origin}: the path {quoted(str(path))} of a source; allowed: a relative path without ..")
    return str(path), entry["content"]


def _check_language(spec: dict[str, Any], origin: str) -> None:
    given = spec.get("languages", spec.get("language"))
    for language in given if isinstance(given, list) else [given]:
        if language not in _LANGUAGES:
            raise ResultsError(f"{origin}: the language {quoted(language)}; allowed: {', '.join(_LANGUAGES)}, because a solution runs "
                               "isolated on a host")


def read_solution(path: Path) -> Solution:
    """Raises ResultsError with one line that names the file and the key."""
    origin = str(path)
    found = parse_json(read(path, "a solution"), origin)
    if not isinstance(found, dict) or not isinstance(found.get("spec"), dict) or not isinstance(found.get("sources"), list):
        raise ResultsError(f"{origin}: no solution; allowed: an object with name, definition, spec and sources")
    spec = found["spec"]
    _check_language(spec, origin)
    entry = _text(spec, "entry_point", f"{origin}: spec")
    file, colons, function = entry.partition("::")
    sources = dict(_source(source, origin) for source in found["sources"])
    if len(sources) < len(found["sources"]):
        raise ResultsError(f"{origin}: two sources have one path")
    if not colons or file not in sources or not file.endswith(".py") or not function.isidentifier():
        raise ResultsError(f"{origin}: entry_point is {quoted(entry)}; allowed: FILE.py::FUNCTION, a file of the sources")
    passes = spec.get("destination_passing_style", True)
    if not isinstance(passes, bool):
        raise ResultsError(f"{origin}: destination_passing_style is {quoted(passes)}; allowed: true or false")
    return Solution(_text(found, "name", origin), _text(found, "definition", origin), file, function, passes, sources)
