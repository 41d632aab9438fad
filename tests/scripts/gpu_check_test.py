"""The check of a GPU, rehearsed on the simulated device."""

import json
import re
import shutil
import signal
import subprocess
import tarfile
from pathlib import Path

import pytest
from command_line import BINARY, ROOT, environment, wait_until

STAGES = {
    "right": ["machine", "smoke", "deep", "large", "memcheck", "racecheck", "ceilings", "paths", "isolation", "counters"],
    "picture": ["machine", "quick", "lecture", "cold", "step", "drawn"],
    "ratios": ["machine", "long", "gelu", "scaled", "tiles", "energy", "small", "memory", "again"],
    "node": ["machine", "worn", "bits", "soak", "bits_hot"],
}
NEED_A_GPU = {"deep", "large", "memcheck", "racecheck", "isolation", "counters"}
LIMIT = 580  # seconds of a command


def arguments_of(folder, *arguments, **variables) -> dict:
    """A call of subprocess: the command and its environment."""
    variables = {
        "PREBUILT": folder / "prebuilt", "WORK": folder / "work", "OUT": folder / "out"
    } | variables
    variables = {key: str(value) for key, value in variables.items()}
    command = [ROOT / "scripts" / "gpu_check.sh", *map(str, arguments)]
    return {"args": command, "env": environment(OMP_NUM_THREADS="1", **variables), "text": True}


def gpu_check(folder, *arguments, **variables) -> subprocess.CompletedProcess:
    return subprocess.run(**arguments_of(folder, *arguments, **variables), capture_output=True, check=False)


def table(result: subprocess.CompletedProcess) -> dict[str, str]:
    """Stage -> result, of the tables that end the check."""
    lines = [line.split() for line in result.stdout.splitlines() if " s " in line]
    return {words[0]: " ".join(words[5:]) for words in lines}


