"""`ridgebench export` and `ridgebench.load`: one line per row, the columns of the schema, text that other programs parse."""

import csv
import json
import os
import re
import shutil
import sys

import pytest
from golden import GOLDEN, read_records

import ridgebench
from ridgebench.__main__ import main
from ridgebench.base.command_line import CommandError
from ridgebench.base.text import csv_cell
from ridgebench.exchange.export import table


def exported(capsys, *words) -> str:
    assert main(["export", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_csv_has_a_line_per_row_and_every_single_value(capsys):
    lines = list(csv.DictReader(exported(capsys, GOLDEN, "--csv").splitlines()))
    rows = read_records(GOLDEN)
    assert [line["id"] for line in lines] == [row["id"] for row in rows]
    for line, row in zip(lines, rows):
        for key in ("time_median_s", "flops_per_s", "bytes_per_s", "mfu"):
            assert line[key] == ("" if row[key] is None else repr(float(row[key])))
        assert line["samples"] == str(len(row["samples_s"])) and line["flags"] == " ".join(row["flags"])
        assert line["roof_flops_per_s"] == ("" if not row["roof"] or row["roof"]["flops_per_s"] is None
                                            else repr(float(row["roof"]["flops_per_s"])))


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+tech", "-2+3", "@SUM(A1)"])
def test_csv_holds_no_formula_of_a_spreadsheet(capsys, edit, name):
    folder = edit(lambda records, _: records[0].update(technique=name))
    first = next(csv.DictReader(exported(capsys, folder, "--csv").splitlines()))
    assert first["technique"] == f"'{name}" and csv_cell(-1.5) == -1.5


def test_a_folder_with_any_name_is_one_column(capsys, edit, tmp_path):
    folder = edit(lambda records, _: None)
    moved = folder.rename(tmp_path / os.fsdecode(b"bad\xff\x1b[31m\nname"))
    text = exported(capsys, moved, "--csv")
    assert text.splitlines()[1].startswith("bad? [31m name,") and text.isascii()
    assert exported(capsys, moved, "--csv", "-o", tmp_path / "x.csv") == "" and (tmp_path / "x.csv").read_text() == text


def test_the_columns_do_not_depend_on_the_rows(capsys, edit):
    whole = exported(capsys, GOLDEN, "--csv").splitlines()[0]
    folder = edit(lambda records, _: records.__delitem__(slice(1, None)))
    assert exported(capsys, folder, "--csv").splitlines()[0] == whole == ",".join(table.columns())
    assert {"time_median_s", "flops_per_s", "bytes_per_s", "clock_hz", "intensity_flop_per_byte"} <= set(table.columns())


def test_markdown_escapes_what_a_page_would_read(capsys, edit):
    folder = edit(lambda records, _: records[0].update(technique="a|b <i>*c*</i>"))
    text = exported(capsys, folder, "--md")
    assert r"a\|b \<i\>\*c\*\</i\>" in text
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines()}
    assert len(widths) == 1 and len(text.splitlines()) == 2 + len(read_records(GOLDEN))


def test_markdown_has_the_power_states_where_a_row_has_one(capsys, edit):
    assert "power_state" not in exported(capsys, GOLDEN, "--md")
    text = exported(capsys, edit(lambda records, _: records[0].update(power_state="capped")), "--md").splitlines()
    assert text[0].endswith("| power_state |") and text[2].endswith("| capped |") and text[3].endswith("|  |")


SAMPLE = re.compile(r'([a-z_:]+)\{((?:[a-z]+="(?:[^"\\\n]|\\[\\n"])*",?)+)\} (\S+)')


def test_prometheus_text(capsys, edit):
    folder = edit(lambda records, _: records[0].update(technique='q"u\\o'))
    text = exported(capsys, folder, "--prom")
    families = re.findall(r"# TYPE (\w+) gauge", text)
    assert len(set(families)) == len(families)
    found = [SAMPLE.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    assert all(found) and all(match[1] in families and float(match[3]) >= 0 for match in found)
    assert r'technique="q\"u\\o"' in text
    assert sum(match[1] == "ridgebench_row_ok" for match in found) == len(read_records(GOLDEN))


def test_prometheus_text_by_its_own_parser(capsys):
    parser = pytest.importorskip("prometheus_client.parser")
    families = list(parser.text_string_to_metric_families(exported(capsys, GOLDEN, "--prom")))
    assert {family.type for family in families} == {"gauge"} and len(families) >= 4


def test_a_file_is_written_whole(tmp_path, capsys):
    assert exported(capsys, GOLDEN, "--csv", "-o", tmp_path / "x.csv") == ""
    assert (tmp_path / "x.csv").read_text() == exported(capsys, GOLDEN, "--csv")
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ((GOLDEN,), "one of the arguments --csv --md --parquet --prom --trace is required"),
        ((GOLDEN, "--csv", "--md"), "not allowed with"),
        ((GOLDEN, GOLDEN, "--csv"), "named twice; allowed: each results directory once"),
        ((GOLDEN, "--parquet"), "--parquet needs -o FILE"),
        (("/nowhere", "--csv"), "/nowhere: not found"),
        ((GOLDEN, "--csv", "-o", "/"), "is not a regular file"),
        ((GOLDEN, "--csv", "-o", "/nowhere/x"), "/nowhere"),
    ],
)
def test_refusals(capsys, words, part):
    assert main(["export", *map(str, words)]) == 2
    error = capsys.readouterr().err
    assert part in error and error.count("\n") == 1


