"""The blocks of console in docs/ show what the program prints, as far as nothing has to be measured."""

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
    for page in sorted((ROOT / "docs").glob("*.md"))
    for block in BLOCK.findall(page.read_text("utf-8"))
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]
# The commands whose answer does not depend on this machine.
CALCULATES = re.compile(r"build/ridgebench (info|predict|plan|number) ?(?!.*results/local)")
CALCULATED = [(command, lines) for command, lines in SHOWN if CALCULATES.match(command)]


def test_there_is_something_to_check():
    assert len(CALCULATED) >= 30


@pytest.mark.parametrize("command, lines", CALCULATED, ids=[command for command, _ in CALCULATED])
def test_the_program_prints_what_the_page_shows(command, lines):
    if not Path(PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built")
    done = subprocess.run([PROGRAM, *shlex.split(command)[1:]], capture_output=True, text=True, check=True, cwd=ROOT)
    printed = {line.rstrip() for line in done.stdout.splitlines()}
    assert [line for line in lines.splitlines() if line not in ("", "...") and line.rstrip() not in printed] == []