def plan() -> list[list[str]]:
    """The lines of --plan."""
    done = subprocess.run([ROOT / "scripts" / "gpu_check.sh", "--plan"], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


@pytest.fixture(name="packed", scope="module")
def packed_fixture(tmp_path_factory):
    """A folder whose `prebuilt.tar.gz` holds the program of the tests and its libraries."""
    folder = tmp_path_factory.mktemp("gpu_check")
    (folder / "build").mkdir()
    shutil.copy(BINARY, folder / "build" / "ridgebench")
    result = gpu_check(folder, "--pack", folder / "build")
    assert result.returncode == 0, result.stderr
    (folder / "said").write_text(result.stdout)
    shutil.rmtree(folder / "build")
    return folder


@pytest.fixture(name="rehearsed", scope="module")
def rehearsed_fixture(packed):
    return packed, gpu_check(packed, "--rehearse")


@pytest.mark.parametrize("command", STAGES)
def test_the_plan_of_a_command_fits_into_its_loan(command):
    lines = [words for words in plan() if words[0] == command]
    limits = {name: int(seconds) for _, name, seconds, *_ in lines}
    total = limits.pop("total")
    assert list(limits) == STAGES[command]
    assert total == sum(limits.values()) < LIMIT


def test_the_packed_program_brings_its_libraries(packed):
    with tarfile.open(packed / "prebuilt.tar.gz") as archive:
        names = {Path(name).name for name in archive.getnames() if Path(name).parent.name == "lib"}
    assert any(name.startswith("libstdc++.so") for name in names)
    assert not any(name.startswith(("libc.so", "ld-linux", "libgcc_s")) for name in names)


def test_packing_says_which_glibc_the_archive_needs(packed, tmp_path):
    """A release needs 2.34. A build for this machine alone needs that of its libraries."""
    assert re.fullmatch(rf"{packed}/prebuilt.tar.gz: \d+ bytes, needs glibc 2\.\d+\n", (packed / "said").read_text())
    shutil.unpack_archive(packed / "prebuilt.tar.gz", tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    text = subprocess.run(["readelf", "-VW", *files], capture_output=True, text=True, check=False).stdout
    newest = max(int(version) for version in re.findall(r"GLIBC_2\.(\d+)", text))
    assert (packed / "said").read_text().endswith(f" 2.{newest}\n")
    if not any("GLIBCXX" in line for line in text.splitlines()):
        assert newest <= 34


def test_every_stage_runs_or_says_what_it_lacks(rehearsed):
    _, result = rehearsed
    assert result.returncode == 0, result.stderr
    stages = table(result)
    assert list(stages) == list(dict.fromkeys(sum(STAGES.values(), [])))
    for stage, said in stages.items():
        assert said == "ok" or said.startswith(("ok: ", "skipped: ")), (stage, said)
    assert {stage for stage, said in stages.items() if said.startswith("skipped: ")} == NEED_A_GPU


def test_the_tar_file_holds_what_each_stage_measured(rehearsed):
    folder, result = rehearsed
    tar = folder / "out" / "gpu_check.tar.gz"
    assert result.stdout.rstrip().endswith(str(tar))
    with tarfile.open(tar) as archive:
        names = set(archive.getnames())
        for command in STAGES:
            assert "stage" in archive.extractfile(f"gpu_check/table_{command}.txt").read().decode()
    stages = set(sum(STAGES.values(), []))
    assert {f"gpu_check/{stage}.log" for stage in stages} < names
    states = {f"gpu_check/state_{command}_{when}.txt" for command in STAGES for when in ("before", "after")}
    assert states < names
    for run in ("smoke_run", "ceilings", "resumed", "quick", "lecture", "cold"):
        assert {f"gpu_check/{run}/records.jsonl", f"gpu_check/{run}/environment.json"} < names
    assert {f"gpu_check/step/{name}/step.jsonl" for name in ("none", "sqrt", "decode")} < names
    duels = {name for name in names if name.endswith("/duels.jsonl")}
    assert len(duels) == len(duels_of_the_script())


def test_a_second_call_measures_only_what_is_missing(rehearsed):
    folder, first = rehearsed
    records = folder / "work" / "quick" / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[:-1]))
    again = {"quick", "long"}
    for stage in again:
        (folder / "work" / f"{stage}.done").unlink()
    cut, whole = (folder / "work" / "duels" / name / "duels.jsonl" for name in ("long_bf16", "long_fp16"))
    (cut.parent / "SHA256SUMS").unlink()
    before = whole.stat().st_mtime_ns
    second = gpu_check(folder, "--rehearse")
    assert second.returncode == 0, second.stderr
    for stage, said in table(second).items():
        done = table(first)[stage].startswith("ok") and stage not in again | {"machine"}
        assert said.startswith("done before: ok") == done, (stage, said)
    ids = [json.loads(line)["id"] for line in records.read_text().splitlines()]
    assert ids == [json.loads(line)["id"] for line in lines]
    assert (cut.parent / "SHA256SUMS").exists() and whole.stat().st_mtime_ns == before


def test_other_bits_after_the_soak_fail_the_node(packed, tmp_path):
    folders = {"WORK": tmp_path / "work", "OUT": tmp_path / "out"}
    first = gpu_check(packed, "node", "--rehearse", "--stages", "bits", **folders)
    assert table(first) == {"bits": "ok"}, first.stderr
    records = tmp_path / "work" / "bits" / "records.jsonl"
    text = records.read_text()
    bits = re.findall(r'"fingerprint":"([0-9a-f]{16})"', text)
    same = gpu_check(packed, "node", "--rehearse", "--stages", "bits_hot", **folders)
    assert table(same)["bits_hot"] == f"ok: equal bits in {len(bits)} rows", same.stderr
    (tmp_path / "work" / "bits_hot.done").unlink()
    records.write_text(text.replace(bits[0], "0123456789abcdef", 1))
    found = gpu_check(packed, "node", "--rehearse", "--stages", "bits_hot", **folders)
    assert found.returncode == 6
    assert f"FAILED (6): other bits after the soak than before in 1 of {len(bits)} rows" in table(found)["bits_hot"]


