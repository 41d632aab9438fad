"""A tree without manifest is collected, too; fleet.json and the summary say what was found."""

import json
import shutil
from collections import Counter
from datetime import timedelta

import pytest
from command_line import schema
from damaged import attempt, change_node, collect, odd
from ridgebench.base.command_line import CommandError
from ridgebench.fleet import findings, fleet_file, summary
from ridgebench.fleet.cli import main as fleet_main
from ridgebench.fleet.gpu import DONE, FAILED, Gpu
from ridgebench.fleet.judge import assess
from ridgebench.fleet.render import exports
from synthetic_fleet import PLANNED, template, text_of, write_node, write_results


def test_a_tree_without_manifest(tmp_path):
    """Each results folder is a reading; isolated and loaded of one GPU are one GPU."""
    for node in ("a1", "a2"):
        for index in range(2):
            for name in ("isolated", "loaded"):
                write_results(tmp_path / "tree" / node / name / f"gpu{index}", node, index, PLANNED, lambda _: 1.0, rows=2)
    found = collect(tmp_path / "tree")
    assert found.manifest is None and odd(found) == {}
    assert [(gpu.node, gpu.index, len(gpu.readings)) for gpu in found.gpus] == [("a1", 0, 4), ("a1", 1, 4), ("a2", 0, 4), ("a2", 1, 4)]
    assert "is unknown" in summary.summary(found)


def test_runs_of_one_gpu_are_attempts(tmp_path):
    for day, factor in ((0, 1.0), (1, 1.2)):
        write_results(tmp_path / "n1" / f"day{day}", "n1", 0, PLANNED + timedelta(days=day), lambda _, factor=factor: factor, rows=2)
    (gpu,) = collect(tmp_path).gpus
    assert gpu.attempt == 2 and gpu.earlier.attempt == 1
    assert all(one.seconds == pytest.approx(1.2 * gpu.earlier.readings[key].seconds) for key, one in gpu.readings.items())


def test_processes_that_each_saw_one_gpu(tmp_path):
    """CUDA_VISIBLE_DEVICES makes each GPU cuda:0; they are numbered by their folders."""
    for index in range(3):
        write_results(tmp_path / "n1" / f"gpu{index}", "n1", index, PLANNED, lambda _: 1.0, rows=2, name="cuda:0")
    for path in tmp_path.glob("n1/*/records.jsonl"):
        path.write_text(path.read_text().replace("@cuda:1", "@cuda:0").replace("@cuda:2", "@cuda:0"))
    assert [gpu.index for gpu in collect(tmp_path).gpus] == [0, 1, 2]


def test_a_tree_of_node_folders(healthy_fleet, tmp_path):
    """As scp brings them: no manifest, and attempts below the node."""
    shutil.copytree(healthy_fleet / "nodes", tmp_path / "copied")
    found = collect(tmp_path / "copied")
    assert Counter(gpu.node for gpu in found.gpus) == {f"gn{n}": 8 for n in range(1, 5)} and odd(found) == {}


def test_rows_with_clocks_beside_their_samples(tmp_path):
    write_results(tmp_path / "n1", "n1", 0, PLANNED, lambda _: 1.0, rows=2)
    path = tmp_path / "n1" / "records.jsonl"
    text = path.read_text()
    lists = '"clocks_hz":[1e9,2e9],"samples_s":[1e-3,2e-3]'
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        line.pop("clocks_hz", None)
        line.pop("samples_s", None)
    path.write_text("".join("{" + lists + "," + json.dumps(line)[1:] + "\n" for line in lines))
    (gpu,) = collect(tmp_path).gpus
    assert gpu.state == DONE and len(gpu.readings) == 2


def test_a_broken_results_folder_of_a_tree(tmp_path):
    for index in range(2):
        write_results(tmp_path / "n1" / f"gpu{index}", "n1", index, PLANNED, lambda _: 1.0, rows=2)
    (tmp_path / "n1" / "gpu1" / "environment.json").write_text("{")
    assert [(gpu.state, gpu.node) for gpu in collect(tmp_path).gpus if gpu.state != DONE] == [(FAILED, "n1")]


def test_nothing_to_collect(tmp_path):
    with pytest.raises(CommandError, match="holds no results"):
        collect(tmp_path)
    with pytest.raises(CommandError, match="not found"):
        collect(tmp_path / "absent")


