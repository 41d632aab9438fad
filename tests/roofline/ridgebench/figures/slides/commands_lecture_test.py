"""`plot --style lecture` and `slides` as commands: files, points of the user, hostile names, bad input."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from golden import GOLDEN

from ridgebench.figures import plot
from ridgebench.figures.slides import slides

SVG = "{http://www.w3.org/2000/svg}"
COUNT = 23  # slides of the data sheet h100-sxm


def texts(path: Path) -> list[str]:
    root = ElementTree.parse(path).getroot()
    assert not list(root.iter(f"{SVG}script"))
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def draw(tmp_path: Path, *arguments: str) -> list[str]:
    assert plot.main([*arguments, "--out", str(tmp_path), "--formats", "svg"]) == 0
    return texts(tmp_path / "lecture.svg")


def test_without_a_run_the_lecture_figure_alone_is_drawn(tmp_path):
    found = draw(tmp_path, "--on", "h100-sxm", "--op", "relu,gelu,matmul", "--point", "mine:40:95")
    assert [path.name for path in tmp_path.iterdir()] == ["lecture.svg"]
    assert {"memory-bound", "compute-bound", "ridge 295", "mine", "ReLU", "GeLU"} <= set(found)
    assert {"n = 128", "matmul, n = 8192"} <= set(found)
    assert "dot" not in found and "measured" not in found


def test_files_go_to_the_current_folder_by_default(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert plot.main(["--on", "h100-sxm", "--op", "relu", "--formats", "svg,bf16"]) == 0
    assert (tmp_path / "lecture.svg").is_file() and capfd.readouterr().out == "1 file in .\n"


def test_several_devices_share_the_axes(tmp_path):
    found = draw(tmp_path, "--on", "h100-sxm", "--on", "h200", "--on", "b200", "--on", "h200")
    assert {"H100 SXM: ridge 295", "H200: ridge 206", "B200: ridge 292"} <= set(found)


def test_over_a_run_styles_choose_the_figures(results):
    folder = results / "figures"
    assert plot.main([str(results), "--style", "lecture", "--formats", "svg"]) == 0
    assert [path.name for path in folder.iterdir()] == ["lecture.svg"]
    assert "measured" in texts(folder / "lecture.svg")
    more = ["--style", "reference", "--formats", "svg,fp32", "--out", str(folder / "more")]
    assert plot.main([str(results), *more]) == 0
    drawn = {path.name for path in (folder / "more").iterdir()}
    assert drawn == {"roofline.svg", "roofline-fp32.svg", "time-vs-size.svg", "error-vs-speed.svg"}


def test_several_formats_are_several_figures(results):
    assert plot.main([str(results), "--style", "lecture", "--formats", "fp32,bf16,svg"]) == 0
    assert sorted(path.name for path in (results / "figures").iterdir()) == ["lecture-bf16.svg", "lecture-fp32.svg"]


def test_a_paper_has_the_width_of_a_column(tmp_path):
    draw(tmp_path, "--on", "h100-sxm", "--paper", "--theme", "print")
    root = ElementTree.parse(tmp_path / "lecture.svg").getroot()
    assert root.get("width") == "237.6pt"  # 3.3 inches


def test_a_point_above_the_roof_is_questioned(tmp_path, capfd):
    draw(tmp_path, "--on", "h100-sxm", "--point", "mine:1000:2000", "--point", "a:b:10:40")
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("plot: mine: 2000 TFLOP/s is above the roof of 989.5 TFLOP/s")
    assert lines[1].startswith("plot: a:b: 40 TFLOP/s is above the roof of 33.5 TFLOP/s")


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "$x^2$", "a]]>&amp;\"'", "矩阵 🎉", "x" * 5000, "a\x1bb"]
)
def test_hostile_names_of_points_and_machines_are_text(tmp_path, edit, name):
    found = draw(tmp_path, "--on", "h100-sxm", "--op", "relu", "--point", f"{name}:3:4")
    shown = name.replace("\x1b", " ")
    assert any(shown.startswith(text.rstrip("…")) for text in found if text.rstrip("…"))
    folder = edit(lambda _, environment: environment["devices"][0].update(model=name))
    assert plot.main([str(folder), "--style", "lecture", "--formats", "svg"]) == 0
    assert texts(folder / "figures" / "lecture.svg")


def test_slides_are_numbered_and_have_notes(tmp_path, capfd):
    out = tmp_path / "talk"
    assert slides.main(["--on", "h100-sxm", "--out", str(out)]) == 0
    assert capfd.readouterr().out == f"{2 * COUNT + 2} files in {out}\n"
    names = sorted(path.name for path in out.iterdir())
    assert names[:2] == ["01-costs.pdf", "01-costs.svg"] and names[-2:] == ["notes.md", "slides.pdf"]
    assert [name[:2] for name in names[: 2 * COUNT : 2]] == [f"{number:02}" for number in range(1, COUNT + 1)]
    notes = (out / "notes.md").read_text("utf-8")
    assert notes.count("\n## ") == COUNT and "ridgebench predict matmul" in notes
    whole = (out / "slides.pdf").read_bytes()
    assert whole.startswith(b"%PDF") and whole.count(b"/Type /Page ") == COUNT
    root = ElementTree.parse(out / "07-roofline.svg").getroot()
    assert (root.get("width"), root.get("height")) == ("960pt", "540pt")
    assert "ridge 295" in texts(out / "07-roofline.svg")


def test_all_slides_go_into_one_file(tmp_path, capfd):
    for name, start in (("deck.html", b"<!DOCTYPE html>"), ("deck.pdf", b"%PDF")):
        assert slides.main(["--on", "h100-sxm", "-o", str(tmp_path / name)]) == 0
        assert capfd.readouterr().out == f"{tmp_path / name}: {COUNT} slides\n"
        assert (tmp_path / name).read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 2
    first = (tmp_path / "deck.html").read_bytes()
    assert slides.main(["--on", "h100-sxm", "-o", str(tmp_path / "deck.html")]) == 0
    assert (tmp_path / "deck.html").read_bytes() == first, "the same data make the same bytes"


def fails(main, arguments: list, capfd) -> str:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    output = capfd.readouterr()
    assert code == 2 and output.out == "" and output.err.count("\n") == 1
    return output.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--op", "relu,foo"], "operation 'foo' is unknown; allowed: relu, gelu, dot"),
        (["--op", ""], "operation '' is unknown"),
        (["--format", "bf17"], "format 'bf17' is unknown; allowed: fp32"),
        (["--format", "bf16,fp16"], "a lecture figure has one format"),
        (["--formats", "gif"], "'gif' is not one of svg, pdf, png and formats of numbers: fp32"),
        (["--point", "mine"], "'mine' is not of the form NAME:FLOP_PER_BYTE:TFLOP_PER_S"),
        (["--point", ":1:2"], "is not of the form"),
        (["--point", "a:1:"], "TFLOP/s '' is not a number from 1e-06 to 1e+09"),
        (["--point", "a:-1:1"], "FLOP per byte '-1' is not a number"),
        (["--point", "a:1:nan"], "TFLOP/s 'nan' is not a number"),
        (["--point", "a:1e300:1"], "FLOP per byte '1e300' is not a number"),
        (["--font-scale", "3"], "'3' is not a number from 0.5 to 1.25"),
        (["--theme", "pink"], "invalid choice: 'pink'"),
        (["--style", "pretty"], "invalid choice: 'pretty'"),
        (["--on", "h1000"], "no data sheet 'h1000'; nearest: h100"),
        (["--on", "."], "--on .: is a folder; allowed: a data sheet"),
        (["--on", "a100", "--format", "fp8"], "a100-80-sxm has no peak for fp8_e4m3; allowed: fp32"),
        (["--format", "tf32", "--op", "matmul,relu"], "relu has no format tf32; allowed: fp32"),
    ],
)
def test_bad_options_of_plot(capfd, tmp_path, arguments, expected):
    assert expected in fails(plot.main, ["--on", "h100-sxm", "--out", tmp_path, *arguments], capfd)


def test_more_devices_than_lines_can_tell_apart(capfd, tmp_path):
    names = ["h100-sxm", "h200", "b200", "l4", "l40s", "a100", "rtx4090"]
    arguments = [word for name in names for word in ("--on", name)]
    assert "7 devices; a figure can hold up to 6" in fails(plot.main, [*arguments, "--out", tmp_path], capfd)


def test_the_names_of_one_device_are_one(tmp_path):
    found = draw(tmp_path, "--on", "h100", "--on", "H100-SXM", "--on", "h100-80gb")
    assert "ridge 295" in found and not any(text.startswith("H100 SXM: ") for text in found)


def test_neither_a_run_nor_a_device(capfd):
    assert "RESULTS_DIR, or --on DEVICE" in fails(plot.main, ["--style", "lecture"], capfd)
    assert "RESULTS_DIR, or --on DEVICE" in fails(slides.main, [], capfd)


def test_bad_input_of_slides(capfd, tmp_path):
    assert "no data sheet 'h1000'" in fails(slides.main, ["--on", "h1000", "--out", tmp_path], capfd)
    assert "not found; allowed: a results directory" in fails(slides.main, [tmp_path / "nowhere"], capfd)
    without_roof = [GOLDEN, "--format", "fp8_e5m2", "--out", tmp_path]
    assert "the run has no roof for fp8_e5m2; allowed: fp32, bf16" in fails(slides.main, without_roof, capfd)
    other = fails(slides.main, ["--on", "h100-sxm", "-o", tmp_path / "deck.ppt"], capfd)
    assert "deck.ppt: slides are no file of type .ppt; allowed: .html, .pptx, .pdf, or a folder" in other
    (tmp_path / "file").write_text("")
    assert "file" in fails(slides.main, ["--on", "h100-sxm", "--out", tmp_path / "file"], capfd)


def test_a_binary_that_is_missing_is_named(capfd, tmp_path, monkeypatch):
    from ridgebench.data import program

    monkeypatch.setattr(program, "binary", lambda: str(tmp_path / "nothing"))
    program.ask.cache_clear()
    assert "cannot ask" in fails(plot.main, ["--on", "h100-sxm", "--out", tmp_path], capfd)
    program.ask.cache_clear()