@pytest.mark.parametrize("stage", ["lecture", "cold"])
def test_a_stage_needs_no_other_one(packed, tmp_path, rehearsed, stage):
    """With the stage `quick` it takes the roofs from there."""
    folders = {"WORK": tmp_path / "work", "OUT": tmp_path / "out"}
    result = gpu_check(packed, "picture", "--rehearse", "--stages", stage, **folders)
    assert table(result) == {stage: "ok"}, result.stdout
    alone, after = (json.loads((work / stage / "environment.json").read_text()) for work in (tmp_path / "work", rehearsed[0] / "work"))
    assert "--ceilings" not in alone["command_line"] and "--ceilings" in after["command_line"]


def test_a_stage_that_hangs_is_stopped_and_the_others_stay(packed, tmp_path):
    folders = {"WORK": tmp_path / "work", "OUT": tmp_path / "out"}
    hanging = {"DEVICE": "sim:hang=1", "LIMIT": 3}
    chosen = ("--stages", "machine,smoke,ceilings")
    result = gpu_check(packed, "right", "--rehearse", *chosen, **folders, **hanging)
    stages = table(result)
    assert stages["machine"].startswith("ok")
    assert stages["smoke"].startswith("stopped after ")
    assert stages["ceilings"] == "skipped: no time is left"
    assert not (tmp_path / "work" / "smoke.done").exists()


def test_a_call_that_is_ended_leaves_the_tar_file(packed, tmp_path):
    """The machine may end a call after ten minutes."""
    folders = {"WORK": tmp_path / "work", "OUT": tmp_path / "out"}
    arguments = arguments_of(packed, "right", "--rehearse", **folders, DEVICE="sim:hang=1")
    with subprocess.Popen(**arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: (tmp_path / "work" / "smoke_run" / "environment.json").exists(), process)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert process.returncode == 3 and "interrupted; the same command goes on" in said
    with tarfile.open(tmp_path / "out" / "gpu_check.tar.gz") as archive:
        assert {"gpu_check/table_right.txt", "gpu_check/smoke.log"} < set(archive.getnames())


def test_a_stage_that_fails_costs_no_other(packed, tmp_path):
    folders = {"WORK": tmp_path / "work", "OUT": tmp_path / "out"}
    chosen = ("--stages", "machine,smoke,counters")
    result = gpu_check(packed, "right", "--rehearse", *chosen, **folders, DEVICE="sim:lose=1")
    assert result.returncode == 6
    stages = table(result)
    assert list(stages) == ["machine", "smoke", "counters"]
    assert stages["smoke"].startswith("FAILED (7): ") and "was lost" in stages["smoke"]
    assert stages["machine"].startswith("ok") and stages["counters"].startswith("skipped: ")
    with tarfile.open(tmp_path / "out" / "gpu_check.tar.gz") as archive:
        assert "gpu_check/smoke.log" in archive.getnames()


def test_results_of_another_program_are_not_continued(packed, tmp_path):
    (tmp_path / "program.sha256").write_text("another\n")
    result = gpu_check(packed, "right", "--rehearse", WORK=tmp_path)
    assert result.returncode == 2 and f"{tmp_path} holds the stages of another" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a command is missing; allowed: right, picture, ratios, node"),
        (["--quick"], "unknown argument '--quick'; allowed: right, picture, ratios, node, --build"),
        (["right", "ratios"], "two commands, right and ratios; allowed: one a call"),
        (["right", "--stages", "smoke,quick"], "unknown stage 'quick'; allowed: machine smoke deep"),
        (["--rehearse", "--stages", "smoke"], "--stages needs a command"),
        (["right", "--stages", ""], "--stages names none"),
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
    result = gpu_check(packed, "right", WORK=tmp_path / "work", PATH=path)
    assert result.returncode == 7 and "finds no GPU" in result.stderr


def duels_of_the_script() -> list[list[str]]:
    """The words of each duel that the command `ratios` measures; products() has five for each of its two callers."""
    text = (ROOT / "scripts" / "gpu_check" / "ratios.sh").read_text()
    lines = re.findall(r'^  duel "?(\S+?)"? (.*?) \|\| status', text, re.MULTILINE)
    assert len(lines) > 20
    named = [words.split() for name, words in lines if "$1" not in name]
    return named + 2 * [words.split() for name, words in lines if "$1" in name]


