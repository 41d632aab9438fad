"""The tables over several runs: steps with their shares, times side by side, the cost of a launch."""

import json
import shutil
from pathlib import Path

import pytest
from golden import GOLDEN, read_environment, read_records
from ridgebench.pages import tables

GPU = {"name": "cuda:0", "model": "NVIDIA H100 80GB HBM3", "backend": "cuda", "launch_gap_s": 4e-6, "graph_gap_s": None}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A tree with the golden run as a published one of the device `host`."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("no markers\n")
    shutil.copytree(GOLDEN, tmp_path / "results/host/2026-01-01-abc")
    tables.view_of.cache_clear()
    return tmp_path


def publish_gpu(project: Path, name: str, **changes: float) -> None:
    """The golden run as one of a GPU: rows of products held 2 GHz, other keys as `changes` say."""
    folder = project / "results" / name / "2026-01-02-abc"
    shutil.copytree(GOLDEN, folder)
    environment = read_environment(folder)
    environment["devices"][0] |= GPU
    (folder / "environment.json").write_text(json.dumps(environment))
    rows = read_records(folder)
    for row in rows:
        row["device"] = GPU["name"]
        if row["status"] == "ok" and row["op"] == "matmul":
            row |= {"clock_hz": 2e9, "fraction_of_roof_at_clock": 0.25} | changes
            row |= {f"{work}_per_s": row[work] / row["time_median_s"] for work in ("flops", "bytes")}
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def filled(project: Path, marker: str) -> list[list[str]]:
    """The cells of the table that a marker asks for, and after them the caption in one cell."""
    path = project / "docs" / "page.md"
    path.write_text(f"<!-- table: {marker} -->\n<!-- /table -->\n")
    assert tables.main([], project) == 0
    text = path.read_text().replace("\u00a0", " ")
    table, _, note = text.removesuffix("<!-- /table -->\n").partition("-->\n")[2].partition("\n\n")
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()] + [[" ".join(note.split())]]


def refused(project: Path, marker: str, capsys: pytest.CaptureFixture) -> str:
    (project / "docs" / "page.md").write_text(f"<!-- table: {marker} -->\n<!-- /table -->\n")
    assert tables.main([], project) == 2
    return capsys.readouterr().err


def test_steps_keep_the_order_of_the_marker_and_carry_their_shares(project: Path) -> None:
    header, _, *rows, (note,) = filled(project, "steps relu GB/s bf16 streaming onednn naive @ host")
    assert header == ["step", "device", "roof allows", "measured", "of the roof", "of the library"]
    assert [row[0] for row in rows] == ["`streaming`", "`onednn` (library)", "`naive`"]
    assert rows[0][2:] == ["36", "35", "97 %", "175 %"]
    assert rows[2][2:] == ["36", "20", "56 %", "100 %"]
    library = "The library is the fastest one that was measured at the same size. A share of its rate compares two rows of one run; "
    duels = "only a duel decides a difference of a few percent ([duels](duels.md)). "
    assert note.startswith(f"Rates in GB/s, format bf16. {library}{duels}")
    assert note.endswith("The numbers come from [2026-01-01, 0000000](../results/host/2026-01-01-abc) of Synthetic test device, 2 threads.")


def test_a_format_without_a_row_is_left_out_and_one_that_another_device_has_is_shown(project: Path) -> None:
    assert [row[:2] for row in filled(project, "steps relu GB/s fp32 bf16 onednn @ host")[2:-1]] == [["`onednn` (library)", "bf16"]]
    publish_gpu(project, "gpu")
    path = project / "results/gpu/2026-01-02-abc/records.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "relu/onednn" not in line))
    *_, other, missing, (note,) = filled(project, "steps relu GB/s bf16 naive onednn @ host gpu")
    assert other[3] == "20" and missing == ["`onednn`", "H100", "–", "–", "–", "–"]
    assert "–: not measured." in note


def test_a_step_in_another_layout_has_a_row_of_its_own_once_a_run_holds_it(project: Path) -> None:
    marker = "steps matmul GFLOP/s fp32 naive naive/nn packed/nn packed @ host"
    *_, nt, packed, (note,) = filled(project, marker)
    assert [nt[0], packed[0]] == ["`naive`", "`packed`"]
    assert "No published run holds `naive` and `packed` in layout nn." in note
    path = project / "results/host/2026-01-01-abc/records.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    naive = [row for row in rows if row["id"].startswith("matmul/naive/fp32/") and row["status"] == "ok"]
    naive = max(naive, key=lambda row: row["bytes"])
    # Faster than the row in nt, which keeps its own step.
    other = naive | {"id": naive["id"].replace("layout:nt", "layout:nn"), "shape": naive["shape"] | {"layout": "nn"}}
    other |= {key: 2 * naive[key] for key in ("flops_per_s", "bytes_per_s")}
    for key in ("time_median_s", "time_ci_low_s", "time_ci_high_s", "time_min_s", "time_p10_s", "time_p90_s"):
        other[key] = naive[key] / 2
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, other]))
    tables.view_of.cache_clear()
    header, *_, again, nn, _, (note,) = filled(project, marker)
    measured = header.index("measured")
    assert again[0] == nt[0] and nn[0] == "`naive` in nn"
    assert float(nn[measured]) == pytest.approx(2 * float(again[measured]), rel=0.05)
    assert "No published run holds `packed` in layout nn." in note


def test_a_row_without_flops_has_no_rate_in_them(project: Path) -> None:
    *_, row, _ = filled(project, "steps dram GFLOP/s fp32 copy @ host")
    assert row[2:] == ["–", "–", "–", "–"]


