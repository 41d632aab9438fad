"""Several runs in one figure: each point under its own roof, arrows for real changes, a title from the records."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.style
import pytest
from golden import GOLDEN, ROOT, read_environment, read_records, write_records
from judged_view import judged_again
from matplotlib.text import Annotation

from ridgebench.base.units import digits
from ridgebench.data.data_sheets import find_sheet
from ridgebench.data.records import load_run
from ridgebench.data.view import View, make_view
from ridgebench.figures.page import dumbbells, runs_figure, runs_table
from ridgebench.figures.page.doubt import DOUBT, doubt
from ridgebench.figures.page.drawing import settings
from ridgebench.figures.page.page import LINE, new_page, write_foot_of_runs
from ridgebench.figures.page.runs import OneRun, changed, formats, make_runs, provenance, span, title
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.plot import drawn_figures, main, parse

SVG = "{http://www.w3.org/2000/svg}"
TIMES = ("time_median_s", "time_ci_low_s", "time_ci_high_s", "time_p10_s", "time_p90_s")
RATES = ("flops_per_s", "bytes_per_s")


def golden() -> View:
    return make_view(load_run(GOLDEN), None)


def sped_up(view: View, factor: float, condition=lambda row: True) -> View:
    """The view with rows that are this many times as fast."""
    def faster(row):
        values = {key: getattr(row, key) / factor for key in TIMES if getattr(row, key)}
        return replace(row, **values, **{key: getattr(row, key) * factor for key in RATES if getattr(row, key)})

    return judged_again(replace(view, rows=[faster(row) if condition(row) else row for row in view.rows]))


def named(view: View, model: str, backend: str = "cpu") -> View:
    return replace(view, device={**view.device, "model": model, "backend": backend})


def runs_of(*views: View) -> list[OneRun]:
    return make_runs([named(view, f"machine {index}") for index, view in enumerate(views)], [Path()] * len(views))


def figure_of(runs: list[OneRun], names=None, theme="light"):
    with matplotlib.style.context(["default", settings(THEMES[theme])]):
        figure = runs_figure.draw(runs, names or formats(runs), THEMES[theme])
        figure.draw_without_rendering()
    return figure


def written(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def arrows(figure) -> list[Annotation]:
    """The arrows from run to run; those of paths have no line."""
    found = [text for axes in figure.axes for text in axes.texts if isinstance(text, Annotation)]
    return [one for one in found if one.arrow_patch.get_linewidth() > 0]


def copy(folder: Path, change=lambda records, environment: None) -> Path:
    shutil.copytree(GOLDEN, folder)
    records, environment = read_records(folder), read_environment(folder)
    environment["run_id"] = folder.name
    change(records, environment)
    write_records(folder, records)
    (folder / "environment.json").write_text(json.dumps(environment))
    return folder


def test_the_title_is_the_range_of_ratios_of_the_best_verified_rows():
    fast = sped_up(golden(), 2.0, lambda row: row.op in ("relu", "dot"))
    assert title(runs_of(golden(), fast)) == (
        "machine 1 is 2 times as fast as machine 0 where memory limits and 1 times where arithmetic limits "
        "(best verified rows)"
    )
    wrong = replace(fast, rows=[replace(r, status="wrong", reason="because") if r.op in ("relu", "dot") else r
                                for r in fast.rows])
    assert title(runs_of(golden(), wrong)).startswith("machine 1 is 1 times as fast as machine 0 where arithmetic limits (")


def test_the_title_of_more_runs_has_a_range_for_each():
    text = title(runs_of(golden(), sped_up(golden(), 4.0), sped_up(golden(), 0.5)))
    assert text == (
        "Where memory limits, machine 1 is 4 times as fast and machine 2 is 0.5 times as fast; where arithmetic limits, "
        "machine 1 is 4 times as fast and machine 2 is 0.5 times as fast (best verified rows, against machine 0)"
    )
    slow = title(runs_of(golden(), sped_up(golden(), 4.0), sped_up(golden(), 0.01)))
    assert "machine 2 is 100 times slower" in slow and "|" not in slow


def test_a_figure_of_one_format_leaves_out_a_run_without_it():
    bare = replace(golden(), rows=[row for row in golden().rows if row.format != "bf16"])
    runs = runs_of(bare, golden(), golden())
    words = written(figure_of(runs, ["bf16"]))
    assert not any(word.startswith("A machine 0") for word in words) and "–" not in words
    assert any(word.startswith("B machine 1") for word in words) and "C / B" in words
    assert any(word.startswith("A machine 0") for word in written(figure_of(runs, ["fp32"])))
    hues = [runs_table.run_theme(THEMES["light"], run).hue(None) for run in runs]
    assert len(set(hues)) == 3


def test_large_and_small_ratios_have_no_exponent():
    assert span([0.00123, 0.5]) == "0.0012 to 0.5" and span([123.4, 5678.0]) == "123 to 5,678"


def test_runs_without_a_common_operation_have_no_ratio():
    first = replace(golden(), rows=[row for row in golden().rows if row.op != "matmul" and row.op != "dot"])
    other = replace(golden(), rows=[row for row in golden().rows if row.op != "relu"])
    assert "no operation in a format" in title(runs_of(first, other))


@pytest.mark.parametrize(("low", "median", "high", "expected"), [
    (9.9, 10.0, 10.1, False), (10.05, 10.15, 10.25, False), (10.2, 10.6, 11.3, False), (10.2, 10.4, 10.5, True),
    (8.9, 9.0, 9.1, True),
])
def test_a_change_is_larger_than_both_intervals(low, median, high, expected):
    row = next(row for row in golden().points)
    before = replace(row, time_ci_low_s=9.9, time_median_s=10.0, time_ci_high_s=10.1)
    after = replace(row, time_ci_low_s=low, time_median_s=median, time_ci_high_s=high)
    assert changed(before, after) == changed(after, before) == expected


def test_arrows_join_the_same_case_only_where_it_changed():
    assert not arrows(figure_of(runs_of(golden(), golden())))
    fast = sped_up(golden(), 1.5, lambda row: row.op == "dot" and row.format == "fp32")
    (arrow,) = arrows(figure_of(runs_of(golden(), fast)))
    (x0, y0), (x1, y1) = arrow.xyann, arrow.xy
    assert x0 == x1 and y1 == pytest.approx(1.5 * y0)
    assert arrow.zorder < 5  # the points, which no arrow may hide


def test_every_run_has_roofs_and_ridges_of_its_own():
    fast = sped_up(golden(), 2.0, lambda row: row.role == "ceiling" and row.saturates == "memory")
    figure = figure_of(runs_of(golden(), fast))
    slopes = [line.get_ydata()[0] / line.get_xdata()[0] for line in figure.axes[1].lines
              if (line.get_gid() or "").startswith("roof")]
    assert sorted(slopes) == pytest.approx([40.0, 80.0])
    assert len({line.get_color() for line in figure.axes[1].lines if line.get_gid()}) == 2
    assert {"fp32", "bf16"} <= set(written(figure)) and any("ridge 10" in text for text in written(figure))


def test_the_axes_hold_the_roofs_of_data_sheets():
    runs = runs_of(*(view.with_sheets(find_sheet("b200")) for view in (golden(), golden())))
    assert figure_of(runs, ["bf16"]).axes[1].get_ylim()[1] > 2250e3  # GFLOP/s


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("count", [2, 4])
def test_two_to_four_runs_are_legible(count, theme):
    from layout_test import overlapping

    views = [sped_up(golden(), 1.4**index) for index in range(count)]
    for names in (None, ["bf16"]):
        figure = figure_of(runs_of(*views), names, theme)
        assert not overlapping(figure)
        page = figure.bbox
        for text in figure.axes[0].texts:
            box = text.get_window_extent()
            assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0, text.get_text()


def test_a_row_of_panels_has_a_table_below():
    from layout_test import overlapping

    gpu = make_view(load_run(next((ROOT / "results" / "nvidia-h100-80gb-hbm3").glob("2*"))), None)
    slow = sped_up(gpu, 0.003).only("fp32")
    views = [named(view, f"GPU {index}", "cuda") for index, view in enumerate((gpu, sped_up(gpu, 1.5), slow))]
    drawn = ["fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"]
    figure = figure_of(make_runs(views, [Path()] * 3), drawn)
    words = written(figure)
    assert "Fastest row, TFLOP/s" in words and words.count("C") == 1
    assert not overlapping(figure)
    top = max(row.flops_per_s for row in gpu.points if row.op == "matmul" and row.format == "bf16") / 1e12
    assert {digits(top), digits(1.5 * top)} <= set(words)
    assert not any(word.startswith("Fastest") for word in written(figure_of(runs_of(golden(), golden()))))


def test_a_host_and_a_gpu_share_one_unit():
    figure = figure_of(runs_of(golden(), sped_up(golden(), 100.0)))
    assert "GFLOP/s" in written(figure)
    runs = make_runs([golden(), named(sped_up(golden(), 100.0), "a GPU", "cuda")], [Path()] * 2)
    assert "TFLOP/s" in written(figure_of(runs))


def test_a_run_on_zeros_is_told_from_one_on_numbers():
    zeros = replace(golden(), environment={**golden().environment, "fill": "zeros"})
    assert any("fill A normal, B zeros" in word for word in written(figure_of(runs_of(golden(), zeros))))
    assert not any("fill A" in word for word in written(figure_of(runs_of(golden(), golden()))))


def test_the_footer_names_the_power_states_of_each_run():
    view = golden()
    capped = replace(view, rows=[replace(row, power_state="capped" if i < 2 else "full_clock") for i, row in enumerate(view.rows[:5])] + view.rows[5:])
    assert provenance(runs_of(view, capped)).startswith("B 2 of 5 rows at the power cap · ridgebench, commits A ")
    assert provenance(runs_of(view, view)).startswith("ridgebench, commits A ")
    assert any("B 2 of 5 rows at the power cap" in word for word in written(figure_of(runs_of(view, capped))))


def test_runs_of_one_device_are_told_apart_by_date_and_folder(tmp_path):
    other = replace(golden(), environment={**golden().environment, "started": "2026-05-05T00:00:00Z"})
    one, two = make_runs([golden(), other], [tmp_path / "a", tmp_path / "b"])
    assert "2026-01-01" in one.name and "2026-05-05" in two.name
    one, two = make_runs([golden(), golden()], [tmp_path / "a", tmp_path / "b"])
    assert "(a, cpu)" in one.name and "(b, cpu)" in two.name


def test_ratios_are_those_of_the_best_verified_rows():
    runs = runs_of(golden(), sped_up(golden(), 1.5, lambda row: row.op == "relu"))
    found = dumbbells.cases(runs)
    assert found and {case[0] for case in found} == set(golden().operations)
    for (op, _, _), (first, other) in found.items():
        assert first == 1.0 and other == pytest.approx(1.5 if op == "relu" else 1.0)
    with matplotlib.style.context(["default", settings(THEMES["light"])]):
        figure = dumbbells.draw(runs, THEMES["light"])
        figure.draw_without_rendering()
    axes = figure.axes[1]
    marks = [tuple(line.get_xdata()) for line in axes.lines if line.get_marker() == "o"]
    assert len(marks) == 2 * len(found) and {round(x[0], 6) for x in marks} == {1.0, 1.5}
    assert not dumbbells.cases(runs_of(golden(), judged_again(replace(golden(), environment=golden().environment | {"ended": None}))))


def test_files_go_to_the_folder_of_the_first_run(tmp_path, capfd):
    folders = [copy(tmp_path / name) for name in ("one", "two")]
    assert main([*map(str, folders), "--formats", "svg"]) == 0
    assert capfd.readouterr().out == f"4 files in {folders[0] / 'figures'}\n"
    files = sorted(path.name for path in (folders[0] / "figures").iterdir())
    assert files == ["roofline-runs-bf16.svg", "roofline-runs-fp32.svg", "roofline-runs.svg", "runs-ratio.svg"]
    texts = ["".join(node.itertext()) for node in
             ElementTree.parse(folders[0] / "figures" / "roofline-runs.svg").iter(f"{SVG}text")]
    assert any(re.match(r"A Synthetic test device.*DRAM read 40 GB/s", text) for text in texts)
    assert {"A wrong 1", "B failed 1", "6 cases not served: see the reports"} <= set(texts)


def test_all_devices_of_a_run_are_drawn_together(tmp_path):
    def second(records, environment):
        environment["devices"].append({**environment["devices"][0], "name": "cuda:0", "model": "second"})
        records += [{**row, "id": row["id"].replace("@cpu", "@cuda:0"), "device": "cuda:0"} for row in records]

    folder = copy(tmp_path / "both", second)
    assert "roofline-runs" in drawn_figures(parse([str(folder), "--device", "all"]))
    assert "roofline-runs" not in drawn_figures(parse([str(folder)]))


@pytest.mark.parametrize(("extra", "expected"), [
    ([GOLDEN], "named twice; allowed: each results directory once"),
    (["nowhere"], "nowhere: not found; allowed: a results directory"),
    (["one", "--points", "nowhere"], "--points belongs to one run"),
    (["one", "two", "three", "four"], "5 runs or devices in one figure; allowed: up to 4"),
    (["one", "--device", "cuda:7"], "no records of device 'cuda:7'"),
])
def test_what_cannot_be_drawn_together_is_named_in_one_line(tmp_path, capfd, monkeypatch, extra, expected):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "three", "four"):
        copy(tmp_path / name)
    assert main([str(GOLDEN), *map(str, extra), "--out", str(tmp_path / "out")]) == 2
    output = capfd.readouterr()
    assert expected in output.err and output.err.count("\n") == 1 and output.out == ""
    assert not (tmp_path / "out").exists()


def test_no_title_rests_on_a_run_of_several_that_did_not_end():
    endless = judged_again(replace(sped_up(golden(), 2.0), environment=golden().environment | {"interrupted": True}))
    assert title(runs_of(golden(), endless)) == "No claim: run B did not end"
    assert "2 times" in title(runs_of(golden(), sped_up(golden(), 2.0)))


def test_each_doubt_has_the_letter_of_its_run_and_is_whole():
    views = [make_view(load_run(next((ROOT / "results").glob(f"{name}*/2026-11-22-*"))), None) for name in ("nvidia-h100", "nvidia-h200")]
    runs = make_runs([*views, *views], [Path()] * 4)
    figure, page = new_page(THEMES["light"])
    above = write_foot_of_runs(page, "", {run.letter: run.view for run in runs}, THEMES["light"])
    lines = [text.get_text() for text in page.texts if text.get_gid() == DOUBT]
    told = "; ".join(f"{run.letter}: {doubt(run.view)}" for run in runs)
    assert " ".join(reversed(lines)) == told, "the lowest line is written first"
    assert above == pytest.approx((len(lines) - 1) * LINE) and len(lines) > 1
