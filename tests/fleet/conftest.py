"""A fleet to damage."""

import shutil
from pathlib import Path

import pytest
from synthetic_fleet import write_fleet


@pytest.fixture(scope="session")
def healthy_fleet(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fleet") / "fleet"
    write_fleet(folder, nodes=4, gpus=8, rows=3)
    return folder


@pytest.fixture
def fleet(healthy_fleet, tmp_path) -> Path:
    """Four nodes of eight GPUs, all well, to damage."""
    shutil.copytree(healthy_fleet, tmp_path / "fleet")
    return tmp_path / "fleet"
