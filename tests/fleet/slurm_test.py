"""A fleet on a real Slurm: four nodes of eight simulated GPUs, all well, and with every fault that a fleet must survive.

scripts/try/slurm.sh starts the daemons on this machine. The GPUs are those of ridgebench_with_simulation.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Callable

import pytest
from command_line import BINARY, ROOT, wait_until

SCRIPT = ROOT / "scripts" / "try" / "slurm.sh"
NODES = [f"gn{number}" for number in range(1, 5)]
# Rows that the simulated device measures within a second. Seconds until a GPU that ends no row counts as hung: others may
# take long to start, as 32 processes share this machine's processors.
ROWS = ("--filter", "^(dram_read|dram_copy|fma_peak)/", "--budget", "16", "--hang-limit", "30")


class Cluster:
    """A Slurm that runs, and the variables with which its commands find it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        words = ["bash", "-c", f"source {folder}/environment && env -0"]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        self.variables = dict(entry.partition("=")[::2] for entry in text.split("\0") if entry)
        self.variables |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "PYTHONPATH": str(ROOT / "roofline"), "MPLBACKEND": "agg",
                           "RIDGEBENCH_SIMULATED_GPUS": str(folder / "gpus.json")}  # fmt: skip

    def simulate(self, gpus: dict[str, list[str]]) -> None:
        """The GPUs of each node; those of others are well."""
        every = {node: [f"seed={8 * at + index}" for index in range(8)] for at, node in enumerate(NODES)}
        (self.folder / "gpus.json").write_text(json.dumps({"*": every["gn1"]} | every | gpus))

    def call(self, *words) -> str:
        return subprocess.run(list(map(str, words)), env=self.variables, capture_output=True, text=True, check=True).stdout

    def fleet(self, *words, code: int = 0) -> str:
        done = subprocess.run([sys.executable, "-m", "ridgebench", "fleet", *map(str, words)], env=self.variables, capture_output=True,
                              text=True, check=False)  # fmt: skip
        assert done.returncode == code, (done.stdout + done.stderr)[-2000:]
        return done.stdout

    def wait(self, fleet: Path, is_over: Callable[[dict[str, int]], bool]) -> None:
        """Waits for the numbers of nodes in the states of `fleet status`."""
        wait_until(lambda: is_over(self.status(fleet)))

    def status(self, fleet: Path) -> dict[str, int]:
        lines = [line.split() for line in self.fleet("status", fleet).splitlines() if line[0] != " "]
        return {words[0]: int(words[1]) for words in lines if int(words[1])}

    def wait_until_idle(self) -> None:
        """Waits until Slurm takes jobs on every node: one that was drained, or whose job was killed, answers late."""
        wait_until(lambda: self.call("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * len(NODES))

    def measure(self, fleet: Path, *words) -> None:
        self.fleet("submit", fleet, "--program", BINARY, *words)
        self.wait(fleet, lambda found: not {"queued", "running"} & set(found))

    def states(self, command: str, fleet: Path, code: int) -> dict[tuple[str, int], str]:
        """The state of each GPU by `fleet collect` or `fleet report`, which end with this code."""
        return {(gpu["node"], gpu["index"]): gpu["state"] for gpu in json.loads(self.fleet(command, fleet, "--json", code=code))["gpus"]}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    has = subprocess.run([SCRIPT, "has"], capture_output=True, text=True, check=False)
    if has.returncode != 0:
        pytest.skip(has.stderr.strip())
    folder = tmp_path_factory.mktemp("slurm") / "s"
    started = subprocess.run([SCRIPT, "start", folder], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    try:
        assert started.returncode == 0, started.stderr
        yield Cluster(folder)
    finally:
        subprocess.run([SCRIPT, "stop", folder], check=False)


def seeds(first: int, **faults: str) -> list[str]:
    """Eight GPUs of which some have a fault, by index: g5="hang=1"."""
    return [f"seed={first + index}" + (f",{faults[f'g{index}']}" if f"g{index}" in faults else "") for index in range(8)]


def plan(cluster: Cluster, fleet: Path) -> None:
    cluster.fleet("plan", "--out", fleet, "--limit", "300", "--", *ROWS)


def test_all_are_well(cluster, tmp_path):
    cluster.simulate({})
    plan(cluster, tmp_path / "fleet")
    cluster.measure(tmp_path / "fleet")
    assert cluster.status(tmp_path / "fleet") == {"done": 4}
    found = cluster.states("collect", tmp_path / "fleet", code=0)
    assert found == {(node, index): "DONE" for node in NODES for index in range(8)}
    assert set(cluster.states("report", tmp_path / "fleet", code=0).values()) == {"OK"}


def test_together(cluster, tmp_path):
    """One srun, whose tasks have no GPUs unless they ask for them."""
    cluster.simulate({})
    plan(cluster, tmp_path / "fleet")
    cluster.fleet("submit", tmp_path / "fleet", "--program", BINARY, "--together")
    assert Counter(cluster.states("collect", tmp_path / "fleet", code=0).values()) == {"DONE": 32}
    jobs = [json.loads(path.read_text())["job"] for path in (tmp_path / "fleet").glob("nodes/*/attempt-1.job.json")]
    assert len(jobs) == 4 and len(set(jobs)) == 1


def kill_in_the_run(cluster: Cluster, fleet: Path, node: str) -> None:
    """Kills the job of a node while its first GPU is measured."""
    folder = fleet / "nodes" / node / "attempt-1"
    node = folder / "node.json"
    wait_until(lambda: node.exists() and json.loads(node.read_text())["gpus"][0]["passes"]["isolated"]["state"] == "running")
    job = json.loads(folder.with_name("attempt-1.job.json").read_text())["job"]
    cluster.call("scancel", "--full", "--signal=KILL", job)


def drain(cluster: Cluster, node: str, state: str) -> None:
    cluster.call("scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=trial")


def test_every_fault_is_found(cluster, tmp_path):
    """One GPU slow by 8 %, one hung, a node drained, a node killed in its run, and a results folder that was copied."""
    fleet = tmp_path / "fleet"
    cluster.simulate({"gn1": seeds(0, g2="slow=1.08"), "gn2": seeds(8, g5="hang=1"), "gn4": seeds(24, g0="hang=1")})
    drain(cluster, "gn3", "DRAIN")
    try:
        plan(cluster, fleet)
        shown = cluster.fleet("submit", fleet, "--program", BINARY)
        assert "not submitted: gn3 (drained)" in shown and "3 jobs submitted" in shown
        kill_in_the_run(cluster, fleet, "gn4")
        cluster.wait(fleet, lambda found: not {"queued", "running"} & set(found))
        assert cluster.status(fleet) == {"planned": 1, "done": 1, "failed": 2}
    finally:
        drain(cluster, "gn3", "RESUME")
    cluster.wait_until_idle()
    for name in ("isolated", "loaded"):
        shutil.rmtree(fleet / f"nodes/gn1/attempt-1/{name}/sim-7")
        shutil.copytree(fleet / f"nodes/gn1/attempt-1/{name}/sim-6", fleet / f"nodes/gn1/attempt-1/{name}/sim-7")
    expected = {(node, index): "DONE" for node in NODES for index in range(8)}
    expected |= {("gn3", index): "MISSING" for index in range(8)} | {("gn4", index): "STARTED" for index in range(8)}
    expected |= {("gn1", 7): "DUPLICATE", ("gn2", 5): "STARTED"}
    assert cluster.states("collect", fleet, code=6) == expected
    judged = {key: "OK" if state == "DONE" else state for key, state in expected.items()} | {("gn1", 2): "SLOW"}
    assert cluster.states("report", fleet, code=6) == judged

    # The faults are mended but for the slow GPU: it is slow once more, and nothing is lost.
    cluster.simulate({"gn1": seeds(0, g2="slow=1.08")})
    cluster.measure(fleet, "--again")
    assert cluster.states("collect", fleet, code=0) == {key: "DONE" for key in expected}
    after = json.loads(cluster.fleet("report", fleet, "--json", code=4))
    assert [(gpu["node"], gpu["index"], gpu["confirmed"]) for gpu in after["gpus"] if gpu["state"] != "OK"] == [("gn1", 2, True)]


def test_another_driver_is_not_comparable(cluster, tmp_path):
    """A node with seven GPUs of eight, and another driver than the other nodes."""
    old, new = ({"driver": version} for version in ("570.86.10", "580.65.06"))
    texts = {node: [f"seed={8 * at + index},driver={(old if node == 'gn2' else new)['driver']}" for index in range(8)] for at, node in enumerate(NODES)}
    texts["gn2"].pop()
    cluster.simulate(texts)
    plan(cluster, tmp_path / "fleet")
    cluster.measure(tmp_path / "fleet")
    found = cluster.states("report", tmp_path / "fleet", code=5)
    expected = {(node, index): "OK" for node in NODES for index in range(8)}
    expected |= {("gn2", index): "NOT_COMPARABLE" for index in range(7)} | {("gn2", 7): "MISSING"}
    assert found == expected
    report = json.loads((tmp_path / "fleet" / "report" / "report.json").read_text())
    assert any("driver" in text for group in report["groups"] for text in group["differs"])


def test_one_wrong_bit_in_one_multiprocessor_and_growing_row_remaps_are_found(cluster, tmp_path):
    faults = {("gn3", 5): ",wrong_sm=2", ("gn2", 1): ",remaps=1"}
    cluster.simulate({node: [f"seed={8 * at + index},units=4{faults.get((node, index), '')}" for index in range(8)]
                      for at, node in enumerate(NODES)})  # fmt: skip
    fleet = tmp_path / "fleet"
    cluster.fleet("plan", "--out", fleet, "--limit", "300", "--", "--fingerprint", *ROWS)
    cluster.measure(fleet)
    found = json.loads(cluster.fleet("report", fleet, "--json", code=6))["gpus"]
    odd = {(gpu["node"], gpu["index"]): gpu for gpu in found if gpu["state"] != "OK"}
    assert {where: gpu["state"] for where, gpu in odd.items()} == {("gn3", 5): "WRONG", ("gn2", 1): "UNHEALTHY"}
    assert odd["gn3", 5]["reason"].startswith("unit_products/") and "SM 2 computes other bits than most of 4" in odd["gn3", 5]["reason"]
    assert odd["gn2", 1]["reason"] == "sim:1 counted faults during the run: remapped_rows.uncorrected grew from 0 to 1"


def test_no_sbatch_is_left_in_the_path():
    """The packages are unpacked and not installed: scripts/run.sh submits jobs where PATH has an sbatch."""
    assert not str(shutil.which("sbatch") or "").startswith(str(ROOT)) and "SLURM_CONF" not in os.environ
