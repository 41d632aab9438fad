"""The files of a fleet's report: what they say, that others can read them, and that no text of a result can break them."""

import csv
import json
import math
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import schema, strict_json
from golden import full_disk
from fleet_page import Page
from made_fleet import ROWS, lost, make_fleet, troubled
from ridgebench.__main__ import main
from ridgebench.fleet import findings
from ridgebench.fleet.judge import assess
from ridgebench.fleet.render import exports, files, markdown
from synthetic_fleet import healthy, write_fleet, write_node

NAMES = {"report.html", "report.md", "report.json", "gpus.csv", "junit.xml", "metrics.prom", "map.svg", "map.png"}
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&|`$\u0000\ud800"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    files.write_all(assess(troubled()), folder)
    return folder


@pytest.fixture(scope="module")
def fleet_folder(tmp_path_factory) -> Path:
    """Files of 16 GPUs, of which gn2 GPU 3 is slow."""
    folder = tmp_path_factory.mktemp("fleet") / "fleet"
    scatter = healthy(0.003)
    write_fleet(folder, 2, 8, lambda *key: scatter(*key) * (1.08 if key[:2] == ("gn2", 3) else 1), rows=3)
    return folder


def test_all_files_are_there_and_do_not_change(written, tmp_path):
    files.write_all(assess(troubled()), tmp_path)
    assert {path.name for path in written.iterdir()} == NAMES
    for name in sorted(NAMES):
        assert (written / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_the_json_obeys_its_schema_and_names_what_to_measure_again(written):
    found = strict_json((written / "report.json").read_text())
    assert list(schema("fleet_report").iter_errors(found)) == []
    assert found["schema"] == "urn:ridgebench:fleet_report:1" and found["exit_code"] == 6
    flagged = {(one["node"], one["index"]) for one in found["flagged"]}
    assert flagged == {("gn1", 1), ("gn2", 6), ("gn3", 0), ("gn3", 5), ("gn3", 7), ("gn4", 2), ("gn4", 6), ("gn4", 7)}
    assert found["states"]["SLOW"] == 3 and found["coverage"] == {"measured": 26, "expected": None}
    assert found["differences"][0]["key"] == "driver" and [one["gpus"] for one in found["differences"][0]["values"]] == [29, 1]


@pytest.mark.parametrize("fleet", [make_fleet(1, 4), make_fleet(1, 1), replace(make_fleet(1, 1), gpus=[]),
                                   replace(make_fleet(1, 2), gpus=[lost(gpu, "MISSING", "no file") for gpu in make_fleet(1, 2).gpus])],
                         ids=["four", "one", "none", "missing"])  # fmt: skip
def test_small_and_empty_fleets_have_a_report(fleet, tmp_path):
    _, text = files.write_all(assess(fleet), tmp_path)
    assert list(schema("fleet_report").iter_errors(strict_json(text))) == []
    Page((tmp_path / "report.html").read_text())
    assert files.summary(assess(fleet), tmp_path).count("\n") < 25


def test_the_csv_has_a_line_for_each_gpu_and_a_column_for_each_row(written):
    lines = list(csv.DictReader((written / "gpus.csv").read_text().splitlines()))
    assert len(lines) == 32 and len(lines[0]) == len(exports.COLUMNS) + 12
    slow = next(line for line in lines if (line["node"], line["index"]) == ("gn2", "6"))
    assert slow["state"] == "SLOW" and slow["lowest_row"].startswith("copy_to_device/") and float(slow["lowest_ratio"]) < 0.9
    assert next(line for line in lines if line["state"] == "MISSING")["loaded " + next(iter(ROWS))] == ""


def test_no_cell_of_the_csv_is_a_formula():
    fleet = make_fleet(1, 2)
    names = [replace(gpu, node="=cmd|' /C calc'!A0", model="+SUM(A1)") for gpu in fleet.gpus]
    line = next(csv.DictReader(exports.to_csv(assess(replace(fleet, gpus=names))).splitlines()))
    assert (line["node"], line["model"], line["index"]) == ("'=cmd|' /C calc'!A0", "'+SUM(A1)", "0")


def test_a_report_does_not_follow_a_link_of_the_tree(fleet_folder, tmp_path, capsys):
    tree, away = tmp_path / "tree", tmp_path / "away"
    shutil.copytree(fleet_folder, tree, ignore=shutil.ignore_patterns("report"))
    away.mkdir()
    (tree / "report").symlink_to(away)
    assert main(["fleet", "report", str(tree)]) == 2 and list(away.iterdir()) == []
    assert capsys.readouterr().err == f"fleet: {tree}/report: is a symbolic link; allowed: a folder, or another one by --out\n"


def test_a_full_disk_ends_with_3(fleet_folder, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(files, "write_at_once", full_disk)
    assert main(["fleet", "report", str(fleet_folder), "--out", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err.startswith(f"fleet: {tmp_path}/out/report.json: No space left on device; allowed: ")


def test_a_tree_may_have_any_name(fleet_folder, tmp_path, capsys):
    tree = tmp_path / os.fsdecode(b"bad\xff\x1b[31m\nname")
    shutil.copytree(fleet_folder, tree, ignore=shutil.ignore_patterns("report"))
    assert main(["fleet", "report", str(tree), "--json"]) in (0, 3, 4)
    assert strict_json(capsys.readouterr().out)["fleet"].endswith("/bad? [31m name")
    assert NAMES <= {path.name for path in (tree / "report").iterdir()}
    assert main(["fleet", "report", str(tree)]) in (0, 3, 4)
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable() and "\nreport: " in out and "\nname" not in out


def test_no_file_has_a_control_character_of_an_environment(fleet_folder, tmp_path):
    tree = tmp_path / "fleet"
    shutil.copytree(fleet_folder, tree, ignore=shutil.ignore_patterns("report"))
    shutil.rmtree(tree / "nodes/gn1/attempt-1")
    write_node(tree / "nodes/gn1/attempt-1", "gn1", 8, rows=3, model="H100\x1b[31m\x07", power_limit_w="7\x1b]0;a\x9b")
    assert main(["fleet", "report", str(tree)]) == 3
    for name in NAMES - {"map.png"}:
        text = (tree / "report" / name).read_text()
        assert [c for c in text if not c.isprintable() and c not in "\n\u00a0\u2009"] == [], name
    assert "H100 [31m" in (tree / "report/report.html").read_text()


def test_junit_counts_its_cases(written):
    suite = ElementTree.fromstring((written / "junit.xml").read_text())
    cases = {tag: suite.findall(f"testcase/{tag}") for tag in ("failure", "error", "skipped")}
    assert suite.get("tests") == "32" == str(len(suite.findall("testcase")))
    assert {tag: int(suite.get({"failure": "failures", "error": "errors"}.get(tag, tag))) for tag in cases} == {
        tag: len(found) for tag, found in cases.items()
    } == {"failure": 4, "error": 4, "skipped": 2}
    assert suite.find("testcase[@name='gn2 GPU 3']/failure").text == "next: ssh gn2 dcgmi diag -r 3 -i 3"


def test_prometheus_reads_the_metrics(written):
    parser = pytest.importorskip("prometheus_client.parser", reason="no prometheus_client; scripts/setup.sh --dev installs it")
    families = {one.name: one.samples for one in parser.text_string_to_metric_families((written / "metrics.prom").read_text())}
    states = {one.labels["state"]: one.value for one in families["ridgebench_fleet_gpus"]}
    assert states["SLOW"] == 3 and sum(states.values()) == 32
    lowest = {(one.labels["node"], one.labels["gpu"]): one.value for one in families["ridgebench_fleet_gpu_lowest_ratio"]}
    assert lowest["gn2", "6"] < 0.9 and len(lowest) == 25
    for samples in families.values():
        assert len({(one.name, *sorted(one.labels.items())) for one in samples}) == len(samples)


def test_metrics_have_no_sample_twice_where_a_copy_has_the_name_of_its_original():
    fleet = make_fleet()
    twin = replace(fleet.gpus[0], state="DUPLICATE", reason="a copy")
    text = exports.to_prometheus(assess(replace(fleet, gpus=[fleet.gpus[0], twin, *fleet.gpus[1:]])))
    samples = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(set(samples)) == len(samples) and all(re.match(r"[a-z_]+(\{.*\})?$", one) for one in samples)


def test_the_page_is_one_file_that_loads_nothing(written):
    text = (written / "report.html").read_text()
    found = Page(text)
    assert not any({"src", "href"} & attributes.keys() for _, attributes in found.elements)
    assert "default-src 'none'" in text and "@@" not in text
    for part in ("22 of 32 GPUs are well, 10 are not", "gn2 GPU 6", "dcgmi diag -r 3 -i 3", "driver", "false flags"):
        assert part in found.text


def test_the_map_shows_each_gpu_with_its_number_or_sign(written):
    found = Page((written / "report.html").read_text())
    kinds = [attributes["class"].split() for tag, attributes in found.elements if tag == "g" and "cell" in attributes.get("class", "")]
    assert len(kinds) == 32 and sum("slow" in kind for kind in kinds) == 3
    assert sum("state" in kind for kind in kinds) == 7 and sum("missing" in kind for kind in kinds) == 1
    root = ElementTree.parse(written / "map.svg").getroot()
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"gn1", "gn4", "slow by the rule", "missing"} <= set(texts)
    assert sum(bool(re.fullmatch(r"\d\d(\.\d)?|100\.\d", text or "")) for text in texts) >= 25


def test_hostile_texts_stay_texts(tmp_path):
    fleet = make_fleet(2, 8)
    named = [replace(gpu, node=f"gn<b>{HOSTILE}" if gpu.node == "gn2" else gpu.node, model=HOSTILE) for gpu in fleet.gpus]
    named[0] = lost(named[0], "FAILED", HOSTILE)
    named[1] = replace(named[1], facts={**named[1].facts, "driver": HOSTILE})
    rename = {key: (key[0], f"{HOSTILE}/{key[1]}") for key in named[2].readings}
    named[2] = replace(named[2], readings={rename[key]: reading for key, reading in named[2].readings.items()})
    named = [replace(gpu, node=clean(gpu.node), model=gpu.model and clean(gpu.model)) for gpu in named]
    files.write_all(assess(replace(fleet, gpus=[cleaned(gpu) for gpu in named])), tmp_path)
    found = Page((tmp_path / "report.html").read_text())
    assert not any(tag == "img" for tag, _ in found.elements) and "onerror=alert(1)" in found.text
    ElementTree.parse(tmp_path / "junit.xml"), ElementTree.parse(tmp_path / "map.svg")
    strict_json((tmp_path / "report.json").read_text())


def clean(text: str) -> str:
    """What collect() leaves of a text: it prints on one line."""
    return "".join(c if c.isprintable() else " " for c in text)


def cleaned(gpu):
    readings = {(name, clean(row)): reading for (name, row), reading in gpu.readings.items()}
    facts = {key: clean(value) if isinstance(value, str) else value for key, value in gpu.facts.items()}
    return replace(gpu, readings=readings, facts=facts, reason=gpu.reason and clean(gpu.reason))


def test_a_text_of_markdown_that_begins_with_a_backtick_is_no_code():
    assert markdown.table(("a", "b"), [("`x`|y", "ssh gn1 'a|b'")], commands=(1,)).splitlines()[2] == (
        "| \\`x\\`\\|y | <code>ssh gn1 &#39;a&#124;b&#39;</code> |")


def test_markdown_escapes_and_names_the_next_command(written):
    text = (written / "report.md").read_text()
    assert "| `ssh gn2 dcgmi diag -r 3 -i 3` |" in text and "NOT\\_COMPARABLE" in text
    widths = {line.count("|") for line in text.split("## What to do")[1].split("##")[0].splitlines() if line.startswith("|")}
    assert widths == {6}


def test_the_report_states_what_it_can_see():
    text = " ".join(findings.expectation(assess(make_fleet(64, 8, spread=0.012))))
    assert "6,144 comparisons" in text and re.search(r"expected to have at most 0\.0\d+ false flags", text)


def test_the_command_writes_the_report_and_ends_with_the_code(fleet_folder, capsys):
    assert main(["fleet", "report", str(fleet_folder)]) == 3
    shown = capsys.readouterr().out
    assert shown.startswith("15 of 16 GPUs are well: 1 slow\n16 of 16 GPUs have complete results\n")
    assert f"> ridgebench fleet submit {fleet_folder} --again" in shown
    assert {path.name for path in (fleet_folder / "report").iterdir()} == NAMES


def test_json_is_all_that_standard_output_gets(fleet_folder, tmp_path, capsys):
    assert main(["fleet", "report", str(fleet_folder), "--json", "--out", str(tmp_path / "a" / "b")]) == 3
    shown = capsys.readouterr().out
    assert strict_json(shown)["flagged"] == [{"node": "gn2", "index": 3, "state": "SLOW"}]
    assert shown == (tmp_path / "a" / "b" / "report.json").read_text()


def test_a_report_that_cannot_be_written_is_one_line(fleet_folder, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["fleet", "report", str(fleet_folder), "--out", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_number_of_the_json_is_nan():
    text = json.dumps(exports.known(math.nan)) + json.dumps(exports.known(-math.inf))
    assert text == "nullnull"


def test_a_folder_whose_name_is_no_utf_8_has_a_report(tmp_path, capsys):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff\xfename"))
    write_fleet(tmp_path / "fleet", 1, 8, rows=2)
    (tmp_path / "fleet").rename(folder)
    assert main(["fleet", "report", str(folder)]) == 0 and main(["fleet", "collect", str(folder)]) == 0
    assert {path.name for path in (folder / "report").iterdir()} == NAMES
    assert "bad??name" in capsys.readouterr().out
    shutil.rmtree(folder / "nodes")
    assert main(["fleet", "submit", str(folder), "--dry-run", "--program", "/bin/true"]) == 2
    assert "is not printable UTF-8" in (error := capsys.readouterr().err) and error.count("\n") == 1
