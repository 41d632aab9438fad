"""A fleet is collected whole: every GPU of the manifest has a state, whatever its files are."""

import json
import os
import shutil
from datetime import timedelta

import pytest
from damaged import attempt, change_node, collect, odd
from ridgebench.base.files import ResultsError
from ridgebench.base.text import one_line
from ridgebench.data.records import load_run
from ridgebench.fleet import collect as collecting
from ridgebench.fleet import summary
from ridgebench.fleet.gpu import DONE, DUPLICATE, FAILED, MISSING, STALE, STARTED
from ridgebench.judge.comparable import HARD, HARD_OF_DEVICE
from synthetic_fleet import PLANNED, write_job, write_manifest, write_node


def test_a_healthy_fleet(fleet):
    found = collect(fleet)
    assert [(gpu.node, gpu.index) for gpu in found.gpus] == [(f"gn{n}", i) for n in range(1, 5) for i in range(8)]
    assert odd(found) == {} and summary.exit_code(found) == 0
    assert {gpu.attempt for gpu in found.gpus} == {1} and not any(gpu.earlier for gpu in found.gpus)
    assert len({gpu.uuid_hash for gpu in found.gpus}) == 32


def test_readings_are_those_of_the_records(fleet):
    gpu = collect(fleet).gpus[0]
    rows = load_run(attempt(fleet, "gn1") / "loaded" / "cuda-0").rows
    assert len(gpu.readings) == 2 * len(rows)
    for row in rows:
        reading = gpu.readings["loaded", row.id.rpartition("@")[0]]
        assert (reading.status, reading.seconds, reading.cycles) == ("ok", row.time_median_s, row.cycles_median)
        assert reading.rate == (row.bytes_per_s if reading.unit == "byte/s" else row.flops_per_s)
        assert reading.events == tuple(row.telemetry["clock_events"])
    assert set(gpu.facts) == {*HARD, *HARD_OF_DEVICE, "environment_variables"}
    assert gpu.facts["driver"] == "580" and gpu.versions["driver"].startswith("580.")
    assert hash(tuple(gpu.facts.values())) is not None


def test_equal_facts_and_texts_are_one_object(fleet):
    gpus = collect(fleet).gpus
    assert len({id(gpu.facts) for gpu in gpus}) == 1 and len({id(gpu.versions) for gpu in gpus}) == 1
    assert len({id(key) for gpu in gpus for key in gpu.readings}) == len(gpus[0].readings)
    shutil.rmtree(attempt(fleet, "gn1"))  # no facts are not the same as no events
    assert [gpu.facts for gpu in collect(fleet).gpus[:8]] == [{}] * 8


def test_processes_find_the_same(fleet, monkeypatch):
    alone = collect(fleet).gpus
    monkeypatch.setattr(collecting, "FEWEST_FOR_A_POOL", 1)
    assert collect(fleet).gpus == alone


def test_a_node_without_results_is_missing(fleet):
    shutil.rmtree(fleet / "nodes" / "gn3")
    found = collect(fleet)
    assert odd(found) == {("gn3", i): (MISSING, "no result of gn3") for i in range(8)}
    assert {gpu.attempt for gpu in found.gpus if gpu.node == "gn3"} == {0} and summary.exit_code(found) == 4


def test_a_drained_node_is_named(fleet):
    shutil.rmtree(fleet / "nodes" / "gn3")
    nodes = [{"node": f"gn{n}", "gpus": 8, **({"note": "drained"} if n == 3 else {})} for n in range(1, 5)]
    write_manifest(fleet, {}, nodes=nodes, order=["gn1", "gn2", "gn3", "gn4"])
    assert set(odd(collect(fleet)).values()) == {(MISSING, "no result of gn3; it was drained when the fleet was planned")}


def test_seven_of_eight(fleet):
    change_node(attempt(fleet, "gn2"), lambda node: node["gpus"].pop(5))
    assert odd(collect(fleet)) == {("gn2", 5): (MISSING, "gn2 shows 7 of 8 GPUs; which one is missing is unknown")}


def test_an_earlier_attempt_tells_which_one_is_missing(fleet):
    write_node(attempt(fleet, "gn2", 2), "gn2", 8, rows=3, started=PLANNED + timedelta(minutes=5))
    change_node(attempt(fleet, "gn2", 2), lambda node: node["gpus"].pop(0))
    change_node(attempt(fleet, "gn2", 2), lambda node: [gpu.update(index=gpu["index"] - 1) for gpu in node["gpus"]])
    found = collect(fleet)
    (gpu,) = (gpu for gpu in found.gpus if gpu.state == MISSING)
    assert gpu.reason == "gn2 shows 7 of 8 GPUs" and gpu.attempt == 2 and gpu.earlier.state == DONE
    assert gpu.uuid_hash == gpu.earlier.uuid_hash and gpu.earlier.index == 0
    others = [gpu for gpu in found.gpus if gpu.node == "gn2" and gpu.state == DONE]
    assert all(gpu.uuid_hash == gpu.earlier.uuid_hash and gpu.index == gpu.earlier.index - 1 for gpu in others)


