"""Rules that keep labels separate and inside."""

import pytest

from ridgebench.base import units
from ridgebench.figures.page.labels import Box, Obstacles, fit, spread, width, wrap


def test_distant_positions_stay():
    assert spread([1.0, 3.0, 5.0], 0.5, 0.0, 9.0) == [1.0, 3.0, 5.0]


def test_equal_positions_are_spread_around_their_mean():
    assert spread([2.0, 2.0, 2.0], 0.5, 0.0, 9.0) == pytest.approx([1.5, 2.0, 2.5])


def test_a_crowd_at_the_edge_is_pushed_inside():
    assert spread([8.9, 8.9], 0.5, 0.0, 9.0) == pytest.approx([8.5, 9.0])
    assert spread([0.0, 0.0], 0.5, 0.0, 9.0) == pytest.approx([0.0, 0.5])


@pytest.mark.parametrize("wanted", [[0.1, 0.2, 0.9, 1.0, 4.0], [3.0, 3.1, 3.2, 3.3]])
def test_gap_and_order_hold(wanted):
    found = spread(wanted, 0.4, 0.0, 5.0)
    assert all(b - a >= 0.4 - 1e-9 for a, b in zip(found, found[1:]))


def test_nothing_to_spread():
    assert spread([], 0.5, 0.0, 1.0) == []


def test_text_that_fits_is_not_touched_and_other_text_is_cut():
    assert fit("short", 9, 2.0) == "short"
    cut = fit("a rather long text that cannot fit", 9, 1.0)
    assert cut.endswith("…") and width(cut, 9) <= 1.0


def test_wrapping_loses_no_word_until_the_last_line():
    text = "one two three four five six seven"
    assert " ".join(wrap(text, 9, 0.8, 9)) == text
    lines = wrap(text, 9, 0.8, 2)
    assert len(lines) == 2 and lines[1].endswith("…")
    assert all(width(line, 9) <= 0.8 for line in lines)


def test_a_taken_place_is_not_clear():
    obstacles = Obstacles(Box(0, 0, 10, 10), 0.0)
    obstacles.add_line((1, 1), (5, 5), 0.1)
    assert not obstacles.clear(Box(2.9, 2.9, 3.1, 3.1))
    assert obstacles.clear(Box(2.9, 4.0, 3.1, 4.2))
    assert not obstacles.clear(Box(9.5, 9.5, 10.5, 9.9))


@pytest.mark.parametrize(
    ("value", "text"),
    [(39.6e9, "39.6 GB/s"), (3.35e12, "3.35 TB/s"), (490e9, "490 GB/s"), (12.0, "12 B/s")],
)
def test_rates_have_prefixes(value, text):
    assert units.rate(value, "B/s") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (0.001, "0.001"), (1e-6, "10⁻⁶"), (2e-6, "2·10⁻⁶"), (0.05, "0.05"), (1.0, "1"), (1e6, "1,000,000")],
)
def test_ticks_are_plain_numbers(value, text):
    assert units.tick(value) == text


def test_no_line_begins_with_a_percent_sign():
    text = "below it: GeLU, 88 % of the memory roof"
    for room in range(1, 7):
        assert not any(line.startswith("%") for line in wrap(text, 12, room, 4))
    assert wrap(text, 12, 99, 1) == [text]
