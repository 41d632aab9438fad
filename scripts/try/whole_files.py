"""Finds the files below a folder that are half written: JSON, XML, HTML, PDF, PNG, tables, and temporary files."""

import json
import re
from pathlib import Path
from typing import Callable
from xml.etree import ElementTree


def ends_with(end: bytes) -> Callable[[Path], None]:
    def check(path: Path) -> None:
        if not path.read_bytes().rstrip().endswith(end):
            raise ValueError(f"does not end with {end!r}")

    return check


def lines(path: Path) -> None:
    """Every line but one that a kill cut is JSON."""
    *whole, _ = path.read_bytes().split(b"\n")
    for line in whole:
        json.loads(line)


def text(path: Path) -> None:
    if not path.read_text("utf-8").endswith("\n"):
        raise ValueError("has no last line")


CHECKS = {
    ".json": lambda path: json.loads(path.read_text("utf-8")), ".jsonl": lines, ".xml": ElementTree.parse, ".svg": ElementTree.parse,
    ".html": ends_with(b"</html>"), ".pdf": ends_with(b"%%EOF"), ".png": ends_with(b"IEND\xaeB`\x82"), ".csv": text, ".md": text,
}  # fmt: skip
TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp$")


def problems_of(folder: Path, killed: bool) -> list[str]:
    """The faults of the files of a command; one that was killed may leave a temporary file."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        if TEMPORARY.search(path.name):
            found += [] if killed else [f"{name} is left"]
            continue
        try:
            CHECKS.get(path.suffix, lambda path: None)(path)
        except (ValueError, ElementTree.ParseError) as error:
            found.append(f"{name}: {error}")
    return found
