"""The files that searches start from, and those that once broke a reader; readers.py searches for others."""

from pathlib import Path

import pytest
import readers


@pytest.fixture(autouse=True)
def no_binary(monkeypatch):
    monkeypatch.setattr(readers.imports.asked, "predict", readers.imports.work)
    monkeypatch.setattr(readers.imports.asked, "asked", readers.imports.no_program)


@pytest.mark.parametrize("kind", {**readers.imports.SEEDS, **readers.FILES})
def test_the_corpus_breaks_no_reader(kind, tmp_path):
    files = readers.corpus(kind)
    faults = {file.name: fault for file in files if (fault := readers.try_file(kind, file.read_bytes()))}
    assert files and faults == {}


def test_the_judgement_that_searches_start_from_is_read(tmp_path):
    (file,) = readers.corpus("judged")
    folder = readers.words_for("judged", file.read_bytes(), tmp_path)[1]
    assert readers.judgement(folder).roofs
    Path(folder, "judged.json").write_bytes(file.read_bytes().replace(b"urn:ridgebench:judged:1", b"urn:ridgebench:judged:9"))
    assert readers.judgement(folder) is None


def test_a_fault_would_be_found(monkeypatch):
    monkeypatch.setattr(readers.program, "run", lambda *_: 8)
    assert readers.try_file("configs_py", b"csv = true\n").startswith("exit code 8")
