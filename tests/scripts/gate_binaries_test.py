"""The gate through the whole command line: two binaries in turn on the simulated device.

Error rates in numbers, and machines that misbehave, are in tests/roofline/ridgebench/judge; here a machine is
simulated once.
"""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from command_line import BINARY, ROOT, environment, records, wait_until

GATE = [ROOT / "scripts" / "python.sh", "-m", "ridgebench", "gate"]
ROWS = ("relu/naive/(fp32|fp16|bf16)/", 3)  # a filter, and how many rows it lets pass
# Rows differ from process to process by 0.2 %, which the seed decides. Within a process samples differ much less,
# because their number, and with it their median, depends on the speed of the host.
MACHINE = "gap=1e-9,row=0.002,noise=0.0001"
# Every process gets the next seed, and with it noise of its own; `drift` grows with every process.
WRAPPER = """#!/bin/sh
n=$(($(cat {count}) + 1))
echo $n >{count}
slow=$(awk "BEGIN {{ print {slow} * (1 + {drift} * $n / 80) }}")
exec {binary} "$@" --device "sim:{machine},seed=$n,slow=$slow" {more}
"""


class Bench:
    """Two binaries in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "session"
        (folder / "count").write_text("0")

    def binary(self, name: str, machine: str = MACHINE, slow=1.0, drift=0.0, more="") -> Path:
        path = self.folder / name
        parts = {"count": self.folder / "count", "binary": BINARY, "machine": machine}
        path.write_text(WRAPPER.format(slow=slow, drift=drift, more=more, **parts))
        path.chmod(0o755)
        return path

    def command(self, first: Path, second: Path, *arguments) -> list:
        given = [*both(first, second), "--out", self.out]
        chosen = ["--filter", ROWS[0], "--json", self.folder / "report.json"]
        return [*GATE, *given, *chosen, *arguments, "--", "--budget", "0.02"]

    def run(self, *arguments) -> tuple[int, dict]:
        done = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, env=variables()
        )
        assert "Traceback" not in done.stderr
        self.stdout, self.stderr = done.stdout, done.stderr
        path = self.folder / "report.json"
        return done.returncode, json.loads(path.read_text()) if path.exists() else {}


def both(first, second) -> list[str]:
    return ["--reader", "ridgebench", "--baseline", f"{first} run", "--candidate", f"{second} run"]


def variables() -> dict[str, str]:
    return environment(PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")


def verdicts(report: dict) -> set[str]:
    return {row["verdict"] for row in report["rows"]}


@pytest.fixture(name="bench")
def bench_fixture(tmp_path):
    return Bench(tmp_path)


def test_the_same_code_is_the_same(bench):
    code, report = bench.run(bench.binary("a"), bench.binary("b"))
    assert code == 0
    assert verdicts(report) == {"SAME"} and len(report["rows"]) == ROWS[1]


def test_a_loss_must_go_red(bench):
    drift, slow = 0.03, 1.05
    sides = bench.binary("a", drift=drift), bench.binary("b", slow=slow, drift=drift)
    code, report = bench.run(*sides)
    assert code == 4
    assert verdicts(report) == {"WORSE"} and len(report["rows"]) == ROWS[1]
    for row in report["rows"]:
        assert abs(row["change"] - (slow - 1)) < row["high"] - row["low"], "twice as far as the interval reaches"
    assert f"{ROWS[1]} rows: {ROWS[1]} WORSE" in bench.stdout


def test_heat_that_struck_one_arm_forbids_a_verdict_and_a_power_cap_does_not(bench):
    hot = bench.binary("hot", machine=f"{MACHINE},throttle=0.05")
    code, report = bench.run(bench.binary("a"), hot)
    assert (code, verdicts(report)) == (5, {"NOT_COMPARABLE"})
    assert "hw_thermal_slowdown struck the candidate" in report["rows"][0]["reason"]


def test_cycles_distinguish_a_power_cap_from_the_code(bench):
    capped = bench.binary("capped", machine=f"{MACHINE},cap=0.05")
    code, report = bench.run(bench.binary("a"), capped)
    assert (code, verdicts(report)) == (4, {"WORSE"})
    assert {row["cycles"]["verdict"] for row in report["rows"]} == {"SAME"}


@pytest.mark.parametrize(
    ("machine", "more", "key"),
    [(MACHINE, "--fill zeros", "fill"), (MACHINE, "--no-early", "early_launches"), (f"{MACHINE},power_limit=350", "", "power_limit_w")],
)
def test_what_must_agree_ends_the_session_after_one_pair(machine, more, key, bench):
    code, _ = bench.run(bench.binary("a"), bench.binary("b", machine=machine, more=more))
    assert code == 5
    assert f"gate: NOT_COMPARABLE: {key}: " in bench.stderr
    assert sorted(path.name for path in bench.out.iterdir() if path.is_dir()) == [
        "01-baseline", "01-candidate", "reference"
    ]


def test_what_leaves_a_part_of_the_device_idle_is_not_gated(bench):
    machine = f"{MACHINE},busy=0.5"
    code, report = bench.run(bench.binary("a", machine), bench.binary("b", machine, slow=1.05))
    assert (code, verdicts(report)) == (3, {"NOT_GATED"}), "nothing was judged"
    assert report["rows"][0]["reason"] == "less than one wave of thread blocks"


def test_a_session_that_is_killed_is_resumed_and_loses_no_finished_pair(bench):
    sides = bench.binary("a"), bench.binary("b")
    with subprocess.Popen(
        bench.command(*sides), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=variables(),
    ) as process:
        wait_until((bench.out / "04-baseline").exists, process)
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate()
    assert process.returncode == 3 and "--resume" in stderr.splitlines()[-1]
    before = records(bench.out / "02-candidate")
    told = [*GATE, "--resume", bench.out, "--json", bench.folder / "report.json"]
    done = subprocess.run(
        told, capture_output=True, text=True, check=False, env=variables()
    )
    assert done.returncode == 0, done.stderr
    assert records(bench.out / "02-candidate") == before
    assert json.loads((bench.out / "session.json").read_text())["pairs"] == 10


def test_turns_of_samples_leave_the_verdict_as_it_is(bench):
    """On the simulated device, where a batch's time is known; on a host they are the default."""
    slow = bench.binary("b", slow=1.05)
    code, report = bench.run(bench.binary("a"), slow, "--turns", "samples")
    assert (code, verdicts(report)) == (4, {"WORSE"})
    arms = ("01-baseline", "01-candidate")
    both = [json.loads((bench.out / arm / "environment.json").read_text()) for arm in arms]
    assert all("--take-turns" in environment["command_line"] for environment in both)
    started, ended = ([environment[key] for environment in both] for key in ("started", "ended"))
    assert max(started) <= min(ended), "both ran at the same time"


