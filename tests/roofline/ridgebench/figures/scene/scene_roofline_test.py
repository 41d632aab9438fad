"""The roofline in numbers: limits of its axes, roofs as lines with ridges and bands, shares."""

from dataclasses import replace
from math import inf, isclose, log10

import pytest

from ridgebench.data.judged import Roof as Rate
from ridgebench.data.judged import Roofs
from ridgebench.figures.scene.roofline import (
    LECTURE,
    REFERENCE,
    Line,
    Roof,
    cache_reach,
    level,
    limits,
    lines,
    rising,
    sheet_share,
)

H100 = Roof(3.35e12, 989.4e12)
MEMORY, READ, L2 = Rate("triad", 3e12, 2.97e12, 3.03e12), Rate("read", 2.5e12, 2.5e12, 2.5e12), Rate("level 2", 9e12, 9e12, 9e12)
TENSOR = Rate("bf16 tensor", 900e12, 855e12, 945e12, ("bf16",), "tensor", ridge=330.0)
FMA = Rate("fp32 fma", 60e12, 60e12, 60e12, ("fp32",), "fma", ridge=22.0)
ROOFS = Roofs([MEMORY, READ], [L2], [TENSOR, FMA])
WIDE = ((-10.0, 10.0), (0.0, 30.0))


def test_a_roof_is_the_lower_of_two_limits_and_bends_where_they_meet():
    assert H100.ridge == 989.4e12 / 3.35e12
    assert H100.at(10.0) == 33.5e12 and H100.at(1e4) == 989.4e12
    assert isclose(H100.at(H100.ridge), 989.4e12)
    assert H100.share((10.0, 16.75e12)) == 0.5 and isclose(H100.share((1e4, 98.94e12)), 0.1)
    slope, flat = H100.lines
    assert slope.end == flat.start == flat.ridge == log10(H100.ridge) and slope.ridge is None
    assert isclose(slope.at(slope.end), flat.at(flat.start))


def test_a_slope_ends_at_the_highest_peak_and_a_peak_begins_at_the_fastest_memory():
    assert isclose(10 ** rising(READ, ROOFS).end, 900 / 2.5)
    assert isclose(10 ** rising(L2, ROOFS).end, 100.0)
    assert isclose(10 ** level(FMA, ROOFS).start, 20.0)
    assert isclose(10 ** level(FMA, ROOFS).ridge, 22.0), "the ridge is the judgement's: its bandwidth may be another one"
    assert rising(MEMORY, replace(ROOFS, compute=[])).end == inf
    assert level(FMA, replace(ROOFS, memory=[])).start == -inf
    assert level(replace(FMA, ridge=None), ROOFS).ridge is None
    assert [line.rises for line in lines(ROOFS)] == [True, True, False, False]


def test_a_band_is_relative_to_its_line():
    assert rising(MEMORY, ROOFS).band == (log10(0.99), log10(1.01))
    assert level(TENSOR, ROOFS).band == (log10(0.95), log10(1.05))


def test_a_line_is_cut_at_the_axes():
    (x1, y1), (x2, y2) = Line(12.0, True).within((-1.0, 4.0), (10.0, 14.0))
    assert (x1, y1, x2, y2) == (-1.0, 11.0, 2.0, 14.0), "at the left and the upper edge"
    assert Line(12.0, True).within((-1.0, 4.0), (11.5, 20.0))[0] == (-0.5, 11.5), "at the lower edge"
    assert Line(12.0, True, end=1.0).within((-1.0, 4.0), (0.0, 20.0))[1] == (1.0, 13.0), "at its own end"
    assert Line(13.0, False, start=1.0).within((-1.0, 4.0), (10.0, 14.0)) == [(1.0, 13.0), (4.0, 13.0)]
    assert Line(13.0, False, start=5.0).within((-1.0, 4.0), (10.0, 14.0)) == []
    assert Line(12.0, True).within((3.0, 4.0), (10.0, 14.0)) == []


def test_the_highest_peak_reaches_left_of_memory_where_a_cache_feeds_it():
    line = cache_reach(ROOFS)
    assert not line.rises and isclose(10**line.start, 100.0) and isclose(10**line.end, 300.0)
    for part in ("memory", "caches", "compute"):
        assert cache_reach(replace(ROOFS, **{part: []})) is None


def test_a_measured_roof_has_a_share_of_the_same_roof_of_its_sheet():
    sheet = Roofs([Rate("HBM3", 3.35e12, 3.35e12, 3.35e12)], [], [replace(TENSOR, value=1000e12)])
    assert sheet_share(TENSOR, sheet) == 0.9
    assert sheet_share(MEMORY, sheet) == 3 / 3.35
    assert sheet_share(FMA, sheet) is None, "the sheet has no such peak"
    assert sheet_share(TENSOR, None) is None and sheet_share(None, sheet) is None
    assert sheet_share(MEMORY, replace(sheet, memory=[])) is None


def test_axes_of_the_reference_hold_points_ridges_and_memory_from_the_left_edge():
    (left, right), (low, high) = limits([(0.05, 2e10), (40.0, 990e12)], [lines(ROOFS)], REFERENCE, 1e12)
    assert isclose(10**left, 0.05) and isclose(10**right, 660.0), "the least intensity, and twice the last ridge"
    assert isclose(10**low, 0.02 / 1.6) and isclose(10**high, 990 * 1.8)
    (left, right), (low, high) = limits([], [lines(replace(ROOFS, compute=[FMA]))], REFERENCE, 1e12)
    assert (left, right) == (-1.0, 2.0), "at least 0.1 to 100 FLOP per byte"
    assert isclose(10**low, 0.25 / 1.6), "the slowest memory at the left edge"
    _, (low, high) = limits([], [], REFERENCE, 1e9)
    assert isclose(10**high, 1.8) and isclose(high - low, 2.0), "of nothing, two decades"


def test_lower_limits_of_the_lecture_are_powers_of_ten():
    (left, right), (low, high) = limits([(0.25, 0.8e12)], [H100.lines], LECTURE, 1e12)
    assert (left, low) == (-1, -1) and isclose(10**right, 10 * H100.ridge) and isclose(10**high, 989.4)
    (left, _), (low, _) = limits([(0.05, 0.15e12)], [H100.lines], LECTURE, 1e12)
    assert (left, low) == (-2, -2), "the slope begins at the left edge, at 0.03 TFLOP/s"
    (left, right), _ = limits([], [Roof(1e12, 2e11).lines], LECTURE, 1e12)
    assert left == -2 and isclose(10**right, 2.0), "a quarter of the ridge, and ten times the ridge"


@pytest.mark.parametrize("margins", [REFERENCE, LECTURE])
@pytest.mark.parametrize("scale", [1e9, 1e12])
def test_axes_hold_all_that_is_drawn(margins, scale):
    points = [(0.01, 3e9), (7.0, 1e13), (2e4, 5e14)]
    (left, right), (low, high) = limits(points, [lines(ROOFS), H100.lines], margins, scale)
    assert all(left <= log10(x) <= right and low <= log10(y / scale) <= high for x, y in points)
    for line in (*lines(ROOFS), *H100.lines):
        assert line.within((left, right), (low + log10(scale), high + log10(scale))) == line.within((left, right), WIDE[1])
        assert line.ridge is None or left < line.ridge < right
    assert right - left >= 2 and high - low >= 2
