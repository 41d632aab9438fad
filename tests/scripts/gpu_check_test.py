"""The check of a GPU, rehearsed on the simulated device."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from command_line import BINARY, ROOT, environment

STAGES = ["machine", "smoke", "quick", "counters", "long", "sanitizer"]
LOAN = 540  # seconds: nine minutes


def gpu_check(folder, *arguments, **variables) -> subprocess.CompletedProcess:
    command = [ROOT / "scripts" / "gpu_check.sh", *map(str, arguments)]
    variables = {
        "PREBUILT": folder / "prebuilt", "WORK": folder / "work", "OUT": folder / "out"
    } | variables
    variables = {key: str(value) for key, value in variables.items()}
    env = environment(OMP_NUM_THREADS="1", **variables)
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def table(result: subprocess.CompletedProcess) -> dict[str, str]:
    """Stage -> result, of the table that ends the check."""
    lines = [line.split() for line in result.stdout.splitlines() if " s " in line]
    return {words[0]: " ".join(words[5:]) for words in lines}


@pytest.fixture(name="packed", scope="module")
def packed_fixture(tmp_path_factory):
    """A folder whose `prebuilt.tar.gz` holds the program of the tests and its libraries."""
    folder = tmp_path_factory.mktemp("gpu_check")
    (folder / "build").mkdir()
    shutil.copy(BINARY, folder / "build" / "ridgebench")
    result = gpu_check(folder, "--pack", folder / "build")
    assert result.returncode == 0, result.stderr
    shutil.rmtree(folder / "build")
    return folder


@pytest.fixture(name="rehearsed", scope="module")
def rehearsed_fixture(packed):
    return packed, gpu_check(packed, "--rehearse")


def test_the_plan_fits_into_nine_minutes():
    result = subprocess.run(
        [ROOT / "scripts" / "gpu_check.sh", "--plan"], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in result.stdout.splitlines()[1:]]
    limits = {words[0]: int(words[1]) for words in lines}
    total = limits.pop("total")
    assert list(limits) == STAGES
    assert total == sum(limits.values()) < LOAN


def test_the_packed_program_brings_its_libraries(packed):
    with tarfile.open(packed / "prebuilt.tar.gz") as archive:
        names = {Path(name).name for name in archive.getnames() if Path(name).parent.name == "lib"}
    assert any(name.startswith("libstdc++.so") for name in names)
    assert not any(name.startswith(("libc.so", "ld-linux")) for name in names)


def test_every_stage_runs_or_says_what_it_lacks(rehearsed):
    _, result = rehearsed
    assert result.returncode == 0, result.stderr
    stages = table(result)
    assert list(stages) == STAGES
    for stage, said in stages.items():
        assert said == "ok" or said.startswith(("ok: ", "skipped: ")), (stage, said)
    lacking = {stage for stage, said in stages.items() if said.startswith("skipped: ")}
    assert lacking == {"counters", "sanitizer"}


def test_the_tar_file_holds_what_each_stage_measured(rehearsed):
    folder, result = rehearsed
    tar = folder / "out" / "gpu_check.tar.gz"
    assert result.stdout.rstrip().endswith(str(tar))
    with tarfile.open(tar) as archive:
        names = set(archive.getnames())
        assert "stage" in archive.extractfile("gpu_check/table.txt").read().decode()
    assert {f"gpu_check/{stage}.log" for stage in STAGES} < names
    for stage in ("smoke", "quick"):
        assert f"gpu_check/{stage}/records.jsonl" in names
        assert f"gpu_check/{stage}/environment.json" in names
    assert "gpu_check/long/duels.jsonl" in names


def test_a_second_call_measures_only_what_is_missing(rehearsed):
    folder, first = rehearsed
    records = folder / "work" / "quick" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:-1]))
    (folder / "work" / "quick.done").unlink()
    before = (folder / "work" / "smoke" / "records.jsonl").read_bytes()
    second = gpu_check(folder, "--rehearse")
    assert second.returncode == 0, second.stderr
    for stage, said in table(second).items():
        done = table(first)[stage].startswith("ok") and stage != "quick"
        assert said.startswith("done before: ok") == done, (stage, said)
    ids = [json.loads(line)["id"] for line in records.read_text().splitlines()]
    assert ids == [json.loads(line)["id"] for line in lines]
    assert (folder / "work" / "smoke" / "records.jsonl").read_bytes() == before


def test_a_stage_that_hangs_is_stopped_and_the_others_stay(packed, tmp_path):
    folders = {"WORK": tmp_path / "work", "OUT": tmp_path / "out"}
    hanging = {"DEVICE": "sim:hang=1", "LIMIT": 3}
    chosen = ("--stages", "machine,smoke,quick")
    result = gpu_check(packed, "--rehearse", *chosen, **folders, **hanging)
    stages = table(result)
    assert stages["machine"].startswith("ok")
    assert stages["smoke"].startswith("stopped after ")
    assert stages["quick"] == "skipped: no time is left"
    assert not (tmp_path / "work" / "smoke.done").exists()


def test_a_stage_that_fails_costs_no_other(packed, tmp_path):
    folders = {"WORK": tmp_path / "work", "OUT": tmp_path / "out"}
    chosen = ("--stages", "machine,smoke,counters")
    result = gpu_check(packed, "--rehearse", *chosen, **folders, DEVICE="sim:lose=1")
    assert result.returncode == 6
    stages = table(result)
    assert list(stages) == ["machine", "smoke", "counters"]
    assert stages["smoke"].startswith("FAILED (7): ") and "was lost" in stages["smoke"]
    assert stages["machine"].startswith("ok") and stages["counters"].startswith("skipped: ")
    with tarfile.open(tmp_path / "out" / "gpu_check.tar.gz") as archive:
        assert "gpu_check/smoke.log" in archive.getnames()


def test_results_of_another_program_are_not_continued(packed, tmp_path):
    (tmp_path / "program.sha256").write_text("another\n")
    result = gpu_check(packed, "--rehearse", WORK=tmp_path)
    assert result.returncode == 2 and f"{tmp_path} holds the stages of another" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quick"], "unknown argument '--quick'"),
        (["--rehearse", "--stages", "smoke,fast"], "unknown stage 'fast'; allowed: machine smoke"),
        (["--rehearse", "--stages", ""], "--stages names none"),
        (["--pack", "/nowhere"], "/nowhere has no ridgebench"),
        (["--rehearse"], "has no program: scripts/gpu_check.sh --pack makes it"),
    ],
)
def test_usage(arguments, said, tmp_path):
    result = gpu_check(tmp_path, *arguments)
    assert result.returncode == 2 and said in result.stderr, result.stderr
    assert result.stderr.count("\n") == 1


def test_without_a_gpu_nothing_else_is_checked(packed, tmp_path):
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    path = f"{tmp_path}:{environment()['PATH']}"
    result = gpu_check(packed, WORK=tmp_path / "work", PATH=path)
    assert result.returncode == 7 and "finds no GPU" in result.stderr


FAKES = {
    "nvidia-smi": "",
    "ridgebench_device_tests": """
