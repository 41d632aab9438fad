"""`publish` and `verify` of the folder of a node and of a fleet: one signature over all of its results."""

import json
import shutil
import signal

import pytest
from command_line import DEVICE_LOST, OK, ROW_FAILED, UNDECIDED, environment, finish, refused, ridgebench, wait_for_rows
from simulated_node import EIGHT, Node

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH has ssh-keygen")


@pytest.fixture(scope="module", name="measured")
def measured_fixture(tmp_path_factory):
    """The folder of a node with a run and a soak side by side, in that of a fleet that was collected."""
    fleet = tmp_path_factory.mktemp("fleet")
    node = Node(fleet, EIGHT[:2])
    assert node.run("--filter", "^relu/naive/fp32/", "--budget", "2").returncode == OK
    node.folder = fleet / "soak"
    node.command = "soak"
    assert node.run("--minutes", "0.01", "--format", "bf16", "--memory", "2%").returncode == OK
    assert ridgebench("fleet", "collect", fleet).returncode == OK
    return fleet


@pytest.fixture(name="fleet")
def fleet_fixture(measured, tmp_path):
    return shutil.copytree(measured, tmp_path / "fleet")


def verified(folder, keys) -> tuple[int, str]:
    done = ridgebench("verify", folder, "--signers", keys / "alice.signers")
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("part", "folders"), [("node", 4), ("soak", 2), ("", 6)])
def test_a_tree_is_signed_as_a_whole(part, folders, fleet, keys):
    folder = fleet / part
    assert ridgebench("verify", folder).stdout == f"{folder}: sound; {folders} results folders\n"
    assert verified(folder, keys) == (ROW_FAILED, "ridgebench: SHA256SUMS.sig is missing: nobody signed the results\n")
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == OK and done.stdout.startswith(f"{folder}/SHA256SUMS.sig: signed by ED25519 key SHA256:"), done.stderr
    code, said = verified(folder, keys)
    assert code == OK and "signed by alice@example, ED25519 key SHA256:" in said
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert {"node.json", "loaded/sim-1/records.jsonl"} <= listed if part == "node" else any(name.endswith("soak.jsonl") for name in listed)
    assert not any(name.endswith((".txt", ".sig")) for name in listed) and ("fleet.json" in listed) is (part == "")


def test_files_that_were_changed_added_or_removed_after_the_signature_are_named(fleet, keys):
    folder = fleet / "node"
    ridgebench("publish", folder, "--key", keys / "alice")
    (folder / "node.json").write_text((folder / "node.json").read_text().replace('"sim:0"', '"sim:7"'))
    shutil.copytree(folder / "isolated" / "sim-0", folder / "isolated" / "copy")
    shutil.rmtree(folder / "loaded" / "sim-1")
    code, said = verified(folder, keys)
    assert code == ROW_FAILED
    for line in ("node.json is not what the run wrote: its checksum differs", "SHA256SUMS does not list isolated/copy/records.jsonl",
                 "loaded/sim-1/records.jsonl is missing"):  # fmt: skip
        assert f"ridgebench: {line}\n" in said


def test_only_a_sound_tree_is_signed(fleet, keys):
    folder = fleet / "node"
    with open(folder / "loaded" / "sim-0" / "environment.json", "a") as file:
        file.write("\n")
    node = json.loads((folder / "node.json").read_text())
    node["gpus"][1]["passes"]["loaded"]["state"] = "hung"
    (folder / "node.json").write_text(json.dumps(node))
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == ROW_FAILED and not (folder / "SHA256SUMS.sig").exists()
    lines = done.stderr.splitlines()
    assert lines[0] == "ridgebench: loaded/sim-0: environment.json is not what the run wrote: its checksum differs"
    assert lines[1:] == ["ridgebench: node.json: sim:1 loaded is hung, and no reason is given", f"ridgebench: {folder} is not signed: only sound results are"]


ROWS = ("--filter", "^(relu|dot)/naive/fp32/")
LOST = ["sim:1 isolated is failed: device sim:1 was lost",
        "sim:1 loaded is failed: not measured: in the isolated pass, device sim:1 was lost"]  # fmt: skip


