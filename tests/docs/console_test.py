"""The blocks of console in README.md and docs/ show what the program prints, as far as nothing has to be measured."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RIDGEBENCH", str(ROOT / "build" / "ridgebench"))
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = [
    part.partition("\n")[::2]
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for block in BLOCK.findall(page.read_text("utf-8"))
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]
# The commands whose answer does not depend on this machine.
CALCULATES = re.compile(r"build/ridgebench (info|predict|plan|number|explain|show) ?(?!.*results/local)")
LEFT_OUT = "..."  # represents lines that a page leaves out
CALCULATED = [(command, lines) for command, lines in SHOWN if CALCULATES.match(command)]


def written(text):
    """The lines that are not empty."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def unmarked_gaps(shown, printed):
    """The lines of an excerpt that do not follow the line before them, though no mark says that lines are left out."""
    gaps, at = [], 0
    for before, line in zip([LEFT_OUT, *shown], shown):
        if line == LEFT_OUT:
            continue
        if before != LEFT_OUT and printed[at : at + 1] != [line]:
            gaps.append(line)
        at = (printed.index(line, at) if line in printed[at:] else printed.index(line)) + 1
    return gaps


def test_there_is_something_to_check():
    assert len(CALCULATED) >= 30


@pytest.mark.parametrize("command, lines", CALCULATED, ids=[command for command, _ in CALCULATED])
def test_the_program_prints_what_the_page_shows(command, lines):
    if not Path(PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built")
    done = subprocess.run([PROGRAM, *shlex.split(command)[1:]], capture_output=True, text=True, check=True, cwd=ROOT)
    printed = written(done.stdout)
    assert [line for line in written(lines) if line != LEFT_OUT and line not in printed] == []
    assert unmarked_gaps(written(lines), printed) == []


def test_an_excerpt_that_leaves_out_a_line_without_saying_so_is_found():
    printed = ["a", "b", "c", "d"]
    assert unmarked_gaps(["b", "c"], printed) == [], "what is before and after an excerpt needs no mark"
    assert unmarked_gaps(["a", LEFT_OUT, "c", "d"], printed) == []
    assert unmarked_gaps(["a", "c"], printed) == ["c"]
    assert unmarked_gaps(["c", "b"], printed) == ["b"]
