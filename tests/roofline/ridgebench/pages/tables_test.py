"""The tables of the documentation are what the published records say."""

import json
import shutil
from pathlib import Path
from typing import Callable

import pytest
from ridgebench.pages import ladder_tables, result_tables, tables
from ridgebench.pages.result_tables import MARGIN, captioned, format_names, size_text
from golden import GOLDEN, ROOT, read_environment, read_records, write_records
from synthetic_session import retimed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A tree with one page; results and the page's markers are up to the test."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("no markers\n")
    return tmp_path


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ({"m": 8, "n": 8, "k": 8, "layout": "nt"}, "8³, nt"),
        ({"m": 8, "n": 8, "k": 8, "b": 8, "layout": "nt"}, "8³, nt, b 8"),
        ({"m": 1, "n": 2, "k": 3, "b": 4, "lda": 5, "layout": "nn"}, "1 × 2 × 3, nn, b 4, lda 5"),
        ({"b": 2, "h": 4, "kv": 4, "s": 8, "d": 2}, "2 × 4 × 4 × 8 × 2"),
        ({"m": 8, "n": 8, "eps": 1e-05}, "8², eps 1e-05"),
    ],
)
def test_a_size_names_a_batch_and_leading_dimensions(shape, text):
    assert size_text(shape) == text


def page(project: Path, marker: str) -> Path:
    path = project / "docs" / "page.md"
    path.write_text(f"before\n<!-- {marker} -->\n<!-- /{marker.split(':')[0]} -->\nafter\n")
    return path


def publish(project: Path, name: str, started: str) -> Path:
    folder = project / "results" / name
    shutil.copytree(GOLDEN, folder)
    environment = read_environment(folder)
    environment["started"] = started
    (folder / "environment.json").write_text(json.dumps(environment))
    return folder


def filled(project: Path, marker: str) -> list[str]:
    path = page(project, marker)
    assert tables.main([str(GOLDEN)], project) == 0
    return path.read_text().splitlines()


def line(text: list[str], start: str) -> str:
    return next(one for one in text if one.startswith(f"| {start} "))


def test_rates_and_shares_come_from_the_records(project: Path) -> None:
    text = filled(project, "table: relu GB/s")
    assert text[0] == "before" and text[-1] == "after"
    assert line(text, "technique") == "| technique | size | fp32 | bf16 |"
    assert line(text, "naive") == "| naive | 100000000 | 20 (56\u00a0%) | 20 (56\u00a0%) |"
    assert line(text, "streaming") == "| streaming | 100000000 | 35 (97\u00a0%) | 35 (97\u00a0%) |"
    assert line(text, "*onednn*") == "| *onednn* (library) | 100000000 | – | 20 (56\u00a0%) |"


def test_the_ladder_climbs_and_libraries_come_last(project: Path) -> None:
    text = filled(project, "table: matmul GFLOP/s")
    steps = [one.split(" | ")[0] for one in text if one.startswith("| ")]
    assert steps[1:] == [
        "| ---", "| blocked", "| recursive", "| naive", "| packed", "| *openblas* (library)"
    ]


def test_a_caption_names_the_power_states_of_its_rows(project: Path) -> None:
    assert "ower states" not in "\n".join(filled(project, "table: relu GB/s"))
    folder = publish(project, "host/2026-02-01-abc", "2026-02-01T00:00:00Z")
    rows = read_records(folder)
    timed = [row for row in rows if row["op"] == "relu" and row["status"] == "ok" and row["regime"] == "steady"]
    for row, state in zip(timed, ["capped"] + ["full_clock"] * len(timed)):
        row["power_state"] = state
    write_records(folder, rows)
    path = page(project, "table: relu GB/s")
    assert tables.main([str(folder)], project) == 0
    assert f"Power states differ: capped 1, full\\_clock {len(timed) - 1}." in path.read_text().replace("\n", " ")


def test_only_the_largest_size_is_shown(project: Path) -> None:
    text = filled(project, "table: matmul GFLOP/s")
    packed = [one for one in text if one.startswith("| packed")]
    assert packed == ["| packed | 1024³, nt | 350 (88\u00a0%) | 350 (88\u00a0%) |"]