def test_a_second_attempt_keeps_the_first(fleet):
    write_node(attempt(fleet, "gn2", 2), "gn2", 8, lambda *_: 1.1, rows=3, started=PLANNED + timedelta(minutes=5))
    found = collect(fleet)
    again = [gpu for gpu in found.gpus if gpu.earlier]
    assert [gpu.node for gpu in again] == ["gn2"] * 8 and {gpu.attempt for gpu in again} == {2}
    for gpu in again:
        for key, reading in gpu.readings.items():
            assert reading.seconds == pytest.approx(1.1 * gpu.earlier.readings[key].seconds)


@pytest.mark.parametrize(
    ("state", "code", "found"),
    [("hung", None, STARTED), ("killed", None, STARTED), ("running", None, STARTED), ("waiting", None, STARTED), ("failed", 3, STARTED),
     ("failed", 137, STARTED), ("failed", 6, FAILED), ("failed", 7, FAILED), ("failed", 2, FAILED), ("done", 6, FAILED), ("?", 0, FAILED)],
)  # fmt: skip
def test_the_state_of_a_pass(fleet, state, code, found):
    change_node(attempt(fleet, "gn1"), lambda node: node["gpus"][2]["passes"]["loaded"].update(state=state, exit=code))
    states = odd(collect(fleet))
    if state == "?":  # the whole file is then no node.json
        assert set(states) == {("gn1", i) for i in range(8)} and {one for one, _ in states.values()} == {FAILED}
    else:
        assert set(states) == {("gn1", 2)} and states["gn1", 2][0] == found
        assert states["gn1", 2][1].startswith("loaded: ")


def test_a_node_that_was_killed(fleet):
    folder = attempt(fleet, "gn1")
    write_job(folder, "gn1")
    change_node(folder, lambda node: node.update(ended=None))
    for index in range(8):
        change_node(folder, lambda node, index=index: node["gpus"][index]["passes"]["loaded"].update(state="running", exit=None))
    assert odd(collect(fleet)) == {
        ("gn1", i): (STARTED, "loaded: began, not ended 540 s after the start of the node's run") for i in range(8)
    }


@pytest.mark.parametrize(("code", "state"), [(None, STARTED), (124, STARTED), (137, STARTED), (143, STARTED), (7, FAILED), (2, FAILED)])
def test_a_job_that_wrote_no_node_file(fleet, code, state):
    shutil.rmtree(attempt(fleet, "gn4"))
    write_job(attempt(fleet, "gn4"), "gn4", code=code)
    found = odd(collect(fleet))
    assert set(found) == {("gn4", i) for i in range(8)} and {one for one, _ in found.values()} == {state}


def test_a_copied_folder_is_a_duplicate(fleet):
    """The one whose uuid node.json names is not a copy, though it comes later."""
    shutil.rmtree(attempt(fleet, "gn2") / "loaded" / "cuda-1")
    shutil.copytree(attempt(fleet, "gn2") / "loaded" / "cuda-6", attempt(fleet, "gn2") / "loaded" / "cuda-1")
    found = odd(collect(fleet))
    assert found == {("gn2", 1): (DUPLICATE, "attempt-1/loaded/cuda-1 is the run of gn2 GPU 6, attempt-1/loaded/cuda-6")}


def test_a_copied_node_is_eight_duplicates(fleet):
    shutil.rmtree(fleet / "nodes" / "gn1")
    shutil.copytree(fleet / "nodes" / "gn4", fleet / "nodes" / "gn1")
    assert {key: state for key, (state, _) in odd(collect(fleet)).items()} == {("gn1", i): DUPLICATE for i in range(8)}


def test_a_run_with_another_number_is_told_by_its_time(fleet):
    copy = attempt(fleet, "gn2") / "isolated" / "cuda-1"
    shutil.rmtree(copy)
    shutil.copytree(attempt(fleet, "gn2") / "isolated" / "cuda-6", copy)
    environment = json.loads((copy / "environment.json").read_text())
    (copy / "environment.json").write_text(json.dumps(environment | {"run_id": "another"}))
    assert {key: state for key, (state, _) in odd(collect(fleet)).items()} == {("gn2", 1): DUPLICATE}


def test_older_results_are_stale(fleet):
    shutil.rmtree(fleet / "nodes" / "gn3")
    write_node(attempt(fleet, "gn3"), "gn3", 8, rows=3, started=PLANNED - timedelta(days=1))
    found = collect(fleet)
    assert odd(found) == {
        ("gn3", i): (STALE, "started 2026-11-26T12:00:00Z, before the manifest of 2026-11-27T12:00:00Z") for i in range(8)
    }
    assert summary.exit_code(found) == 5


