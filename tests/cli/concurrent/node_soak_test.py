"""`soak --concurrent` on a node of simulated GPUs: a process each, and none ends the soak of another one."""

import json
import os
import re
import signal

import pytest
from command_line import DEVICE_LOST, OK, ROOT, ROW_FAILED, UNDECIDED, USAGE, finish, refused, ridgebench, schema, strict_json, wait_until
from simulated_node import EIGHT, Node, processes_of

KERNELS = ("--format", "bf16", "--memory", "2%")
SHORT = ("--minutes", "0.02", *KERNELS)
LONG = ("--minutes", "60", *KERNELS)
FAULTS = {"RIDGEBENCH_INJECT_FAULT": "rate:one_in=1e5"}


class Soaks(Node):
    """A node whose GPUs are burnt in."""

    command = "soak"

    def log(self, gpu):
        return self.folder / "soak" / f"sim-{gpu}" / "soak.jsonl"

    def mismatches(self, gpu):
        """The mismatches in the whole lines of a log."""
        *lines, _ = self.log(gpu).read_text().split("\n")
        return sum(json.loads(line)["event"] == "mismatch" for line in lines)

    def passes(self):
        return [gpu["passes"]["soak"] for gpu in self.read()["gpus"]]

    def added_up(self):
        """The code and the answer of `soak --read` on the node's folder."""
        done = ridgebench("soak", "--read", self.folder, "--json")
        answer = strict_json(done.stdout)
        assert list(schema("soak_node").iter_errors(answer)) == [] and answer["exit"] == done.returncode
        for gpu in answer["gpus"]:
            assert gpu["soak"] is None or list(schema("soak").iter_errors(gpu["soak"])) == []
        return done.returncode, answer["gpus"]

    def wait_for_events(self, process, word, most):
        def written(gpu):
            return self.log(gpu).exists() and self.log(gpu).read_text().count(word) > most

        wait_until(lambda: all(map(written, range(2))) or process.poll() is not None)


def test_all_gpus_are_burnt_in_together(tmp_path):
    node = Soaks(tmp_path, EIGHT[:3], "gn1")
    done = node.run(*SHORT, "--json")
    assert done.returncode == OK, done.stderr
    answer = strict_json(done.stdout)
    assert list(schema("soak_node").iter_errors(answer)) == []
    assert [gpu["device"] for gpu in answer["gpus"]] == ["sim:0", "sim:1", "sim:2"]
    for gpu in answer["gpus"]:
        assert list(schema("soak").iter_errors(gpu["soak"])) == [] and gpu["soak"]["finished"] and gpu["state"] == "done"
    assert len({one["started"] for one in node.passes()}) <= 2, "one moment, which may be between two seconds"
    assert (node.read()["interrupted"], node.read()["exit"]) == (False, OK)
    code, again = node.added_up()
    assert code == OK and again == answer["gpus"]


def test_a_wrong_gpu_and_a_lost_one_leave_the_third_at_work(tmp_path):
    node = Soaks(tmp_path, ["seed=1,units=4", "seed=2,units=4,wrong_sm=2", "seed=3,units=4,lose=12"], "gn1")
    done = node.run(*SHORT)
    assert done.returncode == DEVICE_LOST == node.read()["exit"]
    first, wrong, lost = node.passes()
    assert (first["state"], wrong["state"], wrong["exit"], lost["exit"]) == ("done", "failed", ROW_FAILED, DEVICE_LOST)
    assert wrong["reason"].startswith("WRONG: ") and lost["reason"] == "device sim:2 was lost"
    lines = done.stdout.splitlines()
    assert lines[1].startswith("sim:0  done    no wrong bits in ") and lines[2].startswith("sim:1  failed  WRONG: ")
    assert lines[3].startswith("sim:2  failed  device sim:2 was lost")
    code, gpus = node.added_up()
    units = [unit for unit in gpus[1]["soak"]["units"] if unit["id"].startswith("unit_products/") and unit["mismatches"]]
    assert code == DEVICE_LOST and units and all(unit["units"] == [2] for unit in units)
    assert gpus[0]["soak"]["finished"] and not gpus[2]["soak"]["finished"], "it is lost before its kernels are verified"
    page = re.search(r"```\n(node gn1: a soak.*?)```", (ROOT / "docs/operate/soak.md").read_text("utf-8"), re.DOTALL)[1]
    assert [line.split()[:3] for line in page.splitlines()[:-1]] == [line.split()[:3] for line in lines[:-1]], "the page shows such a soak"


