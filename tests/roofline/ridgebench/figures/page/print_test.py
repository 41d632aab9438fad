"""Greyscale: in print every two formats differ by lightness, or by line style and letter; fp8 variants by their edges."""

from dataclasses import replace
from itertools import combinations

import matplotlib.style
import pytest
from judged_view import judged_again
from layout_test import ALL
from multiples_test import with_sweeps

from ridgebench.figures.page import multiples, roofline
from ridgebench.figures.page.drawing import settings
from ridgebench.figures.page.style import THEMES, contrast, edge_dashes, lightness

PRINT = THEMES["print"]
APART = 9.5  # CIE L*: a step that the eye sees between two greys
ONE_PANEL = ("fp32", "fp16", "bf16")


def drawn(figure_of, view, theme=PRINT):
    with matplotlib.style.context(["default", settings(theme)]):
        figure = figure_of.draw(view, theme)
        figure.draw_without_rendering()
    return figure


def by_name(figure, start: str) -> dict[str, list]:
    """The artists of the planes whose id begins with a word, by the rest of the id."""
    found: dict[str, list] = {}
    for axes in figure.axes[1:]:
        for artist in [*axes.lines, *axes.collections]:
            gid = artist.get_gid() or ""
            if gid.startswith(start + " "):
                found.setdefault(gid[len(start) + 1:], []).append(artist)
    return found


def pattern(line) -> tuple:
    return line._unscaled_dash_pattern


def greys(figure) -> dict[str, float]:
    return {name: lightness(lines[0].get_color()) for name, lines in by_name(figure, "path").items()}


@pytest.mark.parametrize(("figure_of", "formats"), [(multiples, ALL), (roofline, ONE_PANEL)])
def test_every_two_formats_are_told_apart_without_hue(figure_of, formats):
    figure = drawn(figure_of, with_sweeps(formats))
    grey, paths = greys(figure), by_name(figure, "path")
    letters = {name: PRINT.letter(name) for name in formats}
    assert set(paths) == set(formats) and set(letters.values()) == set("".join(by_name(figure, "letters")))
    for one, other in combinations(formats, 2):
        if letters[one] == letters[other] == "8":
            pairs = "xfp" in one and "xfp" in other
            assert pairs or edge_dashes(one) != edge_dashes(other), (one, other)
            continue
        dashed = pattern(paths[one][0]) != pattern(paths[other][0]) and letters[one] != letters[other]
        assert dashed, (one, other)
        assert abs(grey[one] - grey[other]) >= APART, (one, other)


def test_letters_contrast_with_their_markers_and_lie_in_them():
    collections = [one for some in by_name(drawn(roofline, with_sweeps(ONE_PANEL)), "letters").values() for one in some]
    assert collections
    for one in collections:
        colours, places = one.get_facecolors(), one.get_offsets().tolist()
        for index in range(0, len(places), 2):
            assert places[index] == places[index + 1]
            assert contrast(colours[index][:3], colours[index + 1][:3]) >= 4.0


def test_formats_that_share_a_roof_have_stretches_of_it_in_print():
    view = with_sweeps(ONE_PANEL)
    fma = next(row for row in view.ceilings if row.saturates == "fma")
    other = replace(fma, id="fma_peak/bf16", format="bf16", arithmetic="bf16")
    both = judged_again(replace(view, rows=[*view.rows, other]))
    lines = by_name(drawn(roofline, both), "flat")
    assert {len(some) for some in lines.values()} == {3}
    assert len({pattern(some[0]) for some in lines.values()}) == 2
    assert {len(some) for some in by_name(drawn(roofline, both, THEMES["light"]), "flat").values()} == {1}


def test_other_themes_have_no_letters():
    figure = drawn(roofline, with_sweeps(ONE_PANEL), THEMES["light"])
    assert not by_name(figure, "letters")
    assert {pattern(lines[0]) for lines in by_name(figure, "path").values()} == {(0, None)}


def test_a_format_without_a_printable_letter_is_drawn():
    view = with_sweeps(["fp32"])
    odd = [replace(row, format=" $") if row.op == "dot" else row for row in view.rows]
    drawn(roofline, replace(view, rows=odd))
