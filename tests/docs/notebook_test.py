"""docs/lecture.ipynb: each cell runs, and holds what it prints today."""

import json
import re

import pytest
from command_line import ROOT
from ridgebench.pages import notebook
from ridgebench.base.errors import CommandError

NOTEBOOK = json.loads((ROOT / notebook.NOTEBOOK).read_text("utf-8"))


@pytest.fixture(autouse=True)
def without_a_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")


def test_every_cell_prints_what_the_notebook_shows():
    assert notebook.executed(ROOT) == (ROOT / notebook.NOTEBOOK).read_text("utf-8"), "scripts/python.sh -m ridgebench tables runs it"


def test_it_is_a_notebook_of_format_4_5():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    for cell in NOTEBOOK["cells"]:
        needed = {"cell_type", "id", "metadata", "source"} | ({"outputs", "execution_count"} if cell["cell_type"] == "code" else set())
        assert set(cell) == needed and cell["source"]


def test_it_measures_nothing_and_has_no_figure_inside():
    code = "".join("".join(cell["source"]) for cell in notebook.code_cells(NOTEBOOK))
    assert "measure" not in code and "subprocess" not in code
    assert all(one["output_type"] == "stream" for cell in notebook.code_cells(NOTEBOOK) for one in cell["outputs"])
    assert sum(bool(cell["outputs"]) for cell in notebook.code_cells(NOTEBOOK)) >= 8


def test_a_cell_that_fails_is_named(tmp_path):
    (tmp_path / "docs").mkdir()
    cells = [{"cell_type": "code", "source": ["x = 1\n"]}, {"cell_type": "code", "source": ["print(x)\n", "y\n"]}]
    (tmp_path / notebook.NOTEBOOK).write_text(json.dumps({"cells": cells}))
    with pytest.raises(CommandError, match="code cell 2: NameError: name 'y' is not defined"):
        notebook.executed(tmp_path)
