"""Limits, ticks and places of log-log axes, in numbers."""

from math import inf, isclose, log10

import pytest

from ridgebench.figures.scene.axes import Frame, decade_in, decades, filled, log_span, span, ticks


def test_a_span_holds_its_values_with_room_around_them():
    assert span([3.0, 12.0, 6.0], 2) == (1.5, 24.0)
    assert span(iter([10.0]), 2, 5) == (5.0, 50.0)
    assert log_span([1.0, 100.0], 10) == (-1.0, 3.0)


@pytest.mark.parametrize(("limits", "most", "step", "expected"), [
    ((-1.0, 2.0), inf, 1, [-1, 0, 1, 2]),
    ((-1.0 + 1e-12, 2.0 - 1e-12), inf, 1, [-1, 0, 1, 2]),  # limits that are powers of ten but for rounding
    ((-0.9, 1.9), inf, 1, [0, 1]),
    ((-4.0, 5.0), 5, 1, [-4, -2, 0, 2, 4]),
    ((-4.0, 5.0), 9, 1, [-4, -2, 0, 2, 4]),
    ((-4.0, 5.0), 10, 1, list(range(-4, 6))),
    ((-4.0, 5.0), inf, 3, [-3, 0, 3]),
    ((-4.0, 5.0), 2, 3, [0, 5]),
    ((0.1, 0.9), inf, 1, []),
])
def test_ticks_are_powers_of_ten(limits, most, step, expected):
    assert decades(limits, most, step) == expected


def test_a_decade_has_room_on_both_axes():
    limits = ((-1.0, 3.0), (0.0, 2.0))
    assert decade_in(limits, 8.0, 10.0) == 2.0
    assert decade_in(limits, 80.0, 10.0) == 5.0


def test_limits_fill_a_length_with_their_upper_end():
    assert filled((-1.0, 3.0), 10.0, 2.0) == (-1.0, 4.0)
    assert filled((-1.0, 3.0), 10.0, 2.0, spare=0.5) == (-1.0, 3.5)
    assert filled((-1.0, 3.0), 7.9, 2.0) == (-1.0, 3.0), "what the limits hold stays within"


def test_a_bandwidth_rises_at_45_degrees():
    frame = Frame((-1.0, 3.0), (-2.0, 1.0), 1.5, left=0.5, bottom=0.25, scale=1e12)
    assert (frame.right, frame.top) == (6.5, 4.75)
    assert frame.rates == (10.0, 13.0)
    assert frame.place(-1.0, 10.0) == (0.5, 0.25)
    points = [frame.place(log10(x), log10(x * 3.35e12)) for x in (0.2, 40.0)]
    (x1, y1), (x2, y2) = points
    assert isclose(x2 - x1, y2 - y1, rel_tol=1e-12) and x2 > x1


@pytest.mark.parametrize(("low", "high", "expected"), [
    (0.5, 300.0, [1, 10, 100]), (3.0, 12.0, [5, 10]), (2.0, 6.0, [2, 5]), (2.5, 4.5, [3, 4]), (0.02, 0.06, [0.02, 0.05])])
def test_an_axis_of_less_than_two_decades_has_numbers_between_them(low, high, expected):
    assert ticks((log10(low), log10(high))) == pytest.approx(expected)
