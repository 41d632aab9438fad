#!/usr/bin/env python3
"""Ends commands by signals at random times, and looks for what they leave. Prints a table.

    scripts/try/signals.py [CASE...] [--program FILE] [--times 20] [--seed 1]

--program is `ridgebench_with_simulation` of a build with tests (default build/release/tests). Each case runs once to its
end, and then under SIGINT, SIGTERM, SIGHUP and SIGKILL, sent in turn to the process alone and to its group at random times
of its duration. A try passes if the exit code is one of docs/commands.md, each process says an interruption in one line,
no process is left, and every file is whole or absent. `early`: the signal came before the program's first instruction.
Exit codes: 0, 2 usage, 6 a try failed.
"""

import argparse
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, Optional

from whole_files import problems_of

ROOT = Path(__file__).resolve().parents[2]
MARK = "RIDGEBENCH_TRIAL"  # a variable that every process of a try inherits
DOCUMENTED = range(9)
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE_S = 30.0  # in which processes end after the one that was signalled
START_S = 0.02  # before which the loader may not have begun the program
SIMULATED = ("--device", "sim", "--filter", "(relu|dot)/naive/(fp32|bf16)")  # each row takes a tenth of a second
OWN = ("--device", "sim", "--filter", "^twice/", "--budget", "2")
DUEL = ("naive", "streaming", "--device", "cpu", "--op", "relu", "--format", "fp32", "--shape", "1e5", "--seconds", "0.5",
        "--processes", "4")  # fmt: skip
GATE = ("--reader", "csv", "--pairs", "10", "--baseline", "sh -c 'sleep 0.05; echo name,value; echo a,1'",
        "--candidate", "sh -c 'sleep 0.05; echo name,value; echo a,1'")  # fmt: skip
