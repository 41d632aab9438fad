"""The files that searches start from, and those that once broke a reader; readers.py searches for others."""

import pytest
import readers


@pytest.fixture(autouse=True)
def no_binary(monkeypatch):
    monkeypatch.setattr(readers.imports.asked, "predict", readers.imports.work)


@pytest.mark.parametrize("kind", {**readers.imports.SEEDS, **readers.FILES})
def test_the_corpus_breaks_no_reader(kind, tmp_path):
    files = readers.corpus(kind)
    faults = {file.name: fault for file in files if (fault := readers.try_file(kind, file.read_bytes()))}
    assert files and faults == {}


def test_a_fault_would_be_found(monkeypatch):
    monkeypatch.setattr(readers.program, "run", lambda *_: 8)
    assert readers.try_file("configs_py", b"csv = true\n").startswith("exit code 8")
