"""The judged document: what `ridgebench show` prints, what a run leaves, and what this package takes of it."""

import json
import shutil

import pytest
from command_line import OK, ROOT, ridgebench, schema, strict_json
from golden import GOLDEN, read_environment

from ridgebench.__main__ import main
from ridgebench.data import judged, program
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view

FOLDERS = [GOLDEN, *sorted(path.parent for path in ROOT.glob("results/*/**/records.jsonl") if "local" not in path.parts)]


def shown(*folders) -> list[dict]:
    done = ridgebench("show", *folders, "--json")
    assert done.returncode == OK, done.stderr
    document = strict_json(done.stdout)
    assert list(schema("judged").iter_errors(document)) == []
    return document["runs"]


def test_one_process_judges_many_folders():
    runs = shown(*FOLDERS)
    assert [run["folder"] for run in runs] == list(map(str, FOLDERS))
    for run, folder in zip(runs, FOLDERS):
        assert [row["id"] for row in run["rows"]] == [row.id for row in load_run(folder).rows]


@pytest.fixture(scope="module", name="finished")
def finished_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged") / "run"
    words = ("--op", "relu,dot", "--format", "fp32", "--budget", "2", "--no-plot", "--out", folder)
    done = ridgebench("run", "--device", "cpu", *words)
    assert done.returncode == OK, done.stderr
    return folder


def test_a_run_leaves_what_show_prints(finished):
    [told] = shown(finished)
    assert json.loads((finished / judged.FILE).read_text())["runs"] == [told | {"folder": "."}]
    assert judged.FILE in (finished / "SHA256SUMS").read_text()


def without_program(monkeypatch) -> None:
    monkeypatch.setattr(program, "binary", lambda: "/nonexistent/ridgebench")


def test_the_file_of_a_run_needs_no_program(finished, monkeypatch):
    expected = make_view(load_run(finished), None)
    without_program(monkeypatch)
    assert make_view(load_run(finished), None) == expected


@pytest.mark.parametrize("damage", ["cut", "other version", "other records", "other environment", "no object", "row gone",
                                    "rows in another order"])
def test_a_file_that_does_not_fit_is_judged_again(damage, finished, tmp_path, monkeypatch, capsys):
    folder = shutil.copytree(finished, tmp_path / "run")
    text = (folder / judged.FILE).read_text()
    changed = {"cut": text[:1000], "other version": text.replace("judged:2", "judged:9"), "no object": "[]"}
    (folder / judged.FILE).write_text(changed.get(damage, text))
    if damage.startswith("row"):
        document = json.loads(text)
        rows = document["runs"][0]["rows"]
        document["runs"][0]["rows"] = rows[:-1] if damage == "row gone" else rows[::-1]
        (folder / judged.FILE).write_text(json.dumps(document))
    if damage == "other records":
        lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
        (folder / "records.jsonl").write_text("".join(lines[:-1]))
    if damage == "other environment":
        (folder / "environment.json").write_text(json.dumps(read_environment(folder) | {"ended": None}))
    view = make_view(load_run(folder), None)
    assert view.why_unfinished == ("the run has no end" if damage == "other environment" else "")
    assert len(view.rows) == len(load_run(folder).rows)
    assert not damage.startswith("row") or view == make_view(load_run(finished), None)
    without_program(monkeypatch)
    assert main(["plot", str(folder), "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "cannot ask the program ridgebench" in error and str(folder) in error


def test_words_of_show_that_make_no_sense():
    for words, part in (((), "a results folder is missing"), ((GOLDEN, "--on", "h100"), "needs --json"),
                        (("--json", "--on", "h1000"), "nearest: h100"), (("nowhere",), "nowhere")):
        done = ridgebench("show", *words)
        assert done.returncode == 2 and part in done.stderr and done.stderr.count("\n") == 1


def test_the_table_of_show_has_the_shares_of_the_judgement():
    folder = next(ROOT.glob("results/nvidia-h100*/2026-11-22-7f6e7b5"))
    lines = ridgebench("show", folder).stdout.splitlines()
    row = next(line for line in lines if line.startswith("matmul ") and " tf32x3 " in line and "%" in line)
    [run] = shown(folder)
    shares = {f"{100 * one['fraction_of_measured_roof']:.0f} %" for one in run["rows"]
              if "/tf32x3/" in one["id"] and one["fraction_of_measured_roof"]}
    assert any(share in row for share in shares), "an older record of tf32x3 has no roof"
