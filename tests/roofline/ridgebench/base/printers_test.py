"""One function for each form of a table or a verdict, and texts from elsewhere that stay texts in it."""

import csv
import io
import math
import re
from xml.etree import ElementTree

import pytest
from golden import ROOT
from ridgebench.base.printers import (
    ERROR, FAILURE, PASSED, SKIPPED, Judged, aligned, csv_table, html_table, json_text, junit, markdown_table, prometheus,
)  # fmt: skip
from ridgebench.base.text import clean, cut, ends, markdown, markdown_references, one_line

HOSTILE = "</x>|`a`\x1b\ud800\n*b*_c_[d](e)&amp;\\ \"q\""


@pytest.mark.parametrize("mark", ["csv.writer", "testsuite", "# TYPE ", '"---"', "ElementTree", "ljust", "rjust", "&#{"])
def test_a_form_is_written_in_one_module(mark):
    package = ROOT / "roofline" / "ridgebench"
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if mark in path.read_text("utf-8")}
    assert found == {"base/text.py" if mark == "&#{" else "base/printers.py"}


@pytest.mark.parametrize("pattern", [r"\[:[0-9]+\]!r", r"\{[^{}]*:<[{0-9]", r"more\" if "])
def test_a_long_value_a_table_and_a_rest_have_functions(pattern):
    package = ROOT / "roofline" / "ridgebench"
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if re.search(pattern, path.read_text("utf-8"))}
    assert found <= {"__main__.py", "judge/measure.py", "base/units.py"}  # the help, which imports little; a line of progress


def test_the_columns_of_a_text_are_as_wide_as_their_longest_cell():
    assert aligned([["a", "bb", "c"], ["ddd", "e", ""]]) == ["a    bb  c", "ddd  e"]
    assert aligned([["a", "bb", "c"], ["ddd", "e", "100"]], right=(0, 2)) == ["  a  bb    c", "ddd  e   100"]


def test_a_table_of_markdown_has_its_rule():
    assert markdown_table(["a", "b"], [["1", "2"]], right=(1,)) == "| a | b |\n| --- | ---: |\n| 1 | 2 |"


def test_a_table_of_csv_has_no_formula():
    assert list(csv.reader(io.StringIO(csv_table(["a"], [["=1+1"], [-1]])))) == [["a"], ["'=1+1"], ["-1"]]


def test_a_table_of_html_names_its_heads_and_marks_numbers():
    table = ElementTree.fromstring(html_table(["a", "b"], [["1", "2"]], right=(1,), css="wide"))[0]
    assert table.attrib == {"class": "wide"} and [cell.attrib.get("scope") for cell in table.iter("th")] == ["col", "col"]
    assert [cell.attrib.get("class") for cell in table.iter("td")] == [None, "n"]


def test_json_has_no_number_that_it_cannot_hold():
    with pytest.raises(ValueError):
        json_text({"a": math.nan})


@pytest.mark.parametrize("program", ["", "ridgebench gate"])
def test_junit_counts_its_cases_and_keeps_every_text(program):
    cases = [Judged("a", "OK", PASSED, notes=HOSTILE), Judged(HOSTILE, "SLOW", FAILURE, HOSTILE, next=HOSTILE),
             Judged("c", "WRONG", ERROR), Judged("d", "UNDECIDED", SKIPPED, "wide")]
    root = ElementTree.fromstring(junit("suite", "class", cases, program))
    suite = root[0] if program else root
    assert suite.attrib == {"name": "suite", "tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert [case.attrib["name"] for case in suite] == ["a", clean(HOSTILE), "c", "d"]
    assert suite[1][0].text == suite[1][0].attrib["message"] == suite[0][0].text == clean(HOSTILE)
    assert [case[0].attrib.get("type") for case in list(suite)[1:]] == ["SLOW", "WRONG", None]


def test_prometheus_leaves_out_samples_without_a_value_or_with_labels_of_one_before():
    samples = [({"a": 'x"'}, 1 / 3), ({"a": 'x"'}, 2.0), ({}, None), ({"b": 1}, math.nan)]
    assert prometheus("m", "What.", samples) == '# HELP m What.\n# TYPE m gauge\nm{a="x\\""} 0.333333\n'
    assert prometheus("m", "What.", samples[2:]) == ""


def test_texts_of_markdown_hold_no_markup():
    assert markdown("a_b|c `d` *e* [f](g) <h> ~i~ &amp; \\") == "a\\_b\\|c \\`d\\` \\*e\\* \\[f\\](g) \\<h\\> \\~i\\~ \\&amp; \\\\"
    assert markdown_references("a_b @c") == "a&#95;b &#64;c"


def test_a_text_is_cut_at_its_end_or_in_its_middle():
    assert (cut("abcdef", 6), cut("abc def", 4)) == ("abcdef", "abc…")
    assert (ends("abcdef", 6), ends("abcdefghijk", 9)) == ("abcdef", "abc...ijk")
    assert one_line("a\x1b\n" + "b" * 5000 + "c").endswith("bc") and len(one_line("b" * 5000)) <= 900
