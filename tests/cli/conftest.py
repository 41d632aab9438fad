"""Runs from which these tests start."""

import pytest
from command_line import OK, run
from step_records import measure_ceilings


@pytest.fixture(scope="module", name="finished")
def finished_fixture(tmp_path_factory):
    """Return the folder of an uninterrupted run. A test that changes it copies it first."""
    folder = tmp_path_factory.mktemp("finished") / "results"
    assert run(folder).returncode == OK
    return folder


@pytest.fixture(scope="module", name="ceilings")
def ceilings_fixture(tmp_path_factory):
    """Return the folder of the ceilings that judge a step."""
    folder = tmp_path_factory.mktemp("ceilings") / "results"
    measure_ceilings(folder)
    return folder