case "$*" in
--gtest_list_tests)
  echo Cuda/Kernels.
  for name in relu_vec16 dot_one_pass matmul_cublas; do
    echo "  AreRightOnSmallShapes/$name  # GetParam()"
    echo "  AreRightOnAwkwardShapes/$name  # GetParam()"
  done
  ;;
*{wrong}) echo "Failure of $*"; exit 1 ;;
esac
echo "$*" >>{folder}/tests
""",
    "compute-sanitizer": """
while [ "${{1#*/}}" = "$1" ]; do shift; done
exec "$@"
""",
}


@pytest.fixture(name="pretended")
def pretended_fixture(packed, tmp_path):
    """Variables of a check in which scripts stand for the tools of a GPU; relu_vec16 may be wrong."""

    def variables(wrong="nothing") -> dict:
        prebuilt = tmp_path / "prebuilt"
        shutil.unpack_archive(packed / "prebuilt.tar.gz", prebuilt)
        for name, text in FAKES.items():
            path = prebuilt / name
            path.write_text("#!/bin/sh" + text.format(folder=tmp_path, wrong=wrong))
            path.chmod(0o755)
        path = f"{prebuilt}:{environment()['PATH']}"
        return {"PREBUILT": prebuilt, "WORK": tmp_path / "work", "OUT": tmp_path, "PATH": path}

    return variables


def test_device_tests_and_sanitizer_of_a_gpu(pretended, tmp_path):
    chosen = ("--stages", "machine,smoke,sanitizer")
    result = gpu_check(tmp_path, *chosen, **pretended(), DEVICE="sim")
    assert (result.returncode, set(table(result).values())) == (0, {"ok"}), result.stdout
    ran = sorted((tmp_path / "tests").read_text().split())
    of_kernels = [name.rpartition("/")[2] for name in ran if "SmallShapes" in name]
    assert of_kernels == ["dot_one_pass"] * 3 + ["relu_vec16"] * 3
    assert "--gtest_filter=Adapter.*" in ran


def test_a_wrong_kernel_fails_the_smoke_test(pretended, tmp_path):
    result = gpu_check(tmp_path, "--stages", "smoke", **pretended("/relu_vec16"), DEVICE="sim")
    assert result.returncode == 6
    assert "relu_vec16: Failure of" in table(result)["smoke"]
    assert "SmallShapes/dot_one_pass" in (tmp_path / "tests").read_text()
