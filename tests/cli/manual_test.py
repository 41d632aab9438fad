"""`ridgebench man` makes a page that groff and mandoc show without a warning. A program that is absent is skipped."""

import re
import shutil
import subprocess

import pytest
from command_line import OK, ROOT, ridgebench


@pytest.fixture(scope="module", name="page")
def page_fixture():
    done = ridgebench("man")
    assert (done.returncode, done.stderr) == (OK, "")
    return done.stdout


def shown(page: str, *command: str) -> subprocess.CompletedProcess:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(command, input=page, capture_output=True, encoding="utf-8", check=False)


def words(text: str) -> str:
    """The text without bold print, and with the words that the end of a line divides as one."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|.\x08", "", text).replace("\u2010\n", "").split())


@pytest.mark.parametrize(
    "command",
    [("groff", "-ww", "-man", "-Tutf8", "-P-c", "-rHY=0"), ("mandoc", "-T", "utf8")],
    ids=lambda command: command[0],
)
def test_it_shows_every_command_with_its_options(page, command):
    done = shown(page, *command)
    assert (done.returncode, done.stderr) == (OK, "")
    text = words(done.stdout)
    for part in ("ridgebench plan train", "ridgebench gate", "--benchmark_*", "--price-per-gpu-hour NUMBER", "--reader READER"):
        assert part in text
    assert "may be repeated" in text and "The program has an internal error." in text


def test_mandoc_finds_nothing_to_mend(page):
    done = shown(page, "mandoc", "-T", "lint")
    without_date = [line for line in done.stdout.splitlines() if "missing date" not in line]  # of a build without git
    assert without_date == []


@pytest.mark.parametrize(("heading", "section"), [("Exit codes", "EXIT STATUS"), ("Environment variables", "ENVIRONMENT")])
def test_it_repeats_the_tables_of_the_page_of_commands(page, heading, section):
    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    part = text[text.index(f"## {heading}\n") :].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines() if line.startswith("| ")][2:]
    rows = [[re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell) for cell in row] for row in rows]
    body = page[page.index(f".SH {section}\n") :].split("\n", 1)[1].split(".SH ")[0].replace("\\", "")
    told = [entry.split("\n", 1) for entry in body.split(".TP\n")[1:]]
    assert [[re.sub(r"f[BR]", "", head), " ".join(what.split())] for head, what in told] == [[head.strip("`"), what] for head, what in rows]
