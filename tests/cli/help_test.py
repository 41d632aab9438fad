"""--help of every command: a screen of 80 columns, words of the field, and examples that work."""

import re

import pytest
from command_line import OK, ROOT, environment, ridgebench

LINES, COLUMNS = 40, 80
MEASURING = ("run", "duel", "step", "soak")  # their examples are planned, not measured


def _help(*words: str, all_options: bool = False) -> str:
    done = ridgebench(*words, "--help-all" if all_options else "--help", env=environment(COLUMNS="82"))  # argparse leaves two columns free
    assert (done.returncode, done.stderr) == (OK, ""), words
    return done.stdout


def _below(*words: str) -> list[tuple[str, ...]]:
    """A command and those below it."""
    text = _help(*words)
    own = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    names = re.findall(r"^  ([a-z-]+)", own[1], re.MULTILINE) if own else re.findall(r"^    ([a-z]\w*)  ", text, re.MULTILINE)
    return [words, *(found for name in names for found in _below(*words, name))]


COMMANDS = _below()


def test_all_commands_are_found():
    assert {(), ("run",), ("plan", "fits"), ("gate",), ("baseline", "check"), ("fleet", "report"), ("roofline-energy",)} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_a_screen(words):
    lines = _help(*words).splitlines()
    assert len(lines) <= LINES and max(map(len, lines)) <= COLUMNS
    assert not re.search(r"Excludes:|Needs:|REQUIRED|a text that|UINT|FLOAT", "\n".join(lines))


@pytest.mark.parametrize("words", [("run",), ("duel",), ("plan", "train"), ("gate",)], ids=" ".join)
def test_all_options_are_those_of_the_help_and_the_others(words):
    short, long = (set(re.findall(r"^  (?:-\w, ?)?--([\w-]+)", _help(*words, all_options=flag), re.MULTILINE)) for flag in (False, True))
    (others,) = re.findall(r"--help-all` lists (\d+) other options", _help(*words))
    assert short < long and len(long - short) == int(others)


def _examples(*words: str) -> list[str]:
    return re.findall(r"^  ridgebench (.*)$", _help(*words).replace("\\\n    ", ""), re.MULTILINE)


EXAMPLES = [call for words in COMMANDS if words != ("gate",) for call in _examples(*words)]  # the gate's name no real programs


@pytest.mark.parametrize("call", EXAMPLES)
def test_examples_work(call, tmp_path):
    words = call.replace("results/local/latest", str(ROOT / "tests/data/golden_results")).split()
    done = ridgebench(*words, *(["--dry-run"] if words[0] in MEASURING else []), cwd=tmp_path)
    assert (done.returncode, bool(done.stdout)) == (OK, True), done.stderr