def test_an_unverified_row_has_its_status_and_no_rate(project: Path) -> None:
    assert line(filled(project, "table: dot GB/s"), "unrolled").endswith("| wrong | – |")
    matmul = filled(project, "table: matmul GFLOP/s")
    assert line(matmul, "blocked").endswith("| invalid | – |")
    assert line(matmul, "recursive").endswith("| failed | – |")


def test_a_technique_that_this_machine_lacks_is_named(project: Path) -> None:
    folder = publish(project, "host/2026-01-01-abc", "2026-01-01T00:00:00Z")
    records = folder / "records.jsonl"
    skipped = next(one for one in records.read_text().splitlines() if "openblas/bf16" in one)
    one = json.loads(skipped) | {"id": "matmul/amx/bf16", "technique": "amx"}
    other = one | {"id": "matmul/amx/fp32", "format": "fp32", "reason": "no AMX here"}
    records.write_text(records.read_text() + json.dumps(one) + "\n" + json.dumps(other) + "\n")
    path = page(project, "table: matmul GFLOP/s")
    assert tables.main([], project) == 0
    assert "`amx` was skipped: no AMX here." in path.read_text()
    assert "| amx" not in path.read_text()


def test_other_regimes_stay_out(project: Path) -> None:
    assert not any("111 %" in one for one in filled(project, "table: relu GB/s"))


def test_cold_launches_head_the_small_sizes(project: Path) -> None:
    folder = publish(project, "host/2026-01-01-abc", "2026-01-01T00:00:00Z")
    path = page(project, "table: matmul GFLOP/s cold")
    assert tables.main([], project) == 0
    assert path.read_text().splitlines()[2].startswith("No cold launch of matmul was measured")

    records = folder / "records.jsonl"
    rows = [json.loads(one) for one in records.read_text().splitlines()]
    steady = next(r for r in rows if r["id"].startswith("matmul/packed/bf16/m:1024"))
    cold = retimed(steady, [steady["flops"] / 1e11] * 7, id=f"{steady['id']}, cold", regime="cold")
    at = rows.index(steady)
    rows[at : at + 1] = [steady | {"early": True}, cold]
    records.write_text("".join(json.dumps(r) + "\n" for r in rows))
    tables.view_of.cache_clear()
    assert tables.main([], project) == 0
    text = path.read_text().splitlines()
    assert line(text, "size") == "| size | technique | format | cold | steady |"
    assert sum(one.startswith("| ") for one in text) == 3, "header, rule and one row"
    assert line(text, "1024³, nt") == "| 1024³, nt | packed | bf16 | 100 | 350 |"
    assert "The cells show GFLOP/s. Steady launches of `packed` may overlap. " in path.read_text()


def test_shares_have_the_fastest_row_of_each_operation_of_a_folder_within_a_device(project: Path) -> None:
    publish(project, "host/2026-01-01-abc", "2026-01-01T00:00:00Z")
    folder = publish(project, "host/steps/2026-01-02-abc", "2026-01-02T00:00:00Z")
    rows = [row for row in read_records(folder) if row["role"] == "kernel" and row["fraction_of_measured_roof"] is not None]
    text = filled(project, "table: shares @ host/steps")
    cells = [one.strip("| ").split(" | ") for one in text if one.startswith("| ") and "GB/s" not in one and "---" not in one]
    assert sorted((op, format_) for op, _, format_, *_ in cells) == sorted({(row["op"], row["format"]) for row in rows})
    for op, technique, format_, *_ in cells:
        same = [row for row in rows if (row["op"], row["format"]) == (op, format_)]
        assert technique == max(same, key=lambda row: row["flops_per_s"] or row["bytes_per_s"])["technique"]
    shares = [float(one[-1].split("(~" if "~" in one[-1] else "(")[1].split("\u00a0")[0]) for one in cells if "(" in one[-1]]
    assert shares and shares == sorted(shares, reverse=True)
    assert any("2026-01-02" in one or "host/steps" in one for one in text)


