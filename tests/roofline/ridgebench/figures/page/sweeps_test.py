"""Sweeps: one path for each, whose rows differ in exactly one thing; and the fastest size in the table of one format."""

from dataclasses import replace
from itertools import product

import matplotlib.style
import pytest
from golden import GOLDEN
from multiples_test import golden, with_sweeps

from ridgebench.data.records import Row
from ridgebench.figures.html.sources import gather
from ridgebench.figures.page import roofline
from ridgebench.figures.page.drawing import settings
from ridgebench.figures.page.panel import name_of, table_rows
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.page.sweeps import paths, size_text, sweeps

SQUARES = [(n, n, n) for n in (16, 64, 256, 1024)]
BATCHES = [(m, 4096, 4096) for m in (1, 16, 256)]
SUMS = [(2048, 2048, k) for k in (1, 8, 64, 512)]


def of_shapes(shapes, technique="packed", layout="nt") -> list[Row]:
    model = next(row for row in golden().points if row.technique == "packed")
    rows = []
    for m, n, k in shapes:
        flops, size = 2.0 * m * n * k, 4.0 * (m * k + n * k + m * n)
        rows.append(replace(
            model, id=f"{technique}/{m}/{n}/{k}/{layout}", technique=technique, flops=flops, bytes=size,
            shape={"m": m, "n": n, "k": k, "layout": layout}, intensity_flop_per_byte=flops / size,
            flops_per_s=1e9 * (flops / size) ** 0.8, bytes_per_s=1e9))
    return rows


def shapes(rows: list[Row]) -> list[tuple]:
    return [(row.shape["m"], row.shape["n"], row.shape["k"]) for row in rows]


def test_each_sweep_of_a_technique_is_one_path():
    rows = of_shapes([*SUMS, *reversed(SQUARES), *BATCHES])
    found = {sweep.grows + str(len(sweep.rows)): sweep for sweep in sweeps(rows)}
    assert {key: shapes(sweep.rows) for key, sweep in found.items()} == {"n4": SQUARES, "m3": BATCHES, "k4": SUMS}
    assert found["m3"].size(found["m3"].rows[-1]) == "m 256" and found["n4"].size(found["n4"].rows[0]) == "n 16"


def test_a_batch_has_sweeps_of_its_own_and_its_size_is_named():
    plain = of_shapes(SQUARES)
    batched = [replace(row, id=f"{row.id}/b", shape={**row.shape, "b": 16}) for row in plain]
    found = [(sweep.grows, *[row.shape.get("b", 1) for row in sweep.rows]) for sweep in sweeps(plain + batched)]
    assert sorted(found) == [("n", 1, 1, 1, 1), ("n", 16, 16, 16, 16)]
    assert size_text(plain[0]) == "n 16" and size_text(batched[0]) == "n 16, b 16"
    one = replace(plain[0], shape={"m": 2, "n": 4, "k": 8, "b": 3, "lda": 9, "layout": "nt"})
    assert size_text(one) == "2×4×8, b 3, lda 9"
    grouped = replace(plain[0], shape={"m": 8, "n": 4, "k": 2, "g": 3, "skew": 0.5, "empty": 0.0})
    assert size_text(grouped) == "8×4×2×3, skew 0.5, empty 0"
    growing = [replace(plain[0], id=str(b), shape={**plain[0].shape, "b": b}) for b in (2, 4, 8)]
    assert [(sweep.grows, len(sweep.rows)) for sweep in sweeps(growing)] == [("b", 3)]


def test_rows_of_no_sweep_stay_points():
    lone = [(3, 5, 7), (11, 13, 17)]
    assert sweeps(of_shapes(lone)) == []
    assert [shapes(path) for path in paths(of_shapes([*SQUARES, *lone]))] == [SQUARES, lone[:1], lone[1:]]


def test_techniques_and_layouts_have_paths_of_their_own():
    rows = of_shapes(SQUARES) + of_shapes(SQUARES, "other") + of_shapes(SQUARES, layout="tn")
    assert [shapes(sweep.rows) for sweep in sweeps(rows)] == [SQUARES] * 3


def test_a_row_can_belong_to_two_sweeps_and_a_grid_is_not_joined_twice():
    both = sweeps(of_shapes([*SQUARES, *((256, 256, k) for k in (1, 4, 16))]))
    assert [len(sweep.rows) for sweep in both] == [4, 4]
    grid = sweeps(of_shapes([*product((1, 2, 4), (32, 64, 128, 256), (8,))]))
    assert [(sweep.grows, len(sweep.rows)) for sweep in grid] == [("n", 4)] * 3


def test_the_figure_draws_a_path_for_each_sweep_and_names_what_grows():
    view = golden()
    rows = of_shapes([*SQUARES, *BATCHES, *SUMS])
    view = replace(view, rows=[row for row in view.rows if row.op != "matmul"] + rows).only(rows[0].format)
    with matplotlib.style.context(["default", settings(THEMES["light"])]):
        figure = roofline.draw(view, THEMES["light"])
    lines = [line for line in figure.axes[1].lines if str(line.get_gid()).startswith("path")]
    assert sorted(len(line.get_xdata()) for line in lines) == [3, 4, 4]
    words = [text.get_text() for text in figure.axes[0].texts]
    assert {"n 16", "m 1", "k 1"} & set(words) and any(word.startswith("packed, ") for word in words)


def test_the_table_shows_the_fastest_size_and_names_it():
    view = with_sweeps(["fp32"]).only("fp32")
    small = next(row for row in view.points if row.technique == "packed")
    raised = replace(small, fraction_of_measured_roof=1.5)  # at a memory roof that moved
    view = replace(view, rows=[raised if row is small else row for row in view.rows])
    top = next(row for row in table_rows(view) if row.technique == "packed")
    assert top.flops_per_s == max(row.flops_per_s for row in view.points if row.technique == "packed")
    assert name_of(top, 9.0) == f"matmul packed, {size_text(top)}" and name_of(top, 1.0) == "matmul packed"


@pytest.mark.parametrize("regime", ["steady"])
def test_the_report_joins_the_same_rows(regime):
    content = gather([GOLDEN], [], [])
    run = content.runs[0]
    wanted = sweeps([row for row in run.rows if row.regime == regime and row.intensity_flop_per_byte and row.flops_per_s])
    found = [[content.rows[index][1].id for index in sweep] for sweep in content.sweeps]
    assert [[row.id for row in sweep.rows] for sweep in wanted] == [one for one in found if f"/{regime}@" in one[0]]
