"""Texts that are cut: two of them keep their difference, and a file gets the whole one."""

import copy
import json

import pytest

from ridgebench.base.text import LONGEST, Cut, apart, cut, page_lines, quoted, short
from ridgebench.base.units import and_more, counted
from ridgebench.figures.page import labels
from ridgebench.fleet.render import markdown
from ridgebench.judge import gate
from ridgebench.judge import publish
from ridgebench.judge.comparable import differences
from ridgebench.judge.report import MOST_ROWS, Comparison, Report, incomparable, text

BLAS = "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY with a long middle part "


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("a", "b", ("a", "b")),
        (BLAS + "Cooperlake", BLAS + "SkylakeX", ("...a long middle part Cooperlake", "...a long middle part SkylakeX")),
        ("x" * 100, "y" * 100, ("x" * 60 + "...", "y" * 60 + "...")),
        ("x" * 100, "x" * 90, ("..." + "x" * 30, "..." + "x" * 20)),
        ("unset", "x" * 100, ("unset", "x" * 60 + "...")),
    ],
)
def test_a_cut_keeps_the_difference(one, other, shown):
    assert apart(one, other, 60) == shown and shown[0] != shown[1]


def test_a_short_form_survives_a_copy_and_json_has_the_whole():
    told = copy.deepcopy(Cut("whole", "short"))
    assert (told, short(told), short("plain"), json.dumps([told])) == ("whole", "short", "plain", '["whole"]')


def environment(blas: str) -> dict:
    return {"libraries": {"openblas": blas, "onednn": "3.1"}, "environment_variables": {}, "devices": []}


def test_a_refusal_shows_the_difference_and_its_json_is_not_cut():
    (why,), soft = differences(environment(BLAS + "Cooperlake"), environment(BLAS + "SkylakeX"), [])
    report = incomparable("stored", ("a", "b"), ["row"], [why])
    assert "libraries: ...a long middle part Cooperlake against ...a long middle part SkylakeX\n" in text(report) and soft == []
    whole = f"libraries: openblas={BLAS}Cooperlake against openblas={BLAS}SkylakeX"
    assert json.loads(json.dumps(report.as_json()))["not_comparable"] == [whole]
    assert report.as_json()["rows"][0]["reason"] == whole
    allowed = differences(environment(BLAS + "A" * 9), environment(BLAS + "B" * 9), ["libraries"])[1]
    assert short(allowed[0]) == "libraries: ...a long middle part AAAAAAAAA against ...a long middle part BBBBBBBBB (allowed)"


def test_long_texts_are_cut_before_they_are_measured(monkeypatch):
    seen = []
    monkeypatch.setattr(labels, "width", lambda text, *_: seen.append(len(text)) or len(text) / 10)
    assert labels.fit("n" * 5_000_000, 10, 2.0) == "n" * 19 + "…"
    assert labels.wrap("word " * 1_000_000, 10, 2.0, 2)[0] == "word word word word"
    assert max(seen) <= LONGEST + 2
    assert cut({"a": ["b" * 501]}) == {"a": ["b" * 500 + "…"]}


def test_a_number_and_its_noun_agree():
    assert [counted(number, "row") for number in (0, 1, 2, 1234)] == ["0 rows", "1 row", "2 rows", "1,234 rows"]


@pytest.mark.parametrize(("more", "words"), [(1, "1 more row"), (2, "2 more rows")])
def test_a_table_counts_what_it_leaves_out(more, words):
    def report(shown: int) -> Report:
        return Report("stored", "a", "b", [Comparison(f"row{number}", gate.SAME, change=0.0) for number in range(shown + more)])

    assert f"... {words}; --json FILE has all\n" in text(report(MOST_ROWS))
    assert f"Not shown: {words}.\n" in publish.markdown(report(publish.MOST_ROWS))
    lines = [("key", "value")] * (markdown.MOST + more)
    assert f"\n{words.replace('row', 'line')}: see report.json\n" in markdown.table(("key", "value"), lines)


def test_a_value_in_a_message_is_quoted_and_cut():
    assert (quoted("a\nb"), quoted(3), quoted("x" * 61)) == ("'a\\nb'", "'3'", f"'{'x' * 60}…'")
    assert quoted("x" * 61, 61) == f"'{'x' * 61}'"


def test_things_that_are_not_named_are_counted():
    assert [and_more(number) for number in (-1, 0, 1, 2000)] == ["", "", " and 1 more", " and 2,000 more"]
    assert and_more(2, "in ") == " and in 2 more"


def test_a_line_of_a_page_ends_outside_of_a_link():
    lines = page_lines(f"{'word ' * 26}[a link of five words](page.md) end").splitlines()
    assert len(lines) == 2 and lines[1] == "[a link of five words](page.md) end" and max(map(len, lines)) <= 140