def test_operations_lists_what_was_verified(project: Path) -> None:
    text = filled(project, "table: operations")
    assert line(text, "relu") == "| relu | fp32, bf16 | `streaming`, `naive` | `onednn` |"
    assert line(text, "dot") == "| dot | fp32, bf16 | `vectorized` |  |"
    assert line(text, "matmul") == "| matmul | fp32, bf16 | `packed`, `naive` | `openblas` |"


def test_a_cell_names_two_techniques_and_counts_the_others(project: Path) -> None:
    folder = publish(project, "host/2026-01-01-abc", "2026-01-01T00:00:00Z")
    records = folder / "records.jsonl"
    rows = [json.loads(one) for one in records.read_text().splitlines()]
    naive = next(r for r in rows if r["id"].startswith("relu/naive/fp32") and r["status"] == "ok")
    more = [retimed(naive, [naive["flops"] / (1e15 * (1 + i))] * 7, id=f"relu/t{i}/fp32", technique=f"t{i}") for i in range(5)]
    records.write_text("".join(json.dumps(r) + "\n" for r in [*rows, *more]))
    path = page(project, "table: operations")
    assert tables.main([], project) == 0
    cells = line(path.read_text().splitlines(), "relu").split(" | ")
    assert cells[2] == "`t4`, `t3` and 5 more"


def test_pairs_of_fp8_formats_are_one_entry() -> None:
    formats = ["bf16", "fp8_e4m3", "fp8_e4m3xfp8_e5m2", "fp8_e5m2xfp8_e4m3"]
    assert format_names(formats) == "bf16, fp8_e4m3, mixed fp8"


def test_captions_say_how_far_above_its_ceiling_a_row_raises_the_roof() -> None:
    margin = f"more than {MARGIN * 100:g}\u00a0%"
    assert margin in result_tables.RAISED_NOTE and margin in ladder_tables.RAISED_NOTE


def test_captions_keep_the_width_of_a_page() -> None:
    text = captioned("| a |", "word " * 27, "", "[a link](to/a)", "word " * 27)
    table, _, caption = text.partition("\n\n")
    assert table == "| a |" and max(map(len, caption.split("\n"))) <= 140
    assert "[a link](to/a)" in caption and "\n" in caption, "the text of a link stays on one line"


def test_the_source_is_named_and_linked(project: Path) -> None:
    folder = publish(project, "host/2026-01-01-abc", "2026-01-01T00:00:00Z")
    path = page(project, "table: relu GB/s")
    assert tables.main([], project) == 0
    link = "[2026-01-01, 0000000](../results/host/2026-01-01-abc)"
    assert f"{link} of Synthetic test device, 2 threads." in " ".join(path.read_text().split())
    assert (path.parent / "../results/host/2026-01-01-abc").resolve() == folder


def test_the_picture_is_the_runs_own(project: Path) -> None:
    folder = publish(project, "host/2026-01-01-abc", "2026-01-01T00:00:00Z")
    path = page(project, "picture")
    assert tables.main([], project) == 0
    assert "](../results/host/2026-01-01-abc/figures/roofline.png)" in path.read_text()
    (folder / "figures").mkdir(exist_ok=True)
    (folder / "figures" / "lecture.png").touch()
    assert tables.main([], project) == 0
    assert "](../results/host/2026-01-01-abc/figures/lecture.png)" in path.read_text()


def test_a_file_is_shown_as_it_is(project: Path) -> None:
    path = page(project, "file: tests/pytest.ini")
    assert tables.main([], project) == 0
    shown = (ROOT / "tests" / "pytest.ini").read_text()
    assert f"-->\n```ini\n{shown}```\n<!--" in path.read_text()


def test_the_newest_published_run_is_used_and_local_ones_never(project: Path) -> None:
    publish(project, "b/2026-03-01-old", "2026-03-01T00:00:00Z")
    newest = publish(project, "a/2026-03-02-new", "2026-03-02T00:00:00Z")
    publish(project, "local/2026-04-01", "2026-04-01T00:00:00Z")
    assert tables.published(project) == newest


