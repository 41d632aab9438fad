"""docs/exercises.md: twelve questions, each with a folded answer that holds a command and the line that decides.

console_test.py runs the commands and compares the lines.
"""

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "exercises.md").read_text("utf-8")
EXERCISE = re.compile(r"^\*\*(\d+)\.\*\* (.+?)\n<details><summary>Answer</summary>\n\n(.*?)^</details>$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^```console\n\$ (build/ridgebench (?:info|predict|plan) .+)\n(.+)\n```$", re.MULTILINE)
EXERCISES = EXERCISE.findall(PAGE)


def test_there_are_twelve_in_order():
    assert [int(number) for number, _, _ in EXERCISES] == list(range(1, 13))
    assert PAGE.count("<details>") == PAGE.count("</details>") == 12


def test_each_asks_and_each_answer_is_a_command_with_its_line():
    for number, question, answer in EXERCISES:
        assert "?" in question, number
        assert len(COMMAND.findall(answer)) == 1, f"exercise {number}: one command and one line of its output"
    commands = [COMMAND.search(answer)[1] for *_, answer in EXERCISES]
    assert len(set(commands)) == 12
