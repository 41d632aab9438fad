"""The commands of README.md, docs/gate.md and docs/agents.md that need no benchmark print what the pages show."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RIDGEBENCH", str(ROOT / "build" / "ridgebench"))
WORSE = 4  # the exit code


@pytest.mark.parametrize("name", ["README.md", "docs/gate.md", "docs/agents.md"])
def test_the_gate_prints_what_the_page_shows(name, tmp_path):
    if not Path(PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built")
    page = (ROOT / name).read_text("utf-8")
    ((command, lines),) = re.findall(r"^```console\n\$ (build/ridgebench gate[^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    words = [PROGRAM, *shlex.split(command)[1:]]
    variables = os.environ | {"RIDGEBENCH_PYTHON": sys.executable}
    done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == WORSE, done.stderr
    shown = [line for line in lines.splitlines() if line != "..."]
    assert len(shown) >= 3 and [line for line in shown if line not in done.stdout.splitlines()] == []
