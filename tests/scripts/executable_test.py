"""A script that is called is executable; one that others source has no first line for a shell."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "scripts").rglob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_with_a_shell_is_executable(script):
    called = (ROOT / script).read_text("utf-8").startswith("#!")
    assert os.access(ROOT / script, os.X_OK) == called