def test_the_duels_name_techniques_that_exist():
    for words in duels_of_the_script():
        operation = words[words.index("--op") + 1] if "--op" in words else "matmul"
        folder = ROOT / "kernels" / operation.removesuffix("_gelu").removesuffix("_block_scaled")
        folders = [folder, ROOT / "kernels" / "gelu", ROOT / "kernels" / "common" / "cuda"]
        text = "\n".join(p.read_text() for f in folders for p in f.rglob("*") if p.suffix in (".cu", ".cpp", ".cuh"))
        for side in words[:2]:
            assert f'"{side.partition("@")[0]}"' in text, side


def tiles_of(name: str) -> set[str]:
    """The tiles of a list in tile_scheduler.hpp, as a duel names them."""
    text = (ROOT / "kernels" / "matmul" / "hopper" / "tile_scheduler.hpp").read_text()
    listed = re.search(rf"{name}{{\s*{{(.*?)}}}};", text, re.DOTALL)[1]
    return {f"{m}x{n}" for m, n in re.findall(r"{(\d+), (\d+)}", listed)}


def test_the_duels_name_tiles_that_exist_and_every_new_one():
    lists = {"wgmma_persistent": tiles_of("kFastTiles"), "wgmma_pingpong": tiles_of("kPingpongTiles")}
    named = set()
    for words in duels_of_the_script():
        for side in words[:2]:
            technique, _, choice = side.partition("@tile=")
            if choice:
                named.add((technique, choice.partition(",")[0]))
    assert all(tile in lists[technique] for technique, tile in named), named
    measured = {"128x256", "128x192", "128x160", "128x128", "128x64"}  # by published runs
    assert {(technique, tile) for technique, tiles in lists.items() for tile in tiles - measured} <= named


def test_the_ceilings_exist():
    text = (ROOT / "scripts" / "gpu_check" / "right.sh").read_text()
    names = re.search(r"never_measured=\((.*?)\)", text, re.DOTALL)[1].split()
    assert len(names) > 10
    sources = [path.read_text() for path in (ROOT / "kernels").rglob("*") if path.suffix in (".hpp", ".cu", ".cpp")]
    for name in names:
        assert any(f'"{name}"' in source for source in sources), name


