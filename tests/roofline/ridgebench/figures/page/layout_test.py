"""What is drawn where: 45 degrees, no crossing, only verified points, legible text."""

from dataclasses import replace
from itertools import combinations
from math import isclose

import matplotlib.style
import pytest
from golden import GOLDEN, ROOT
from judged_view import judged_again
from matplotlib.collections import PathCollection
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page import error_vs_speed, roofline, time_vs_size
from ridgebench.figures.page.doubt import DOUBT
from ridgebench.figures.page.drawing import settings
from ridgebench.figures.page.page import title_lines
from ridgebench.figures.page.panel import HEAD
from ridgebench.figures.page.style import DIRECT, SMALL, THEMES, contrast

LIGHT = THEMES["light"]


def golden() -> View:
    return make_view(load_run(GOLDEN), None)


def drawn(figure_of, view: View, theme=LIGHT):
    with matplotlib.style.context(["default", settings(theme)]):
        figure = figure_of.draw(view, theme)
        figure.draw_without_rendering()
    return figure


def axes_of(figure):
    """The plane of the roofline; figure.axes[0] is the page."""
    return figure.axes[1]


def offsets(axes) -> set[tuple[float, float]]:
    found = [c for c in axes.collections if isinstance(c, PathCollection)]
    return {(round(float(x), 9), round(float(y), 9)) for c in found for x, y in c.get_offsets()}


