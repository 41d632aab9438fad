"""A finished run from which these tests start."""

import pytest
from command_line import OK, run


@pytest.fixture(scope="module", name="finished")
def finished_fixture(tmp_path_factory):
    """Return the folder of an uninterrupted run. A test that changes it copies it first."""
    folder = tmp_path_factory.mktemp("finished") / "results"
    assert run(folder).returncode == OK
    return folder