def test_products_of_a_gpu_are_compared_in_cycles_too(project: Path) -> None:
    publish_gpu(project, "gpu")
    header, _, row, _ = filled(project, "steps matmul GFLOP/s bf16 packed @ gpu")
    assert header[-3:] == ["GHz", "of the peak at that clock", "of the library, in cycles"]
    assert row[-3:] == ["2.00", "25 %", "–"], "the golden run has no library's product in bf16"
    *_, fp32, _ = filled(project, "steps matmul GFLOP/s fp32 packed @ gpu")
    time = {r["technique"]: r["time_median_s"] for r in read_records(GOLDEN) if "fp32/m:1024" in r["id"] and r["status"] == "ok"}
    assert fp32[-1] == f"{time['openblas'] / time['packed']:.0%}".replace("%", " %")
    assert "GHz" not in filled(project, "steps matmul GFLOP/s bf16 packed @ host")[0], "a host's clock is not measured"


def test_fast_sums_are_compared_with_fast_sums(project: Path) -> None:
    publish_gpu(project, "gpu")
    path = project / "results/gpu/2026-01-02-abc/records.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    library = next(r for r in rows if r["id"].startswith("matmul/openblas/fp32/m:1024"))
    fast = library | {"id": "fast", "technique": "openblas_fast_accum", "time_median_s": library["time_median_s"] / 2}
    fast |= {key: 2 * library[key] for key in ("flops_per_s", "bytes_per_s")}
    fast |= {"time_ci_low_s": 1e-9, "time_p10_s": 1e-9, "time_min_s": 1e-9}
    path.write_text("".join(json.dumps(r) + "\n" for r in [*rows, fast]))
    *_, row, _ = filled(project, "steps matmul GFLOP/s fp32 openblas @ gpu")
    assert row[-4] == row[-1] == "100 %", "a library that keeps fewer bits is not a yardstick"


def test_times_stand_side_by_side_with_their_ratio(project: Path) -> None:
    header, _, row, (note,) = filled(project, "times bf16 relu relu/naive @ host")
    assert header == ["format", "device", "`relu`", "`relu/naive`", "naive / relu"]
    assert row == ["bf16", "Synthetic test device", "11.43 ms", "20.00 ms", "1.75"]
    assert filled(project, "times bf16 relu/streaming relu/naive @ host")[0][-1] == "naive / streaming"
    assert note.startswith("Medians. Sizes: relu 100000000. The numbers")


def test_two_devices_end_with_what_the_second_one_gains(project: Path) -> None:
    publish_gpu(project, "gpu", time_median_s=1e-3, time_ci_low_s=1e-3, time_ci_high_s=1e-3, bound="compute")
    *_, gain, _ = filled(project, "times fp32 matmul/packed relu/naive dot @ host gpu")
    host = next(r for r in read_records(GOLDEN) if r["id"].startswith("matmul/packed/fp32/m:1024"))
    assert gain[1:4] == ["Synthetic test device / H100", f"{host['time_median_s'] / 1e-3:.2f}", "1.00"]
    *_, row, _, _ = filled(project, "times fp32 matmul/packed relu/naive dot @ host gpu")
    assert row[2] == "1.000 ms, 2.00 Mcycles"
    *_, row, _ = filled(project, "times fp32 bf16 relu/naive dot @ host gpu")
    assert row[:2] == ["bf16", "H100"], "in several formats such lines would stand between the others"


def test_a_launch_is_compared_with_the_traffic_of_its_time(project: Path, capsys: pytest.CaptureFixture) -> None:
    publish_gpu(project, "gpu")
    *_, row, _ = filled(project, "launches @ gpu")
    copy = max(r["bytes_per_s"] for r in read_records(GOLDEN) if r["op"] == "dram" and r["technique"] == "copy")
    assert row[:3] == ["H100", "in a stream", "4.000 us"] and row[3] == f"{copy * 4e-6 / 1e6:.3g} MB"
    assert "no launch was timed" in refused(project, "launches @ host", capsys)


@pytest.mark.parametrize(
    "marker, problem",
    [
        ("steps relu furlongs bf16 naive @ host", "unknown unit 'furlongs'; allowed: GB/s, GFLOP/s, TFLOP/s"),
        ("steps relu GB/s bf16 nimble @ host", "no row of relu/nimble in ../results/host/2026-01-01-abc"),
        ("steps relu GB/s naive @ host", "a table of 'naive' needs formats and what to show in them"),
        ("steps relu GB/s bf16 @ host", "a table of 'bf16' needs formats and what to show in them"),
        ("times @ host", "a table of 'nothing' needs formats and what to show in them"),
        ("steps relu @ host", "unknown unit ''; allowed: GB/s, GFLOP/s, TFLOP/s"),
        ("times fp32 relu softmax @ host", "no verified row of 'softmax' in ../results/host/2026-01-01-abc"),
        ("times fp32 dot/unrolled @ host", "no verified row of 'dot/unrolled' in ../results/host/2026-01-01-abc"),
        ("times fp32 relu @ host moon", "no published run of 'moon'"),
    ],
)
def test_a_marker_that_names_nothing_is_one_line(project: Path, capsys: pytest.CaptureFixture, marker: str, problem: str) -> None:
    assert refused(project, marker, capsys) == f"tables: page.md: {problem}\n"


def test_without_a_published_run_the_page_says_so(project: Path) -> None:
    shutil.rmtree(project / "results")
    assert filled(project, "times fp32 relu gelu")[0] == ["no published run"]


def test_captions_keep_the_width_of_a_page(project: Path) -> None:
    publish_gpu(project, "gpu")
    filled(project, "steps matmul GFLOP/s fp32 naive packed openblas @ host gpu")
    text = (project / "docs" / "page.md").read_text()
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 140
