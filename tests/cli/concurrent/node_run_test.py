"""`run --concurrent` on a node of simulated GPUs: each alone, then all together, and what a bad GPU costs the others."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import (
    BINARY,
    DEVICE_LOST,
    OK,
    ROW_FAILED,
    UNDECIDED,
    environment,
    finish,
    ids,
    read_environment,
    records,
    refused,
    ridgebench,
    schema,
    strict_json,
    wait_for_rows,
)

PASSES = ("isolated", "loaded")
ENVIRONMENT, RECORD = schema("environment"), schema("record")
ROWS = ("--filter", "^(relu/naive|dot/naive)/fp32/")
EIGHT = [f"seed={seed}" for seed in range(1, 9)]


class Node:
    """A node whose GPUs are simulated by these texts."""

    def __init__(self, folder, texts, name=None):
        self.folder = folder / "node"
        gpus = folder / "gpus.json"
        gpus.write_text(json.dumps({name or "*": texts}))
        self.variables = environment(RIDGEBENCH_SIMULATED_GPUS=str(gpus), OMP_NUM_THREADS="1")
        if name:
            self.variables["SLURMD_NODENAME"] = name

    def words(self, *more):
        return ["run", "--concurrent", "--out", str(self.folder), *(more or (*ROWS, "--budget", "4"))]

    def run(self, *more):
        return ridgebench(*self.words(*more), env=self.variables, timeout=300)

    def start(self, *more):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([BINARY, *self.words(*more)], env=self.variables, **pipes)

    def read(self):
        """node.json, which obeys its schema at all times."""
        found = strict_json((self.folder / "node.json").read_text())
        assert [error.message for error in schema("node").iter_errors(found)] == []
        return found

    def states(self, which):
        return [gpu["passes"][which]["state"] for gpu in self.read()["gpus"]]

    def line_of(self, stdout, gpu):
        """The line of a GPU in the first table."""
        return next(line for line in stdout.splitlines() if line.startswith(f"sim:{gpu}  "))

    def check_sound(self, gpus):
        for which in PASSES:
            for gpu in gpus:
                folder = self.folder / which / f"sim-{gpu}"
                assert ridgebench("verify", folder).returncode == OK, folder


def processes_of(folder):
    """The processes of this machine whose command line names the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if str(folder).encode() in path.read_bytes() else []
        except OSError:  # it ended meanwhile
            pass
    return found


@pytest.fixture(scope="module", name="healthy")
def healthy_fixture(tmp_path_factory):
    node = Node(tmp_path_factory.mktemp("healthy"), EIGHT, "gn1")
    done = node.run()
    assert done.returncode == OK, done.stderr
    return node, done


def test_every_gpu_runs_alone_and_then_with_all_others(healthy):
    node, _ = healthy
    found = node.read()
    assert (found["node"], found["exit"], found["budget_s"]) == ("gn1", OK, 4)
    assert [gpu["device"] for gpu in found["gpus"]] == [f"sim:{i}" for i in range(8)]
    assert len({gpu["uuid_hash"] for gpu in found["gpus"]}) == 8
    isolated, loaded = ([gpu["passes"][which] for gpu in found["gpus"]] for which in PASSES)
    for one, next_one in zip(isolated, isolated[1:]):
        assert one["ended"] <= next_one["started"]
    assert len({one["started"] for one in loaded}) <= 2, "one moment, which may be between two seconds"
    assert max(one["started"] for one in loaded) <= min(one["ended"] for one in loaded)
    node.check_sound(range(8))
    of_all = [ids(node.folder / one["folder"]) for one in (*isolated, *loaded)]
    assert len({tuple(row.split("@")[0] for row in rows) for rows in of_all}) == 1, "the same rows in the same order"
    for gpu in found["gpus"]:
        for which in PASSES:
            folder = node.folder / gpu["passes"][which]["folder"]
            described = read_environment(folder)
            assert list(ENVIRONMENT.iter_errors(described)) == []
            assert list(RECORD.iter_errors(records(folder)[0])) == []
            (device,) = described["devices"]
            assert (device["name"], device["uuid_hash"]) == (gpu["device"], gpu["uuid_hash"])


