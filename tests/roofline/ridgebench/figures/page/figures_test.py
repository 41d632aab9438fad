"""Figure files: all there, real text, the same bytes for the same records."""

import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from golden import GOLDEN, ROOT

from ridgebench.figures.page.points import MOST_VECTORS
from ridgebench.figures.plot import main

NAMES = ["roofline", "roofline-fp32", "roofline-bf16", "time-vs-size", "error-vs-speed", "lecture"]
SVG = "{http://www.w3.org/2000/svg}"


def run(results: Path, out: Path, hash_seed: str, where: Path) -> None:
    """The command of the README, from any folder."""
    command = [ROOT / "scripts/python.sh", "-m", "ridgebench", "plot", results, "--out", out, "--roof", "h100-sxm"]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    subprocess.run(command, check=True, cwd=where, env=environment)


def texts(path: Path) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.parse(path).iter(f"{SVG}text")]


def test_the_same_records_give_the_same_bytes_whatever_the_process(tmp_path):
    run(GOLDEN, tmp_path / "one", "1", tmp_path)
    run(GOLDEN, tmp_path / "two", "2", ROOT)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(f"{name}.{kind}" for name in NAMES for kind in ("svg", "png", "pdf"))
    for file in files:
        one, two = (tmp_path / folder / file for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes(), file


def test_a_changed_record_changes_the_figure(tmp_path, edit):
    main([str(GOLDEN), "--out", str(tmp_path / "one"), "--formats", "svg"])

    def faster(records, _) -> None:
        times = {key: value / 1.1 for key, value in records[0].items() if key.startswith("time_") and value}
        records[0].update(times, bytes_per_s=4.4e10)

    folder = edit(faster)
    main([str(folder), "--out", str(tmp_path / "two"), "--formats", "svg"])
    one, two = ((tmp_path / k / "roofline.svg").read_text() for k in ("one", "two"))
    assert "read 40 GB/s" in one and "read 44 GB/s" in two


def test_svg_and_pdf_hold_real_text(tmp_path):
    assert main([str(GOLDEN), "--out", str(tmp_path), "--formats", "svg,pdf"]) == 0
    found = texts(tmp_path / "roofline.svg")
    assert "fp32 FMA" in found and "L1 400 GB/s" in found and "ridge 10 (read)" in found
    assert any(text.startswith("fp32 matmul reaches 88 %") for text in found)
    assert any("Synthetic test device" in text and "2026-01-01" in text for text in found)
    pdf = (tmp_path / "roofline.pdf").read_bytes()
    assert re.search(rb"/Subtype /CIDFontType2|/Subtype /TrueType", pdf)
    assert b"/CreationDate" not in pdf


def test_a_crowd_of_points_becomes_an_image_within_svg(tmp_path, edit):
    def crowd(records, _):
        row = next(r for r in records if r["op"] == "matmul" and r["status"] == "ok")
        records += [row | {"id": f"{row['id']}:{i}"} for i in range(MOST_VECTORS + 1)]

    sizes = {}
    for name, folder in (("few", GOLDEN), ("crowd", edit(crowd))):
        main([str(folder), "--out", str(tmp_path / name), "--formats", "svg"])
        figure = tmp_path / name / "roofline.svg"
        sizes[name] = figure.stat().st_size
        assert bool(list(ElementTree.parse(figure).iter(f"{SVG}image"))) == (name == "crowd")
        assert any(text.startswith("fp32 matmul reaches 88 %") for text in texts(figure))
    assert sizes["crowd"] < 3 * sizes["few"]


def test_pictures_have_the_size_of_a_slide(tmp_path):
    main([str(GOLDEN), "--out", str(tmp_path), "--formats", "png"])
    header = (tmp_path / "roofline.png").read_bytes()[:24]
    size = (int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big"))
    assert size == (1920, 1080)


def test_only_the_chosen_file_types_are_written_next_to_the_records(results):
    assert main([str(results), "--formats", "svg"]) == 0
    assert sorted(p.name for p in (results / "figures").iterdir()) == sorted(
        f"{name}.svg" for name in NAMES
    )


def test_a_foreign_data_sheet_is_called_not_measured(tmp_path):
    main([str(GOLDEN), "--out", str(tmp_path), "--formats", "svg", "--roof", "H100-SXM"])
    found = texts(tmp_path / "roofline.svg")
    assert "Dashed, with labels in italics: NVIDIA H100 SXM5 80 GB data sheet, not measured here" in found
    assert "HBM3 3.35 TB/s" in found and "bf16 tensor" in found


def test_several_data_sheets_are_drawn_and_named(tmp_path, capfd):
    sheets = ["--roof", "h200", "--roof", "b200", "--roof", "h200"]
    assert main([str(GOLDEN), "--out", str(tmp_path), "--formats", "svg", *sheets]) == 0
    assert capfd.readouterr().out == f"{len(NAMES)} files in {tmp_path}\n"
    found = texts(tmp_path / "roofline-bf16.svg")
    for title, name in (("NVIDIA H200 SXM 141 GB", "h200"), ("NVIDIA B200", "b200")):
        assert any(text.startswith("Dashed, ") and title in text for text in found)
        assert any(text.startswith(title) and ": HBM3e" in text for text in found), title
        assert any(text.startswith((title, name)) and " ridge " in text for text in found), title


def test_the_own_data_sheet_has_its_ridge_named_where_one_format_is_drawn(tmp_path, edit):
    def on_a_gpu(_, environment):
        environment["devices"][0].update(backend="cuda", data_sheet="h100-sxm")

    main([str(edit(on_a_gpu)), "--out", str(tmp_path), "--formats", "svg"])
    assert "data sheet: ridge 295" in texts(tmp_path / "roofline-bf16.svg")
    assert not any("data sheet: ridge" in text for text in texts(tmp_path / "roofline.svg"))


def test_the_own_data_sheet_gives_shares(tmp_path, edit):
    def on_a_gpu(_, environment):
        environment["devices"][0].update(backend="cuda", data_sheet="h100-sxm")

    main([str(edit(on_a_gpu)), "--out", str(tmp_path), "--formats", "svg"])
    found = texts(tmp_path / "roofline.svg")
    assert "1 % of data sheet" in found and "TFLOP/s" in found
    assert not any("not measured here" in text for text in found)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_every_theme_draws(tmp_path, theme):
    assert main([str(GOLDEN), "--out", str(tmp_path), "--theme", theme, "--formats", "png"]) == 0
    assert len(list(tmp_path.iterdir())) == len(NAMES)


def test_every_result_that_is_not_drawn_is_listed_with_its_reason_and_skipped_cases_are_counted(tmp_path):
    main([str(GOLDEN), "--out", str(tmp_path), "--formats", "svg"])
    for name in ("roofline", "time-vs-size", "error-vs-speed"):
        found = " ".join(texts(tmp_path / f"{name}.svg"))
        for part in (
            "wrong 1", "dot/unrolled fp32", "invalid 1", "miscounted: 1.4 times the fma ceiling",
            "failed 1", "out of memory: matmul/recursive fp32", "cold, warm 1", "3 cases not served: see the report",
        ):
            assert part in found.replace("  ", " "), (name, part)
        assert "not registered for this format" not in found, name
