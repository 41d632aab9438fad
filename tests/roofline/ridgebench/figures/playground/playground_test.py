"""`ridgebench playground` without a browser: what it refuses, and what its page holds."""

import base64
import gzip
import json
import os
import re

import pytest
from golden import GOLDEN, ROOT

from ridgebench.__main__ import main


@pytest.fixture
def made_up(tmp_path):
    """A folder with files in place of the model, which only a browser runs."""
    folder = tmp_path / "wasm"
    folder.mkdir()
    (folder / "playground.js").write_text("var ridgebench_model;")
    (folder / "playground.wasm").write_bytes(b"\0asm")
    return folder


def data_of(path) -> dict:
    return json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', path.read_text())[1])


def test_without_the_model_one_line_names_what_builds_it(tmp_path, capsys):
    assert main(["playground", "--wasm", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "scripts/setup.sh --web" in said and "scripts/build.sh --target playground" in said
    assert not (tmp_path / "page.html").exists()


def test_the_page_holds_the_newest_published_run_of_each_device(made_up, tmp_path):
    assert main(["playground", "--wasm", str(made_up), "-o", str(tmp_path / "page.html")]) == 0
    runs = data_of(tmp_path / "page.html")["runs"]
    paths = [ROOT / run["path"] for run in runs]
    assert {path.parent.name for path in paths} == {path.parents[1].name for path in (ROOT / "results").glob("*/20*/records.jsonl")}
    for run, path in zip(runs, paths):
        assert run["host"] == ("nvidia" not in path.parent.name), "its rates are in GFLOP/s"
        files = {name: gzip.decompress(base64.b64decode(text)).decode() for name, text in run["files"].items()}
        assert files["environment.json"] == (path / "environment.json").read_text()
        ids = [json.loads(line)["id"] for line in files["records.jsonl"].splitlines()]
        assert ids == [row["id"] for row in map(json.loads, (path / "records.jsonl").read_text().splitlines()) if row["status"] == "ok"]


def test_a_run_is_named_as_its_command_names_it(made_up, tmp_path):
    assert main(["playground", str(GOLDEN), "--wasm", str(made_up), "-o", str(tmp_path / "page.html")]) == 0
    [run] = data_of(tmp_path / "page.html")["runs"]
    assert run["path"] == GOLDEN.relative_to(ROOT).as_posix()


def test_a_folder_without_a_run_is_named(made_up, tmp_path, capsys):
    assert main(["playground", str(tmp_path), "--wasm", str(made_up), "-o", str(tmp_path / "page.html")]) == 2
    assert f"{tmp_path}/environment.json" in capsys.readouterr().err


def test_a_pipe_in_place_of_a_file_is_refused(made_up, tmp_path, capsys):
    os.mkfifo(tmp_path / "environment.json")
    assert main(["playground", str(tmp_path), "--wasm", str(made_up), "-o", str(tmp_path / "page.html")]) == 2
    assert f"{tmp_path}/environment.json: is not a regular file" in capsys.readouterr().err


def test_equal_inputs_make_equal_pages(made_up, tmp_path):
    pages = [tmp_path / name for name in ("a.html", "b.html")]
    for page in pages:
        assert main(["playground", str(GOLDEN), "--wasm", str(made_up), "-o", str(page)]) == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()
