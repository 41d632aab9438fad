"""A gate between two made-up programs, outside of GitHub Actions."""

import pytest
from gate_bench import Bench


@pytest.fixture(name="bench")
def bench_fixture(tmp_path, monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    return Bench(tmp_path)
