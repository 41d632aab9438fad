"""docs/notes.md: 98 claims, each with a command whose output has the answer, or with the reason why there is no command."""

import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "notes.md").read_text("utf-8")
PROGRAM = os.environ.get("RIDGEBENCH", str(ROOT / "build" / "ridgebench"))
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (?:`build/ridgebench ((?:info|predict|plan|number|show|step) .+?)`|-) \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE)
COMPUTED = [(number, command, answer) for number, _, command, answer in ROWS if command]
REASONS = ("needs a GPU", "lies outside of the program", "draw it")


@functools.cache
def printed(command: str) -> list[str]:
    """The lines that a command prints in a shell, with one space for several. The shell writes no file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "build").mkdir()
        (folder / "build" / "ridgebench").symlink_to(Path(PROGRAM).resolve())
        (folder / "results").symlink_to(ROOT / "results")
        shell = ["bash", "-c", f"build/ridgebench {command}"]
        done = subprocess.run(shell, capture_output=True, text=True, check=True, cwd=folder)
        assert sorted(path.name for path in folder.iterdir()) == ["build", "results"], f"the shell redirects into a file: {command}"
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


def prints(command: str, line: str) -> bool:
    """Three dots at the end replace the rest of the printed line."""
    if line.endswith(" ..."):
        return any(one.startswith(line.removesuffix("...")) for one in printed(command))
    return line in printed(command)


def test_there_are_98_in_order():
    assert [int(number) for number, *_ in ROWS] == list(range(1, 99))
    assert len(COMPUTED) >= 90


def test_a_claim_without_a_command_has_a_reason():
    for number, _, command, answer in ROWS:
        assert bool(command) != any(reason in answer for reason in REASONS), number


@pytest.mark.parametrize(("number", "command", "answer"), COMPUTED, ids=[number for number, *_ in COMPUTED])
def test_the_command_prints_the_answer(number, command, answer):
    if not Path(PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built")
    lines = re.findall(r"`([^`]+)`", answer)
    assert lines and [line for line in lines if not prints(command, line)] == []


def test_a_command_that_a_shell_redirects_is_found():
    if not Path(PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built")
    assert printed("plan einsum 'ij->j' --size i=10,j=10")
    with pytest.raises(AssertionError, match="redirects into a file"):
        printed("plan tensor --shape 2x2 >j")