@pytest.fixture(scope="module", name="with_lost")
def with_lost_fixture(tmp_path_factory):
    """The folder of a node whose second GPU falls off, and that of its soak, in which it falls off, too."""
    parent = tmp_path_factory.mktemp("lost")
    node = Node(parent, [EIGHT[0], "seed=2,lose=40"])
    assert node.run(*ROWS, "--budget", "2").returncode == DEVICE_LOST
    soak = Node(parent, ["seed=1,units=4", "seed=3,units=4,lose=12"])
    soak.folder, soak.command = parent / "soak", "soak"
    assert soak.run("--minutes", "0.01", "--format", "bf16", "--memory", "2%").returncode == DEVICE_LOST
    return parent


def signed_with(states, folder, keys):
    """Publishes a folder, and checks that `publish` and `verify` print these states of its node."""
    said = [f"{folder}: node.json: {state}" for state in states]
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == OK and done.stdout.splitlines()[1:] == said, done.stderr
    code, text = verified(folder, keys)
    assert code == OK and text.splitlines()[2:] == said and "signed by alice@example" in text
    assert ridgebench("verify", folder).stdout.splitlines()[2:] == said


def test_a_node_with_a_lost_gpu_is_signed_with_its_state(with_lost, keys, tmp_path):
    folder = shutil.copytree(with_lost / "node", tmp_path / "node")
    signed_with(LOST, folder, keys)
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert {"node.json", "isolated/sim-1/records.jsonl", "isolated/sim-1/environment.json", "loaded/sim-0/records.jsonl"} <= listed
    (folder / "isolated" / "sim-1" / "records.jsonl").write_text("")
    assert verified(folder, keys) == (ROW_FAILED, "ridgebench: isolated/sim-1/records.jsonl is not what the run wrote: its checksum differs\n")


def test_the_soak_of_a_node_with_a_lost_gpu_is_signed_with_its_state(with_lost, keys, tmp_path):
    signed_with(["sim:1 soak is failed: device sim:1 was lost"], shutil.copytree(with_lost / "soak", tmp_path / "soak"), keys)


def test_an_interrupted_node_is_signed_with_its_state(keys, tmp_path):
    node = Node(tmp_path, EIGHT[:2])
    process = node.start("--filter", "^(relu|dot|gelu)/naive/", "--budget", "60")
    wait_for_rows(process, node.folder / "isolated" / "sim-0", 2)
    process.send_signal(signal.SIGINT)
    assert finish(process).returncode == UNDECIDED
    signed_with(["sim:0 isolated is killed: interrupted", *(f"sim:{gpu} {which} is waiting" for gpu, which in ((0, "loaded"), (1, "isolated"), (1, "loaded")))],
                node.folder, keys)  # fmt: skip


def test_the_last_line_of_a_lost_gpu_may_be_cut_and_no_other(with_lost, keys, tmp_path):
    folder = shutil.copytree(with_lost / "node", tmp_path / "node")
    rows = folder / "isolated" / "sim-1" / "records.jsonl"
    whole = rows.read_text()
    rows.write_text(whole + '{"schema": "ridgebench.rec')
    signed_with(LOST, folder, keys)
    rows.write_text('{"schema": "ridgebench.rec\n' + whole)
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == ROW_FAILED and f"{rows}:1: not JSON" in done.stderr


def _lacks_a_pass(node, folder):
    shutil.rmtree(folder / "loaded" / "sim-0")


def _swaps_two_passes(node, folder):
    (folder / "isolated" / "sim-0").rename(folder / "isolated" / "kept")
    (folder / "isolated" / "sim-1").rename(folder / "isolated" / "sim-0")
    (folder / "isolated" / "kept").rename(folder / "isolated" / "sim-1")


MISFITS = {
    "a folder is missing": (_lacks_a_pass, "sim:0 loaded is done, but loaded/sim-0 holds no results"),
    "folders of two GPUs": (_swaps_two_passes, "isolated/sim-0 has no sim:0 in its environment.json: it is not the isolated pass of sim:0"),
    "another GPU": (lambda node, _: node["gpus"][0].update(uuid_hash="0" * 16), "isolated/sim-0 has another GPU in its environment.json"),
    "another host": (lambda node, _: node.update(hostname_hash="0" * 16), "isolated/sim-0 has another host in its environment.json"),
    "a lower exit code": (lambda node, _: node.update(exit=0), "exit is 0, but sim:1 isolated ended with 7"),
    "no end": (lambda node, _: node.update(ended=None), "the command did not end"),
    "no reason": (lambda node, _: node["gpus"][1]["passes"]["isolated"].update(reason=None), "sim:1 isolated is failed, and no reason is given"),
    "it runs": (lambda node, _: node["gpus"][1]["passes"]["isolated"].update(state="running"), "sim:1 isolated is running: device sim:1 was lost, and no"),
    "a GPU is left out": (lambda node, _: node["gpus"].pop(1), "no pass has the folder isolated/sim-1"),
}


