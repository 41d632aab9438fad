"""A finished run that these tests start from."""

import pytest
from command_line import OK, run


@pytest.fixture(scope="module", name="finished")
def finished_fixture(tmp_path_factory):
    """The folder of an uninterrupted run; tests copy what they change."""
    folder = tmp_path_factory.mktemp("finished") / "results"
    assert run(folder).returncode == OK
    return folder
