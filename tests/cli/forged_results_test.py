"""`verify` finds what somebody changed who wrote the checksums again, and `publish` does not sign it."""

import hashlib
import json
import os
import shutil

import pytest
from command_line import OK, ROW_FAILED, read_environment, refused, ridgebench, strict_json

FILES = ("environment.json", "records.jsonl", "step.jsonl", "soak.jsonl", "benchmark.json", "judged.json")


def write_sums(folder):
    """The checksums of the files as they are now."""
    listed = [name for name in FILES if (folder / name).exists()]
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in listed]
    (folder / "SHA256SUMS").write_text("".join(lines))


def found(folder) -> str:
    """What verify says of a folder that is not sound, whose checksums are right."""
    write_sums(folder)
    done = ridgebench("verify", folder)
    assert done.returncode == ROW_FAILED and "checksum" not in done.stderr, done.stdout + done.stderr
    return done.stderr


def change_json(path, change):
    value = strict_json(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


@pytest.fixture(name="folder")
def folder_fixture(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda run: run["rows"][-1].update(raised=3.5), "raised is 3.5, but other values give 1"),
        (lambda run: run["devices"][0]["roofs"][0]["memory"][0].update(per_s=1e15), "memory[0].per_s is 1e+15, but other values give"),
        (lambda run: run.update(rows=run["rows"][:-1]), "entries, but other values give"),
        (lambda run: run.update(unfinished="the run has no end"), 'unfinished is "the run has no end", but other values give null'),
        (lambda run: run.pop("moved"), "moved is missing"),
    ],
)
def test_a_judgement_that_does_not_follow_from_the_rows(change, said, folder):
    change_json(folder / "judged.json", lambda document: change(document["runs"][0]))
    (line,) = found(folder).splitlines()
    assert line.startswith("ridgebench: judged.json: runs[0].") and said in line


def test_a_judgement_by_other_rules_is_left_to_its_readers(folder):
    change_json(folder / "judged.json", lambda document: document.update(schema="urn:ridgebench:judged:0", runs=[]))
    write_sums(folder)
    assert ridgebench("verify", folder).returncode == OK


def test_a_report_of_google_benchmark_that_does_not_follow_from_the_rows(folder):
    kept = (folder / "benchmark.json").read_text()
    change_json(folder / "benchmark.json", lambda report: report["benchmarks"][0].update(real_time=report["benchmarks"][0]["real_time"] * 2))
    assert "benchmark.json: " in found(folder) and "real_time is" in found(folder)
    (folder / "benchmark.json").write_text(kept)
    change_json(folder / "benchmark.json", lambda report: report["benchmarks"].pop())
    assert "benchmark.json: " in found(folder) and "is missing" in found(folder)


def test_an_interrupted_run_is_not_signed(folder, keys):
    change_json(folder / "environment.json", lambda environment: environment.update(interrupted=True))
    assert "environment.json: the run was interrupted" in found(folder)
    done = ridgebench("publish", folder, "--key", keys / "alice")
    assert done.returncode == ROW_FAILED and "environment.json: the run was interrupted" in done.stderr
    assert not (folder / "SHA256SUMS.sig").exists()


@pytest.fixture(scope="module", name="step")
def step_fixture(ceilings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("step") / "out"
    words = ("step", "train", "--layers", "2", "--width", "32", "--batch", "8", "--device", "cpu", "--seconds", "0.05")
    assert ridgebench(*words, "--ceilings", ceilings, "--out", folder).returncode == OK
    return folder


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda step: step.update(mfu=0.9, hfu=0.9), "mfu is known if a data sheet promises a peak"),
        (lambda step: step.update(device="cuda:7"), "environment.json does not list its device"),
        (lambda step: step.update(id="train/x@cpu"), "its keys make the id train/2x32/"),
        (lambda step: step.update(seed=99), "seed is not that of environment.json"),
        (lambda step: step.update(ci_low_s=step["ci_low_s"] / 2), "ci_low_s is"),
        (lambda step: step.update(ci_high_s=step["ci_high_s"] * 2), "ci_high_s is"),
        (lambda step: step.update(launch_gap_s=step["launch_gap_s"] * 2), "launch_gap_s is"),
        (lambda step: step["verify"].update(repeated=False), "an ok step leaves the same bits again"),
        (lambda step: step["verify"].update(loss_error=9), "loss and gradients differ from a step in fp64"),
        (lambda step: step["verify"].update(gradients_error=9), "loss and gradients differ from a step in fp64"),
    ],
)
def test_a_step_that_contradicts_itself(change, said, step, tmp_path):
    folder = shutil.copytree(step, tmp_path / "step")
    change_json(folder / "step.jsonl", change)
    with open(folder / "step.jsonl", "a") as file:
        file.write("\n")
    assert said in found(folder)


def test_a_step_that_was_interrupted(step, tmp_path):
    folder = shutil.copytree(step, tmp_path / "step")
    change_json(folder / "environment.json", lambda environment: environment.update(interrupted=True))
    assert "environment.json: the run was interrupted" in found(folder)


@pytest.fixture(scope="module", name="soak")
def soak_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soak") / "out"
    words = ("--minutes", "0.01", "--op", "matmul", "--format", "bf16", "--memory", "2%", "--out", folder)
    assert ridgebench("soak", "--device", "sim", *words).returncode == OK
    return folder


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda log: log[1:], "event 1 is progress; allowed: begin as the first event, and only there"),
        (lambda log: log + log, "is begin; allowed: no event after end"),
        (lambda log: log[-1:] + log[:-1], "event 1 is end; allowed: begin as the first event, and only there"),
        (lambda log: [log[0] | {"seconds": 1800}, *log[1:]], "s of 1800 planned ones, and nothing says why"),
        (lambda log: [log[0] | {"device": "cuda:5"}, *log[1:]], "the device is cuda:5, which environment.json does not list"),
    ],
)
def test_a_log_of_a_soak_that_contradicts_itself(change, said, soak, tmp_path):
    folder = shutil.copytree(soak, tmp_path / "soak")
    events = [strict_json(line) for line in (folder / "soak.jsonl").read_text().splitlines()]
    (folder / "soak.jsonl").write_text("".join(json.dumps(event) + "\n" for event in change(events)))
    assert said in found(folder)


def test_a_run_that_says_it_was_imported(folder):
    facts = {"tool": "x", "file": "x", "sha256": "0" * 64}
    change_json(folder / "environment.json", lambda environment: environment.update(imported=facts, method_version=None))
    assert read_environment(folder)["imported"] == facts
    assert "external is the origin of imported rows only" in found(folder)


@pytest.mark.parametrize("command", ["verify", "publish", "soak"])
@pytest.mark.parametrize("kind", ["", "loop", "long", "closed"])
def test_a_path_that_the_system_refuses(kind, command, tmp_path, keys):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "closed").mkdir(mode=0)
    if kind == "closed" and os.geteuid() == 0:
        pytest.skip("root may read every folder")
    path = {"": "", "loop": tmp_path / "loop", "long": tmp_path / ("x" * 300), "closed": tmp_path / "closed" / "run"}[kind]
    words = {"verify": ("verify", path), "publish": ("publish", path, "--key", keys / "alice"), "soak": ("soak", "--read", path)}
    refused(ridgebench(*words[command]), str(path))