FAKES = {
    "nvidia-smi": """
case "$*" in -q) echo "clocks $(cat {folder}/loaded 2>/dev/null)" ;; esac
""",
    "sleep": "",
    "ridgebench_device_tests": """
case "$*" in
--gtest_list_tests)
  echo Cuda/Kernels.
  echo loaded >{folder}/loaded
  for name in relu_vec16 dot_one_pass matmul_wgmma_pingpong matmul_cublas; do
    for test in SmallShapes AwkwardShapes MoreTilesThanMultiprocessors; do echo "  AreRightOn$test/$name  # GetParam()"; done
    echo "  AreRightBeyond2To31Elements/$name  # GetParam()"
  done
  ;;
*MoreTiles*) until [ -e {folder}/work/state_right_under_load.txt ]; do :; done ;;
*{wrong}) echo "Failure of $*"; exit 1 ;;
*Beyond2To31Elements/dot_one_pass) echo "too little memory: dot_one_pass fp8_e4m3: 4 GiB asked" ;;
*Beyond2To31Elements/matmul_wgmma_pingpong) echo "no format of this test: matmul_wgmma_pingpong" ;;
*{hangs}) echo $$ >>{folder}/hung; exec /bin/sleep infinity ;;
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
    """Variables of a check in which scripts represent the tools of a GPU; a technique may be wrong, and one may hang."""

    def variables(wrong="nothing", hangs="nothing") -> dict:
        prebuilt = tmp_path / "prebuilt"
        shutil.unpack_archive(packed / "prebuilt.tar.gz", prebuilt)
        for name, text in FAKES.items():
            path = prebuilt / name
            path.write_text("#!/bin/sh" + text.format(folder=tmp_path, wrong=wrong, hangs=hangs))
            path.chmod(0o755)
        path = f"{prebuilt}:{environment()['PATH']}"
        return {"PREBUILT": prebuilt, "WORK": tmp_path / "work", "OUT": tmp_path, "PATH": path}

    return variables


def test_device_tests_and_sanitizer_of_a_gpu(pretended, tmp_path):
    chosen = ("--stages", "machine,smoke,deep,large,memcheck,racecheck")
    result = gpu_check(tmp_path, "right", *chosen, **pretended(), DEVICE="sim")
    assert result.returncode == 0, result.stdout
    stages = table(result)
    assert stages.pop("large") == "ok: 0 techniques without time, 1 skipped for too little memory, 1 without a format"
    assert set(stages.values()) == {"ok"}
    ran = sorted(line.rpartition("=")[2] for line in (tmp_path / "tests").read_text().splitlines() if "=" in line)
    of_kernels = [name for name in ran if name.startswith("*")]
    assert of_kernels == sorted([
        *["*AreRightOnSmallShapes/" + name for name in ("dot_one_pass", "matmul_wgmma_pingpong", "relu_vec16")] * 3,
        "*AreRightOnMoreTilesThanMultiprocessors/matmul_wgmma_pingpong",
        *["*AreRightBeyond2To31Elements/" + name for name in ("dot_one_pass", "matmul_wgmma_pingpong", "relu_vec16")],
    ])
    assert "Adapter.*:Memory.*" in ran


def test_the_state_of_the_machine_is_noted(pretended, tmp_path):
    """Before, after half a minute of load, for which the pretended `sleep` does not wait, and after."""
    gpu_check(tmp_path, "right", "--stages", "deep", **pretended(), DEVICE="sim")
    states = {path.stem: path.read_text() for path in (tmp_path / "work").glob("state_*.txt")}
    assert set(states) == {"state_right_before", "state_right_under_load", "state_right_after"}
    assert "clocks \n" in states["state_right_before"] and "clocks loaded" in states["state_right_after"]


def test_a_wrong_kernel_fails_the_smoke_test(pretended, tmp_path):
    result = gpu_check(tmp_path, "right", "--stages", "smoke", **pretended("/relu_vec16"), DEVICE="sim")
    assert result.returncode == 6
    assert "relu_vec16: Failure of" in table(result)["smoke"]
    assert "SmallShapes/dot_one_pass" in (tmp_path / "tests").read_text()


def alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_stage_had_no_time_for_comes_in_the_next_call(pretended, tmp_path):
    """A technique that hangs is stopped. What passed before is not run again."""
    arguments = ("right", "--stages", "smoke")
    first = gpu_check(tmp_path, *arguments, **pretended(hangs="/dot_one_pass"), DEVICE="sim", LIMIT=8)
    assert first.returncode == 0, first.stdout
    said = "unfinished: 1 techniques without time, 0 skipped for too little memory, 0 without a format"
    assert table(first)["smoke"] == said
    assert not (tmp_path / "work" / "smoke.done").exists()
    assert not any(map(alive, map(int, (tmp_path / "hung").read_text().split())))
    (tmp_path / "tests").unlink()
    second = gpu_check(tmp_path, *arguments, **pretended(), DEVICE="sim")
    assert table(second)["smoke"] == "ok"
    ran = [line for line in (tmp_path / "tests").read_text().splitlines() if "SmallShapes/" in line]
    assert len(ran) == 1 and ran[0].endswith("/dot_one_pass")
    states = (tmp_path / "work" / "state_right_before.txt").read_text()
    assert states.count("clocks") == 2, "the state of the first call stays"


@pytest.mark.parametrize("signal_of_the_end", [signal.SIGTERM, signal.SIGKILL])
def test_device_tests_end_with_the_check(pretended, tmp_path, signal_of_the_end):
    """They would stay on the GPU, in a group of processes of their own."""
    if subprocess.run(["setpriv", "--pdeathsig", "TERM", "true"], capture_output=True, check=False).returncode:
        pytest.skip("setpriv is missing")
    arguments = arguments_of(tmp_path, "right", "--stages", "smoke", **pretended(hangs="/dot_one_pass"), DEVICE="sim")
    with subprocess.Popen(**arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: (tmp_path / "hung").exists() and (tmp_path / "hung").read_text(), process)
        process.send_signal(signal_of_the_end)
        process.wait()
    hung = int((tmp_path / "hung").read_text())
    wait_until(lambda: not alive(hung))
