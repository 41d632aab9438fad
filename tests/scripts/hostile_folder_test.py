"""No entry point imports Python modules from the current folder, which may be a repository under test."""

import os
import re
import subprocess
import sys

import pytest
from command_line import BINARY
from golden import GOLDEN, ROOT

NAMES = ["statistics", "random", "json", "argparse", "numpy", "scipy", "matplotlib", "ridgebench", "venv", "ensurepip", "pip", "tomllib"]
COMMANDS = [("compare_commits.sh",), ("site.sh",)]
COMMANDS += [("python.sh", "-m", "ridgebench", name) for name in ("plot", "tables", "counters", "stream")]


@pytest.fixture(name="hostile")
def hostile_fixture(tmp_path):
    """A folder of modules and packages, each of which notes its import."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    text = f"open({str(tmp_path / 'imported')!r}, 'a').write(__name__ + '\\n')\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(text)
        (folder / name).mkdir()
        for file in ("__init__.py", "__main__.py"):
            (folder / name / file).write_text(text)
    return folder


def run(folder, *command, **variables) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"RIDGEBENCH_PYTHON": sys.executable} | {name: str(value) for name, value in variables.items()}
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def expect_none_imported(folder) -> None:
    imported = folder.parent / "imported"
    assert not imported.exists(), imported.read_text()


def test_the_folder_would_be_noticed(hostile):
    run(hostile, sys.executable, "-m", "ridgebench")
    assert "ridgebench" in (hostile.parent / "imported").read_text()


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[-1])
def test_a_script_imports_nothing_from_it(words, hostile):
    done = run(hostile, ROOT / "scripts" / words[0], *words[1:], "--help")
    assert done.returncode == 0 or words == ("compare_commits.sh",), done.stderr
    expect_none_imported(hostile)


@pytest.mark.parametrize("words", [("gate", "--help"), ("baseline", "--help"), ("report", GOLDEN, "--out", "page.html")])
def test_a_command_of_the_program_imports_nothing_from_it(words, hostile):
    done = run(hostile, BINARY, *words)
    assert done.returncode == 0, done.stderr
    expect_none_imported(hostile)


def test_every_script_that_runs_a_command_is_tried():
    named = {path.name for path in (ROOT / "scripts").glob("*.sh") if "-m ridgebench" in path.read_text("utf-8")}
    assert named <= {*(words[0] for words in COMMANDS), "run.sh", "prove_gate.sh"}, "run.sh runs plot, and prove_gate.sh tables, by python.sh"


def test_the_action_imports_nothing_from_it(hostile):
    yaml = pytest.importorskip("yaml", reason="scripts/setup.sh --dev installs python3-yaml")
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    first, judge, _ = (step["run"] for step in steps)  # the last one has no Python
    # The folder of the action: its Python exists already, and pip would need a network.
    checkout = hostile.parent / "action"
    (checkout / ".venv" / "bin").mkdir(parents=True)
    for name in ("scripts", "roofline"):
        (checkout / name).symlink_to(ROOT / name)
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\ncase "$*" in *pip*) exec {sys.executable} -c "import pip" ;; esac\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    variables = {"GITHUB_ACTION_PATH": checkout, "GITHUB_OUTPUT": hostile.parent / "output"}
    variables |= dict.fromkeys(re.findall(r"\$([A-Z]+)\b", judge), "")
    for script in (first, judge):
        done = run(hostile, "bash", "-e", "-o", "pipefail", "-c", script, **variables)
    assert "gate: an empty text is not a command" in done.stderr, "the gate itself answered"
    expect_none_imported(hostile)
