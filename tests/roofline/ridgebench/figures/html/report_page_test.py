"""The page of a report without JavaScript: a whole picture, a whole table, and texts of results that stay texts."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from golden import ROOT, read_environment, read_records, write_records
from report_page import SVG, Tags, chart, data, make, points

from ridgebench.__main__ import main
from ridgebench.data.records import load_run
from ridgebench.data.view import make_view
from ridgebench.figures.html.columns import roofs_text
from ridgebench.figures.html.page import ASSETS

H100, H200 = (next((ROOT / "results").glob(f"{device}/2*")) for device in ("nvidia-h100-80gb-hbm3", "nvidia-h200"))
NAMES = {
    "script": "</script><script>alert(1)</script>",
    "comment": "<!--<script>",
    "quotes": "\"'`&amp;]]>--><!--",
    "image": "<img src=x onerror=alert(1)>",
    "placeholder": "@@data@@ %s {0} ${name}",
    "directions": "\u202ertl \u2066mark\u200f 矩阵 🎉",
    "url": "https://example.org/x.js",
    "megabyte": "x" * 1_000_000,
}


def drawable(folder: Path) -> int:
    return sum(r["role"] == "kernel" and r["status"] == "ok" and bool(r["flops"]) for r in read_records(folder))


def other(folder: Path, name: str, change=lambda record: None) -> Path:
    """A second results directory beside the first one."""
    copy = folder.parent / name
    copy.mkdir()
    (copy / "environment.json").write_text(json.dumps(read_environment(folder) | {"run_id": name}))
    records = read_records(folder)
    for record in records:
        change(record)
    write_records(copy, records)
    return copy


def slower(factor: float):
    def change(record: dict) -> None:
        for key in record:
            if key.startswith("time_") and record[key]:
                record[key] *= factor
        for key in ("flops_per_s", "bytes_per_s"):
            record[key] = record[key] and record[key] / factor

    return change


def test_the_picture_is_whole_without_javascript(results):
    page = make(results)
    svg, marks = chart(page), points(page)
    assert len(marks) == drawable(results) == 16
    assert svg.find(f"{SVG}title").text and "points of A: Synthetic test device" in svg.find(f"{SVG}desc").text
    assert len({mark.get("aria-label") for mark in marks}) == len(marks)
    rows = {tag["id"] for tag in Tags(page).of("tr") if "id" in tag}
    assert {mark.get("href") for mark in marks} <= {f"#{row}" for row in rows}
    texts = ["".join(text.itertext()) for text in svg.iter(f"{SVG}text")]
    assert "GFLOP/s" in texts and any(text.startswith("DRAM") for text in texts)
    assert [g.get("class") for g in svg.iter(f"{SVG}g") if "source" in g.get("class", "")] == ["source solid named"]


def test_a_point_has_the_hue_of_its_format_and_the_fill_of_its_implementation(results):
    page = make(results)
    formats = dict(re.findall(r'data-filter="f" value="(\d+)".*?<span>(\w+)</span>', page))
    for mark in points(page):
        outline = [path for path in mark.iter(f"{SVG}path") if "mark" in path.get("class")][0].get("class")
        name = mark.get("aria-label")
        assert formats[re.search(r"f(\d+)", mark.get("class"))[1]] in name
        assert ("hollow" in outline) == ("openblas" in name or "onednn" in name)
        assert ("pale" in outline) == ("naive" in name)


def test_letters_tell_runs_apart_in_the_picture(results):
    def letters(page):
        return [text.text for link in points(page) for text in link.iter(f"{SVG}text")]

    assert letters(make(results)) == []
    operations = {r["op"] for r in read_records(results) if r["role"] == "kernel" and r["status"] == "ok"}
    assert sorted(letters(make(results, other(results, "again")))) == sorted("AB" * len(operations))


def test_regimes_are_not_mixed(results):
    hidden = [mark.get("aria-label") for mark in points(make(results)) if " off" in mark.get("class")]
    assert len(hidden) == 1 and " cold, " in hidden[0]


def test_nothing_is_loaded_and_the_policy_allows_the_page_alone(results):
    tags = Tags(make(results))
    assert tags.requests == []
    policy = next(meta["content"] for meta in tags.of("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "http" not in policy
    scripts = [script for script in tags.scripts if not script.startswith("{") and script.strip()]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(hashes) == 2 and all(f"'sha256-{one}'" in policy for one in hashes)


def test_the_library_is_the_released_one_and_its_licence_is_in_the_page(results):
    stated = re.search(r"`([0-9a-f]{64})`", (ASSETS / "README.md").read_text())[1]
    assert hashlib.sha256((ASSETS / "d3.min.js").read_bytes()).hexdigest() == stated
    assert "Permission to use, copy, modify, and/or distribute" in make(results)


def test_rows_that_are_not_drawn_are_counted_by_reason(results):
    texts = " ".join(Tags(make(results)).texts)
    for status in ("skipped", "wrong", "invalid", "failed"):
        rows = [r for r in read_records(results) if r["status"] == status and r["role"] in ("kernel", "ceiling")]
        assert f"{status} " in texts and all(r["reason"] in texts for r in rows if r["reason"])


def test_the_table_holds_the_same_rows(results):
    page = make(results)
    body = page.split('<table id="rows">')[1].split("</table>")[0]
    kernels = [r for r in read_records(results) if r["role"] == "kernel" and r["status"] == "ok"]
    assert body.count("<tr id=") == len(kernels) == len(data(page)["points"])
    for record in kernels:
        assert f">{record['id']}</td>" in body and f'data-v="{record["time_median_s"]!r}"' in body
        assert f">{len(record['samples_s'])}</td>" in body


def hostile(text: str):
    def change(records, environment):
        environment["devices"][0]["model"] = text
        environment["build"]["compiler"] = text
        for record in records:
            if record["op"] == "dot":
                record["op"] = text
            if record["technique"] == "openblas":
                record["technique"] = text
            if record["status"] == "failed":
                record["reason"] = text
            record["flags"] = [text] if record["op"] == "relu" else record["flags"]

    return change


@pytest.mark.parametrize("text", NAMES.values(), ids=NAMES)
def test_a_hostile_name_is_only_text(results, edit, text):
    plain = Tags(make(results))
    page = make(edit(hostile(text)))
    tags = Tags(page)
    assert tags.requests == [] and len(points(page)) == 16
    assert [tag for tag, _ in tags.tags].count("script") == [tag for tag, _ in plain.tags].count("script") == 3
    assert {tag for tag, _ in tags.tags} <= {tag for tag, _ in plain.tags} | {"details", "summary"}
    assert data(page)["points"] and "\u202e" not in page and len(page) < 1_000_000
    if len(text) < 100 and text.isprintable():
        assert any(text in found for found in tags.texts)


def test_four_runs_of_400_rows_are_less_than_5_megabytes(results):
    records = read_records(results)
    model = next(r for r in records if r["op"] == "matmul" and r["status"] == "ok")
    many = []
    for number in range(400):
        shape = {**model["shape"], "m": number + 1}
        name = "/".join(f"{key}:{value}" for key, value in shape.items())
        work = {key: model[key] * (1 + number) for key in ("flops", "flops_per_s")}
        many.append({**model, "shape": shape, "id": f"matmul/packed/fp32/{name}/steady@cpu", **work})
    write_records(results, [r for r in records if r["role"] != "kernel"] + many)
    assert len(make(results)) < 2e6
    page = make(results, *(other(results, f"run{number}") for number in range(3)))
    assert len(page) < 5e6 and len(points(page)) == 1600


def test_clock_and_power_of_the_units_are_shown_where_they_are_known(results):
    def hot(record):
        if record["op"] == "fma":
            record["clock_hz"] = 1.98e9
            record["telemetry"] = {"window": {"power_w": 1000 * record["flops"] / record["time_median_s"] / 1e12}}

    assert "Clock and power by unit" not in make(results)
    page = make(other(results, "hot", hot))
    section = page.split("Clock and power by unit")[1].split("</table>")[0]
    assert section.count("<tr>") == 2 and "1.980 GHz" in section and "1,000 pJ/FLOP" in section


def test_the_published_runs_of_two_devices(tmp_path):
    assert main(["report", str(H100), str(H200), "--on", "b200", "-o", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text()
    known = data(page)
    assert len(points(page)) == drawable(H100) + drawable(H200)
    states = [(source["run"], source["measured"], source["state"]) for source in known["sources"]]
    assert states[:2] == [(0, True, "solid"), (0, False, "dashed")]
    assert states[2:] == [(1, True, "faint"), (1, False, "off"), (None, False, "dashed")]
    assert "TFLOP/s" in page and "tf32x3 tensor" in page  # a third of tf32's roof
    [pair] = known["changes"]
    assert 0 < len(pair["changed"]) < pair["common"]


def test_a_host_and_a_gpu_share_the_axis(results, tmp_path):
    out = tmp_path / "report.html"
    assert main(["report", str(results), str(H100), "-o", str(out)]) == 0
    page = out.read_text()
    assert len(points(page)) == drawable(results) + drawable(H100)
    assert "TFLOP/s" in ["".join(text.itertext()) for text in chart(page).iter(f"{SVG}text")]


@pytest.mark.parametrize(("factor", "all_changed"), [(1.0, False), (3.0, True)])
def test_only_changes_beyond_both_intervals_have_arrows(results, factor, all_changed):
    known = data(make(results, other(results, "later", slower(factor))))
    [pair] = known["changes"]
    assert pair["common"] == 16 and len(pair["changed"]) == (16 if all_changed else 0)
    assert all(known["points"][i]["r"] == 0 and known["points"][j]["r"] == 1 for i, j in pair["changed"])


def test_points_of_another_tool_are_stars_without_a_claim(results, tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("name,technique,format,time_us,flops,bytes\nmine,their_kernel,fp32,1e5,2e9,1e8\n")
    assert main(["import", "csv", str(table), "-o", str(tmp_path / "imported")]) == 0
    page = make(results, "--points", tmp_path / "imported")
    [star] = [mark for mark in points(page) if "their_kernel" in mark.get("aria-label")]
    assert "not verified" in star.get("aria-label") and "their_kernel" not in read_environment(results)
    alone = make(tmp_path / "imported", "--on", "h100-sxm")
    assert len(points(alone)) == 1


def test_a_run_of_another_regime_alone_is_shown(edit):
    def change(records, environment):
        for record in records:
            if record["role"] == "kernel":
                record["id"], record["regime"] = record["id"].replace("/steady@", "/cold@"), "cold"

    page = make(edit(change))
    assert "16 verified rows, none of them steady" in page
    assert not [mark for mark in points(page) if " off" in mark.get("class")]


def test_counted_traffic_has_a_column_where_it_was_counted(results):
    assert 'data-key="dram_bytes"' not in make(results)
    [name, *_] = [r["id"] for r in read_records(results) if r["role"] == "kernel" and r["status"] == "ok"]
    (results / "counters.jsonl").write_text(f'{{"id": "{name}", "dram_bytes": 123456789.0}}\n')
    page = make(results)
    assert 'data-key="dram_bytes"' in page and 'data-v="123456789.0">1.235e+08<' in page
    assert 'data-key="dram_over_model"' not in page


def test_counted_traffic_over_that_of_a_model_has_a_column(edit):
    def change(records, environment):
        for record in records:
            record["model_dram_bytes"] = 1e8

    results = edit(change)
    assert 'data-key="dram_over_model"' not in make(results), "nothing was counted"
    [name, *_] = [r["id"] for r in read_records(results) if r["role"] == "kernel" and r["status"] == "ok"]
    (results / "counters.jsonl").write_text(f'{{"id": "{name}", "dram_bytes": 125000000.0}}\n')
    assert 'data-v="1.25">1.25<' in make(results)


@pytest.mark.parametrize(("key", "value", "shown"), [
    ("choice", "tile:128x256", "tile:128x256"),
    ("loaded_from", "mine.so", "mine.so"),
    ("held_back_by", "OPENBLAS_CORETYPE=Prescott", "OPENBLAS_CORETYPE=Prescott"),
    ("early_unknown", "no graph", "unknown: no graph"),
])
def test_what_only_some_rows_say_has_a_column_where_they_do(key, value, shown, results, edit):
    assert f'data-key="{key}"' not in make(results)

    def say(records, _) -> None:
        next(record for record in records if record["role"] == "kernel" and record["status"] == "ok")[key] = value

    page = make(edit(say))
    assert f'data-key="{key}"' in page and page.count(f">{shown}<") == 1


def test_a_row_whose_launches_may_overlap_says_so(results, edit):
    def say(records, _) -> None:
        next(record for record in records if record["role"] == "kernel" and record["status"] == "ok")["early"] = True

    page = make(edit(say))
    assert 'data-key="early_unknown"' in page and page.count(">launches may overlap<") == 1


def test_an_interval_is_relative_to_the_median(results):
    record = next(r for r in read_records(results) if r["role"] == "kernel" and r["status"] == "ok")
    low, high = (100 * (record[f"time_ci_{end}_s"] / record["time_median_s"] - 1) for end in ("low", "high"))
    assert low < 0 < high
    assert f"−{-low:.2f} to +{high:.2f} %" in make(results)


def test_the_card_says_why_a_product_has_no_roof():
    view = make_view(load_run(H100), None)
    row = next(row for row in view.points if row.op == "matmul" and row.engine == "tensor")
    lacking = replace(row, roof=row.roof | {"flops_per_s": None}, roof_unknown="no ceiling here")
    assert "(wgmma_peak)" in roofs_text(row, view)
    assert "peak)" not in roofs_text(lacking, view) and roofs_text(lacking, view).endswith(", no ceiling here")
