"""Slow multiprocessors are named, by z-score and by loss."""

from dataclasses import replace

import pytest
from golden import GOLDEN

from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.html.multiprocessors import multiprocessors, slow, times_of

EVEN = [1e-3 * (1 + 0.001 * (i % 5)) for i in range(132)]


def view(times: object) -> View:
    known = make_view(load_run(GOLDEN), None)
    ceiling = next(row for row in known.rows if row.role == "ceiling" and row.status == "ok")
    return replace(known, rows=[replace(ceiling, op="sm_times", technique="registers", telemetry={"unit_times_s": times})])


def numbered(times: list) -> dict[int, float]:
    return times_of(view(times).rows[0])


@pytest.mark.parametrize("loss, found", [(0.02, []), (0.029, []), (0.04, [17]), (0.5, [17])])
def test_a_multiprocessor_is_slow_from_three_percent_on(loss, found):
    times = numbered(EVEN[:17] + [EVEN[0] / (1 - loss)] + EVEN[18:])
    assert list(slow(times)) == found


def test_a_wide_spread_hides_what_is_within_it():
    wide = [1e-3 * (1 + 0.05 * (i % 5)) for i in range(132)]
    assert slow(numbered(wide)) == {}


def test_a_fast_one_is_no_outlier_and_few_have_none():
    assert slow(numbered([0.5e-3, *EVEN])) == {}
    assert slow(numbered([2e-3, *EVEN[:6]])) == {}


def test_all_equal_ones_but_one():
    assert slow(numbered([1e-3] * 20 + [1.1e-3])) == {20: pytest.approx(1 - 1 / 1.1)}


def test_the_report_names_them():
    times = [*EVEN[:3], None, *EVEN[4:17], 1.25e-3, *EVEN[18:]]
    html = multiprocessors(view(times))
    assert "<td>131</td>" in html and "SM 17 (19.8 % slower)" in html and "+24.75 %" in html
    assert "<td>none</td>" in multiprocessors(view(EVEN))
    assert "fewer than 8" in multiprocessors(view(EVEN[:4]))


@pytest.mark.parametrize("times", [None, [], "x", [None], [-1.0], [True]])
def test_without_times_there_is_no_table(times):
    assert multiprocessors(view(times)) == ""
