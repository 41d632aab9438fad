"""scripts/run.sh: what it builds and measures on which machine, and that a measurement needs no Python."""

import os
import shlex
import shutil
import signal
import subprocess

import pytest
from command_line import wait_until
from stub_tools import DRAWS, Machine

NVCC = "opt/cuda/bin/nvcc"


@pytest.fixture(name="machine")
def machine_fixture(tmp_path):
    """A machine that can build and draw, without a GPU, nvcc or a scheduler."""
    machine = Machine(tmp_path)
    machine.add_compilers()
    machine.add_python()
    return machine


def built(machine: Machine) -> list[str]:
    return [call.split()[2] for call in machine.calls("cmake --preset")]


def figures(machine: Machine) -> bool:
    return (machine.root / "results/local/1/figures/lecture.png").exists()


def test_a_plain_machine_is_measured_and_drawn(machine):
    done = machine.call("run.sh", "--profile", "quick")
    assert done.returncode == 3, done.stderr
    assert built(machine) == ["release"] and machine.calls("measured") == ["measured: run --profile quick"]
    assert figures(machine)
    assert "run.sh: figures: results/local/1/figures; all in one page: results/local/1/report.html\n" in done.stderr


@pytest.mark.parametrize("place", [NVCC, "usr/local/cuda/bin/nvcc", "usr/local/cuda-12.4/bin/nvcc", "bin/nvcc"])
def test_nvcc_anywhere_makes_the_cuda_half_where_a_gpu_is(machine, place):
    machine.add(place)
    machine.add("nvidia-smi")
    done = machine.call("run.sh", CUDA_HOME=str(machine.folder / "opt/cuda"))
    assert (done.returncode, built(machine)) == (3, ["cuda"]), done.stderr
    assert f"-DRIDGEBENCH_NVCC={machine.folder / place}" in machine.calls("cmake --preset")[0]


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH", "CUDACXX"])
def test_variables_that_name_a_toolkit(machine, variable):
    machine.add(NVCC)
    machine.add("nvidia-smi")
    value = machine.folder / (NVCC if variable == "CUDACXX" else "opt/cuda")
    assert machine.call("run.sh", **{variable: str(value)}).returncode == 3
    assert built(machine) == ["cuda"]


def test_nvcc_without_a_gpu_measures_the_host_and_names_the_way_to_the_cuda_half(machine):
    machine.add("nvcc")
    done = machine.call("run.sh")
    assert (done.returncode, built(machine)) == (3, ["release"]) and figures(machine)
    assert "`scripts/run.sh --build-only` builds the CUDA half" in done.stderr.splitlines()[-1]


def test_a_gpu_without_nvcc_is_one_line(machine):
    machine.add("nvidia-smi")
    done = machine.call("run.sh")
    assert (done.returncode, built(machine), done.stderr.count("\n")) == (7, [], 1)
    assert "no nvcc" in done.stderr and "scripts/run.sh --device cpu" in done.stderr
    assert machine.call("run.sh", "--device", "cpu").returncode == 3
    assert built(machine) == ["release"]


def test_a_compute_node_without_nvcc_uses_what_the_login_node_built(machine):
    machine.add("nvidia-smi")
    machine.add_file(machine.root / "build/cuda/ridgebench", (machine.folder / "program").read_text())
    assert machine.call("run.sh").returncode == 3
    assert built(machine) == []


@pytest.mark.parametrize("client", ["sbatch", "qsub", "bsub"])
@pytest.mark.parametrize("cuda", [True, False])
def test_a_login_node_is_built_and_not_measured(machine, client, cuda):
    machine.add(client)
    if cuda:
        machine.add("nvcc")
    done = machine.call("run.sh")
    preset = "cuda" if cuda else "release"
    assert (done.returncode, built(machine), machine.calls("measured")) == (7, [preset], []), done.stderr
    last = done.stderr.splitlines()[-1]
    assert "did not measure" in last and f"`build/{preset}/ridgebench run`" in last
    assert "`scripts/run.sh --device cpu`" in last


def test_a_login_node_is_measured_when_its_device_is_named(machine):
    machine.add("sbatch")
    machine.add("nvcc")
    assert machine.call("run.sh", "--device=cpu").returncode == 3
    assert built(machine) == ["release"]