def test_clocks_that_differ_by_seconds_make_nothing_stale(fleet):
    shutil.rmtree(fleet / "nodes" / "gn3")
    write_node(attempt(fleet, "gn3"), "gn3", 8, rows=3, started=PLANNED - timedelta(seconds=30))
    assert odd(collect(fleet)) == {}


DAMAGES = {
    "records.jsonl": ["", "{]\n", "[]\n", '{"id": 3}\n', "\0\n", '{"id": NaN}\n', "[" * 5000 + "\n", None],
    "environment.json": ["", "{}", '{"devices": 3}', '{"devices": []}', "[" * 5000, None],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in DAMAGES.items() for text in texts])
def test_a_malformed_file_is_one_failed_gpu(fleet, name, text):
    path = attempt(fleet, "gn1") / "isolated" / "cuda-7" / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    found = odd(collect(fleet))
    assert set(found) == {("gn1", 7)}
    state, reason = found["gn1", 7]
    assert state == FAILED and name in reason and reason.isprintable() and len(reason) < 300


@pytest.mark.parametrize(("key", "value"), [("time_median_s", -1), ("time_median_s", "1"), ("status", "fine"), ("telemetry", 3), ("bytes", True),
                                            ("bytes_per_s", 10**400), ("bytes_per_s", None), ("device", "cuda:1")])  # fmt: skip
def test_a_malformed_key_is_named(fleet, key, value):
    path = attempt(fleet, "gn1") / "isolated" / "cuda-7" / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line | {key: value} if at == 1 else line) + "\n" for at, line in enumerate(lines)))
    ((where, (state, reason)),) = odd(collect(fleet)).items()
    assert (where, state) == (("gn1", 7), FAILED) and "records.jsonl:2" in reason


def test_a_line_that_was_cut_off(fleet):
    path = attempt(fleet, "gn1") / "isolated" / "cuda-7" / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    found = collect(fleet)
    assert odd(found) == {("gn1", 7): (FAILED, "isolated: isolated/cuda-7/records.jsonl: the last record was cut off")}
    assert len(found.gpus[7].readings) == 5  # what was finished is kept


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "ridgebench.node/1", "node": "gn1", "gpus": [3]}', '{"schema": "other/2"}'])
def test_a_malformed_node_file(fleet, text):
    (attempt(fleet, "gn1") / "node.json").write_text(text)
    found = odd(collect(fleet))
    assert set(found) == {("gn1", i) for i in range(8)} and {state for state, _ in found.values()} == {FAILED}


@pytest.mark.parametrize("keys", [{"schema": "x"}, {"nodes": 3}, {"nodes": [{"node": "../x", "gpus": 8}]}, {"order": []}, {"planned": "noon"}, {"planned": "0001-01-01T00:00:00Z"},
                                  {"limit_s": "x"}, {"command": [3]}, {"nodes": [{"node": "gn1", "gpus": 0}], "order": ["gn1"]}])  # fmt: skip
def test_a_malformed_manifest_ends_the_collection(fleet, keys):
    write_manifest(fleet, {"gn1": 8}, **keys)
    with pytest.raises(ResultsError, match="manifest.json: "):
        collect(fleet)


def test_the_name_of_a_folder_that_is_not_utf_8(fleet):
    node = fleet / "nodes" / "gn1"
    odd_name = fleet.parent / "tree" / os.fsdecode(b"gn\xff\n1")
    shutil.copytree(node, odd_name)
    assert {gpu.node for gpu in collect(odd_name.parent).gpus} == {one_line(odd_name.name)}


@pytest.mark.parametrize("name", ["/etc", "../attempt-1/isolated/cuda-1", "isolated/../../../../elsewhere", "linked"])
def test_a_folder_outside_the_node_is_not_read(fleet, tmp_path, name):
    folder = attempt(fleet, "gn2")
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder / "isolated" / "cuda-3", elsewhere)
    (folder / "linked").symlink_to(elsewhere)

    def lead_out(node):
        node["gpus"][3]["passes"]["isolated"]["folder"] = name

    change_node(folder, lead_out)
    found = collect(fleet)
    assert odd(found) == {("gn2", 3): (FAILED, f"isolated: folder is {name!r}; allowed: a folder in that of node.json")}


def test_a_name_of_megabytes_is_cut_where_it_is_read(fleet):
    folder = attempt(fleet, "gn2")
    change_node(folder, lambda node: node["gpus"][3].update(model="M" * 5_000_000))
    gpu = next(gpu for gpu in collect(fleet).gpus if (gpu.node, gpu.index) == ("gn2", 3))
    assert gpu.model == "M" * 500 + "…"
