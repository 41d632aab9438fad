"""scripts/contrib: the check of a node, and what Slurm, Node Health Check and the node exporter make of its answer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import BINARY, ROOT, environment, ridgebench

CONTRIB = ROOT / "scripts" / "contrib"
OK, WARNING, CRITICAL, UNKNOWN = range(4)
ENDS = ("OK: ", "WARNING: ", "CRITICAL: ", "UNKNOWN: ")
READY = "ready to measure 8 GPUs, with 1 warning"
# A program whose doctor and whose check end as the variables say; it notes its calls.
PROGRAM = """#!/bin/bash
echo "$*" >>"$CALLS"
case $1 in
  doctor) echo 'gpu  ok  a GPU'; echo "$VERDICT"; exit "${DOCTOR:-0}" ;;
  baseline) echo 'WORSE    dram_copy@cuda:3   +9 %'; echo '15 rows: 1 WORSE, 14 SAME'; exit "${CHECK:-0}" ;;
esac
"""


@pytest.fixture(name="node")
def node_fixture(tmp_path):
    return Node(tmp_path)


class Node:
    """A machine whose program is PROGRAM, and whose scontrol notes what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "calls").touch()
        self.add("ridgebench", PROGRAM)
        self.add("scontrol", '#!/bin/bash\necho "scontrol $*" >>"$CALLS"\n[[ $1 != show ]] || echo "${NODE:-}"\n')
        self.settings = folder / "node.conf"
        self.settings.write_text(f"gpus=8\npath={folder}\n")

    def add(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def run(self, *command, **variables) -> subprocess.CompletedProcess:
        told = {"CALLS": self.folder / "calls", "VERDICT": READY, "RIDGEBENCH": self.folder / "ridgebench"}
        told |= {"RIDGEBENCH_NODE_SETTINGS": self.settings, "SLURMD_NODENAME": "gn7"}
        told |= {"RIDGEBENCH_NODE_STATE": self.folder / "state" / "gpus"} | variables
        env = environment(**{key: str(value) for key, value in told.items()})
        return subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, check=False)

    def check(self, *arguments, **variables) -> tuple[int, str]:
        """The code of node_check.sh and its line, which begins with the code's word."""
        done = self.run(CONTRIB / "node_check.sh", *arguments, **variables)
        assert done.stderr == "" and done.stdout.count("\n") == 1 and done.stdout.startswith(ENDS[done.returncode])
        return done.returncode, done.stdout

    def calls(self, begin: str) -> list[str]:
        return [line for line in (self.folder / "calls").read_text().splitlines() if line.startswith(begin)]


@pytest.mark.parametrize(("doctor", "code"), [(0, OK), (7, CRITICAL), (2, UNKNOWN), (8, UNKNOWN), (124, UNKNOWN), (139, UNKNOWN)])
def test_only_a_gpu_that_cannot_be_used_is_critical(node, doctor, code):
    found, line = node.check("--gpus", "8", DOCTOR=doctor)
    assert found == code and READY in line
    assert node.calls("baseline") == []


def test_a_gpu_that_is_absent_is_critical(node):
    verdict = "GPU nvidia-smi:1 cannot be used: the GPU fell off the bus; ready to measure 7 GPUs"
    assert node.check("--gpus", "8", VERDICT=verdict) == (CRITICAL, f"CRITICAL: 7 of 8 GPUs: {verdict}\n")
    assert node.check("--gpus", "8", VERDICT="no NVIDIA GPU: the host will be measured")[0] == CRITICAL
    assert node.check("--gpus", "0", VERDICT="no NVIDIA GPU: the host will be measured")[0] == OK


SEVEN, NONE = "ready to measure 7 GPUs", "no NVIDIA GPU: the host will be measured"


def test_a_call_remembers_how_many_gpus_it_saw(node):
    state = node.folder / "state" / "gpus"
    assert node.check(VERDICT=SEVEN) == (OK, f"OK: {SEVEN}; {state} remembers 7 GPUs\n")
    assert node.check(VERDICT=SEVEN) == (OK, f"OK: {SEVEN}\n")
    assert node.check() == (OK, f"OK: {READY}; {state} remembers 8 GPUs\n"), "one more is the new number"
    for verdict, ready in ((SEVEN, 7), (NONE, 0)):
        assert node.check(VERDICT=verdict) == (CRITICAL, f"CRITICAL: {ready} of 8 GPUs (seen before: {state}): {verdict}\n")
    assert node.check("--gpus", "7", VERDICT=SEVEN)[0] == OK and state.read_text() == "8\n"
    state.unlink()
    assert node.check(VERDICT=SEVEN)[0] == OK