def test_parquet(tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    exported(capsys, GOLDEN, "--parquet", "-o", tmp_path / "x.parquet")
    columns = parquet.read_table(tmp_path / "x.parquet").to_pydict()
    assert columns["id"] == [row["id"] for row in read_records(GOLDEN)] and list(columns) == list(table.columns())


def test_a_data_frame_of_pandas():
    pytest.importorskip("pandas")
    frame = ridgebench.load(GOLDEN)
    assert list(frame.columns) == list(table.columns()) and len(frame) == len(read_records(GOLDEN))
    assert frame["time_median_s"].dtype == "float64"


def test_without_any_library_it_says_what_installs_one(tmp_path, monkeypatch, capsys):
    for name in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(CommandError, match="pip install pandas"):
        ridgebench.load(GOLDEN)
    assert main(["export", str(GOLDEN), "--parquet", "-o", str(tmp_path / "x")]) == 2
    assert "pip install pyarrow" in capsys.readouterr().err


def test_schema_prints_every_schema(capsys):
    assert main(["schema"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"record", "environment", "device", "duel", "duels", "list", "info", "predict", "plan"} <= set(names)
    for name in names:
        assert main(["schema", name]) == 0
        assert json.loads(capsys.readouterr().out)["$schema"]
    assert main(["schema", "recrod"]) == 2
    error = capsys.readouterr().err
    assert "no schema named 'recrod'; allowed: " in error and "record" in error


def test_rows_say_whether_their_roof_moved_and_whether_the_run_ended(edit):
    assert {(row["doubted"], row["unfinished"]) for row in table.table_of([table.load(GOLDEN)]).rows} == {(None, False)}, "older than the key"
    name = read_records(GOLDEN)[3]["id"]
    folder = edit(lambda _, environment: environment.update(controls=[], doubted={name: ["a"]}, ended=None))
    assert [row["id"] for row in table.table_of([table.load(folder)]).rows if row["doubted"]] == [name]
    assert all(row["unfinished"] for row in table.table_of([table.load(folder)]).rows)


def test_a_data_frame_counts_each_run_once():
    with pytest.raises(CommandError, match="named twice"):
        ridgebench.load(GOLDEN, str(GOLDEN))


def test_two_runs_in_folders_of_one_name_are_refused(tmp_path, capsys):
    for number in ("1", "2"):
        shutil.copytree(GOLDEN, tmp_path / number / "run")
        path = tmp_path / number / "run" / "environment.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"run_id": number}))
    assert main(["export", str(tmp_path / "1" / "run"), str(tmp_path / "2" / "run"), "--prom"]) == 2
    assert "have one name and rows in common" in capsys.readouterr().err
