"""`fleet plan`, `submit` and `status`, with stand-ins for Slurm's commands and for the program."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import ROOT, schema
from fleet_size import tree_of
from ridgebench.fleet.jobs.suites import SUITES
from synthetic_fleet import write_job

SINFO = "gn1|idle|gpu:h100:8(S:0-1)\ngn2|drained|gpu:h100:8\ngn3|mixed|gpu:h100:8\nlogin1|idle|(null)\n"


class Machine:
    """A folder of stand-ins in PATH: what each prints, and with which words it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.stand_in("ridgebench", "exit 0")

    def stand_in(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/bash\nprintf '%q ' \"$@\" >>{self.folder}/{name}.calls\necho >>{self.folder}/{name}.calls\n{body}\n")
        path.chmod(0o755)

    def prints(self, name: str, text: str) -> None:
        (self.folder / f"{name}.out").write_text(text)
        self.stand_in(name, f"cat {self.folder}/{name}.out")

    def calls(self, name: str) -> list[list[str]]:
        path = self.folder / f"{name}.calls"
        return [shlex.split(line) for line in path.read_text().splitlines()] if path.exists() else []

    def fleet(self, *words) -> subprocess.CompletedProcess:
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "roofline"), "HOME": str(self.folder)}
        return subprocess.run([sys.executable, "-m", "ridgebench", "fleet", *map(str, words)], capture_output=True, text=True,
                              check=False, env=environment, cwd=self.folder, timeout=60)  # fmt: skip

    def done(self, *words) -> str:
        result = self.fleet(*words)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    def refused(self, *words) -> str:
        result = self.fleet(*words)
        assert result.returncode == 2 and result.stderr.startswith("fleet: ") and result.stderr.count("\n") == 1, result.stderr
        return result.stderr

    def slurm(self) -> None:
        self.prints("sinfo", SINFO)
        self.prints("squeue", "")
        self.stand_in("sbatch", f"wc -l <{self.folder}/sbatch.calls")  # the number of the job


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
    assert "--gpus 0" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--gpus", "0")
    assert "--limit" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--limit", "nan")
    assert "--out=x belongs" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--", "--out=x")
    assert "--partition" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes", "--partition", "p")
    assert not (machine.folder / "fleet").exists()
    machine.done("plan", "--out", "fleet", "--nodes", "nodes")
    assert "exists" in machine.refused("plan", "--out", "fleet", "--nodes", "nodes")


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


# The script of a node


def node_script(machine: Machine, program: str, limit: str = "120") -> Path:
    """The script of a fleet whose program is this bash text; $OUT is the folder that --out names."""
    machine.stand_in("ridgebench", f'OUT=${{@: -1}}\n{program}')
    (machine.folder / "nodes").write_text("gn1 8\n")
    machine.done("plan", "--nodes", "nodes", "--out", "a fleet's", "--limit", limit, "--", "--filter", "it's")
    machine.fleet("submit", "a fleet's", "--program", machine.bin / "ridgebench")
    return machine.folder / "a fleet's" / "node.sh"


def job(script: Path) -> dict:
    value = json.loads((script.parent / "nodes" / "gn1" / "attempt-1.job.json").read_text())
    assert [error.message for error in schema("fleet_job").iter_errors(value)] == []
    return value


def test_the_script_writes_the_job_first_and_last(machine):
    script = node_script(machine, 'cp "$OUT.job.json" "$OUT.first.json"; echo told; exit 6')
    done = subprocess.run([script, "gn1", "1"], check=False, env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": "17"}, timeout=60)
    folder = script.parent / "nodes" / "gn1" / "attempt-1"
    first, last = json.loads(folder.with_name("attempt-1.first.json").read_text()), job(script)
    assert done.returncode == 6 and (first["ended"], first["exit"], first["job"]) == (None, None, "17")
    assert last["exit"] == 6 and last["ended"] >= last["started"] == first["started"]
    assert folder.with_name("attempt-1.output.txt").read_text() == "told\n"
    assert machine.calls("ridgebench")[0] == ["run", "--concurrent", "--filter", "it's", "--out", str(folder)]
    again = subprocess.run([script, "gn1", "1"], check=False, capture_output=True, text=True, timeout=60)
    assert again.returncode == 2 and "was begun already" in again.stderr and len(machine.calls("ridgebench")) == 1


def test_the_script_kills_what_hangs(machine):
    script = node_script(machine, "exec sleep 600", limit="1")
    assert subprocess.run([script, "gn1", "1"], check=False, timeout=60).returncode == 124
    assert job(script)["exit"] == 124


def test_the_scheduler_names_the_node(machine):
    script = node_script(machine, "exit 0")
    subprocess.run([script, "-", "1"], check=True, env={"PATH": os.environ["PATH"], "SLURMD_NODENAME": "gn1"}, timeout=60)
    assert job(script)["exit"] == 0


def test_a_terminated_script_notes_the_end(machine):
    script = node_script(machine, 'trap "exit 3" TERM; touch "$OUT.begun"; while :; do sleep 0.1; done')
    with subprocess.Popen([script, "gn1", "1"], start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while not (script.parent / "nodes" / "gn1" / "attempt-1.begun").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert job(script)["exit"] is None
        for member in tree_of(process.pid):  # as a scheduler does
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGTERM)
        process.wait(60)
    assert job(script)["exit"] in (3, 124)