@pytest.mark.parametrize(("variables", "code"), [
    ({"SLURM_GPUS_ON_NODE": "8"}, CRITICAL), ({"SLURM_GPUS_ON_NODE": "2"}, OK),
    ({"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"}, CRITICAL), ({"CUDA_VISIBLE_DEVICES": "3,4"}, OK),
])
def test_in_a_job_its_own_gpus_count(variables, code, node):
    assert node.check(VERDICT=SEVEN, **variables)[0] == code
    assert not (node.folder / "state").exists()


@pytest.mark.parametrize("text", ["", "many"])
def test_a_number_that_cannot_be_known_is_unknown(text, node):
    """A folder where the file should be cannot be replaced, whoever the user is."""
    state = node.folder / "state" / "gpus"
    (state / "in the way").mkdir(parents=True)
    (node.folder / "state" / "gpus.new").mkdir()
    code, line = node.check()
    assert code == UNKNOWN and "--gpus N" in line and READY in line
    file = node.folder / "other"
    file.write_text(text)
    assert node.check(RIDGEBENCH_NODE_STATE=file)[0] == OK and file.read_text() == "8\n", "what is not a number is replaced"


@pytest.mark.parametrize(
    ("check", "code"), [(0, OK), (2, UNKNOWN), (3, UNKNOWN), (4, WARNING), (5, UNKNOWN), (6, CRITICAL), (7, CRITICAL), (8, UNKNOWN)]
)
def test_the_code_of_a_measured_check(node, check, code):
    found, line = node.check("--baseline", "a file.jsonl", "--rows", "^dram", "--", "--budget", "9", CHECK=check)
    assert found == code and "15 rows: 1 WORSE, 14 SAME" in line
    [call] = node.calls("baseline")
    assert call.startswith("baseline check a file.jsonl --run --filter ^dram --out /") and call.endswith(" --budget 9")


def test_a_warning_names_the_worst_row(node):
    assert "WORSE dram_copy@cuda:3 +9 %" in node.check("--baseline", "b.jsonl", CHECK=4)[1]


@pytest.mark.parametrize("arguments", [["--gpus"], ["--gpus", "x"], ["--timeout", "-1"], ["--frobnicate", "1"], ["8"]])
def test_a_usage_error_is_never_critical(node, arguments):
    assert node.check(*arguments)[0] == UNKNOWN


@pytest.mark.parametrize(("option", "value", "allowed"), [("--gpus", "x", "8"), ("--timeout", "-1", "20")])
def test_a_usage_error_names_the_option_that_is_wrong(node, option, value, allowed):
    assert node.check(option, value)[1] == f"UNKNOWN: {option} '{value}' is not a whole number; allowed: {allowed}\n"


def test_a_program_that_is_absent_is_never_critical(node):
    assert node.check(RIDGEBENCH=node.folder / "none")[0] == UNKNOWN


SLURM = CONTRIB / "slurm" / "check_node.sh"


def test_slurm_drains_a_node_that_is_critical_twice(node):
    assert node.run(SLURM, DOCTOR=7).returncode == 1
    assert len(node.calls("doctor")) == 2
    [call] = node.calls("scontrol")
    assert call.startswith(f"scontrol update NodeName=gn7 State=DRAIN Reason=ridgebench: CRITICAL: {READY}")


@pytest.mark.parametrize("variables", [{}, {"DOCTOR": 2}, {"DOCTOR": 8}, {"DOCTOR": 139}, {"RIDGEBENCH": "/none"}])
def test_slurm_keeps_a_node_that_is_not_critical(node, variables):
    assert (node.run(SLURM, **variables).returncode, node.calls("scontrol")) == (0, [])


@pytest.mark.parametrize("settings", ["gpus=many", "gpus=", "check=/none", "if", "gpus", "exit 3"])
def test_a_mistake_in_the_settings_never_drains(node, settings):
    node.settings.write_text(settings + "\n")
    assert (node.run(SLURM).returncode, node.calls("scontrol update")) == (0, [])


GRES = "NodeName=gn7 Arch=x86_64 CPUTot=96 Gres={} NodeAddr=gn7 State=IDLE"