def host_session(bench, **options) -> subprocess.Popen:
    command = [*GATE, *both(BINARY, BINARY), "--out", bench.out]
    command += ["--filter", "^matmul/naive/fp32/", "--", "--device", "cpu", "--budget", "0.3"]
    return subprocess.Popen(command, env=variables(), **options)


def run_by(folder: Path) -> list[int]:
    """Processes that measure into this folder."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    found = []
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if words[0] == BINARY.encode() and any(str(folder).encode() in word for word in words):
            found.append(pid)
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_session_that_is_killed_leaves_no_stopped_process(number, bench):
    log = bench.folder / "log"
    with log.open("w") as file, host_session(bench, stderr=file, stdout=file) as process:
        wait_until((bench.out / "01-candidate").exists, process)
        assert json.loads((bench.out / "session.json").read_text())["turns"] == "samples"
        assert len(run_by(bench.out)) == 2
        process.send_signal(number)
        process.wait()
    wait_until(lambda: not run_by(bench.out))


def test_a_session_that_was_killed_before_its_first_pair_begins_anew(bench):
    assert bench.run(bench.binary("a"), bench.binary("b", f"{MACHINE},lose=1"))[0] == 7
    assert json.loads((bench.out / "session.json").read_text())["pairs"] == 0
    (bench.out / "reference" / "records.jsonl").write_text("")
    bench.binary("b")
    told = [*GATE, "--resume", bench.out, "--json", bench.folder / "report.json"]
    done = subprocess.run(
        told, capture_output=True, text=True, check=False, env=variables()
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("machine", "code", "said"),
    [(f"{MACHINE},lose=30", 7, "lost"), ("nonsense=1", 2, "nonsense")],
)
def test_a_binary_that_fails(machine, code, said, bench):
    found, _ = bench.run(bench.binary("a"), bench.binary("b", machine=machine))
    assert found == code
    assert said in bench.stderr.splitlines()[-1]


def test_a_first_run_that_did_not_finish_is_no_reference(bench):
    # As the watchdog ends a run: with a row that failed, before the others were measured.
    a = bench.binary("a")
    told = '"interrupted": '
    script = a.read_text().replace("exec ", "")
    script += 'out=$(echo "$@" | sed "s/.*--out //; s/ .*//")\n'
    script += f"sed -i 's/{told}false/{told}true/' \"$out\"/environment.json\n"
    a.write_text(script + "echo 'relu/naive hung' >&2; exit 6\n")
    code, _ = bench.run(a, bench.binary("b"))
    assert code == 6
    assert "did not finish: relu/naive hung" in bench.stderr and bench.stderr.count("\n") == 1


def test_filters_and_arguments_that_are_none(bench, tmp_path):
    a = bench.binary("a")
    for arguments in (["--filter", "["], ["--filter", "nothing at all"]):
        code, _ = bench.run(a, a, *arguments)
        assert code == 2 and bench.stderr.count("\n") == 1
        os.rename(bench.out, tmp_path / f"old{arguments[1][0]}")
    command = [*bench.command(a, a), "--out", "elsewhere"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables())
    assert done.returncode == 2 and "--out is not allowed" in done.stderr


def test_a_report_that_cannot_be_written_is_refused_before_the_measuring(bench):
    (bench.folder / "taken").mkdir()
    told = [*GATE, *both(bench.binary("a"), bench.binary("b"))]
    for path in (bench.folder / "taken", bench.folder / "nowhere" / "x.json"):
        done = subprocess.run([*map(str, told), "--json", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert f"{path}: " in done.stderr and "allowed: a file" in done.stderr