def test_the_budget_is_for_the_whole_command(healthy):
    node, _ = healthy
    shares = {which: read_environment(node.folder / which / "sim-3")["budget_s"] for which in PASSES}
    assert shares == {"isolated": 4 / 2 / 8, "loaded": 4 / 2}


def test_the_table_fits_100_columns_and_finds_no_healthy_gpu_odd(healthy):
    node, done = healthy
    assert all(re.search(r"^sim:\d +ok ", node.line_of(done.stdout, gpu)) for gpu in range(8))
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    assert "SLOW" not in done.stdout and "FAST" not in done.stdout
    assert done.stderr.endswith(f"results: {node.folder}\n")


def test_one_gpu_that_is_8_percent_slow_is_marked_and_no_other(tmp_path):
    node = Node(tmp_path, [*EIGHT[:5], "seed=6,slow=1.08", *EIGHT[6:]])
    done = node.run()
    assert done.returncode == OK, "a slow row is right; the report of a fleet judges"
    states = [node.line_of(done.stdout, gpu).split("  ")[1].strip() for gpu in range(8)]
    assert states == ["ok"] * 5 + ["SLOW > 6 %"] + ["ok"] * 2
    assert re.search(r"^sim:5 (isolated|loaded) SLOW at 9\d\.\d %, z -", done.stdout, re.MULTILINE)
    assert re.search(r"^\S+ +isolated.* 9[0-9]\.[0-9]!", done.stdout, re.MULTILINE)
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_fewer_than_eight_gpus_get_no_verdict(tmp_path):
    node = Node(tmp_path, [*EIGHT[:3], "seed=4,slow=1.08"])
    done = node.run()
    assert done.returncode == OK
    assert "SLOW" not in done.stdout and ", z " not in done.stdout
    assert "differs" in node.line_of(done.stdout, 3) and " ok " in node.line_of(done.stdout, 0)
    assert "no verdict: z needs 8 comparable GPUs" in done.stdout


def test_gpus_of_another_model_are_no_yardstick(tmp_path):
    node = Node(tmp_path, [*EIGHT, "seed=9,slow=2,model=another,driver=580.1"])
    done = node.run()
    assert done.returncode == OK and " ok " in node.line_of(done.stdout, 8)
    described = read_environment(node.folder / "loaded" / "sim-8")
    assert list(ENVIRONMENT.iter_errors(described)) == []
    assert (described["devices"][0]["model"], described["devices"][0]["driver"]) == ("another", "580.1")


def test_a_gpu_that_hangs_is_killed_and_the_others_are_kept(tmp_path):
    node = Node(tmp_path, [*EIGHT[:2], "hang=3"])
    done = node.run(*ROWS, "--budget", "2", "--hang-limit", "20")
    assert done.returncode == DEVICE_LOST == node.read()["exit"]
    assert node.states("isolated") == ["done", "done", "hung"]
    assert node.states("loaded") == ["done", "done", "failed"]
    of_it = node.read()["gpus"][2]["passes"]
    assert "within 20 s" in of_it["isolated"]["reason"] and "not measured" in of_it["loaded"]["reason"]
    assert " hung " in node.line_of(done.stdout, 2)
    node.check_sound(range(2))


def test_a_lost_gpu_ends_with_7_and_the_others_are_kept(tmp_path):
    node = Node(tmp_path, [*EIGHT[:2], "lose=40"])
    done = node.run()
    assert done.returncode == DEVICE_LOST
    lost = node.read()["gpus"][2]["passes"]
    assert (lost["isolated"]["state"], lost["isolated"]["exit"]) == ("failed", DEVICE_LOST)
    assert lost["isolated"]["reason"] == "device sim:2 was lost"
    assert records(node.folder / "isolated" / "sim-2")[-1]["status"] == "failed"
    assert lost["loaded"]["reason"] == "not measured: in the isolated pass, device sim:2 was lost"
    node.check_sound(range(2))


