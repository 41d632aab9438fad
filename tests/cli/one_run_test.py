"""One folder has one run at a time, and a run goes on where it began."""

import json
import os
import signal
import time

import pytest
from command_line import (
    OK,
    ROW_FAILED,
    SMALL,
    USAGE,
    environment,
    finish,
    ids,
    interrupted_copy,
    read_environment,
    records,
    refused,
    ridgebench,
    run,
    start,
    wait_for_rows,
)

# Every row takes a tenth of a second, so that the run is alive while the test acts.
SLOW = ("--device", "sim", "--filter", "relu/naive")


@pytest.fixture(name="alive")
def alive_fixture(tmp_path):
    """Start a run and stop it after its first row, so that it stays alive."""
    folder = tmp_path / "results"
    process = start("run", "--out", folder, *SLOW)
    wait_for_rows(process, folder, 1)
    process.send_signal(signal.SIGSTOP)
    yield folder, process
    process.kill()
    finish(process)


def test_a_second_process_is_refused_while_the_first_one_lives(alive):
    folder, _ = alive
    before = (folder / "records.jsonl").read_bytes()
    refused(ridgebench("run", "--resume", folder), f"{folder} is in use by another run")
    refused(run(folder), f"{folder} is in use by another run")
    assert (folder / "records.jsonl").read_bytes() == before


def test_the_lock_ends_with_its_process(alive):
    folder, process = alive
    process.kill()
    finish(process)
    assert ridgebench("run", "--resume", folder).returncode == OK
    assert len(ids(folder)) == len(set(ids(folder)))


def test_of_runs_with_one_folder_one_wins(tmp_path):
    folder = tmp_path / "results"
    results = [finish(process) for process in [start("run", "--out", folder, *SMALL) for _ in range(4)]]
    assert sorted(result.returncode for result in results) == [OK, USAGE, USAGE, USAGE]
    for result in results:
        if result.returncode != OK:
            assert "in use by another run" in result.stderr or "already holds a run" in result.stderr
    assert ridgebench("verify", folder).returncode == OK


def test_runs_of_the_same_second_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = [finish(process) for process in [start("run", *SMALL) for _ in range(8)]]
    assert [result.returncode for result in results] == [OK] * 8
    folders = {result.stderr.removeprefix("results: ").strip() for result in results}
    assert len(folders) == 8
    left = {path.name for path in (tmp_path / "results" / "local").iterdir()}
    assert left == {os.path.basename(folder) for folder in folders} | {"latest"}
    for folder in folders:
        assert ridgebench("verify", folder).returncode == OK


@pytest.mark.parametrize("flag", ["--out", "--ceilings", "--resume", "--device", "--roof"])
def test_an_empty_name_is_refused(flag, tmp_path):
    chosen = () if flag == "--resume" else ("--filter", "relu/naive/fp32")
    refused(ridgebench("run", *chosen, flag, "", cwd=tmp_path), flag, "an empty text names nothing")
    refused(ridgebench("run", *chosen, f"{flag}=", cwd=tmp_path), flag)
    assert list(tmp_path.iterdir()) == []


def test_a_resumed_run_is_sound_although_the_tick_differs(finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 3)
    assert ridgebench("run", "--resume", folder).returncode == OK
    assert len({record["tick_s"] for record in records(folder)}) == 2, "two processes"
    sound = ridgebench("verify", folder)
    assert (sound.returncode, sound.stderr) == (OK, "")


@pytest.mark.parametrize("key", ["hostname_hash", "cpu_model", "cores", "kernel"])
def test_another_host_does_not_resume_a_run(key, finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 3)
    stored = read_environment(folder)
    stored["host"][key] = "another"
    text = json.dumps(stored)
    (folder / "environment.json").write_text(text)
    refused(ridgebench("run", "--resume", folder), f'{key} of the host was "another", now it is')
    assert (folder / "environment.json").read_text() == text


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"OMP_SCHEDULE": "dynamic"}, 'OMP_SCHEDULE was unset, now it is "dynamic"'),
        ({"OMP_WAIT_POLICY": "active"}, 'OMP_WAIT_POLICY was "passive", now it is "active"'),
        ({"NVIDIA_TF32_OVERRIDE": "0"}, "NVIDIA_TF32_OVERRIDE was unset"),
    ],
)
def test_other_variables_do_not_resume_a_run(variables, said, finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 3)
    refused(ridgebench("run", "--resume", folder, env=environment(**variables)), said)


def test_variables_that_choose_devices_may_differ(finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 3)
    variables = environment(CUDA_VISIBLE_DEVICES="", NVIDIA_REQUIRE_CUDA="cuda>=12.8")
    assert ridgebench("run", "--resume", folder, env=variables).returncode == OK
    assert read_environment(folder)["environment_variables"] == read_environment(finished)["environment_variables"]


def test_what_was_read_at_the_beginning_stays(finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 3)
    assert ridgebench("run", "--resume", folder).returncode == OK
    first, last = read_environment(finished), read_environment(folder)
    for key in ("host", "environment_variables", "scheduler", "devices"):
        assert last[key] == first[key]
    assert last["state"]["before"] == first["state"]["before"]


def failed(row: dict) -> str:
    times = {key: None for key in row if key.startswith("time_") or key.endswith("_per_s")}
    lost = {"status": "failed", "reason": "the launch did not return: hung", "samples_s": []}
    return json.dumps(row | times | lost | {"bound": None, "verify": None}) + "\n"


def test_retry_measures_failed_rows_again(finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 5)
    rows = records(folder)
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    lines[2] = failed(rows[2])
    (folder / "records.jsonl").write_text("".join(lines))
    assert ridgebench("run", "--resume", folder).returncode == ROW_FAILED, "a failed row stays"
    assert ids(folder) == ids(finished)
    assert ridgebench("run", "--resume", folder, "--retry").returncode == OK
    again = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    assert again[:4] == lines[:2] + lines[3:5], "the other rows keep their bytes"
    assert sorted(ids(folder)) == sorted(ids(finished))
    assert ridgebench("verify", folder).returncode == OK


def test_retry_needs_resume(tmp_path):
    refused(run(tmp_path / "results", *SMALL, "--retry"), "--retry", "--resume")


def test_a_stopped_process_is_not_hung(alive):
    folder, process = alive
    time.sleep(0.1)
    process.send_signal(signal.SIGCONT)
    assert finish(process).returncode == OK
    assert all(record["status"] in ("ok", "skipped") for record in records(folder))


def test_reasons_of_a_file_reach_no_terminal_raw(finished, tmp_path):
    folder = tmp_path / "results"
    interrupted_copy(finished, folder, 5)
    rows = records(folder)
    reason = "x\nridgebench: all is well\x1b[31m\r\u202e"
    texts = [json.dumps(row) + "\n" for row in rows]
    texts[2] = failed(rows[2]).replace("the launch did not return: hung", json.dumps(reason)[1:-1])
    texts[3] = json.dumps(rows[3] | {"technique": "\x1b]0;owned\x07"}) + "\n"
    (folder / "records.jsonl").write_text("".join(texts))
    result = ridgebench("run", "--resume", folder)
    assert result.returncode == ROW_FAILED
    shown = result.stdout + result.stderr
    assert "\nridgebench: all is well" not in shown
    assert all(line.isprintable() for line in shown.splitlines())
    one_line_json = (folder / "benchmark.json").read_text()
    json.loads(one_line_json)
    assert "\x1b" not in one_line_json