SOAK = ("soak", "--device", "sim", "--minutes", "0.02", "--format", "bf16", "--memory", "2%")
STEP = ("train", "--layers", "3", "--width", "64", "--batch", "16", "--device", "sim", "--seconds", "1")
IN_PYTHON = ("--device", "sim", "--op", "thrice", "--shape", "1e4", "--budget", "1", "--no-plot")
UNFINISHED = ("interrupted", "no end", "ended", "SHA256SUMS", "holds no row")  # what `verify` says of a run that was interrupted
KERNELS = """
#include "kernels/common/interface/kernel.hpp"
using namespace ridgebench;
namespace {
Operation twice() {
  Operation op = elementwise({.name = "twice", .flops_per_element = 1, .value = [](double x) { return 2 * x; }});
  op.formats = {Format::fp32};
  return op;
}
const RegisterOperation added{twice()};
const Registration own({.operation = "twice", .name = "own", .engine = Engine::memory},
                       [](Queue&, const Shape& s, const float* x, float* y) {
                         return [=, n = s["n"]] { for (std::int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; };
                       });
}  // namespace
"""
PYTHON_KERNEL = """
import numpy as np
import ridgebench

thrice = ridgebench.operation("thrice", "x[n] -> y[n]", lambda x: 3 * x, flops=lambda n: n, formats=["fp32"])

@ridgebench.kernel(thrice)
def own(x, y):
    np.multiply(x, 3, out=y)
"""
SCRIPT = """
import sys

try:
    import ridgebench
    from own import own
    ridgebench.measure(own, "n:10000", device="cpu", out=sys.argv[1], seconds=1)
except KeyboardInterrupt:  # before the run begins
    sys.exit("script: interrupted")
except ridgebench.KernelError as error:
    print(f"script: {error}", file=sys.stderr)
    sys.exit(error.code)
"""
PROBLEM = {
    "name": "scale", "op_type": "scaling", "axes": {"M": {"type": "var"}}, "inputs": {"x": {"shape": ["M"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["M"], "dtype": "float32"}}, "reference": "def run(x):\n    return 2 * x\n"}  # fmt: skip
WORKLOAD = {"uuid": "one", "axes": {"M": 5}, "inputs": {"x": {"type": "random"}}}
BENCH = """#!/bin/sh
sleep 0.02
printf "name,value\\nsum,%s\\n" "$(cat "$(dirname "$0")/cost")"
"""
BENCHMARK = '{"benchmarks": [{"name": "BM/1", "real_time": 5.0, "cpu_time": 5.0, "time_unit": "ns", "iterations": 9}]}'


class Outcome(NamedTuple):
    code: int
    said: str  # on stderr
    left: list[int]  # processes
    early: bool


class Trial:
    """Files for the cases: a finished run, a baseline of it, kernels of a user, a file of another tool."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder, self.run = program, folder, folder / "run"
        self.call("run", *SIMULATED, "--budget", "2", "--out", self.run)
        self.call("baseline", "promote", self.run, "--model", "--into", folder / "baselines")
        (folder / "gbench.json").write_text(BENCHMARK)
        gpus = folder / "gpus.json"  # of a simulated node
        gpus.write_text('{"*": ["seed=1", "seed=2"]}')
        os.environ["RIDGEBENCH_SIMULATED_GPUS"] = str(gpus)
        (folder / "own.cpp").write_text(KERNELS)
        compiler = [os.environ.get("CXX", "g++"), "-std=c++20", "-shared", "-fPIC", "-O1", f"-I{ROOT}"]
        subprocess.run([*compiler, folder / "own.cpp", "-o", folder / "libown.so"], check=True)
        (folder / "own.py").write_text(PYTHON_KERNEL)
        (folder / "script.py").write_text(SCRIPT)
        (folder / "problem").mkdir()
        (folder / "problem/definition.json").write_text(json.dumps(PROBLEM))
        (folder / "problem/workload.jsonl").write_text(json.dumps(WORKLOAD) + "\n")
        commit_four(folder / "repository")
        (folder / "fleet").mkdir()
        for node in range(3):
            shutil.copytree(self.run, folder / "fleet" / f"node{node}")

    def call(self, *words: object) -> None:
        subprocess.run([self.program, *map(str, words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def cases(self, out: Path) -> dict[str, list]:
        """The words of each case, whose files go to `out`."""
        run, check = [self.program, "run"], ROOT / "scripts/gpu_check.sh"
        baseline = next((self.folder / "baselines").rglob("*.jsonl"))
        return {
            "run": [*run, *SIMULATED, "--budget", "2", "--out", out / "run", "--junit", out / "junit.xml",
                    f"--benchmark_out={out / 'gb.json'}"],
            "run --load": [*run, f"--load={self.folder / 'libown.so'}", *OWN, "--out", out / "run"],
            "run --concurrent": [*run, "--concurrent", "--filter", "^relu/naive/(fp32|bf16)/", "--budget", "4", "--out", out / "node"],
            "run --load PYTHON": [*run, f"--load={self.folder / 'own.py'}:own", *IN_PYTHON, "--out", out / "run"],
            "script of kernels": ["env", f"RIDGEBENCH_LIBRARY={self.program.parents[1] / 'libridgebench.so'}",
                                  ROOT / "scripts/python.sh", self.folder / "script.py", out / "run"],
            "soak": [self.program, *SOAK, "--out", out / "soak"],
            "step": [self.program, "step", *STEP, "--out", out / "step"],
            "duel": [self.program, "duel", *DUEL, "--out", out / "duel"],
            "gate": [self.program, "gate", *GATE, "--out", out / "session", "--junit", out / "gate.xml", "--json", out / "gate.json"],
            "gate bisect": ["env", f"GIT_DIR={self.folder / 'repository/.git'}", self.program, "gate", "bisect", "HEAD~3..HEAD",
                            "--reader", "csv", "--out", out / "search", "--", "sleep", "0.05", "--", "./bench"],
            "baseline check --run": [self.program, "baseline", "check", baseline, "--run", "--device", "sim", "--budget", "2",
                                     "--out", out / "check", "--json", out / "check.json"],
            "baseline promote": [self.program, "baseline", "promote", self.run, "--model", "--into", out / "baselines"],
            "plot": [self.program, "plot", self.run, "--out", out / "figures"],
            "slides": [self.program, "slides", self.run, "--out", out / "slides"],
            "report": [self.program, "report", self.run, "--out", out / "report.html"],
            "fleet report": [self.program, "fleet", "report", self.folder / "fleet", "--out", out / "report"],
            "fleet collect": [self.program, "fleet", "collect", out / "fleet"],
            "export": [self.program, "export", self.run, "--csv", "--out", out / "rows.csv"],
            "import": [self.program, "import", "gbench", self.folder / "gbench.json", "--format", "fp32", "--out", out / "imported"],
            "import problem": [self.program, "import", "problem", self.folder / "problem", "--out", out / "problem"],
            "doctor": [self.program, "doctor", "--json"],
            "gpu_check.sh": ["env", f"WORK={out / 'work'}", f"OUT={out / 'out'}", f"PREBUILT={self.program.parent}", check,
                             "right", "--rehearse", "--stages", "machine,smoke,ceilings"],
        }  # fmt: skip


def commit_four(folder: Path) -> None:
    """Makes a repository of four commits, of which the third is slower."""
    git = ["git", "-C", str(folder), "-c", "user.name=trial", "-c", "user.email=trial@example.org"]
    folder.mkdir()
    subprocess.run([*git, "init", "-q"], check=True)
    (folder / "bench").write_text(BENCH)
    (folder / "bench").chmod(0o755)
    for number, cost in enumerate(("1.00", "1.001", "1.1", "1.11")):
        (folder / "cost").write_text(cost)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", f"change {number}"], check=True)


def marked(mark: str) -> list[int]:
    """The processes of a try that run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except (OSError, ValueError):
            continue
    return found


def attempt(words: list, number: Optional[int], after_s: float, to_group: bool) -> tuple[Outcome, float]:
    """Runs a command, and sends it a signal after these seconds; returns how it ended, and its seconds."""
    mark = f"{os.getpid()}-{random.getrandbits(64):x}"
    variables = os.environ | {MARK: mark}
    how = {"start_new_session": True, "env": variables, "stdin": subprocess.DEVNULL, "encoding": "utf-8", "errors": "replace"}
    began = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=said, **how) as process:
            if number is not None:
                try:
                    process.wait(after_s)
                except subprocess.TimeoutExpired:
                    (os.killpg if to_group else os.kill)(process.pid, number)
            code = process.wait()
        took = time.monotonic() - began
        while (left := marked(mark)) and time.monotonic() - began - took < PATIENCE_S:
            time.sleep(0.05)
        for one in left:
            os.kill(one, signal.SIGKILL)
        said.seek(0)
        text = said.read()
    return Outcome(code, text, left, number in ENDING and code == -number and not text and after_s < 0.5), took


