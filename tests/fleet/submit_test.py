"""`fleet plan`, `submit` and `status`, with stand-ins for Slurm's commands and for the program."""

import json
import os

import pytest
from command_line import BINARY, schema
from ridgebench.__main__ import run
from ridgebench.data import program
from ridgebench.fleet.jobs.suites import SUITES
from stand_ins import SINFO, Machine
from synthetic_fleet import write_job


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def planned(machine) -> Machine:
    machine.slurm()
    machine.done("plan", "--out", "fleet")
    return machine


def manifest(machine: Machine) -> dict:
    return json.loads((machine.folder / "fleet" / "manifest.json").read_text())


def test_plan_asks_slurm(planned):
    found = manifest(planned)
    assert found["nodes"] == [{"node": "gn1", "gpus": 8}, {"node": "gn2", "gpus": 8, "note": "drained"}, {"node": "gn3", "gpus": 8}]
    assert (found["suite"], found["command"], found["limit_s"]) == ("quick", SUITES["quick"].command, 120)
    assert [error.message for error in schema("fleet_manifest").iter_errors(found)] == []
    assert planned.calls("sinfo") == [["-h", "-N", "-o", "%N|%T|%G"]]


def test_plan_names_the_drained_node(machine):
    machine.slurm()
    assert "drained: gn2; planned" in machine.done("plan", "--out", "fleet", "--suite", "deep", "--partition", "gpu")
    assert machine.calls("sinfo") == [["-h", "-N", "-o", "%N|%T|%G", "-p", "gpu"]]


def test_plan_of_a_file_needs_no_slurm(machine):
    (machine.folder / "nodes").write_text("gn[1-2] 4\nx1\n")
    machine.done("plan", "--nodes", "nodes", "--gpus", "8", "--out", "fleet", "--", "--filter", "^relu", "--budget", "3")
    found = manifest(machine)
    assert [(node["node"], node["gpus"]) for node in found["nodes"]] == [("gn1", 4), ("gn2", 4), ("x1", 8)]
    assert (found["suite"], found["command"]) == ("own", ["--filter", "^relu", "--budget", "3"])


def test_plan_refuses(machine):
    assert "sinfo is missing" in machine.refused("plan", "--out", "fleet")
    (machine.folder / "nodes").write_text("gn1 8\n")
    assert "--gpus: '0' is not a whole number from 1 to" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--gpus", "0")
    assert "--limit" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--limit", "nan")
    assert "--out=x belongs" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--", "--out=x")
    assert "--partition" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--partition", "p")
    assert not (machine.folder / "fleet").exists()
    machine.done("plan", "--out", "fleet", "--nodes", "nodes")
    assert "exists" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes")


