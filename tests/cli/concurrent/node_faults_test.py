"""What a GPU that hangs, is lost or fails, and the end of the command, cost the other GPUs of a node."""

import fcntl
import json
import os
import signal

from command_line import DEVICE_LOST, OK, ROW_FAILED, UNDECIDED, finish, records, refused, ridgebench, strict_json, wait_for_rows, wait_until
from simulated_node import EIGHT, PASSES, ROWS, Node, processes_of, states_of


def test_a_gpu_that_hangs_is_killed_and_the_others_are_kept(tmp_path):
    node = Node(tmp_path, [*EIGHT[:2], "hang=3"])
    done = node.run(*ROWS, "--budget", "2", "--hang-limit", "20")
    assert done.returncode == DEVICE_LOST == node.read()["exit"]
    assert node.states("isolated") == ["done", "done", "hung"]
    assert node.states("loaded") == ["done", "done", "failed"]
    of_it = node.read()["gpus"][2]["passes"]
    assert "within 20 s" in of_it["isolated"]["reason"] and "not measured" in of_it["loaded"]["reason"]
    assert states_of(done.stdout) == ["ok", "ok", "hung"]
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


def test_a_process_that_a_signal_ends_is_killed_and_the_others_go_on(tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    process = node.start("--filter", "^(relu|dot|gelu)/naive/fp32", "--budget", "10")
    wait_for_rows(process, node.folder / "isolated" / "sim-0", 1)
    (victim,) = set(processes_of(node.folder)) - {str(process.pid)}
    os.kill(int(victim), signal.SIGKILL)
    assert finish(process).returncode == ROW_FAILED
    of_it, other = (gpu["passes"] for gpu in node.read()["gpus"])
    assert (of_it["isolated"]["state"], of_it["isolated"]["exit"]) == ("killed", None)
    assert of_it["isolated"]["reason"] == "ended by signal 9 (Killed)"
    assert [of_it["loaded"]["state"], other["isolated"]["state"], other["loaded"]["state"]] == ["done"] * 3


def test_ctrl_c_ends_all_and_keeps_finished_rows(tmp_path):
    node = Node(tmp_path, EIGHT[:3])
    process = node.start("--filter", "^(relu|dot|gelu)/naive/", "--budget", "60")
    first = node.folder / "isolated" / "sim-0"
    wait_for_rows(process, first, 2)
    assert node.states("isolated") == ["running", "waiting", "waiting"]
    kept = (first / "records.jsonl").read_bytes()
    process.send_signal(signal.SIGINT)
    done = finish(process)
    said = (first / "log.txt").read_text()
    assert done.returncode == UNDECIDED == node.read()["exit"] and "ridgebench: interrupted" in said
    assert "ridgebench: interrupted; finished rows are kept" in done.stderr
    assert (first / "records.jsonl").read_bytes().startswith(kept)
    assert node.states("isolated") == ["killed", "waiting", "waiting"]
    assert node.read()["gpus"][0]["passes"]["isolated"]["reason"] == "interrupted" and node.read()["interrupted"]
    refused(ridgebench("run", "--resume", node.folder, env=node.variables), f"allowed: run --concurrent --resume {node.folder}")
    resumed = node.resume()
    assert resumed.returncode == OK, resumed.stderr
    assert (first / "records.jsonl").read_bytes().startswith(kept)
    assert (first / "log.txt").read_text().startswith(said)
    assert node.states("isolated") == node.states("loaded") == ["done"] * 3
    found = node.read()
    assert (found["interrupted"], found["exit"], len(found["resumed"])) == (False, OK, 1)
    node.check_sound(range(3))


def test_the_processes_of_the_gpus_end_with_the_command(tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    process = node.start("--filter", "^(relu|dot|gelu)/naive/", "--budget", "60")
    first = node.folder / "isolated" / "sim-0"
    wait_for_rows(process, first, 1)
    assert len(processes_of(node.folder)) == 2
    process.kill()
    finish(process)
    wait_until(lambda: not processes_of(node.folder))
    found = node.read()
    assert found["ended"] is None and found["exit"] is None and found["interrupted"]


def _finished(tmp_path, texts=EIGHT[:2]):
    node = Node(tmp_path, texts)
    assert node.run(*ROWS, "--budget", "2").returncode == OK
    return node


def test_only_passes_that_are_not_done_are_measured_again(tmp_path):
    node = _finished(tmp_path)
    before = {path: path.read_bytes() for path in node.folder.glob("*/*/environment.json")}
    value = node.read()
    value["gpus"][1]["passes"]["loaded"] |= {"state": "killed", "exit": None}
    (node.folder / "node.json").write_text(json.dumps(value))
    done = node.resume()
    assert done.returncode == OK
    assert "note: in the loaded pass 1 of 2 GPUs are done: the rest of the others' rows runs without their load" in done.stderr
    changed = [path for path, text in before.items() if path.read_bytes() != text]
    assert changed == [node.folder / "loaded" / "sim-1" / "environment.json"]
    assert node.read()["gpus"][0] == value["gpus"][0] and node.states("loaded") == ["done", "done"]


def test_a_gpu_whose_last_row_ended_gives_no_load_also_if_a_row_failed(tmp_path):
    node = _finished(tmp_path)
    value = node.read()
    value["gpus"][0]["passes"]["loaded"] |= {"state": "failed", "exit": ROW_FAILED}
    value["gpus"][1]["passes"]["loaded"] |= {"state": "killed", "exit": None}
    for words, noted in (("--retry",), False), ((), True):
        (node.folder / "node.json").write_text(json.dumps(value))
        done = node.resume(*words)
        assert done.returncode == OK and ("in the loaded pass 1 of 2 GPUs are done" in done.stderr) is noted


def test_the_reason_of_a_resumed_pass_is_not_that_of_the_one_before(tmp_path):
    node = Node(tmp_path, EIGHT[:1])
    node.variables["RIDGEBENCH_TEST_CRASH"] = "SIGSEGV"
    assert node.run("--filter", "^relu/(naive|crashing)/fp32/", "--budget", "3").returncode == ROW_FAILED
    log = node.folder / "isolated" / "sim-0" / "log.txt"
    log.write_text("ridgebench: an earlier problem\n")
    value = node.read()
    value["gpus"][0]["passes"]["isolated"] |= {"state": "killed", "exit": None}
    (node.folder / "node.json").write_text(json.dumps(value))
    assert node.resume().returncode == ROW_FAILED
    assert log.read_text().startswith("ridgebench: an earlier problem\n")
    assert "crashed: SIGSEGV" in node.read()["gpus"][0]["passes"]["isolated"]["reason"]


def test_a_run_that_cannot_go_on_is_refused_and_stays(tmp_path):
    node = _finished(tmp_path)
    kept = (node.folder / "node.json").read_text()
    for change, words in (({"version": "0.0.1"}, ("version is", "0.0.1")), ({"hostname_hash": "0" * 16}, ("hostname_hash",)),
                          ({"schema": "other/1"}, ("schema",))):  # fmt: skip
        (node.folder / "node.json").write_text(json.dumps(json.loads(kept) | change))
        refused(node.resume(), str(node.folder / "node.json"), *words)
    (node.folder / "node.json").write_text(kept)
    (tmp_path / "gpus.json").write_text(json.dumps({"*": ["seed=1"]}))
    refused(node.resume(), "sim:1 was", "now it is absent", "the same GPUs")
    refused(ridgebench("run", "--concurrent", "--resume", tmp_path), "holds no node.json", "run --concurrent")
    refused(node.resume("--device", "sim:0"), "--device")
    descriptor = os.open(node.folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    refused(node.resume(), "in use by another run")
    os.close(descriptor)
    assert (node.folder / "node.json").read_text() == kept and len(list(node.folder.glob("*/*/records.jsonl"))) == 4


def test_a_command_that_a_gpu_refuses_leaves_the_folder_of_a_resumed_run(tmp_path):
    node = _finished(tmp_path)
    value = node.read()
    value["gpus"][0]["passes"]["isolated"]["state"] = "killed"
    (node.folder / "node.json").write_text(json.dumps(value))
    node.variables["OMP_NUM_THREADS"] = "2"
    refused(node.resume(), "OMP_NUM_THREADS")
    assert len(list(node.folder.glob("*/*/records.jsonl"))) == 4


def test_growing_row_remaps_of_a_gpu_are_named(tmp_path):
    node = Node(tmp_path, [*EIGHT[:2], f"{EIGHT[2]},remaps=1"])
    done = node.run(*ROWS, "--budget", "2")
    assert done.returncode == OK
    text = "sim:2 counted faults during the run: remapped_rows.uncorrected grew from 0 to 1"
    assert [line for line in done.stdout.splitlines() if "WORN" in line] == [f"WORN isolated: {text}", f"WORN loaded: {text}"]
    assert [[gpu["passes"][which]["worn"] for which in PASSES] for gpu in node.read()["gpus"]] == [[[], []], [[], []], [[text], [text]]]


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


def test_doctor_finds_the_worn_gpu_of_a_node(tmp_path):
    node = Node(tmp_path, ["seed=1", "seed=2,remaps=2"])
    assert node.run("--filter", "^relu/naive/fp32/", "--budget", "2").returncode == OK
    done = ridgebench("doctor", "--worn", node.folder, "--json")
    findings = strict_json(done.stdout)["findings"]
    assert done.returncode == ROW_FAILED and [(one["code"], one["device"]) for one in findings] == [("worn_severely", "sim:1")] * 2, "in both passes"