def test_growing_row_remaps_fail_their_gpu_only(tmp_path):
    node = Soaks(tmp_path, [EIGHT[0], f"{EIGHT[1]},remaps=1"])
    assert node.run(*SHORT).returncode == ROW_FAILED
    sound, worn = node.passes()
    assert sound["state"] == "done" and "; remapped_rows.uncorrected grew from " in worn["reason"]


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM], ids=lambda which: which.name)
def test_a_signal_ends_all_and_loses_no_mismatch(which, tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    node.variables |= FAULTS
    process = node.start(*LONG)
    node.wait_for_events(process, '"mismatch"', 20)
    process.send_signal(which)
    done = finish(process)
    assert done.returncode == ROW_FAILED and "interrupted; the logs have every mismatch" in done.stderr
    assert [(one["state"], one["reason"]) for one in node.passes()] == [("killed", "interrupted")] * 2 and node.read()["interrupted"]
    code, gpus = node.added_up()
    assert code == ROW_FAILED and [gpu["soak"]["mismatches"] for gpu in gpus] == [node.mismatches(gpu) for gpu in range(2)]
    assert all(node.mismatches(gpu) > 20 for gpu in range(2)) and not processes_of(node.folder)


def test_kill_ends_all_and_loses_no_mismatch(tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    node.variables |= FAULTS
    process = node.start(*LONG)
    node.wait_for_events(process, '"mismatch"', 20)
    process.kill()
    finish(process)
    wait_until(lambda: not processes_of(node.folder))
    code, gpus = node.added_up()
    assert code == ROW_FAILED and [gpu["soak"]["mismatches"] for gpu in gpus] == [node.mismatches(gpu) for gpu in range(2)]
    assert all(node.mismatches(gpu) > 20 for gpu in range(2)) and node.read()["exit"] is None


def test_a_killed_process_does_not_end_the_soak_of_another(tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    process = node.start("--minutes", "60", *KERNELS)
    node.wait_for_events(process, '"progress"', 0)
    (victim,) = processes_of(node.folder / "soak" / "sim-0")
    os.kill(int(victim), signal.SIGKILL)
    wait_until(lambda: node.passes()[0]["state"] == "killed" or process.poll() is not None)
    assert processes_of(node.folder / "soak" / "sim-1") and node.passes()[1]["state"] == "running"
    process.send_signal(signal.SIGINT)
    assert finish(process).returncode == ROW_FAILED, "a signal ended a process"
    assert [one["reason"] for one in node.passes()] == ["ended by signal 9 (Killed)", "interrupted"]


def test_a_gpu_that_hangs_is_ended_and_the_others_are_kept(tmp_path):
    node = Soaks(tmp_path, [EIGHT[0], "hang=3"])
    done = node.run(*SHORT, "--hang-limit", "20")
    assert done.returncode == DEVICE_LOST
    assert [one["state"] for one in node.passes()] == ["done", "hung"] and "within 20 s" in node.passes()[1]["reason"]


def test_an_interrupted_soak_without_errors_is_undecided(tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    process = node.start(*LONG)
    node.wait_for_events(process, "\n", 0)
    process.send_signal(signal.SIGINT)
    assert finish(process).returncode == UNDECIDED == node.added_up()[0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--device", "cpu"), "allowed: sim:0, sim:1"),
        (("--read", "x"), "--read"),
        (("--memory", "97%"), "--memory is 97%"),
        (("--op", "softmax", "--technique", "naive"), "allowed: hand-written"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_no_folder(words, part, tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    refused(node.run(*words), part)
    assert not node.folder.exists()


def test_several_gpus_without_concurrent_are_refused_with_the_flag(tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    refused(ridgebench("soak", *SHORT, env=node.variables), "takes one device, and here are 2; allowed: --device sim:0, or --concurrent")


def test_dry_run_writes_nothing(tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    done = node.run("--dry-run", *SHORT)
    assert done.returncode == OK and not node.folder.exists()
    assert done.stdout == "soak     sim:0\nsoak     sim:1\n`soak --dry-run --device sim:0` prints the kernels\n"


def test_the_folder_of_a_soak_is_not_that_of_a_run(tmp_path):
    node = Soaks(tmp_path, EIGHT[:2])
    assert node.run(*SHORT).returncode == OK
    refused(ridgebench("run", "--concurrent", "--resume", node.folder, env=node.variables), "no pass `isolated`", "`run --concurrent`")
    collected = ridgebench("fleet", "collect", node.folder)
    assert collected.returncode == USAGE and "holds no results; allowed: " in collected.stderr
    (node.folder / "soak" / "sim-0" / "soak.jsonl").write_text('{"event":"begin"}\n')
    done = ridgebench("soak", "--read", node.folder)
    assert done.returncode == UNDECIDED and "soak.jsonl:1" in done.stdout