def test_the_stored_form_obeys_its_schema(fleet):
    shutil.rmtree(fleet / "nodes" / "gn3")
    write_node(attempt(fleet, "gn2", 2), "gn2", 8, rows=3, started=PLANNED + timedelta(minutes=5))
    found = collect(fleet)
    text = fleet_file.text_of(found)
    value = json.loads(text)
    assert [error.message for error in schema("fleet").iter_errors(value)] == []
    assert value["states"] == {"DONE": 24, "FAILED": 0, "STARTED": 0, "MISSING": 8, "DUPLICATE": 0, "STALE": 0}
    assert text.count("\n") == 32 + 2
    first: Gpu = found.gpus[0]
    stored_first = value["gpus"][0]
    assert value["facts"][stored_first["facts"]]["model"] == first.model
    for number, *fields in stored_first["readings"]["loaded"]:
        row = value["rows"][number]
        assert fields[1] == pytest.approx(first.readings["loaded", row["id"]].seconds, rel=1e-5)
    damaged = json.loads(text)
    damaged["gpus"][0]["state"] = "WELL"
    assert not schema("fleet").is_valid(damaged)


def test_what_the_tests_write_obeys_the_schemas(fleet):
    for name, path in (("fleet_manifest", fleet / "manifest.json"), ("fleet_job", fleet / "nodes" / "gn1" / "attempt-1.job.json")):
        assert [error.message for error in schema(name).iter_errors(json.loads(path.read_text()))] == []
    assert len(template(3)[1]) == 3 and text_of(PLANNED) == "2026-11-27T12:00:00Z"


def test_the_summary_fits_a_screen(fleet):
    for node in range(1, 5):
        for index in range(8):
            change_node(attempt(fleet, f"gn{node}"), lambda value, index=index: value["gpus"][index]["passes"]["loaded"].update(
                state="hung", reason=f"number {index}"))  # fmt: skip
    shown = summary.summary(collect(fleet))
    assert len(shown.splitlines()) <= 24 and "and 20 more reasons, in fleet.json" in shown
    assert "STARTED gn1 GPU 3: loaded: hung: number 3" in shown and "STARTED    32  gn[1-4]" in shown


def host_run(folder, hostname: str, day: int = 0, factor: float = 1.0) -> None:
    """A results folder of a host without GPU."""
    write_results(folder, hostname, 0, PLANNED + timedelta(days=day), lambda _: factor, rows=2, name="cpu", uuid_hash=None, backend="cpu")
    path = folder / "records.jsonl"
    path.write_text(path.read_text().replace("@cuda:0", "@cpu").replace('"device": "cuda:0"', '"device": "cpu"'))


def test_runs_of_one_host_are_one_host_and_no_gpu(tmp_path):
    for day in range(12):
        host_run(tmp_path / f"run{day}", "n1", day)
    (host,) = (found := collect(tmp_path)).gpus
    assert (host.node, host.index, host.attempt, host.host) == ("run0", None, 12, True)
    assert findings.title(assess(found)) == "The host is well"
    assert "1 host" in findings.coverage_text(assess(found)) and "GPU" not in " ".join(findings.expectation(assess(found)))


def test_hosts_of_a_tree_are_called_hosts(tmp_path):
    for number in range(9):
        host_run(tmp_path / f"n{number}" / "run", f"n{number}", factor=1.0 + 0.2 * (number == 4))
    found = assess(collect(tmp_path))
    assert findings.title(found) == "8 of 9 hosts are well: 1 slow"
    assert [one.where for one in findings.findings(found)] == ["n4"]
    assert 'name="n4"' in exports.to_junit(found)


def test_runs_of_one_gpu_directly_in_a_tree_are_one_gpu(tmp_path):
    for day in range(3):
        write_results(tmp_path / f"day{day}", "n1", 0, PLANNED + timedelta(days=day), lambda _: 1.0, rows=2)
    (gpu,) = collect(tmp_path).gpus
    assert gpu.attempt == 3


@pytest.mark.parametrize("command", ["report", "collect"])
def test_a_single_run_is_no_fleet(command, tmp_path):
    write_results(tmp_path / "run", "n1", 0, PLANNED, lambda _: 1.0, rows=2)
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    with pytest.raises(CommandError, match="is the results folder of one run; allowed: the folder of a fleet"):
        fleet_main([command, str(tmp_path / "run")])
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before
