"""A release: the address of the project is in one file, the notes are the changelog's, the page has ten lines."""

import os
import re
import subprocess

import pytest
from golden import ROOT

ADDRESS = re.compile(rb"https?://[^\s\"')>]*ridge(?:bench|point)\b")
PLACE = "pyproject.toml"


def tracked() -> list[str]:
    return subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


def test_no_other_file_has_the_address():
    names = tracked()
    if not names:
        pytest.skip("not a clone")
    filled = re.findall(rb'^Homepage = "(.+)"$', (ROOT / PLACE).read_bytes(), re.MULTILINE)
    texts = {name: (ROOT / name).read_bytes() for name in names if name != PLACE and (ROOT / name).is_file()}
    assert [name for name, text in texts.items() if ADDRESS.search(text) or any(address in text for address in filled)] == []
    assert ADDRESS.search(b"See https://example.org/us/" + b"ridgebench.git") and not ADDRESS.search(b"urn:ridgebench:predict:1")


def test_the_place_of_the_address_is_named():
    assert len(re.findall(r"^(?:# )?Homepage = ", (ROOT / PLACE).read_text("utf-8"), re.MULTILINE)) == 1
    assert f"`{PLACE}`, fill in `Homepage`" in (ROOT / "docs" / "releasing.md").read_text("utf-8")


def notes(version: str, changelog: str, tmp_path) -> str:
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    function = re.search(r"^notes\(\) \{\n.*?^\}$", (ROOT / "scripts" / "release.sh").read_text("utf-8"), re.MULTILINE | re.DOTALL).group()
    command = ["bash", "-c", f"version={version}; {function}; notes"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout


def test_the_notes_are_the_section_of_the_version(tmp_path):
    changelog = "# Changelog\n\n## 0.2.0 (unreleased)\n\nNew: see [a page](docs/a.md).\n\n### More\n\n- x\n\n## 0.1.0\n\nOld.\n"
    assert notes("0.2.0", changelog, tmp_path).strip() == "New: see a page.\n\n### More\n\n- x"
    assert notes("0.1.0", changelog, tmp_path).strip() == "Old."
    assert notes("0.3.0", changelog, tmp_path) == ""


def test_the_page_has_ten_steps_at_most():
    steps = re.findall(r"^(\d+)\. ", (ROOT / "docs" / "releasing.md").read_text("utf-8"), re.MULTILINE)
    assert steps == [str(number) for number in range(1, len(steps) + 1)] and len(steps) <= 10


def test_a_python_that_is_absent_is_refused_in_one_line():
    variables = os.environ | {"RIDGEBENCH_PYTHON": "/absent/python"}
    done = subprocess.run([ROOT / "scripts" / "release.sh"], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "release: /absent/python is not a program; allowed: RIDGEBENCH_PYTHON with a Python\n"
