"""scripts/contrib/readiness.sh: one line of JSON and one exit code for a readiness engine."""

import json
import signal
import subprocess
import time

import pytest
from command_line import BINARY, ROOT, environment

SCRIPT = ROOT / "scripts" / "contrib" / "readiness.sh"
# A program whose steps end as the variables say.
PROGRAM = """#!/bin/bash
echo "$*" >>"$CALLS"
[[ $2$3 != --json--worn ]] || exit "${WORN:-0}"
case $1 in doctor) exit "${DOCTOR:-0}" ;; run) exit "${RUN:-0}" ;; soak) exit "${SOAK:-0}" ;; esac
"""


def ready(folder, *words, **variables) -> tuple[int, dict, str]:
    done = subprocess.run([SCRIPT, folder, *words], env=environment(**variables), capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1, done.stderr
    answer = json.loads(done.stdout)
    assert answer["exit"] == done.returncode and answer["ready"] is (done.returncode == 0)
    return done.returncode, answer, done.stderr


@pytest.fixture(name="stand_in")
def stand_in_fixture(tmp_path):
    (tmp_path / "ridgebench").write_text(PROGRAM)
    (tmp_path / "ridgebench").chmod(0o755)
    return {"RIDGEBENCH": str(tmp_path / "ridgebench"), "CALLS": str(tmp_path / "calls")}


@pytest.mark.parametrize(("codes", "minutes", "expected"), [
    ({}, "0", (0, 0, 0, None)), ({}, "3", (0, 0, 0, 0)), ({"DOCTOR": "7"}, "3", (7, 7, None, None)), ({"RUN": "6"}, "3", (6, 0, 6, None)),
    ({"SOAK": "4"}, "0.5", (4, 0, 0, 4)), ({"RUN": "137"}, "0", (3, 0, 3, None)), ({"WORN": "6"}, "3", (6, 0, 0, None)),
])  # fmt: skip
def test_the_worst_step_decides_and_ends_the_check(codes, minutes, expected, stand_in, tmp_path):
    folder = tmp_path / 'node "1"'
    code, answer, _ = ready(folder, minutes, **stand_in, **codes)
    assert (code, answer["doctor"], answer["run"], answer["soak"]) == expected
    assert answer["worn"] == (None if code and "WORN" not in codes and "SOAK" not in codes else int(codes.get("WORN", 0)))
    assert answer["folder"] == str(folder)


def test_a_signal_ends_the_step_and_the_line_says_so(stand_in, tmp_path):
    """`podman stop` sends SIGTERM to the script only."""
    waits = PROGRAM.replace('exit "${RUN:-0}"', "trap 'exit 3' TERM; : >\"$CALLS.run\"; while :; do sleep 0.1; done")
    (tmp_path / "ridgebench").write_text(waits)
    with subprocess.Popen([SCRIPT, tmp_path / "out", "3"], env=environment(**stand_in), stdout=subprocess.PIPE, text=True) as done:
        while not (tmp_path / "calls.run").exists():
            assert done.poll() is None
            time.sleep(0.01)
        done.send_signal(signal.SIGTERM)
        answer = json.loads(done.communicate()[0])
    assert done.returncode == answer["exit"] == answer["run"] == 3
    assert not answer["ready"] and answer["doctor"] == 0 and answer["soak"] is None


def test_rules_and_budget_reach_the_program(stand_in, tmp_path):
    ready(tmp_path / "out", "2", **stand_in, RULES="rules.json", BUDGET="9")
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0] == "doctor --json --rules rules.json" and "--concurrent --fingerprint --budget 9" in calls[1]
    assert calls[2] == f"doctor --json --worn {tmp_path / 'out' / 'run'}"
    assert calls[3].startswith("soak --json --concurrent --minutes 2 ") and calls[4] == f"doctor --json --worn {tmp_path / 'out' / 'soak'}"


def test_a_device_that_is_well_is_ready(tmp_path):
    driver = {"CUDA_VISIBLE_DEVICES": ""}  # doctor judges this machine
    code, answer, said = ready(tmp_path / "out", "0.02", RIDGEBENCH=str(BINARY), DEVICE="sim:units=2", BUDGET="1", **driver)
    assert code == 0, said
    assert json.loads((tmp_path / "out" / "soak.json").read_text())["mismatches"] == 0
    assert (tmp_path / "out" / "run" / "records.jsonl").exists() and answer["soak"] == 0


def test_a_device_that_counts_faults_during_the_run_is_not_ready(tmp_path):
    """Its rows are right, so that `run` ends with 0."""
    driver = {"CUDA_VISIBLE_DEVICES": ""}
    code, answer, said = ready(tmp_path / "out", "0.02", RIDGEBENCH=str(BINARY), DEVICE="sim:units=2,remaps=2", BUDGET="1", **driver)
    assert code == 6, said
    assert (answer["run"], answer["worn"], answer["soak"]) == (0, 6, None)
    (found,) = json.loads((tmp_path / "out" / "worn_run.json").read_text())["findings"]
    assert found["code"] == "worn_severely" and "remapped_rows.uncorrected grew from 0 to 2" in found["text"]


@pytest.mark.parametrize("words", [(), ("out", "many"), ("out", "1", "2")])
def test_other_words_are_refused(words, tmp_path):
    done = subprocess.run([SCRIPT, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and "allowed: readiness.sh FOLDER [MINUTES]" in done.stderr


def test_a_folder_with_results_is_refused(stand_in, tmp_path):
    ready(tmp_path / "out", **stand_in)
    done = subprocess.run([SCRIPT, tmp_path / "out"], env=environment(**stand_in), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "a new folder" in done.stderr


def test_a_missing_program_is_a_mistake_of_the_check(tmp_path):
    assert ready(tmp_path / "out", RIDGEBENCH=str(tmp_path / "absent"))[0] == 8
