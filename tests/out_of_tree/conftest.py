"""An installed tree that was moved after its installation."""

import shutil

import pytest
from build_folder import BUILD, run


@pytest.fixture(scope="session", name="prefix")
def prefix_fixture(tmp_path_factory):
    if not (BUILD / "cmake_install.cmake").exists() or not list(BUILD.rglob("libridgebench.a")):
        pytest.skip(f"{BUILD} is not a finished build")
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD, "--prefix", folder / "first")
    return shutil.move(folder / "first", folder / "moved")
