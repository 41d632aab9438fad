"""The history of a gate: a line per row and run, drawn as a trend."""

import json
import re
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from ridgebench.__main__ import run
from ridgebench.base.files import ResultsError
from ridgebench.data.records import schema_of
from ridgebench.judge import gate, history
from ridgebench.judge import gate_cli, trend
from ridgebench.judge.report import Comparison, Report


def report(seconds: float, verdict: str = gate.SAME, rows=("BM_a", "BM_b"), metric=None) -> Report:
    kind = "s" if metric is None else "value"
    value = {f"candidate_{kind}": seconds, f"baseline_{kind}": 1e-3}
    found = [Comparison(name, verdict, change=0.0, pairs=10, **value) for name in rows]
    return Report("interleaved", "a", "b", found, "standard", metric=metric)


@pytest.fixture(name="path")
def path_fixture(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_SHA", raising=False)
    return tmp_path / "history.jsonl"


def grown(path, *losses: float, **how):
    for number, loss in enumerate(losses):
        history.append(path, report(1e-3 * (1 + loss), **how), f"run{number}")
    return history.read_history(path)


def test_a_file_of_an_older_program_is_continued(path):
    grown(path, 0.0)
    path.write_text(path.read_text().replace(history.SCHEMA, "ridgebench.history/1"))
    history.require_history(path)
    assert len(grown(path, 0.01)) == 4
    assert all(Draft202012Validator(schema_of("history")).is_valid(json.loads(line)) for line in path.read_text().splitlines())


def call(*arguments) -> int:
    try:
        return gate_cli.main(["history", *map(str, arguments)])
    except SystemExit as stop:
        return stop.code


def test_a_line_per_row_and_run(path, monkeypatch):
    entries = grown(path, 0, 0.1)
    value = pytest.approx(1.1e-3)
    assert [(e.label, e.row, e.value) for e in entries[2:]] == [("run1", "BM_a", value), ("run1", "BM_b", value)]
    monkeypatch.setenv("GITHUB_SHA", "0123456789abcdef")
    history.append(path, report(1e-3), None)
    assert history.read_history(path)[-1].label == "0123456789ab"
    missing = Report("interleaved", "a", "b", [Comparison("BM_a", "MISSING")])
    history.append(path, missing, "gone")
    schema = Draft202012Validator(schema_of("history"))
    assert [list(schema.iter_errors(json.loads(line))) for line in path.read_text().splitlines()] == [[]] * 7
    path.write_text(path.read_text() + '{"cut')
    history.append(path, report(1e-3), "after")
    assert path.read_text().splitlines()[-2:][0].startswith('{"schema"'), "a line that was cut off stays alone"


@pytest.mark.parametrize(
    ("losses", "metric", "said"),
    [
        ((0,), None, "One run of 2 rows: no trend yet"),
        ((0, 0.01, 0.015), None, "No row of 2 lost more than 2 % over 3 runs"),
        ((0, 0.1), None, "2 of 2 rows lost more than 2 % over 2 runs: BM_a most, 10.0 %"),
        ((0, -0.1), "rate, higher is better", "2 of 2 rows lost more than 2 % over 2 runs: BM_a most, 10.0 %"),
    ],
)
def test_the_title_says_what_was_found(losses, metric, said, path):
    assert trend.title(trend.series(grown(path, *losses, metric=metric), None)) == said


def test_the_band_has_one_height_in_all_panels(path):
    grown(path, 0, 0.1)
    history.append(path, report(5e-4, rows=("BM_c",)), "new")
    found = trend.series(history.read_history(path), None)
    low, high = trend.limits(found)
    changes = [100 * change for one in found for change in one.changes]
    assert low < min(-2.0, *changes) and high > max(2.0, *changes)


def test_rows_without_a_value_and_rows_that_came_later(path):
    grown(path, 0)
    history.append(path, Report("interleaved", "a", "b", [Comparison("BM_a", "MISSING")]), "gone")
    history.append(path, report(1e-3, rows=("BM_c",)), "new")
    found = trend.series(history.read_history(path), None)
    assert {one.row: one.runs for one in found} == {"BM_a": [0], "BM_b": [0], "BM_c": [2]}


def test_a_figure_shows_hostile_names_as_text(path):
    names = ["<script>&", "$x^{2$", "\x1b[31m\n", "rtl \u202e", "n" * 3000] + [f"BM_{i}" for i in range(12)]
    for number in range(3):
        history.append(path, report(1e-3 * (1 + number / 10), rows=names), f"commit {number} " + "y" * 500)
    figure = path.with_suffix(".svg")
    assert call(path, "-o", figure) == 0
    texts = [element.text or "" for element in ElementTree.parse(figure).iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith("17 of 17 rows lost more than 2 %") for text in texts)
    assert any("not drawn: 5 rows with smaller losses" in text for text in texts)
    assert call(path, "-o", figure, "--filter", "script") == 0 and "<script" not in figure.read_text()
    first = figure.read_bytes()
    assert call(path, "-o", figure, "--filter", "script") == 0 and figure.read_bytes() == first


def test_a_page_has_every_row_and_run_and_keeps_hostile_names_as_text(path):
    names = ["<script>&", "@@rows@@", "\x1b[31m", "n" * 300] + [f"BM_{i}" for i in range(40)]
    for number in range(103):
        verdict = gate.WORSE if number == 102 else gate.SAME
        history.append(path, report(1e-3 * (1 + number / 100), verdict, rows=names), f"commit</td> {number}")
    page = path.with_suffix(".html")
    assert call(path, "-o", page) == 0
    text = page.read_text()
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE html>|<meta[^>]*>", "", text))
    assert root.find("body/h1").text.startswith("44 of 44 rows lost more than 2 % over 103 runs")
    assert len(root.findall("body//svg")) == len(root.findall("body/details")) == 44
    shown = ["".join(one.itertext()) for one in root.iter("code")]
    assert shown.count("<script>&") == 2 and shown.count("@@rows@@") == 2 and "\x1b" not in text
    first = root.find("body/details")
    assert len(first.findall(".//tbody/tr")) == 100 and first.find("p").text == "Not shown: 3 older runs."
    assert len(root.findall(".//span[@class='bad']")) == 88 and "script-src 'none'" in text and "<script" not in text
    before = page.read_bytes()
    assert call(path, "-o", page) == 0 and page.read_bytes() == before
    assert call(path, "-o", page, "--filter", "^BM_1$") == 0 and page.read_text().count("<svg") == 1


def test_a_page_of_one_run_says_that_there_is_no_trend(path):
    grown(path, 0)
    page = path.with_suffix(".html")
    assert call(path, "-o", page) == 0 and "One run of 2 rows: no trend yet" in page.read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "other"}, "schema is not"), ({"time": "yesterday"}, "not a line"), ({"time": 3}, "not a line"),
        ({"value": -1}, "value is not a number"), ({"value": "x"}, "value is not a number"),
        ({"row": None}, "row is not a text"), ({"label": 3}, "label is not a text"), ({"metric": []}, "metric is not a text"),
    ],
)
def test_lines_that_are_none(change, said, path):
    grown(path, 0)
    told = json.loads(path.read_text().splitlines()[0]) | change
    path.write_text(json.dumps(told) + "\n")
    with pytest.raises(ResultsError) as error:
        history.read_history(path)
    assert str(error.value).startswith(f"{path}:1: not a line of a history: ") and said in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "x.gif"], "unknown kind; allowed: svg, png, pdf, html"), ([], "-o/--out"),
        (["-o", "x.svg", "--filter", "("], "not a regular expression"), (["-o", "/nowhere/x.svg"], "/nowhere/x.svg"),
        (["-o", "x.svg", "--filter", "none"], "no row of the history"),
    ],
)
def test_usage(arguments, said, path, capsys, monkeypatch):
    monkeypatch.chdir(path.parent)
    grown(path, 0)
    assert run("gate", ["history", str(path), *arguments]) == 2
    shown = capsys.readouterr().err
    assert said in shown and shown.startswith("gate: ") and shown.count("\n") == 1


def test_nothing_is_added_to_a_file_that_is_no_history(path):
    path.write_text("#!/bin/sh\n")
    with pytest.raises(ResultsError, match="no history of the gate"):
        history.require_history(path)
    path.write_text("")
    history.require_history(path)
    history.append(path, report(1e-3), None)
    history.require_history(path)