@pytest.mark.parametrize("job", ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"])
def test_a_job_measures_and_sets_up_nothing_when_the_program_is_newer(machine, job):
    machine.add("sbatch")
    machine.add("nvcc")
    machine.add("nvidia-smi", "exit ${NO_GPU:-0}")
    machine.add_python(packages="python")
    assert machine.call("run.sh", "--build-only", NO_GPU="1").returncode == 0
    assert built(machine) == ["cuda"]
    calls = machine.calls("")
    assert machine.call("run.sh", **{job: "1"}).returncode == 3
    after = machine.calls("")[len(calls):]
    assert "measured: run" in after and not [call for call in after if call.startswith(("cmake", "g++", "python3 -m"))]


def test_a_newer_source_is_built_again(machine):
    assert machine.call("run.sh").returncode == 3
    assert machine.call("run.sh").returncode == 3
    assert built(machine) == ["release"]
    program = machine.root / "build/release/ridgebench"
    os.utime(program, (0, 0))
    assert machine.call("run.sh").returncode == 3
    assert built(machine) == ["release"] * 2


def levels(machine: Machine) -> list[str]:
    return [word.split("=")[1] for word in machine.calls("cmake --preset")[-1].split() if "HOST_LEVELS" in word]


def test_a_program_for_another_processor_is_built_again(machine):
    machine.add_file(machine.folder / "program", '#!/bin/sh\n[ "$1" != list ] || exit 7\n')
    assert machine.call("run.sh", "--build-only").returncode == 0
    assert machine.call("run.sh", "--build-only").returncode == 0
    assert built(machine) == ["release"] * 2


def test_only_a_cluster_needs_kernels_for_all_processors(machine):
    assert machine.call("run.sh", "--build-only").returncode == 0
    assert levels(machine) == ["native"]
    machine.add("sbatch")
    os.utime(machine.root / "build/release/ridgebench", (0, 0))
    assert machine.call("run.sh", "--build-only").returncode == 0
    assert levels(machine) == ["all"]


@pytest.mark.parametrize("arguments", [["--build-only"], ["--filter", "relu", "--build-only"]])
def test_build_only(machine, arguments):
    machine.add("nvcc")
    done = machine.call("run.sh", *arguments)
    assert (done.returncode, built(machine), machine.calls("measured")) == (0, ["cuda"], []), done.stderr
    assert "measured nothing" in done.stderr.splitlines()[-1]


def test_help_names_build_only(machine):
    done = machine.call("run.sh", "--help")
    assert done.returncode == 0 and "--build-only" in done.stdout and machine.calls("") == []


NO_PYTHON = {
    "none": None,
    "old": "",
    "without numpy": DRAWS.replace("numpy", ""),
    "without the module venv": "python",
    "without python3-venv": "python venv tomllib",
}


@pytest.mark.parametrize("kind", NO_PYTHON)
def test_measuring_needs_no_python_and_the_last_line_draws_later(machine, kind):
    (machine.tools / "python3").unlink()
    if NO_PYTHON[kind] is not None:
        machine.add_python(packages=NO_PYTHON[kind])
    done = machine.call("run.sh")
    assert done.returncode == 3 and machine.calls("measured"), done.stderr
    assert not figures(machine)
    warning = done.stderr.splitlines()[-1]
    assert warning.startswith("run.sh: measured, but not drawn")
    line = warning.split("this draws later: ")[1]
    machine.add_python()  # somebody installs it, or loads a module
    environment = {"PATH": str(machine.tools), "HOME": str(machine.folder)}
    subprocess.run(["bash", "-c", line], cwd=machine.root, env=environment, check=True, capture_output=True)
    assert figures(machine)


def test_the_line_that_draws_later_works_from_another_folder(machine):
    machine.add_python(packages="python")
    environment = {"PATH": str(machine.tools), "HOME": str(machine.folder), "LC_ALL": "C.UTF-8"}
    command = [machine.root / "scripts/run.sh"]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, encoding="utf-8")
    words = shlex.split(done.stderr.splitlines()[-1].split("this draws later: ")[1])
    folder = str(machine.root)
    assert words == [f"{folder}/scripts/setup.sh", "&&", f"{folder}/scripts/python.sh", "-m", "ridgebench", "plot", f"{folder}/results/local/1"]


def test_a_run_that_measured_nothing_is_not_drawn(machine):
    machine.add_file(machine.folder / "program", "#!/bin/sh\nexit 2\n")
    done = machine.call("run.sh", "--nonsense")
    assert done.returncode == 2 and "drawn" not in done.stderr


def test_a_build_that_fails_ends_with_8(machine):
    machine.add("cmake", '[ "$1" = --version ] && echo cmake version 3.25.1')
    done = machine.call("run.sh")
    assert done.returncode == 8 and machine.calls("measured") == []


WAITS = """#!/bin/sh
[ "$1" != list ] || exit 0
trap 'echo "measured: kept" >>{log}; exit 3' TERM
trap '' INT
touch {log}.began
while :; do sleep 0.01; done
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda number: number.name)
def test_a_signal_to_the_script_ends_the_run(machine, number):
    machine.add("sleep", "exec " + shutil.which("sleep") + ' "$@"')
    machine.add("setpriv", "exec " + shutil.which("setpriv") + ' "$@"')
    assert machine.call("run.sh", "--build-only").returncode == 0
    machine.add_file(machine.root / "build/release/ridgebench", WAITS.format(log=machine.log))
    with machine.begin("run.sh", "--device", "cpu") as process:
        wait_until(machine.log.with_name("log.began").exists, process)
        process.send_signal(number)
        _, said = process.communicate()
    wait_until(lambda: machine.calls("measured") == ["measured: kept"])
    assert process.returncode == (-number if number == signal.SIGKILL else 3)
    assert "run.sh" not in said, "the run has its own word"
