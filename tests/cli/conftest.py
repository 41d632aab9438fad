"""Makes the helpers of these tests importable; a finished run that they start from."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from command_line import OK, run  # noqa: E402


@pytest.fixture(scope="module", name="finished")
def finished_fixture(tmp_path_factory):
    """The folder of an uninterrupted run; tests copy what they change."""
    folder = tmp_path_factory.mktemp("finished") / "results"
    assert run(folder).returncode == OK
    return folder
