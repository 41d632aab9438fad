"""Some damaged files for each format of `ridgebench import`; imports.py tries them for minutes."""

import imports
import pytest

SEED, INPUTS = 1, 150


@pytest.fixture(autouse=True)
def no_binary(monkeypatch):
    imports.replace_program(monkeypatch.setattr)  # and back, after fuzz() has set them


@pytest.mark.parametrize("kind", imports.SEEDS)
def test_a_damaged_file_is_refused_or_read(kind):
    tried, accepted, faults = imports.fuzz(kind, SEED, INPUTS)
    assert faults == [] and tried == INPUTS
    assert 0 < accepted < tried  # some changes do no harm, others do


def test_a_fault_would_be_found(monkeypatch, tmp_path):
    monkeypatch.setattr(imports, "run", lambda words: 8)
    monkeypatch.setattr(imports, "ROOT", tmp_path)  # where the file is kept
    assert len(imports.fuzz("csv", SEED, 3)[2]) == 3
