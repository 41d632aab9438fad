"""Markdown, JUnit and annotations under hostile names: every name stays text."""

import html
import re
from xml.etree import ElementTree

import pytest
from ridgebench.base.text import markdown_code
from ridgebench.judge import gate
from ridgebench.judge import publish
from ridgebench.judge.report import Comparison, Report

HOSTILE = [
    "</failure>|<b>&amp;", "::error::x\n::set-output name=a::b", "%0A::warning::x", "a,b:c\x00\x1b[31m", "`x`|y",
    "rtl \u202e", "\ud800", "[link](javascript:x)", "<script>alert(1)</script>", "@team #12 **b** _i_ ~s~", "a\\|b",
    " edge ", "##[error]x", "]]>", "x" * 5000, "$a^2$",
]


def hostile_report(verdict: str = gate.WORSE) -> Report:
    rows = [Comparison(name, verdict, f"why {name}", change=0.05, low=0.04, high=0.06, pairs=10) for name in HOSTILE]
    return Report("interleaved", HOSTILE[0], HOSTILE[1], rows, "standard", [f"note {HOSTILE[8]}"])


def test_a_table_of_markdown_has_a_line_per_row_and_no_markup_of_names():
    lines = publish.markdown(hostile_report()).splitlines()
    rows = [line for line in lines if line.startswith("| **WORSE**")]
    assert len(rows) == len(HOSTILE)
    for line in rows:
        assert len(re.findall(r"(?<!\\)\|", line)) == 6, line
        outside = re.sub(r"`[^`]*`|<code>[^<]*</code>", "", line).replace("**WORSE**", "")
        assert not set(outside) & set("<>`*_[]()@\\$~:") - set("()"), line
    assert all(line.isprintable() for line in lines)
    assert "<script" not in re.sub(r"`[^`]*`", "", "\n".join(lines))


@pytest.mark.parametrize("name", ["a|b", "`x`", "a\\|b", " edge ", "", "plain_name<int>/8"])
def test_a_name_as_code_reads_as_itself(name):
    text = markdown_code(name)
    assert html.unescape(re.sub("^<code>|</code>$|^`|`$", "", text)) == name and "|" not in text


def test_junit_holds_every_name_as_text():
    suites = ElementTree.fromstring(publish.to_junit(hostile_report()))
    [suite] = suites
    assert suite.attrib | {"name": ""} == {"name": "", "tests": "16", "errors": "0", "failures": "16", "skipped": "0"}
    names = [case.attrib["name"] for case in suite]
    assert len(names) == len(HOSTILE) and "</failure>|<b>&amp;" in names
    assert all(len(case) == 1 and case[0].tag == "failure" and "+5.00 %" in case[0].attrib["message"] for case in suite)


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [("FAILED", "error"), ("NOT_COMPARABLE", "error"), ("MISSING", "failure"), ("UNDECIDED", "skipped"),
     ("ALLOWED", "skipped"), ("SAME", None)],
)
def test_what_a_verdict_is_in_junit(verdict, tag):
    [case] = ElementTree.fromstring(publish.to_junit(Report("interleaved", "a", "b", [Comparison("r", verdict)])))[0]
    assert [child.tag for child in case] == ([tag] if tag else [])


def test_each_annotation_is_one_line_that_names_cannot_leave():
    lines = publish.annotations(hostile_report()).splitlines()
    assert len(lines) == publish.MOST_ANNOTATIONS
    for line in lines:
        assert re.fullmatch(r"::error title=[^:,]*::.*", line) and line.isprintable()
        assert not re.search(r"%(?!25|3A|2C)", line)
    both = Report("interleaved", "a", "b", [Comparison("x", gate.UNDECIDED, "wide"), Comparison("y", gate.SAME)])
    assert publish.annotations(both) == "::warning title=UNDECIDED x::x wide\n"


def test_no_line_of_the_report_is_a_workflow_command(monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    publish.show(hostile_report())
    lines = capsys.readouterr().out.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) == 32 and lines.count(f"::{token}::") == 1
    assert all(line.startswith("::error title=") for line in lines[lines.index(f"::{token}::") + 1 :])


def test_a_comparison_that_was_refused_is_an_error_everywhere():
    refused = Report("interleaved", "a", "b", [], not_comparable=["model: H100 against H200"])
    assert publish.annotations(refused) == "::error title=NOT_COMPARABLE::model: H100 against H200\n"
    assert "not passed" in publish.markdown(refused) and "H100 against H200" in publish.markdown(refused)
    assert ElementTree.fromstring(publish.to_junit(refused))[0].attrib["errors"] == "1"


def test_a_comment_begins_with_its_marker_and_fits(bench, monkeypatch):
    text = publish.comment(hostile_report(), "linux/gcc 14", "commit <b>")
    assert text.splitlines()[0] == "<!-- ridgebench gate: linux/gcc 14 -->" and text.splitlines()[1] == "### Gate: not passed"
    assert text.endswith("\nRun: commit &lt;b>\n") or "<b>" not in text.splitlines()[-1]
    rows = [Comparison(f"BM_{i}/{'x' * 200}", gate.WORSE, "y" * 250, change=0.05, pairs=10) for i in range(900)]
    long = publish.comment(Report("interleaved", "a", "b", rows, "standard"), "gate", None)
    assert 20_000 < len(long) <= 60_000 and "Not shown:" in long and long.startswith("<!-- ridgebench gate: gate -->\n")
    path = bench.folder / "comment.md"
    assert bench.gate(bench.program("a"), bench.program("b"), "--pairs", "5", "--comment", path)[0] in (0, 3)
    assert path.read_text().startswith("<!-- ridgebench gate: gate -->\n### Gate: ")


@pytest.mark.parametrize("name", ["", "a-->b", "a--b", "x\ny", "é", "x" * 61, "-a"])
def test_a_name_that_could_end_the_marker_is_refused(name, bench, capfd):
    assert bench.gate(bench.program("a"), bench.program("b"), f"--comment-name={name}")[0] == 2
    assert "--comment-name has characters that a marker cannot have" in capfd.readouterr().err and not bench.out.exists()