ROOFS = ("read", "copy", "triad", "write", "L1", "L2", "L3")
VIEWS = {
    "combined": golden(),
    "one format": golden().only("bf16"),
    "foreign sheet": golden().with_sheets(find_sheet("h100-sxm")),
    "one format, foreign sheet": golden().only("bf16").with_sheets(find_sheet("h100-sxm")),
    "small sheet": golden().with_sheets(find_sheet("l4")),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_bandwidth_lines_rise_at_exactly_45_degrees(view):
    figure = drawn(roofline, view)
    lines = [line for line in axes_of(figure).lines if (line.get_gid() or "").startswith("roof ")]
    # Caches are left out where another device's roofs stretch the axes.
    caches = set() if view.foreign_sheet else {"roof L1", "roof L2"}
    measured = {line.get_gid() for line in lines} & {f"roof {n}" for n in ROOFS}
    assert measured == {"roof read", "roof copy"} | caches
    for line in lines:
        (x0, y0), (x1, y1) = axes_of(figure).transData.transform(line.get_xydata())
        assert isclose(x1 - x0, y1 - y0, rel_tol=1e-9), line.get_gid()


def ends_of_labels(figure) -> list[float]:
    """Where labels right of the axes end, in inches."""
    axes = axes_of(figure).get_window_extent()
    texts = [text for text in figure.findobj(Text) if text.get_gid() == DIRECT and not text.get_rotation()]
    return [box.x1 / figure.dpi for text in texts if (box := text.get_window_extent()).x0 >= axes.x1]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_axes_labels_of_roofs_and_panel_follow_each_other(view):
    figure = drawn(roofline, view)
    axes, inch = axes_of(figure).get_window_extent(), figure.dpi
    heads = ("Share of", "Fastest size")
    left = next(t.get_window_extent().x0 / inch for t in visible_texts(figure) if t.get_text().startswith(heads))
    assert 0.1 <= left - max(ends_of_labels(figure)) <= 0.7
    assert axes.height / inch > 4 and left <= roofline.PANEL_LEFT + 0.01


@pytest.mark.parametrize("name", ["foreign sheet", "one format, foreign sheet"])
def test_axes_end_a_decade_after_the_last_ridge_or_point(name):
    view = VIEWS[name]
    last = max([row.intensity_flop_per_byte for row in view.points] + [roof.ridge for roofs in roofline.sources(view)
               for roof in roofs.compute])
    assert axes_of(drawn(roofline, view)).get_xlim()[1] <= 2.01 * last * 10**roofline.SPARE


def test_a_label_of_several_roofs_names_each_format_in_its_hue():
    fma = next(row for row in golden().ceilings if row.saturates == "fma")
    both = judged_again(replace(golden(), rows=[*golden().rows, replace(fma, id="fma_peak/bf16", format="bf16", arithmetic="bf16")]))
    colours = {text.get_text(): text.get_color() for text in visible_texts(drawn(roofline, both))
               if text.get_text() in ("fp32", "bf16") and text.get_ha() == "left"}
    assert colours == {"fp32": LIGHT.text("fp32"), "bf16": LIGHT.text("bf16")}


def test_labels_of_data_sheets_alone_are_in_italics():
    figure = drawn(roofline, VIEWS["one format, foreign sheet"])
    slants = {text.get_text(): text.get_style() for text in visible_texts(figure)}
    assert slants["HBM3 3.35 TB/s"] == slants["990 TFLOP/s"] == "italic"
    assert slants["400 GFLOP/s"] == "normal"


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_labels_of_bandwidth_lines_turn_by_exactly_45_degrees(view):
    labels = [t for t in drawn(roofline, view).findobj(Text) if "B/s" in t.get_text()]
    turned = [text.get_rotation() for text in labels if text.get_gid() == DIRECT]
    assert turned and set(turned) == {45.0}


def test_a_bandwidth_line_ends_at_the_roof_it_meets():
    axes = axes_of(drawn(roofline, golden()))
    for line in axes.lines:
        if (line.get_gid() or "").startswith("roof "):
            assert isclose(max(line.get_ydata()), 400.0)  # GFLOP/s, the golden FMA ceiling


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_at_most_eight_direct_labels(view):
    labels = [t for t in drawn(roofline, view).findobj(Text) if t.get_gid() == DIRECT]
    assert 4 <= len(labels) <= roofline.MOST_LABELS


def test_the_operations_of_the_lecture_are_named_at_their_points():
    published = make_view(load_run(next(ROOT.glob("results/nvidia-h100*/2026-11-22-7f6e7b5"))), None).only("bf16")
    figure = drawn(roofline, published.with_sheets(find_sheet("h100-sxm")))
    named = {text.get_text().split(" ")[0] for text in figure.findobj(Text) if text.get_gid() == DIRECT}
    assert {"relu", "gelu", "matmul"} <= named


def test_exactly_the_verified_steady_rows_are_points():
    view = golden()
    expected = {
        (round(r.flops / r.bytes, 9), round(r.flops_per_s / 1e9, 9))
        for r in view.rows
        if r.status == "ok" and r.role == "kernel" and r.regime == "steady"
    }
    ridge = {(10.0, 400.0)}
    assert offsets(axes_of(drawn(roofline, view))) == expected | ridge


@pytest.mark.parametrize("status", ["wrong", "suspect", "invalid", "failed", "skipped"])
@pytest.mark.parametrize("figure_of", [roofline, time_vs_size, error_vs_speed])
def test_a_row_that_is_not_ok_is_no_point_even_if_it_has_a_rate(status, figure_of):
    view = golden()
    op = "matmul" if figure_of is time_vs_size else "dot"  # of golden's operations only matmul was swept over sizes
    victim = next(row for row in view.points if row.op == op and row.format == "fp32")
    rows = [replace(r, status=status, reason="because") if r is victim else r for r in view.rows]
    with_it, without = (
        [p for axes in drawn(figure_of, v).axes[1:] for p in offsets(axes)]
        for v in (view, replace(view, rows=rows))
    )
    assert len(without) == len(with_it) - 1


@pytest.mark.parametrize("figure_of", [roofline, time_vs_size, error_vs_speed])
def test_a_ceiling_measured_again_is_neither_drawn_nor_counted(figure_of):
    view = golden()
    again = [replace(r, id=f"{r.id}:control", role="control") for r in view.ceilings]
    # A control of an unknown format would add a column, a hue and a roof.
    again += [replace(row, format="other") for row in again]
    with_it, without = (
        [text.get_text() for text in visible_texts(drawn(figure_of, v))]
        for v in (replace(view, rows=view.rows + again), view)
    )
    assert with_it == without


@pytest.mark.parametrize("figure_of", [roofline, time_vs_size, error_vs_speed])
def test_an_infinite_error_breaks_no_figure_and_is_not_drawn_as_no_error(figure_of):
    view = golden()
    victim = next(row for row in view.points if row.op == "dot" and row.format == "fp32")
    verify = victim.verify | {"error": None}
    rows = [replace(r, verify=verify) if r is victim else r for r in view.rows]
    with_it, without = (
        sum(len(offsets(axes)) for axes in drawn(figure_of, v).axes[1:])
        for v in (view, replace(view, rows=rows))
    )
    assert with_it - without == (figure_of is error_vs_speed)


def test_a_naive_row_is_drawn_smaller():
    view = golden().only("fp32")
    axes = axes_of(drawn(roofline, view))
    sizes = {
        (round(float(x), 9), round(float(y), 9)): float(size)
        for c in axes.collections if isinstance(c, PathCollection)
        for (x, y), size in zip(c.get_offsets(), c.get_sizes(), strict=True)
    }
    assert {row.naive for row in view.points} == {True, False}
    for row in view.points:
        size = sizes[round(row.flops / row.bytes, 9), round(row.flops_per_s / 1e9, 9)]
        assert (size < 30) == row.naive, row.id


ALL = ("fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3xfp8_e5m2",
       "fp8_e5m2xfp8_e4m3", "tf32x3")


@pytest.mark.parametrize("formats", [ALL[:-1], ALL])
def test_the_heads_of_all_formats_are_whole(formats):
    view = golden()
    model = next(row for row in view.points if row.op == "matmul" and row.origin == "hand")
    more = [replace(model, id=f"matmul/{name}", format=name) for name in formats]
    figure = drawn(roofline, replace(view, rows=view.rows + more))
    left = (roofline.PANEL_LEFT + HEAD - 0.1) * figure.dpi
    table = [t for t in visible_texts(figure) if t.get_window_extent().x0 > left]
    heads = {text.get_text() for text in table if text.get_ha() == "center"}
    assert heads >= {"fp32", "tf32", "fp16", "bf16", "fp8", "e4m3", "e5m2", "pairs"}
    assert not any("…" in head for head in heads)


def test_a_long_title_is_shown_whole_in_two_lines():
    title = " ".join(["fp32 matmul reaches 93 % of this machine's FMA roof;"] * 4)
    size, lines = title_lines(title, 12.2)
    assert " ".join(lines) == title and len(lines) == 2 and size < 16


def visible_texts(figure) -> list[Text]:
    return [t for t in figure.findobj(Text) if t.get_text().strip() and t.get_visible()]


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("figure_of", [roofline, time_vs_size, error_vs_speed])
def test_text_is_legible_and_on_the_page(theme, figure_of):
    view = VIEWS["foreign sheet"]
    figure = drawn(figure_of, view, theme)
    page = figure.bbox
    for text in visible_texts(figure):
        box = text.get_window_extent()
        assert text.get_fontsize() >= SMALL >= 9, text.get_text()
        assert contrast(text.get_color(), theme.background) >= 4.5, text.get_text()
        assert page.x0 <= box.x0 and box.x1 <= page.x1, text.get_text()
        assert page.y0 <= box.y0 and box.y1 <= page.y1, text.get_text()


def outline(text: Text) -> Path:
    """The text's box, turned as the text is (about its anchor)."""
    turn = text.get_rotation() if text.get_rotation_mode() == "anchor" else 0
    if turn:
        text.set_rotation(0)
    # Boxes of neighbouring lines touch; a glyph overlaps only where they share more.
    path = Path(text.get_window_extent().padded(-1.5).corners()[[0, 1, 3, 2]])
    if turn:
        text.set_rotation(turn)
    anchor = text.get_transform().transform(text.get_position())
    return path.transformed(Affine2D().rotate_deg_around(*anchor, turn))


def overlapping(figure) -> list[tuple[str, str]]:
    found = [(text.get_text(), outline(text)) for text in visible_texts(figure)]
    return [(one, other) for (one, a), (other, b) in combinations(found, 2)
            if a.intersects_path(b, filled=True)]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("figure_of", [roofline, time_vs_size, error_vs_speed])
def test_no_text_overlaps_another(view, figure_of):
    assert not overlapping(drawn(figure_of, view))


def with_rates(read: float, copy: float, l3: float, l2: float, l1: float) -> View:
    """Golden rows under other slanted roofs, in GB/s, and a third cache."""
    view = golden()
    third = next(replace(row, id="l3/repeated", level=3) for row in view.ceilings if row.level == 2)
    rates = {"dram/read": read, "dram/copy": copy, 1: l1, 2: l2, 3: l3}
    rows = []
    for row in [*view.rows, third]:
        key = row.level or "/".join(row.id.split("/")[:2])
        rows.append(replace(row, bytes_per_s=rates[key] * 1e9) if key in rates else row)
    return judged_again(replace(view, rows=rows))


@pytest.mark.parametrize("rates", [
    (118, 173, 177, 887, 1050), (107, 97.7, 187, 285, 285), (35.3, 57.4, 78.8, 113, 223),
    (112, 123, 140, 170, 226), (195, 174, 453, 654, 887), (33.6, 46.9, 58.6, 345, 584),
])
@pytest.mark.parametrize("name", [None, "bf16"])
def test_labels_of_slanted_roofs_near_each_other_do_not_overlap(rates, name):
    view = with_rates(*rates)
    figure = drawn(roofline, view.only(name) if name else view)
    turned = {t.get_text().split()[0] for t in visible_texts(figure) if t.get_rotation() == 45}
    assert turned == {"DRAM", "L1", "L2", "L3"}
    assert not overlapping(figure)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_hues_stand_out_from_the_background(theme):
    for name in ("fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "unknown"):
        assert contrast(theme.hue(name), theme.background) >= 3.0, name


def test_sizes_of_one_implementation_are_joined_by_a_path_with_an_arrow():
    axes = axes_of(drawn(roofline, golden().only("fp32")))
    assert any(len(line.get_xdata()) == 3 for line in axes.lines)
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == 1


def test_a_ghost_stands_at_the_traffic_that_was_counted():
    view = golden().only("fp32")
    row = next(row for row in view.points if row.flops and row.bytes)
    counted = [replace(r, dram_bytes=4 * r.bytes) if r is row else r for r in view.rows]
    for rows, count in ((view.rows, 0), (counted, 1)):
        figure = drawn(roofline, replace(view, rows=rows))
        ghosts = [line for line in axes_of(figure).lines if line.get_gid() == "ghost"]
        told = [t for t in visible_texts(figure) if "that was counted" in t.get_text()]
        assert len(ghosts) == len(told) == count
    assert ghosts[0].get_xdata()[0] == pytest.approx(row.flops / row.bytes / 4)


def test_a_ghost_far_from_its_point_widens_the_axis():
    view = golden().only("fp32")
    row = next(row for row in view.points if row.flops and row.bytes)
    far = [replace(r, dram_bytes=1e4 * r.bytes) if r is row else r for r in view.rows]
    axes = axes_of(drawn(roofline, replace(view, rows=far)))
    assert axes.get_xlim()[0] < row.flops / row.bytes / 1e4


def test_times_over_size_are_of_swept_operations():
    view = golden()
    assert time_vs_size.swept(view).operations == ["matmul"]
    shown = {text.get_text() for text in visible_texts(drawn(time_vs_size, view))}
    assert "matmul" in shown and not {"relu", "dot"} & shown
    largest = max(row.flops for row in view.points if row.op == "matmul")
    one_size = replace(view, rows=[row for row in view.rows if row.op != "matmul" or row.flops == largest])
    assert not time_vs_size.swept(one_size).points


def test_the_lower_bound_joins_the_sizes_of_one_sweep_only():
    """A product that grows along k is larger than some squares and smaller than others: no line leads from one to the other."""
    row = next(row for row in golden().points if row.op == "matmul" and row.format == "fp32" and not row.naive)
    shapes = [(n, n, n) for n in (64, 256, 1024)] + [(512, 512, k) for k in (1, 64, 4096)]
    rows = [replace(row, id=f"{shape}", shape=dict(zip("mnk", shape)), bytes=4.0 * (shape[0] * shape[2] * 2 + shape[0] ** 2),
                    least_time_s=1e-12 * shape[0] ** 2 * shape[2]) for shape in shapes]
    lines = time_vs_size.bounds(rows)
    assert sorted(map(len, lines)) == [3, 3]
    for line, own in zip(sorted(lines), (rows[:3], rows[3:])):
        assert line == sorted((one.bytes / 1e6, one.least_time_s * 1e3) for one in own)



@pytest.mark.parametrize("figure_of", [roofline, time_vs_size, error_vs_speed])
def test_a_line_above_the_footer_says_what_puts_a_run_in_doubt(figure_of):
    def last_lines(view: View) -> list[str]:
        return [text.get_text() for text in visible_texts(drawn(figure_of, view)) if text.get_gid() == DOUBT]

    ended = judged_again(replace(golden(), environment=golden().environment | {"ended": None}))
    assert last_lines(golden()) == [] and last_lines(ended) == ["No claim: the run has no end"]
    assert not overlapping(drawn(figure_of, ended))
    reason = "interrupted " + "while a very long reason had to be written on the page of a figure " * 3
    long = replace(ended, judgement=replace(ended.judgement, unfinished=reason.strip()))
    assert " ".join(last_lines(long)) == f"No claim: {reason.strip()}" and len(last_lines(long)) == 2
    assert not overlapping(drawn(figure_of, long))


@pytest.mark.parametrize("name", ["bf16", "fp32"])
def test_the_label_of_main_memory_is_nearer_to_its_line_than_to_that_of_a_cache(name):
    view = make_view(load_run(next(ROOT.glob("results/nvidia-h200/2026-11-22-7f6e7b5"))), None).only(name)
    figure = drawn(roofline, view)
    label = next(text for axes in figure.axes for text in axes.texts if text.get_text().startswith("DRAM read"))
    box = label.get_window_extent()
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    axes = axes_of(figure)
    apart = {}
    for line in axes.lines:
        if line.get_gid() in ("roof L2", "roof read"):
            (left, low), *_ = axes.transData.transform(line.get_xydata())
            apart[line.get_gid()] = abs((y - low) - (x - left))
    assert apart["roof read"] < 0.6 * apart["roof L2"], "its upper edge is nearer too"
