"""Copies of the golden results for the tests of the figures, and a Chromium for those of pages."""

import json
import shutil
from pathlib import Path
from typing import Callable

import chromium
import pytest
from golden import GOLDEN, read_environment, read_records, write_records


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A page of a Chromium, which the tests of a module share."""
    with chromium.Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A copy of the golden results that a test may damage."""
    folder = tmp_path / "results"
    shutil.copytree(GOLDEN, folder)
    return folder


@pytest.fixture
def edit(results: Path) -> Callable:
    """edit(change) applies change(records, environment) to the copy and returns its folder."""

    def apply(change: Callable[[list[dict], dict], None]) -> Path:
        records = read_records(results)
        environment = read_environment(results)
        change(records, environment)
        write_records(results, records)
        (results / "environment.json").write_text(json.dumps(environment))
        return results

    return apply