def judge(outcome: Outcome, number: int, out: Path, program: Path) -> list[str]:
    """The fault of a try."""
    wrong = [f"{len(outcome.left)} processes left"] if outcome.left else []
    lines = [line for line in outcome.said.splitlines() if "interrupted" in line]
    if number == signal.SIGKILL:
        if outcome.code not in (-number, *DOCUMENTED):
            wrong.append(f"exit code {outcome.code}")
    elif not outcome.early:
        if outcome.code not in DOCUMENTED or outcome.code == 8:
            wrong.append(f"exit code {outcome.code}")
        if len({line.split(":")[0] for line in lines}) < len(lines) or "Traceback" in outcome.said:
            wrong.append(f"said {outcome.said!r}"[:300])
        finished = "results: " in outcome.said or "session: " in outcome.said  # undecided, before the signal came
        if outcome.code == 3 and not lines and not finished:
            wrong.append("ended with 3 without a word")
    wrong += problems_of(out, number == signal.SIGKILL)
    for path in out.rglob("records.jsonl"):
        done = subprocess.run([program, "verify", path.parent], capture_output=True, text=True, check=False)
        unsound = [line for line in done.stderr.splitlines() if not any(word in line for word in UNFINISHED)]
        if done.returncode not in (0, 2, 6) or (path.parent / "environment.json").exists() and unsound:
            wrong.append(f"verify ended with {done.returncode}: {unsound}"[:300])
    return wrong


def try_case(trial: Trial, name: str, times: int, seed: int) -> list[str]:
    """Tries all signals on a case; prints its line of the table, and returns what went wrong."""
    out = trial.folder / "out"
    chance = random.Random(f"{seed} {name}")
    prepare(trial, out)
    outcome, seconds = attempt(trial.cases(out)[name], None, 0, False)
    faults = [f"{name}: undisturbed: {fault}" for fault in problems_of(out, False)]
    if outcome.code not in (0, 3, 5, 6):  # a row or a comparison may be undecided, or a verdict
        faults.append(f"{name}: undisturbed: exit code {outcome.code}: {outcome.said[-300:]}")
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr, flush=True)
    cells, early = [], 0
    for number in (*ENDING, signal.SIGKILL):
        passed = 0
        for turn in range(times):
            prepare(trial, out)
            after_s = chance.uniform(START_S, seconds)
            outcome, _ = attempt(trial.cases(out)[name], number, after_s, turn % 2 == 1)
            early += outcome.early
            wrong = judge(outcome, number, out, trial.program)
            passed += not wrong
            where = "its group" if turn % 2 else "the process"
            for one in wrong:
                faults.append(f"{name}: {signal.Signals(number).name} to {where} after {after_s:.2f} s: {one}")
                print(faults[-1], file=sys.stderr, flush=True)
        cells.append(f"{passed} of {times}")
    print(f"| {name} | {seconds:.1f} | {' | '.join(cells)} | {early} |", flush=True)
    return faults


def prepare(trial: Trial, out: Path) -> None:
    """Makes the folder of a try, with a fleet in it, whose files are written there."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(trial.folder / "fleet", out / "fleet")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/tests/ridgebench_with_simulation")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not options.program.is_file():
        parser.error(f"{options.program} is missing; scripts/build.sh release -DRIDGEBENCH_TESTS=ON makes it")
    os.environ["OMP_WAIT_POLICY"] = "passive"
    for number in ENDING:  # a shell's background job and nohup ignore some, and so would the programs
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(options.program.resolve(), Path(folder))
        known = trial.cases(Path(folder))
        if unknown := [name for name in options.cases if name not in known]:
            parser.error(f"unknown case {shlex.join(unknown)}; allowed: {', '.join(known)}")
        print("| case | seconds | SIGINT | SIGTERM | SIGHUP | SIGKILL | early |\n|---|---:|---|---|---|---|---:|", flush=True)
        faults = [fault for name in options.cases or known for fault in try_case(trial, name, options.times, options.seed)]
    return 6 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
