"""A rule that several pages state is the same on all of them."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RIDGEBENCH", str(ROOT / "build" / "ridgebench"))
PAGES = {path.relative_to(ROOT).as_posix(): " ".join(path.read_text("utf-8").split()) for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]}
SENTENCES = [(name, sentence) for name, text in PAGES.items() for sentence in re.split(r"(?<=\.) ", text)]
# What a sentence speaks of, the words that a rule then needs, and a number of sentences that there are at least.
RULES = {
    "a launch is bound by the launch below ten times an empty one": (r"(less|shorter) than.*bound by (the|its) launch", r"\bten\b", 4),
    "a row raises a roof by more than 1 %": (r"(rate|row)\b.*\braises (the|that) roof", r"more than 1 %", 8),
    "a FLOP is one of three things": (r"\*\*FLOP\*\* is", r"one addition, multiplication or comparison", 2),
}


def test_each_command_is_on_a_page() -> None:
    if not Path(PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built")
    shown = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  (\w+) ", shown.partition("\nCommands:")[2], re.MULTILINE)
    text = " ".join(PAGES.values())
    assert len(commands) >= 10
    assert [name for name in [*commands, "plot --terminal"] if not re.search(rf"(`|ridgebench ){name}\b", text)] == []


def stated(about: str) -> list[tuple[str, str]]:
    return [(name, sentence) for name, sentence in SENTENCES if re.search(about, sentence)]


@pytest.mark.parametrize("rule", RULES)
def test_pages_state_a_rule_alike(rule: str) -> None:
    about, words, least = RULES[rule]
    found = stated(about)
    assert len(found) >= least, "the pages state the rule"
    assert [(name, sentence) for name, sentence in found if not re.search(words, sentence)] == []
