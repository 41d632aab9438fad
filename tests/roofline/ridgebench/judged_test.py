"""The judged document of `ridgebench show` equals what this package computes, for every published run and a host's run."""

import json
import math
from pathlib import Path

import pytest
from command_line import OK, ROOT, ridgebench, schema, strict_json
from golden import GOLDEN

from ridgebench import doubts
from ridgebench.lecture.devices import measured_roof
from ridgebench.plot.roofs import Roof, measured_roofs
from ridgebench.records import load_run
from ridgebench.roofs import heads, is_roof, least_time
from ridgebench.view import View, make_view

FOLDERS = [GOLDEN, *sorted(path.parent for path in ROOT.glob("results/*/**/records.jsonl") if "local" not in path.parts)]


def same(found, expected, what) -> None:
    """Both values, to the last but two digits of a double."""
    if isinstance(expected, float) and isinstance(found, (int, float)):
        assert math.isclose(found, expected, rel_tol=1e-13), what
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), what
        for one, other in zip(found, expected):
            same(one, other, what)
    elif isinstance(expected, dict):
        for key, value in expected.items():
            same(found[key], value, (what, key))
    else:
        assert found == expected, what


def of_roof(roof: Roof) -> dict:
    return {"name": roof.name, "per_s": roof.value, "low_per_s": roof.low, "high_per_s": roof.high, "format": roof.formats[0],
            "engine": roof.engine, "level": roof.level, "bytes_per_s": roof.bandwidth, "traffic": roof.mix or None, "ridge": roof.ridge}


def of_format(view: View) -> dict:
    roofs, products = measured_roofs(view), measured_roof(view)
    found = {"format": view.format} | {key: [of_roof(one) for one in getattr(roofs, key)] for key in ("memory", "caches", "compute")}
    bend = {"flops_per_s": products.flops_per_s, "bytes_per_s": products.bytes_per_s, "traffic": products.stream or None} if products else None
    return found | {"products": bend}


def check(folder: Path) -> None:
    done = ridgebench("show", folder, "--json")
    assert done.returncode == OK, done.stderr
    document = strict_json(done.stdout)
    assert list(schema("judged").iter_errors(document)) == []
    [run] = document["runs"]
    known = load_run(folder)
    assert [row["id"] for row in run["rows"]] == [row.id for row in known.rows]
    by_id = {row["id"]: row for row in run["rows"]}
    for device in run["devices"]:
        view = make_view(known, device["name"])
        assert (run["unfinished"] or "") == view.why_unfinished
        for entry in device["roofs"]:
            same(entry, of_format(view if entry["format"] is None else view.only(entry["format"])), (device["name"], entry["format"]))
        known_ceilings = {one.id for one in view.ceilings} | {one for row in view.selected for one in doubts.limiting(row)}
        same({one["ceiling"]: one["change"] for one in run["moved"] if one["ceiling"] in known_ceilings}, view.moved, "moved")
        for row in view.rows:
            found = by_id[row.id]
            same(found, {"flags": row.flags, "bound": row.bound, "fraction_of_measured_roof": row.fraction_of_measured_roof,
                         "raised": row.raised, "raised_by": row.raised_by, "is_roof": row in view.ceilings and is_roof(row),
                         "limited_by": doubts.limiting(row), "served_by_cache": not heads(row),
                         "cut_by_budget": doubts.cut_by_budget(row, view.environment)}, row.id)
            assert (row.roof is None) == (found["roof"] is None)
            same(found["roof"] or {}, row.roof or {}, row.id)
            if row.roof:
                same(found["least_time_s"], least_time(row), row.id)
            if row.drawable:
                assert found["doubted"] == view.unsettled(row)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_the_document_of_a_folder_is_what_python_computes(folder):
    check(folder)


def test_a_run_of_the_host_leaves_the_document_of_show(tmp_path):
    out = tmp_path / "run"
    words = ("--op", "relu,dot", "--format", "fp32", "--budget", "2", "--no-plot", "--out", out)
    done = ridgebench("run", "--device", "cpu", *words)
    assert done.returncode == OK, done.stderr
    check(out)
    written = json.loads((out / "judged.json").read_text())
    shown = strict_json(ridgebench("show", out, "--json").stdout)
    shown["runs"][0]["folder"] = "."
    assert written == shown
