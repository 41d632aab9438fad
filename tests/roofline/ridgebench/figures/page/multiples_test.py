"""Small multiples: chosen where formats would hide one another, with equal axes, and legible."""

from dataclasses import replace
from math import isclose

import matplotlib.style
import pytest
from golden import GOLDEN
from judged_view import judged_again
from layout_test import ALL, overlapping

from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page import multiples
from ridgebench.figures.page.drawing import settings
from ridgebench.figures.page.style import SMALL, THEMES
from ridgebench.figures.page.tiles import tiling
from ridgebench.figures.plot import reference_figures

PEAK, BANDWIDTH = 4e11, 4e10  # the golden ceilings


def golden() -> View:
    return make_view(load_run(GOLDEN), None)


def with_sweeps(formats=ALL, sizes=(32, 128, 512, 2048), share=0.8) -> View:
    """Golden rows and matrix products of several sizes in each format."""
    view = golden()
    model = next(row for row in view.points if row.technique == "packed")
    rows = []
    for name in formats:
        for technique, part in (("packed", share), ("shared_tile", share / 4), ("naive", share / 40)):
            for n in sizes:
                flops, size = 2.0 * n**3, 8.0 * n * n
                time = max(flops / PEAK, size / BANDWIDTH) / part
                times = {key: time for key in ("time_median_s", "time_ci_low_s", "time_ci_high_s", "time_p10_s", "time_p90_s")}
                rows.append(replace(
                    model, id=f"{technique}/{name}/{n}", technique=technique, format=name, flops=flops, bytes=size,
                    shape={"m": n, "n": n, "k": n, "layout": "nt"}, intensity_flop_per_byte=flops / size,
                    flops_per_s=flops / time, bytes_per_s=size / time, fraction_of_measured_roof=part, **times))
    return judged_again(replace(view, rows=[row for row in view.rows if row.op != "matmul"] + rows))


def drawn(view: View, theme="light"):
    with matplotlib.style.context(["default", settings(THEMES[theme])]):
        figure = multiples.draw(view, THEMES[theme])
        figure.draw_without_rendering()
    return figure


def panels(figure) -> list:
    """The planes; figure.axes[0] is the page."""
    return figure.axes[1:]


def words(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_they_are_chosen_for_sweeps_in_several_formats_and_for_many_formats():
    assert not multiples.wanted(golden()) and not multiples.wanted(with_sweeps(["fp32"]))
    assert multiples.wanted(with_sweeps(["fp32", "bf16", "fp16"]))
    assert not multiples.wanted(with_sweeps(["fp32", "fp16"], sizes=(512,)))
    assert not multiples.wanted(with_sweeps(["fp32", "fp16", "bf16"], sizes=(512,)))
    assert multiples.wanted(with_sweeps(["fp32", "tf32", "fp16", "bf16"], sizes=(512,)))
    assert not multiples.wanted(with_sweeps().only("bf16"))
    assert reference_figures(with_sweeps(), ())["roofline"].func is multiples.draw
    assert reference_figures(golden(), ())["roofline"].func is not multiples.draw


def test_all_panels_have_the_same_axes_and_equal_decades():
    planes = panels(drawn(with_sweeps()))
    assert len(planes) == 8, "mixed pairs share a panel"
    assert len({(plane.get_xlim(), plane.get_ylim()) for plane in planes}) == 1
    for plane in planes:
        (x0, y0), (x1, y1) = plane.transData.transform([(1, 1), (10, 10)])
        assert isclose(x1 - x0, y1 - y0, rel_tol=1e-6)


def test_a_panel_shows_its_format_alone_under_its_roofs():
    view = with_sweeps(["fp32", "bf16"])
    figure = drawn(view)
    for plane, name in zip(panels(figure), ("fp32", "bf16")):
        own = {(round(r.intensity_flop_per_byte, 6), round(r.flops_per_s / 1e9, 6)) for r in view.points if r.format == name}
        seen = {(round(float(x), 6), round(float(y), 6)) for c in plane.collections for x, y in c.get_offsets() if x > 0}
        ridge = {(10.0, 400.0)}
        assert own <= seen and seen - own <= ridge


def test_paths_have_arrows_and_names_at_their_ends():
    figure = drawn(with_sweeps(["fp32", "bf16"]))
    for plane in panels(figure):
        assert sum(len(line.get_xdata()) == 4 for line in plane.lines) == 3
        assert sum(bool(getattr(text, "arrow_patch", None)) for text in plane.texts) == 3
    found = words(figure)
    assert found.count("naive") == 1 + 2, "the key, and the end of a path in each panel"
    assert {"n 32", "shared_tile"} <= set(found)
    assert any(text.startswith("packed") and "2048" in text for text in found)
    assert "packed 320" in found, "the fastest technique and its rate above each panel"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("share", [0.05, 0.8, 1.0])
def test_text_does_not_overlap_and_stays_on_the_page(share, theme):
    for view in (with_sweeps(share=share), with_sweeps(["fp32", "bf16"], share=share)):
        figure = drawn(view, theme)
        assert not overlapping(figure)
        for text in figure.axes[0].texts:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text.get_text()
            assert not text.get_text() or text.get_fontsize() >= SMALL


@pytest.mark.parametrize(("count", "columns", "rows"), [(1, 1, 1), (2, 2, 1), (6, 3, 2), (8, 4, 2)])
def test_the_arrangement_has_the_longest_decade(count, columns, rows):
    found = tiling(count, ((-1.0, 4.0), (-2.0, 2.0)), 11.5, 5.3)
    assert (found.columns, found.rows) == (columns, rows)


def test_more_formats_than_panels_are_counted_and_shapes_are_those_of_the_key():
    view = golden()
    model = next(row for row in view.points if row.op == "relu")
    more = [replace(model, id=f"x{i:02}", format=f"custom{i:02}", op=f"operation{i:02}") for i in range(20)]
    figure = drawn(replace(view, rows=view.rows + more))
    planes = panels(figure)
    assert len(planes) == multiples.MOST
    assert any(text.startswith("10 more formats without a panel") for text in words(figure))
    markers = [c for plane in planes[2:4] for c in plane.collections if len(c.get_offsets()) == 1 and c.get_zorder() == 5]
    assert len({c.get_paths()[0].vertices.tobytes() for c in markers}) == 2
