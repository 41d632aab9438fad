"""No page is longer than a reader reads: its lines, their width and the cells of its tables have limits."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("results/*/NOTES.md"))]
MOST_LINES = 250
WIDEST_LINE = 140  # characters; rows of tables may be wider
LARGEST_CELL = 200  # characters
# Pages whose lines are still too wide.
WIDE: set[str] = set()


def is_row(line: str) -> bool:
    return line.startswith("|")


def cells(line: str) -> list[str]:
    """The cells of a row; a bar behind a backslash belongs to its cell."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]


def too_long(text: str, widest: float = WIDEST_LINE) -> list[str]:
    """What exceeds a limit, a line each."""
    lines = text.splitlines()
    seen = sum(not line.startswith("<!-- ") for line in lines)  # a reader sees no comment
    found = [f"{seen} lines"] if seen > MOST_LINES else []
    for number, line in enumerate(lines, 1):
        if is_row(line):
            found += [f"line {number}: a cell of {len(cell)} characters" for cell in cells(line) if len(cell) > LARGEST_CELL]
        elif len(line) > widest:
            found.append(f"line {number}: {len(line)} characters")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_keeps_the_limits(page):
    wide = page.relative_to(ROOT).as_posix() in WIDE
    assert too_long(page.read_text("utf-8"), float("inf") if wide else WIDEST_LINE) == []


def test_the_check_can_fail():
    assert too_long("a\n" * 250 + "<!-- table -->\n" + "b" * 140) == ["251 lines"]
    assert too_long("a\n" + "b" * 141) == ["line 2: 141 characters"]
    assert too_long(f"| {'a' * 200} | {'b' * 201} |\n| {'c' * 98}\\|{'d' * 100} |") == ["line 1: a cell of 201 characters"]
    assert {"README.md", "CONTRIBUTING.md", "method.md", "NOTES.md"} <= {page.name for page in PAGES}
