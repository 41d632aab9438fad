"""`explain`: the causes that a simulated device injects, every published run, and bad words."""

import json
import re

import pytest
from command_line import OK, USAGE, records, ridgebench, schema
from golden import GOLDEN, ROOT

PUBLISHED = sorted(path.parent for path in (ROOT / "results").glob("*/*/judged.json"))
PUBLISHED += [path.parent for path in sorted((ROOT / "results").glob("*/*/records.jsonl")) if path.parent not in PUBLISHED]
CHOSEN = ("--op", "relu,matmul", "--technique", "streaming,packed,naive", "--format", "fp32", "--budget", "2")


def explained(*words) -> dict:
    result = ridgebench("explain", *words, "--json")
    assert result.returncode == OK, result.stderr
    return json.loads(result.stdout)


def measured(folder, device):
    result = ridgebench("run", "--device", device, *CHOSEN, "--out", folder)
    assert result.returncode == OK, result.stderr
    return folder, result.stdout


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_published_run_is_explained(folder):
    run = explained(folder)
    assert list(schema("explained").iter_errors(run)) == []
    assert 1 <= len(run["findings"]) <= 3
    rows = {row["id"]: row for row in run["rows"]}
    described = [record for record in records(folder) if record["role"] == "kernel" or record["saturates"] == "link"]
    assert list(rows) == [record["id"] for record in described]
    for record in described:
        codes = [cause["code"] for cause in rows[record["id"]]["causes"]]
        assert (record["time_median_s"] is None) == (rows[record["id"]]["time_s"] is None)
        if record.get("power_state") in ("capped", "mixed"):
            assert codes[0] == "power_cap"
    assert ridgebench("explain", folder).returncode == OK


def test_a_run_on_a_capped_device_says_so_before_its_table(tmp_path):
    folder, text = measured(tmp_path / "run", "sim:draw=900,power_limit=500,idle=100,clock=1.8e9,noise=0.002")
    run = explained(folder)
    before_the_table = " ".join(text.split("\n\n")[0].split())  # wrapped
    assert before_the_table == " ".join(run["findings"])
    capped = [row for row in records(folder) if row["role"] == "kernel" and row["power_state"] in ("capped", "mixed")]
    assert capped, "the model of the power loop lowers the clock of arithmetic"
    causes = {row["id"]: [cause["code"] for cause in row["causes"]] for row in run["rows"]}
    assert all(causes[row["id"]][0] == "power_cap" for row in capped)
    assert "power_cap" in ridgebench("explain", folder).stdout


def test_a_slower_technique_has_the_faster_one_as_its_cause(tmp_path):
    folder, _ = measured(tmp_path / "run", "sim:noise=0.001,gap=1e-9,row=0.3,seed=5")
    rows = [row for row in explained(folder)["rows"] if row["time_s"]]
    by_work: dict = {}
    for row in rows:
        op, _, rest = row["id"].split("/", 2)
        by_work.setdefault((op, rest), []).append(row)
    for same in by_work.values():
        best = min(row["time_s"] for row in same)
        for row in same:
            (factor,) = [c["factor"] for c in row["causes"] if c["code"] == "technique"] or [1]
            assert factor == pytest.approx(row["time_s"] / best, rel=1.01e-2)


def test_rows_are_chosen_by_id_or_expression():
    every = explained(GOLDEN)["rows"]
    one = every[0]["id"]
    assert [row["id"] for row in explained(GOLDEN, one)["rows"]] == [one]
    assert [row["id"] for row in explained(GOLDEN, "^relu/")["rows"]] == [r["id"] for r in every if r["id"].startswith("relu/")]
    text = ridgebench("explain", GOLDEN, one).stdout
    assert one in text and "limit" in text and "distance" in text


@pytest.mark.parametrize(("words", "message"), [
    (("nowhere",), "nowhere is not a folder; allowed: explain DIR [ROW...]"),
    (("(",), "( is not a folder"),
])  # fmt: skip
def test_a_word_that_is_no_folder_is_refused(words, message, tmp_path):
    result = ridgebench("explain", *words, cwd=tmp_path)
    assert result.returncode == USAGE and message in result.stderr and result.stdout == ""


def test_a_row_that_the_run_lacks_is_refused():
    result = ridgebench("explain", GOLDEN, "^nothing$")
    assert result.returncode == USAGE and "no row of" in result.stderr and "^nothing$" in result.stderr
    result = ridgebench("explain", GOLDEN, "(")
    assert result.returncode == USAGE and "(" in result.stderr


@pytest.mark.parametrize("command", ["explain", "show"])
def test_a_folder_of_duels_is_refused_by_name(command):
    duels = next(path.parent for path in (ROOT / "results").glob("*/*/duels.jsonl"))
    result = ridgebench(command, duels)
    assert result.returncode == USAGE and "holds duels; allowed: a folder that `ridgebench run` wrote" in result.stderr


def test_the_page_names_every_cause():
    page = (ROOT / "docs" / "explain.md").read_text("utf-8")
    sources = [path.read_text("utf-8") for path in (ROOT / "harness" / "results" / "explained").glob("*_causes.cpp")]
    codes = {code for text in sources for code in re.findall(r'(?:\.code = |FlagCause\{)"(\w+)"', text)}
    assert len(codes) > 15 and [code for code in codes if f"`{code}`" not in page] == []
