"""Points of other tools in figures: a marker of their own, no title, no table, and a question where they are too fast."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ridgebench.__main__ import main
from ridgebench.data.records import load_run
from ridgebench.figures.page import external, roofline
from ridgebench.figures.page.drawable import drawable
from ridgebench.figures.page.finding import roofline_title
from ridgebench.figures.page.roofs import Roofs, measured_roofs
from ridgebench.figures.plot import open_view, parse


def imported(folder: Path, time_us: float) -> Path:
    folder.mkdir(exist_ok=True)
    table = folder / "points.csv"
    table.write_text(f"name,technique,format,time_us,flops,bytes\nmine,their_kernel,fp32,{time_us},2e9,1e8\n")
    assert main(["import", "csv", str(table), "-o", str(folder / "imported")]) == 0
    return folder / "imported"


def view_of(results: Path, *words):
    options = parse([str(results), *map(str, words)])
    return open_view(drawable(load_run(results)), options)


def svg(results: Path, out: Path, *words) -> str:
    assert main(["plot", str(results), "--out", str(out), "--formats", "svg", *map(str, words)]) == 0
    return (out / "roofline.svg").read_text()


def test_they_are_drawn_over_measured_roofs_and_change_no_finding(results, tmp_path):
    plain = view_of(results)
    both = view_of(results, "--points", imported(tmp_path, 1e5))
    assert roofline_title(both) == roofline_title(plain)
    assert both.points == plain.points and both.not_ok == plain.not_ok
    assert [row.technique for row in external.placed(both)] == ["their_kernel"]
    assert external.NOTE in svg(results, tmp_path / "figures", "--points", tmp_path / "imported")
    assert external.NOTE not in svg(results, tmp_path / "figures")


def test_alone_they_are_drawn_under_a_data_sheet(tmp_path):
    drawn = svg(imported(tmp_path, 1e5), tmp_path / "figures", "--roof", "h100-sxm")
    assert "Points of another tool, not verified" in drawn and "their_kernel" in drawn
    assert not (tmp_path / "figures" / "time-vs-size.svg").exists()


@pytest.mark.parametrize(("time_us", "asked"), [(1e5, False), (1e-3, True)])
def test_a_point_above_the_roof_is_a_question(results, tmp_path, capsys, time_us, asked):
    view = view_of(results, "--points", imported(tmp_path, time_us))
    assert len(external.questions(view, roofline.sources(view))) == asked
    svg(results, tmp_path / "figures", "--points", tmp_path / "imported")
    error = capsys.readouterr().err
    assert ("a question of units" in error) == asked and error.count("\n") == asked


def test_a_point_may_be_above_memory_alone(results, tmp_path):
    """Without a roof of its format the bandwidth still is a limit, and the other way round."""
    view = view_of(results, "--points", imported(tmp_path, 1e-3))
    roofs = measured_roofs(view)
    assert external.questions(view, [replace(roofs, compute=[])]) and external.questions(view, [replace(roofs, memory=[])])
    assert not external.questions(view, [Roofs([], [], [])])
    slow = view_of(results, "--points", imported(tmp_path / "slow", 1e5))
    assert not external.questions(slow, [replace(roofs, compute=[])])


def test_many_questions_are_counted(results, tmp_path):
    lines = [f"{name},{name},fp32,1e-3,2e9,1e8" for name in "abcdefgh"]
    (tmp_path / "x.csv").write_text("\n".join(["name,technique,format,time_us,flops,bytes", *lines]))
    assert main(["import", "csv", str(tmp_path / "x.csv"), "-o", str(tmp_path / "imported")]) == 0
    view = view_of(results, "--points", tmp_path / "imported")
    asked = external.questions(view, roofline.sources(view))
    assert len(asked) == 6 and asked[-1] == "above the roof: 3 more points"


def test_only_imported_points_are_added(results, tmp_path, capsys):
    assert main(["plot", str(results), "--points", str(results)]) == 2
    assert "no point of another tool" in capsys.readouterr().err


def test_a_hostile_name_is_text(results, tmp_path):
    folder = imported(tmp_path, 1e5)
    path = folder / "records.jsonl"
    record = json.loads(path.read_text()) | {"technique": "<script>&$x$" + "y" * 3000}
    path.write_text(json.dumps(record) + "\n")
    assert "<script>" not in svg(results, tmp_path / "figures", "--points", folder)