def test_a_part_shows_the_device_that_it_names(project: Path) -> None:
    publish(project, "a/2026-03-02-new", "2026-03-02T00:00:00Z")
    publish(project, "b/2026-03-01-old", "2026-03-01T00:00:00Z")
    path = page(project, "table: relu GB/s @ b")
    assert tables.main([], project) == 0
    assert "results/b/2026-03-01-old" in path.read_text()


def test_a_device_without_a_run_is_one_line(project: Path, capsys: pytest.CaptureFixture) -> None:
    page(project, "picture: @ c")
    assert tables.main([], project) == 2
    assert capsys.readouterr().err == "tables: page.md: no published run of 'c'\n"


def test_without_a_published_run_the_page_says_so(project: Path) -> None:
    path = page(project, "table: relu GB/s")
    assert tables.main(["--check"], project) == 1
    assert tables.main([], project) == 0
    assert "no published run" in path.read_text()
    assert tables.main(["--check"], project) == 0


def test_check_finds_a_stale_table_and_changes_nothing(project: Path) -> None:
    path = page(project, "table: relu GB/s")
    assert tables.main([str(GOLDEN)], project) == 0
    assert tables.main(["--check", str(GOLDEN)], project) == 0
    stale = path.read_text().replace("97\u00a0%", "99\u00a0%")
    path.write_text(stale)
    assert tables.main(["--check", str(GOLDEN)], project) == 1
    assert path.read_text() == stale
    assert tables.main([str(GOLDEN)], project) == 0
    assert path.read_text() != stale


@pytest.mark.parametrize(
    "marker, problem",
    [
        ("table: softmax GB/s", "no rows of operation 'softmax'; there are relu, dot, matmul"),
        ("table: relu furlongs", "unknown unit 'furlongs'; allowed: GB/s, GFLOP/s, TFLOP/s"),
        ("file: no/such.cpp", f"{ROOT}/no/such.cpp: No such file or directory"),
    ],
)
def test_an_unknown_name_is_one_line(
    project: Path, capsys: pytest.CaptureFixture, marker: str, problem: str
) -> None:
    page(project, marker)
    assert tables.main([str(GOLDEN)], project) == 2
    assert capsys.readouterr().err == f"tables: page.md: {problem}\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("<!-- /table -->", ""),
        lambda text: text.replace("<!-- /table -->", "<!-- /picture -->"),
        lambda text: text + "<!-- table: dot GB/s -->\n",
    ],
)
def test_a_marker_without_its_end_is_an_error(
    project: Path, capsys: pytest.CaptureFixture, damage: Callable[[str], str]
) -> None:
    path = page(project, "table: relu GB/s")
    damaged = damage(path.read_text())
    path.write_text(damaged)
    assert tables.main([str(GOLDEN)], project) == 2
    assert "has no closing one" in capsys.readouterr().err
    assert path.read_text() == damaged


def test_results_that_cannot_be_read_are_one_line(
    project: Path, capsys: pytest.CaptureFixture
) -> None:
    assert tables.main([str(project)], project) == 2
    assert capsys.readouterr().err.startswith("tables: ")


def test_the_repositorys_own_tables_are_current() -> None:
    assert tables.main(["--check"]) == 0


def test_a_share_of_a_roof_that_moved_is_marked_and_explained(project: Path) -> None:
    folder = publish(project, "moved", "2026-01-01T00:00:00Z")
    name = next(r["id"] for r in map(json.loads, (folder / "records.jsonl").read_text().splitlines())
                if (r["op"], r["technique"], r["format"], r["role"]) == ("relu", "streaming", "fp32", "kernel"))
    environment = read_environment(folder) | {"controls": [], "doubted": {name: ["dram"]}, "interrupted": True}
    (folder / "environment.json").write_text(json.dumps(environment))
    path = page(project, "table: relu GB/s")
    assert tables.main([str(folder)], project) == 0
    text = path.read_text()
    assert "| 35 (~97\u00a0%) | 35 (97\u00a0%) |" in text and "The sign ~ marks" in text
    assert ", unfinished." in text.replace("\n", " ")
