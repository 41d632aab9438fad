"""The script of a node's job records its beginning and its end, whatever becomes of the run."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import schema, wait_until
from fleet_size import tree_of
from stand_ins import Machine


DOCTOR = "echo '{\"asked\": true}'; exit 7"  # it finds a GPU that cannot be used; the others are measured all the same


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


def node_script(machine: Machine, program: str, limit: str = "120") -> Path:
    """The script of a fleet whose program is this bash text; $OUT is the folder that --out names."""
    machine.stand_in("ridgebench", f'[[ $1 == doctor ]] && {{ {DOCTOR}; }}\nOUT=${{@: -1}}\n{program}')
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
    done = subprocess.run([script, "gn1", "1"], check=False, env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": "17"})
    folder = script.parent / "nodes" / "gn1" / "attempt-1"
    first, last = json.loads(folder.with_name("attempt-1.first.json").read_text()), job(script)
    assert done.returncode == 6 and (first["ended"], first["exit"], first["job"]) == (None, None, "17")
    assert last["exit"] == 6 and last["ended"] >= last["started"] == first["started"]
    assert folder.with_name("attempt-1.output.txt").read_text() == "told\n"
    doctor, run = machine.calls("ridgebench")
    assert doctor == ["doctor", "--json", "--timeout", "30"] and run == ["run", "--concurrent", "--filter", "it's", "--out", str(folder)]
    assert json.loads(folder.with_name("attempt-1.doctor.json").read_text()) == {"asked": True}
    again = subprocess.run([script, "gn1", "1"], check=False, capture_output=True, text=True)
    assert again.returncode == 2 and "was begun already" in again.stderr and len(machine.calls("ridgebench")) == 2


def test_the_script_kills_what_hangs(machine):
    script = node_script(machine, "exec sleep 600", limit="1")
    assert subprocess.run([script, "gn1", "1"], check=False).returncode == 124
    assert job(script)["exit"] == 124


def test_the_scheduler_names_the_node(machine):
    script = node_script(machine, "exit 0")
    subprocess.run([script, "-", "1"], check=True, env={"PATH": os.environ["PATH"], "SLURMD_NODENAME": "gn1"})
    assert job(script)["exit"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_to_the_script_alone_ends_the_command(number, machine):
    script = node_script(machine, 'trap "exit 3" TERM; touch "$OUT.begun"; while :; do sleep 0.01; done')
    with subprocess.Popen([script, "gn1", "1"]) as process:
        wait_until((script.parent / "nodes" / "gn1" / "attempt-1.begun").exists, process)
        process.send_signal(number)
    assert process.returncode == job(script)["exit"] and job(script)["exit"] in (3, 124, 143)  # of timeout, as below


def test_a_terminated_script_notes_the_end(machine):
    script = node_script(machine, 'trap "exit 3" TERM; touch "$OUT.begun"; while :; do sleep 0.1; done')
    with subprocess.Popen([script, "gn1", "1"], start_new_session=True) as process:
        wait_until((script.parent / "nodes" / "gn1" / "attempt-1.begun").exists, process)
        assert job(script)["exit"] is None
        for member in tree_of(process.pid):  # as a scheduler does
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGTERM)
        process.wait()
    assert job(script)["exit"] in (3, 124, 143)  # of timeout, which may get the signal twice


def test_a_script_that_is_terminated_while_doctor_asks_measures_nothing(machine, monkeypatch):
    monkeypatch.setattr(f"{__name__}.DOCTOR", 'trap "exit 0" TERM; touch ../asked; while :; do sleep 0.1; done')
    script = node_script(machine, "exit 0")
    folder = script.parent / "nodes"
    folder.mkdir(exist_ok=True)
    with subprocess.Popen([script, "gn1", "1"], start_new_session=True, cwd=folder) as process:
        wait_until((script.parent / "asked").exists, process)
        for member in tree_of(process.pid):
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGTERM)
        process.wait()
    assert job(script)["exit"] == 143 and [call[0] for call in machine.calls("ridgebench")] == ["doctor"]