def test_ctrl_c_ends_all_and_keeps_finished_rows(tmp_path):
    node = Node(tmp_path, EIGHT[:3])
    process = node.start("--filter", "^(relu|dot|gelu)/naive/", "--budget", "60")
    first = node.folder / "isolated" / "sim-0"
    wait_for_rows(first, 2)
    assert node.states("isolated") == ["running", "waiting", "waiting"]
    kept = (first / "records.jsonl").read_bytes()
    process.send_signal(signal.SIGINT)
    done = finish(process)
    assert done.returncode == UNDECIDED == node.read()["exit"]
    assert "ridgebench: interrupted; finished rows are kept" in done.stderr
    assert (first / "records.jsonl").read_bytes().startswith(kept)
    assert node.states("isolated") == ["killed", "waiting", "waiting"]
    assert node.read()["gpus"][0]["passes"]["isolated"]["reason"] == "interrupted"
    assert ridgebench("run", "--resume", first, env=node.variables).returncode == OK


def test_the_processes_of_the_gpus_end_with_the_command(tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    process = node.start("--filter", "^(relu|dot|gelu)/naive/", "--budget", "60")
    first = node.folder / "isolated" / "sim-0"
    wait_for_rows(first, 1)
    assert len(processes_of(node.folder)) == 2
    process.kill()
    finish(process)
    deadline = time.monotonic() + 60
    while processes_of(node.folder):
        assert time.monotonic() < deadline, "a process goes on"
        time.sleep(0.05)
    assert node.read()["ended"] is None and node.read()["exit"] is None


def test_a_failed_row_fails_its_gpu_and_is_named(tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    node.variables["RIDGEBENCH_TEST_CRASH"] = "SIGSEGV"
    done = node.run("--filter", "^relu/(naive|crashing)/fp32/", "--budget", "3")
    assert done.returncode == ROW_FAILED
    for which in PASSES:
        assert node.states(which) == ["failed", "failed"]
    first = node.read()["gpus"][0]["passes"]["loaded"]
    assert first["exit"] == ROW_FAILED and "crashed: SIGSEGV" in first["reason"]
    node.check_sound(range(2))


def test_dry_run_writes_nothing(tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    done = node.run("--dry-run", *ROWS, "--budget", "8")
    assert done.returncode == OK and not node.folder.exists()
    assert done.stdout.splitlines()[:4] == [
        "isolated sim:0 2 s",
        "isolated sim:1 2 s",
        "loaded   sim:0 4 s",
        "loaded   sim:1 4 s",
    ]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--device", "cpu"), "--device cpu with --concurrent; allowed: sim:0, sim:1"),
        (("--device", "all"), "allowed: sim:0, sim:1"),
        (("--junit", "file.xml"), "--junit"),
        (("--take-turns",), "--take-turns"),
        (("--benchmark_out=file.json",), "allowed: --benchmark_filter"),
        (("--profile", "none"), "quick, standard, full"),
        (("--filter", "no such row"), "no such row"),
    ],
)
def test_what_makes_no_sense_for_a_node_is_refused(words, part, tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    refused(node.run(*words), part)
    assert not node.folder.exists()


def test_a_folder_with_a_run_is_refused(healthy):
    node, _ = healthy
    before = node.read()
    refused(node.run(), str(node.folder), "empty or new folder")
    assert node.read() == before


def test_hang_limit_needs_concurrent():
    refused(ridgebench("run", "--hang-limit", "5"), "--hang-limit", "--concurrent")


def test_without_a_gpu_the_code_is_7(tmp_path):
    if any(name.startswith("nvidia") for name in os.listdir("/dev")):
        pytest.skip("this machine has a GPU")
    done = ridgebench("run", "--concurrent", "--out", tmp_path / "node")
    refused(done, "no GPU", code=DEVICE_LOST)
    assert not (tmp_path / "node").exists()
