"""Own kernels of a GPU in a process of their own, on a model of a GPU whose memory a stand-in of the driver shares."""

import os
from pathlib import Path

import pytest
from cheats_file import PLANNED, compiled, measured
from command_line import OK, UNDECIDED, USAGE, environment, ridgebench, strict_json

DRIVER = str(Path(os.environ["RIDGEBENCH_BUILD"]) / "tests" / "fake_driver")


@pytest.fixture(scope="module", name="cheats")
def cheats_fixture(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("objects"), "-DRIDGEBENCH_EMULATED_CUDA")


def on_gpu(cheats: Path, out: Path, does: str, *options, **variables):
    """What the run said, and its row; ceilings need a real GPU, so the run's code says nothing."""
    done, rows = measured(cheats, out, does, *options, code=None, device="model", LD_LIBRARY_PATH=DRIVER, **variables)
    return done, rows["twice/own"]


def test_an_honest_kernel_is_believed(cheats, tmp_path):
    log = tmp_path / "loads"
    done, row = on_gpu(cheats, tmp_path / "results", "nothing", LOADS=str(log))
    assert (row["status"], row["isolated"], row["backend"]) == ("ok", True, "cuda"), done.stderr
    assert row["time_median_s"] > 0 and row["seen_s"] is not None
    assert (row["early"], "below_one_wave" in row["flags"]) == (True, True), "the other process says so of the launch"
    assert "not isolated" not in done.stderr
    assert all(load.split(b"\0")[1] == b"serve-kernels" for load in log.read_bytes().splitlines())


@pytest.mark.parametrize(
    ("does", "status", "reason"),
    [
        ("reference", "wrong", ""),
        ("thread", "wrong", ""),
        ("crash", "failed", "crashed: SIGSEGV, a wrong address"),
        ("input", "failed", "crashed: SIGSEGV, a wrong address"),
        ("throw", "failed", "no luck"),
    ],
)
def test_a_cheat_is_refused(does, status, reason, cheats, tmp_path):
    _, row = on_gpu(cheats, tmp_path / "results", does)
    assert (row["status"], row["isolated"]) == (status, True)
    assert row["reason"].startswith(reason)


def test_a_driver_without_mappings_that_are_read_only_leaves_the_checksum(cheats, tmp_path):
    _, row = on_gpu(cheats, tmp_path / "results", "input", FAKE_CUDA_REFUSES="read-only mappings")
    assert (row["status"], row["reason"]) == ("wrong", "wrote to an input")


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"FAKE_CUDA_REFUSES": "cuMemCreate"}, "the driver cannot share memory of the GPU: cuMemCreate returned 801"),
        ({"FAKE_CUDA_REFUSES": "cuMemImportFromShareableHandle"}, "cuMemImportFromShareableHandle returned 801"),
        ({"MODEL_GPU_IS_EXCLUSIVE": "one process alone uses it"}, "one process alone uses it"),
    ],
)
def test_a_gpu_that_two_processes_cannot_share_is_measured_and_said(variables, why, cheats, tmp_path):
    done, row = on_gpu(cheats, tmp_path / "results", "nothing", **variables)
    assert (row["status"], row["isolated"]) == ("ok", False), done.stderr
    (note,) = [line for line in done.stderr.splitlines() if "not isolated" in line]
    assert note.startswith("note: own kernels of GPUs are not isolated, because they run in the process that measures them: model: ")
    assert note.endswith(why)


def test_a_duel_runs_in_the_other_process(cheats, tmp_path):
    log = tmp_path / "loads"
    done = ridgebench("duel", "own", "own", "--op", "twice", "--format", "fp32", "--shape", "n:1e6", "--seconds", "0.5", "--device", "model",
                      f"--load={cheats}", "--out", tmp_path / "results",
                      env=environment(DOES="nothing", LOADS=str(log), LD_LIBRARY_PATH=DRIVER))  # fmt: skip
    assert done.returncode in (OK, UNDECIDED), done.stderr
    assert len(log.read_bytes().splitlines()) >= 2, "one process computes the functions, the other one launches"
    assert all(load.split(b"\0")[1] == b"serve-kernels" for load in log.read_bytes().splitlines())


@pytest.mark.parametrize("variables", [{}, {"MODEL_GPU_IS_EXCLUSIVE": "one process alone uses it"}], ids=["shared", "exclusive"])
def test_named_plans_are_those_of_the_process_that_launches(variables, tmp_path):
    plans = compiled(tmp_path, "-DRIDGEBENCH_EMULATED_CUDA", source=PLANNED)
    done = ridgebench("duel", "own@w64", "own@w128", "--op", "twice", "--format", "fp32", "--shape", "n:1e6", "--seconds", "0.5", "--processes", "1", "--device", "model",
                      f"--load={plans}", "--json", "--out", tmp_path / "results",
                      env=environment(LD_LIBRARY_PATH=DRIVER, **variables))  # fmt: skip
    assert done.returncode in (OK, UNDECIDED), done.stderr
    (duel,) = strict_json(done.stdout)["duels"]
    assert [(duel[side]["technique"], duel[side]["choice"]) for side in ("first", "second")] == [("own@w64", "w64"), ("own@w128", "w128")]
    assert ("not isolated" in done.stderr) == bool(variables)


def test_a_machine_without_a_gpu_lists_what_a_file_has_for_one(cheats):
    def listed(*options):
        return ridgebench("list", "--device", "cpu", "--load", cheats, *options, env=environment(DOES="nothing"))

    answer = strict_json(listed("--filter", "^twice/", "--json").stdout)
    assert {(case["id"], case["supported"], case["reason"]) for case in answer["cases"]} == {
        ("twice/own/fp32@cuda", False, "needs a device of the backend cuda, and --device opens none")}
    words = "twice/own/fp32@cuda skipped: needs a device of the backend cuda, and --device opens none"
    assert listed("--op", "twice", "--format", "fp32").stdout.split() == words.split()
    refused = listed("--op", "twice", "--format", "bf16")
    assert (refused.returncode, refused.stdout) == (USAGE, "")
