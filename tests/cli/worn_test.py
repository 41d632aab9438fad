"""A device whose counters of faults grow during a run: said, recorded, and a word in every comparison."""

import json

import pytest
from command_line import OK, ROW_FAILED, UNDECIDED, read_environment, refused, ridgebench, schema, strict_json

TEXT = "sim counted faults during the run: remapped_rows.uncorrected grew from 0 to 2"
ROWS = ("--filter", "^(relu|dot)/naive/fp32/", "--budget", "1", "--no-plot")


@pytest.fixture(scope="module", name="folders")
def folders_fixture(tmp_path_factory):
    parent = tmp_path_factory.mktemp("worn")
    done = {name: ridgebench("run", "--device", device, *ROWS, "--out", parent / name) for name, device in (("well", "sim"), ("worn", "sim:remaps=2"))}
    assert [one.returncode for one in done.values()] == [OK, OK], done
    return parent, done


def test_the_run_says_it_at_its_end_and_records_it(folders):
    parent, done = folders
    assert done["worn"].stderr.splitlines()[-2:] == [f"note: all rows of the device are in doubt: {TEXT}", f"results: {parent / 'worn'}"]
    assert "in doubt" not in done["well"].stderr
    environment = read_environment(parent / "worn")
    assert list(schema("environment").iter_errors(environment)) == []
    (one,) = environment["conditions"]
    assert one == {"code": "worn", "text": TEXT, "device": "sim", "severe": True,
                   "counters": [{"counter": "remapped_rows.uncorrected", "before": 0, "after": 2}]}  # fmt: skip
    assert read_environment(parent / "well")["conditions"] == []


def test_every_reader_says_it(folders):
    parent, _ = folders
    verified = ridgebench("verify", parent / "worn")
    assert (verified.returncode, verified.stdout.splitlines()) == (OK, [f"{parent / 'worn'}: sound", f"{parent / 'worn'}: {TEXT}"])
    assert ridgebench("show", parent / "worn").stdout.splitlines()[0] == f"WORN: {TEXT}"
    explained = strict_json(ridgebench("explain", parent / "worn", "--json").stdout)
    assert [(one["code"], one["rows"]) for one in explained["causes"] if one["code"] == "worn"] == [("worn", 2)]
    compared = ridgebench("compare", parent / "well", parent / "worn")
    assert "conditions: candidate worn" in compared.stdout, compared.stderr
    for command in ("verify", "show", "explain"):
        assert "counted faults" not in ridgebench(command, parent / "well").stdout


def test_a_condition_that_the_states_do_not_show_is_a_problem(folders, tmp_path):
    parent, _ = folders
    environment = read_environment(parent / "worn")
    environment["conditions"][0]["counters"][0]["after"] = 1
    (tmp_path / "environment.json").write_text(json.dumps(environment))
    (tmp_path / "records.jsonl").write_bytes((parent / "worn" / "records.jsonl").read_bytes())
    found = ridgebench("verify", tmp_path)
    assert found.returncode == ROW_FAILED and "environment.json: the states do not show that sim counted faults" in found.stderr


def test_the_duels_of_a_worn_device_are_checked_too(tmp_path):
    words = ("duel", "naive", "streaming", "--op", "relu", "--format", "fp32", "--shape", "4k", "--seconds", "5")
    folder = tmp_path / "out"
    done = ridgebench(*words, "--device", "sim:remaps=2", "--out", folder)
    assert "counted faults" in done.stderr, done.stderr
    path = folder / "environment.json"
    environment = json.loads(path.read_text())
    (worn,) = (one for one in environment["conditions"] if one["code"] == "worn")
    worn["counters"][0]["after"] += 1
    path.write_text(json.dumps(environment))
    assert "the states do not show that sim counted faults" in ridgebench("verify", folder).stderr


def test_doctor_judges_what_a_run_recorded(folders, tmp_path):
    parent, _ = folders
    environment = read_environment(parent / "worn")
    environment["devices"][0]["backend"] = "cuda"
    path = tmp_path / "environment.json"
    path.write_text(json.dumps(environment))
    findings = strict_json(ridgebench("doctor", "--recorded", path, "--json").stdout)["findings"]
    assert [(one["status"], one["device"], one["text"]) for one in findings if one["code"] == "worn_severely"] == [("warning", "sim", TEXT)]


def test_doctor_ends_with_6_if_a_counter_grew_in_a_run(folders, tmp_path):
    parent, _ = folders
    assert ridgebench("doctor", "--worn", parent / "well").returncode == OK
    done = ridgebench("doctor", "--worn", parent / "worn", "--json")
    assert done.returncode == ROW_FAILED
    answer = strict_json(done.stdout)
    assert list(schema("doctor").iter_errors(answer)) == []
    assert [(one["code"], one["device"], one["text"]) for one in answer["findings"]] == [("worn_severely", "sim", TEXT)]
    environment = read_environment(parent / "well")
    environment["state"]["after"] = None
    (tmp_path / "environment.json").write_text(json.dumps(environment))
    done = ridgebench("doctor", "--worn", tmp_path)
    assert done.returncode == UNDECIDED and "the run did not end" in done.stdout


def test_what_holds_no_results_is_refused(tmp_path):
    refused(ridgebench("doctor", "--worn", tmp_path), str(tmp_path))
    (tmp_path / "node.json").write_text("{}")
    refused(ridgebench("doctor", "--worn", tmp_path), "holds no results folder", "allowed: ")
    refused(ridgebench("doctor", "--worn", tmp_path, "--recorded", tmp_path / "node.json"), "--recorded")
