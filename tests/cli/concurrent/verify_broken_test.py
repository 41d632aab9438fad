"""`verify` ends with 6 for a file of a results folder that does not follow its format, whichever file and kind of results it is."""

import json
import shutil
from hashlib import sha256

import pytest
from command_line import OK, ROW_FAILED, refused, ridgebench
from simulated_node import Node

BROKEN = {"cut": '{"schema": "ridgebench.', "list": "[1]", "number": "7", "null": "null", "empty object": "{}", "binary": "\x7fELF\x02"}
COMMANDS = {
    "records.jsonl": ("run", "--filter", "^relu/naive/fp32/", "--budget", "0.5"),
    "duels.jsonl": ("duel", "naive", "streaming", "--op", "relu", "--format", "fp32", "--shape", "4k", "--seconds", "5"),
    "step.jsonl": ("step", "train", "--layers", "2", "--width", "96", "--batch", "24", "--seconds", "0.05"),
    "soak.jsonl": ("soak", "--minutes", "0.005", "--format", "bf16", "--memory", "2%"),
}


@pytest.fixture(scope="module", name="folders")
def folders_fixture(tmp_path_factory):
    """A folder of each kind of results, and that of a node."""
    parent = tmp_path_factory.mktemp("kinds")
    for name, words in COMMANDS.items():
        done = ridgebench(*words, "--device", "cpu" if name == "step.jsonl" else "sim", "--out", parent / name)
        assert ridgebench("verify", parent / name).returncode == OK, done.stderr
    node = Node(parent, ["seed=1"])
    assert node.run("--filter", "^relu/naive/fp32/", "--budget", "1").returncode == OK
    return parent


def write_signed_off(folder, name, text):
    """Replaces a file, and its checksum, so that only its content is wrong."""
    (folder / name).write_text(text)
    sums = folder / "SHA256SUMS"
    if sums.exists():
        digest = sha256((folder / name).read_bytes()).hexdigest()
        sums.write_text("".join(f"{digest}  {name}\n" if line.endswith(f"  {name}\n") else line for line in sums.read_text().splitlines(True)))


def check(folder, name):
    done = ridgebench("verify", folder)
    assert (done.returncode, done.stdout) == (ROW_FAILED, ""), done.stderr
    lines = done.stderr.splitlines()
    assert name in lines[0] and all(line.startswith("ridgebench: ") and line.isprintable() for line in lines)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("kind", COMMANDS)
def test_a_line_of_results(kind, broken, folders, tmp_path):
    folder = shutil.copytree(folders / kind, tmp_path / "copy")
    text = (folder / kind).read_text()
    write_signed_off(folder, kind, f"{text}{BROKEN[broken]}\n")
    check(folder, kind)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("kind", COMMANDS)
def test_an_environment(kind, broken, folders, tmp_path):
    folder = shutil.copytree(folders / kind, tmp_path / "copy")
    write_signed_off(folder, "environment.json", BROKEN[broken])
    check(folder, "environment.json")


@pytest.mark.parametrize("name", ["judged.json", "benchmark.json"])
def test_a_file_that_follows_from_the_records(name, folders, tmp_path):
    folder = shutil.copytree(folders / "records.jsonl", tmp_path / "copy")
    write_signed_off(folder, name, BROKEN["cut"])
    check(folder, name)


@pytest.mark.parametrize("broken", BROKEN)
def test_the_file_of_a_node(broken, folders, tmp_path):
    folder = shutil.copytree(folders / "node", tmp_path / "copy")
    (folder / "node.json").write_text(BROKEN[broken])
    check(folder, "node.json")


@pytest.mark.parametrize(("key", "value"), [("gpus", {}), ("gpus", [7]), ("exit", "0"), ("hostname_hash", 3), ("interrupted", 1)])
def test_a_value_of_a_node(key, value, folders, tmp_path):
    folder = shutil.copytree(folders / "node", tmp_path / "copy")
    node = json.loads((folder / "node.json").read_text())
    (folder / "node.json").write_text(json.dumps(node | {key: value}))
    check(folder, key)


def test_a_broken_line_in_the_folder_of_a_node(folders, tmp_path):
    folder = shutil.copytree(folders / "node", tmp_path / "copy")
    part = folder / "loaded" / "sim-0"
    write_signed_off(part, "records.jsonl", (part / "records.jsonl").read_text() + "{\n")
    check(folder, "records.jsonl:")


def test_a_folder_without_results_and_a_file_that_cannot_be_read_are_refused(folders, tmp_path):
    (tmp_path / "empty").mkdir()
    refused(ridgebench("verify", tmp_path / "empty"), "cannot be read")
    folder = shutil.copytree(folders / "records.jsonl", tmp_path / "copy")
    (folder / "environment.json").unlink()
    refused(ridgebench("verify", folder), "environment.json: cannot be read")