@pytest.mark.parametrize("what", MISFITS)
def test_a_folder_whose_parts_do_not_fit_together_is_refused(what, with_lost, keys, tmp_path):
    change, said = MISFITS[what]
    folder = shutil.copytree(with_lost / "node", tmp_path / "node")
    node = json.loads((folder / "node.json").read_text())
    change(node, folder)
    (folder / "node.json").write_text(json.dumps(node))
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == ROW_FAILED and f"ridgebench: node.json: {said}" in done.stderr, done.stderr
    assert ridgebench("verify", folder).returncode == ROW_FAILED and not (folder / "SHA256SUMS").exists()


def test_a_soak_that_found_wrong_bits_is_signed_as_what_it_is(tmp_path, keys):
    folder = tmp_path / "soak"
    soak = ("soak", "--device", "sim", "--minutes", "0.01", "--format", "bf16", "--memory", "2%", "--out", folder)
    assert ridgebench(*soak, env=environment(RIDGEBENCH_INJECT_FAULT="once:seed=3")).returncode == ROW_FAILED
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == OK and "signed by" in done.stdout and f"{folder}: " in done.stdout and " with wrong bits\n" in done.stdout
    code, said = verified(folder, keys)
    assert code == ROW_FAILED and "signed by alice@example" in said and " with wrong bits\n" in said and "sound" not in said
    with open(folder / "soak.jsonl", "a") as file:
        file.write("\n")
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == ROW_FAILED and "soak.jsonl is not what the run wrote" in done.stderr and "not signed" in done.stderr


def test_a_node_with_a_wrong_gpu_is_signed_as_what_it_is(tmp_path, keys):
    """No row of sim:1 is wrong by itself: only the others outvote it."""
    node = Node(tmp_path, ["seed=1,units=2", "seed=2,units=2,wrong_sm=1", "seed=3,units=2"])
    assert node.run("--fingerprint", "--filter", "^relu/naive/fp32/", "--budget", "4").returncode == ROW_FAILED
    line = f"{node.folder}: sim:1: SM 1 computes other bits in unit_products/"
    done = ridgebench("publish", node.folder, "--key", keys / "alice")
    assert done.returncode == OK and done.stdout.splitlines()[1].startswith(line), done.stderr
    code, said = verified(node.folder, keys)
    assert code == ROW_FAILED and "signed by alice@example" in said and f"ridgebench: {line}" in said and "sound" not in said


def test_a_file_that_was_added_to_a_results_folder_of_a_signed_tree_is_named(fleet, keys):
    folder = fleet / "node"
    ridgebench("publish", folder, "--key", keys / "alice")
    (folder / "loaded" / "sim-1" / "more.jsonl").write_text("{}\n")
    assert verified(folder, keys) == (ROW_FAILED, "ridgebench: SHA256SUMS does not list loaded/sim-1/more.jsonl\n")


def test_a_soak_that_was_changed_is_not_sound(fleet, keys):
    folder = fleet / "soak" / "soak" / "sim-0"
    assert ridgebench("verify", folder).returncode == OK
    mismatch = {"event": "mismatch", "id": "memory/ones", "words": 1, "bits": 1, "units": []}
    lines = (folder / "soak.jsonl").read_text().splitlines(True)
    (folder / "soak.jsonl").write_text("".join([*lines[:-1], json.dumps(mismatch) + "\n", lines[-1]]))
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == ROW_FAILED and "soak.jsonl is not what the run wrote" in done.stderr
    assert "memory/ones: 1 launch with wrong bits" in ridgebench("verify", folder).stderr


def test_a_tree_without_results_is_refused(tmp_path, keys):
    (tmp_path / "node.json").write_text('{"gpus": []}')
    refused(ridgebench("publish", tmp_path, "--key", keys / "alice"), "holds no results folder", "allowed: ")