@pytest.mark.parametrize(("gres", "code"), [
    ("gpu:h100:8(S:0-1)", 1), ("gpu:8", 1), ("gpu:h100:no_consume:8", 1), ("nic:2,gpu:h100:8", 1), ("gpu:h100:7", 0), ("(null)", 0),
])
def test_slurm_tells_how_many_gpus_a_node_should_have(node, gres, code):
    node.settings.write_text(f"path={node.folder}\n")
    assert node.run(SLURM, VERDICT=SEVEN, NODE=GRES.format(gres), SLURM_GPUS_ON_NODE="2").returncode == code
    assert "scontrol show node -o gn7" in node.calls("scontrol show")
    assert bool(node.calls("scontrol update")) == bool(code)


def test_without_gres_slurm_goes_by_the_number_that_was_seen(node):
    node.settings.write_text(f"path={node.folder}\n")
    assert node.run(SLURM).returncode == 0
    assert node.run(SLURM, VERDICT=SEVEN).returncode == 1
    assert "7 of 8 GPUs" in node.calls("scontrol update")[0]


def test_a_node_that_is_critical_once_is_kept(node):
    node.add("ridgebench", PROGRAM.replace("exit \"${DOCTOR:-0}\"", 'exit "$([[ $(wc -l <"$CALLS") -gt 1 ]] || echo 7)"'))
    assert (node.run(SLURM).returncode, len(node.calls("doctor")), node.calls("scontrol")) == (0, 2, [])


def test_the_drain_can_be_switched_off(node):
    node.settings.write_text(node.settings.read_text() + "drain=no\n")
    assert (node.run(SLURM, DOCTOR=7).returncode, node.calls("scontrol")) == (0, [])


NHC = """die() { echo "DIED $*"; }; log() { echo "LOG $*"; }; source "$1"; shift; check_ridgebench "$@"; echo "RETURNED $?" """


@pytest.mark.parametrize(("doctor", "said", "returned"), [(0, "", 0), (2, "LOG check_ridgebench:  UNKNOWN", 0), (7, "DIED 1 check_ridgebench:  CRITICAL", 1)])
def test_node_health_check_fails_on_critical_alone(node, doctor, said, returned):
    done = node.run("bash", "-uc", NHC, "nhc", CONTRIB / "nhc/ridgebench.nhc", "--gpus", "8",
                    RIDGEBENCH_NODE_CHECK=CONTRIB / "node_check.sh", DOCTOR=doctor)
    assert done.stdout.startswith(said) and done.stdout.endswith(f"RETURNED {returned}\n") and done.stderr == ""


def test_a_simulated_device_is_checked_against_its_baseline(node, tmp_path):
    chosen = ("--filter", "^(dram_copy|fma_peak)/", "--budget", "1")
    for seed in (1, 2):
        assert ridgebench("run", "--device", f"sim:seed={seed}", *chosen, "--out", tmp_path / str(seed)).returncode == 0
    assert ridgebench("baseline", "promote", "--model", tmp_path / "1", tmp_path / "2", "--into", tmp_path / "into").returncode == 0
    [path] = (tmp_path / "into").rglob("*.jsonl")
    node.add("ridgebench", f'#!/bin/bash\n[[ $1 == doctor ]] && echo "$VERDICT" && exit\nexec {BINARY} "$@"\n')
    common = ("--gpus", "8", "--baseline", path, "--", "--budget", "1", "--device")
    assert node.check(*common, "sim:seed=3") == (OK, "OK: 2 rows: 2 described\n")
    code, line = node.check(*common, "sim:seed=3,slow=1.3")
    assert code == WARNING and "WORSE" in line
    assert node.check(*common, "sim:lose=1")[0] == CRITICAL


def test_the_textfile_is_replaced_by_a_run_and_kept_without_one(node, tmp_path):
    script, folder = CONTRIB / "node_exporter/textfile.sh", tmp_path / "collector"
    folder.mkdir()
    chosen = ("--budget", "2", "--filter", "^(dram_copy|fma_peak)/", "--device")
    assert node.run(script, folder, *chosen, "sim", RIDGEBENCH=BINARY).returncode == 0
    assert os.listdir(folder) == ["ridgebench.prom"]
    text = (folder / "ridgebench.prom").read_text()
    assert text.count("\nridgebench_row_ok{run=\"node\"") >= 2
    assert node.run(script, folder, *chosen, "sim:lose=1", RIDGEBENCH=BINARY).returncode == 7
    assert (folder / "ridgebench.prom").read_text() == text
    assert node.run(script, tmp_path / "none").returncode == 2


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing():
    scripts = [*CONTRIB.rglob("*.sh"), *CONTRIB.rglob("*.nhc")]
    assert len(scripts) >= 4
    done = subprocess.run(["shellcheck", *scripts], capture_output=True, text=True, check=False)
    assert done.stdout == ""
