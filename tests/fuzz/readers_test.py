"""The files that searches start from, and those that once broke a reader; readers.py searches for others."""

import re
from pathlib import Path

import pytest
import readers


@pytest.fixture(autouse=True)
def no_binary(monkeypatch):
    readers.imports.replace_program(monkeypatch.setattr)


@pytest.mark.parametrize("kind", {**readers.imports.SEEDS, **readers.FILES})
def test_the_corpus_breaks_no_reader(kind, tmp_path):
    files = readers.corpus(kind)
    faults = {file.name: fault for file in files if (fault := readers.try_file(kind, file.read_bytes()))}
    assert files and faults == {}


def test_the_judgement_that_searches_start_from_is_read(tmp_path):
    (file,) = readers.corpus("judged")
    folder = readers.words_for("judged", file.read_bytes(), tmp_path)[1]
    assert readers.judgement(folder).roofs
    Path(folder, "judged.json").write_bytes(file.read_bytes().replace(b"urn:ridgebench:judged:2", b"urn:ridgebench:judged:9"))
    assert readers.judgement(folder) is None


def test_the_duels_that_searches_start_from_are_read(tmp_path):
    found = [readers.duels(readers.words_for("duels_py", file.read_bytes(), tmp_path)[1]) for file in readers.corpus("duels_py")]
    assert 1 in found


def test_a_fault_would_be_found(monkeypatch):
    monkeypatch.setattr(readers.program, "run", lambda *_: 8)
    assert readers.try_file("configs_py", b"csv = true\n").startswith("exit code 8")


@pytest.mark.parametrize("kind", [kind for kind in {**readers.imports.SEEDS, **readers.FILES} if kind not in ("tolerances", "judged", "duels_py")])
def test_each_search_starts_from_a_file_that_is_read(kind, monkeypatch):
    """A search whose files are all refused at their first byte finds nothing."""
    codes, run = [], readers.program.run
    monkeypatch.setattr(readers.program, "run", lambda *words: codes.append(run(*words)) or codes[-1])
    for file in readers.corpus(kind):
        readers.try_file(kind, file.read_bytes())
    assert not {0, 4}.isdisjoint(codes), "4: compare, whose other rows are missing"


def test_the_script_searches_with_every_reader():
    script = (readers.imports.ROOT / "tests/fuzz/run.sh").read_text("utf-8")
    (names,) = re.findall(r"^python=\((.*)\)$", script, re.MULTILINE)
    assert sorted(names.split()) == sorted({**readers.imports.SEEDS, **readers.FILES})
