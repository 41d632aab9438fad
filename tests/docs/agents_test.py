"""docs/agents.md: each command of the loops is one that the program accepts; SKILL.md and llms.txt follow from the pages.

console_test.py and gate_page_test.py compare what the page shows of commands that calculate.
"""

import re
import shlex

import pytest
from command_line import ROOT, ridgebench
from console_test import CALCULATES
from ridgebench.pages import for_programs

PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
TYPED = [line for line in re.findall(r"^\$ build/ridgebench (.*)$", PAGE, re.MULTILINE) if not CALCULATES.match(f"build/ridgebench {line}")]
# Commands that measure, by their dry run; a run that this tree does not have, by a published one.
INSTEAD = {"run": ["--dry-run"], "duel": ["--dry-run"]}
PUBLISHED = "results/nvidia-h100-80gb-hbm3/2026-11-22-7f6e7b5"


@pytest.mark.parametrize("line", [line for line in TYPED if not line.startswith("gate ")])
def test_the_program_accepts_the_command(line):
    words = [PUBLISHED if word == "results/local/latest" else word for word in shlex.split(line)]
    done = ridgebench(*words, *INSTEAD.get(words[0], ()), cwd=ROOT)
    assert done.returncode == 0 or (words[0] == "doctor" and done.returncode == 7), done.stderr
    if words[0] == "verify":
        assert done.stdout.strip() in PAGE


def test_there_is_something_to_check():
    assert {line.split()[0] for line in TYPED} == {"run", "explain", "duel", "gate", "doctor", "verify"}
    assert len(re.findall(r"^### ", PAGE, re.MULTILINE)) == 3


@pytest.mark.parametrize("name", for_programs.FILES)
@pytest.mark.usefixtures("program")
def test_the_file_for_programs_is_current(name):
    written = (ROOT / name).read_text("utf-8")
    assert written == for_programs.FILES[name](ROOT), "scripts/python.sh -m ridgebench tables writes it"


@pytest.mark.usefixtures("program")
def test_the_skill_has_the_form_of_agent_skills():
    skill = for_programs.skill_md(ROOT)
    (head,) = re.findall(r"\A---\n(.*?)\n---\n", skill, re.DOTALL)
    keys = dict(line.split(": ", 1) for line in head.splitlines())
    assert keys["name"] == "ridgebench" and re.fullmatch(r"[a-z0-9-]{1,64}", keys["name"])  # the name of its folder
    assert 0 < len(keys["description"]) <= 1024 and ": " not in keys["description"]  # plain text in YAML
    assert len(skill.splitlines()) < 500
    shown = ridgebench("--help").stdout
    commands = re.findall(r"^\| `(\w+)` \| .+ \|$", skill, re.MULTILINE)
    assert len(commands) >= 25 and all(re.search(rf"\b{name}\b", shown) for name in commands)
    for code in (0, 2, 3, 4, 5, 6, 7, 8):
        assert f"\n| {code} | " in skill


def test_llms_txt_has_every_page_of_the_table():
    text = for_programs.llms_txt(ROOT)
    assert text.startswith("# ridgebench\n\n> How fast")
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): (.+)$", text, re.MULTILINE)
    assert len(links) >= 45 and all((ROOT / name).exists() for name, _ in links)