@pytest.mark.parametrize(("words", "says"), [
    (["--frobnicate"], "unknown argument '--frobnicate'"), (["--budget", "soon"], "'soon' is not a number of seconds"),
    (["--filter", "("], "filter '('"), (["--op", "matmull"], "matmull"), (["--op", "relu", "--format", "fp99"], "fp99"),
    (["--ceilings", "none"], "none"), (["--shapes", "none"], "none: cannot be read"), (["--op", "relu", "--shape", "m:3"], "unknown dimension 'm'"),
    (["--retry"], "--retry requires --resume"),
])
def test_words_that_every_node_would_refuse_are_refused_when_they_are_typed(words, says, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "binary", lambda: BINARY)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes").write_text("gn1 8\n")
    plan = ["fleet", "plan", "--nodes", "nodes", "--out", "fleet", "--"]
    assert run(plan[0], [*plan[1:], *words]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1 and not (tmp_path / "fleet").exists()
    assert run(plan[0], [*plan[1:], "--op", "relu", "--format", "fp32", "--budget", "9"]) == 0


def test_a_broken_sinfo_is_one_line(machine):
    machine.stand_in("sinfo", "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1")
    assert "Unable to contact slurm controller" in machine.refused("plan", "--out", "fleet")


@pytest.mark.parametrize("name", SUITES)
def test_suites_fit_their_limits(name):
    suite = SUITES[name]
    assert suite.budget_s + 2 * suite.hang_limit_s < suite.limit_s
    assert {"--budget", str(suite.budget_s), "--hang-limit", str(suite.hang_limit_s)} <= set(suite.command)


def test_submit_pins_a_job_to_each_node(planned):
    assert "not submitted: gn2 (drained)" in planned.done("submit", "fleet", "--partition", "gpu")
    calls = planned.calls("sbatch")
    assert [call[1] for call in calls] == ["--nodelist=gn1", "--nodelist=gn3"]
    for call in calls:
        assert {"--exclusive", "--nodes=1", "--no-requeue", "--partition=gpu", "--time=4"} <= set(call)
        assert not any(word.startswith(("--array", "-a")) for word in call)
        assert call[-3:] == [str(planned.folder / "fleet" / "node.sh"), call[1].partition("=")[2], "1"]
    lines = (planned.folder / "fleet" / "submitted.jsonl").read_text().splitlines()
    assert list(map(json.loads, lines)) == [{"node": "gn1", "attempt": 1, "job": "1"}, {"node": "gn3", "attempt": 1, "job": "2"}]
    planned.prints("sinfo", SINFO.replace("drained", "idle"))
    planned.done("submit", "fleet")
    assert planned.calls("sbatch")[2][-2:] == ["gn2", "1"]  # the node is back
    assert "all nodes were submitted already" in planned.refused("submit", "fleet")


def test_submit_goes_on_where_it_stopped(planned):
    planned.stand_in("sbatch", "[[ $2 != *gn3 ]] || { echo 'sbatch: error: down' >&2; exit 1; }; echo 7")
    assert "error: down" in planned.refused("submit", "fleet")
    planned.stand_in("sbatch", "echo 8")
    planned.done("submit", "fleet")
    assert [call[1] for call in planned.calls("sbatch")] == ["--nodelist=gn1", "--nodelist=gn3", "--nodelist=gn3"]


@pytest.mark.parametrize("line", ["5", "[1]", "{}", '{"node": "gn1", "attempt": "one"}', '{"node": "gn1"'])
def test_a_record_of_jobs_that_is_damaged(planned, line):
    (planned.folder / "fleet" / "submitted.jsonl").write_text(line + "\n")
    assert "submitted.jsonl: " in planned.refused("submit", "fleet")
    assert "submitted.jsonl: " in planned.refused("status", "fleet")


def test_dry_run_submits_nothing(planned):
    shown = planned.done("submit", "fleet", "--dry-run")
    assert planned.calls("sbatch") == [] and not (planned.folder / "fleet" / "node.sh").exists()
    assert "timeout -k 20 120" in shown and "sbatch --parsable --nodelist=gn1" in shown


def test_together_is_one_srun(planned):
    planned.stand_in("srun", "exit 6")
    planned.done("submit", "fleet", "--together")
    (call,) = planned.calls("srun")
    assert call[0] == "--nodelist=gn[1,3]" and {"--nodes=2", "--ntasks-per-node=1", "--exclusive", "--kill-on-bad-exit=0", "--gres=gpu:8"} <= set(call)
    assert call[-3:] == [str(planned.folder / "fleet" / "node.sh"), "-", "1"]
    planned.prints("sinfo", SINFO.replace("gn3|mixed|gpu:h100:8", "gn3|mixed|gpu:h100:4"))
    assert "differ in their number of GPUs" in planned.refused("submit", "fleet", "--together")


def test_without_slurm_the_lines_are_printed(machine):
    (machine.folder / "nodes").write_text("gn[1-3] 8\n")
    machine.done("plan", "--nodes", "nodes", "--out", "fleet")
    result = machine.fleet("submit", "fleet")
    script = machine.folder / "fleet" / "node.sh"
    assert result.returncode == 2 and "sbatch is missing" in result.stderr and result.stderr.count("\n") == 1
    assert f"pdsh -w 'gn[1-3]' '{script} %h 1'" in result.stdout and f"ssh -n $node {script} $node 1" in result.stdout
    assert os.access(script, os.X_OK)


def write_report(machine: Machine, flagged) -> None:
    (machine.folder / "fleet" / "report").mkdir(exist_ok=True)
    (machine.folder / "fleet" / "report" / "report.json").write_text(json.dumps({"flagged": flagged}))


def test_again_takes_the_nodes_of_flagged_gpus(planned):
    assert "report.json is missing" in planned.refused("submit", "fleet", "--again")
    planned.done("submit", "fleet")
    write_report(planned, [])
    assert "flags no GPU" in planned.done("submit", "fleet", "--again")
    write_report(planned, [{"node": "gn3", "index": 1}, {"node": "gn3", "index": 4}])
    planned.done("submit", "fleet", "--again")
    assert planned.calls("sbatch")[2][-2:] == ["gn3", "2"] and len(planned.calls("sbatch")) == 3
    write_report(planned, [{"node": "gn9", "index": 1}])
    assert "gn9" in planned.refused("submit", "fleet", "--again")
    write_report(planned, 3)
    assert "flagged" in planned.refused("submit", "fleet", "--again")


def states(machine: Machine) -> dict[str, str]:
    """The lines of nodes below each state that has any."""
    found, state = {}, ""
    for line in machine.done("status", "fleet").splitlines():
        if line[0] != " ":
            state = line.split()[0]
        else:
            found[state] = line.strip()
    return found


def test_status(planned):
    assert states(planned)["planned"] == "gn2: drained"
    planned.done("submit", "fleet")
    planned.prints("squeue", "1|PENDING\n2|RUNNING\n")
    assert states(planned) == {"planned": "gn2: drained", "queued": "gn1: job 1 pending", "running": "gn3: job 2 running"}
    planned.prints("squeue", "2|RUNNING\n")
    assert states(planned)["missing"] == "gn1: job 1"
    fleet = planned.folder / "fleet" / "nodes"
    write_job(fleet / "gn1" / "attempt-1", "gn1", code=0)
    write_job(fleet / "gn3" / "attempt-1", "gn3", code=6)
    assert states(planned) == {"planned": "gn2: drained", "done": "gn1", "failed": "gn3: exit code 6"}
    write_job(fleet / "gn3" / "attempt-1", "gn3")
    assert states(planned)["failed"] == "gn3: killed, or hung since 2026-11-27T12:01:00Z"  # its job is not in the queue
    (fleet / "gn3" / "attempt-1.job.json").write_text("{")
    assert "not JSON" in states(planned)["failed"]


def test_status_without_squeue(planned):
    planned.done("submit", "fleet")
    (planned.bin / "squeue").unlink()
    assert "gn[1,3]" in states(planned)["queued"]
    assert "no manifest.json" in planned.refused("status", "bin")
