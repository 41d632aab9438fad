"""Compares the instructions that two commands execute on a host. Counts hardly scatter, so that one pair of processes decides.

perf stat counts them in user mode by the processor; where it has no counter, cachegrind of valgrind counts them by simulation. Two
processes of each side show how far the counts of the same command differ, because clocks, random numbers and threads may change them.
"""

import math
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Callable

from ridgebench.base.children import answered
from ridgebench.base.command_line import ROW_FAILED, USAGE, CommandError
from ridgebench.base.text import short

from . import gate
from .limits import Limits
from .programs import require_program
from .report import Comparison, Report
from .session import ARMS

METRIC = "instructions"
_ROW = "process"
_REACH = 3  # times the difference between two processes of a side: a change must exceed a limit by as much
_LARGEST_NOISE = 0.001  # share by which two processes of a side may differ in a verdict
_PERF = ("perf", "stat", "-x,", "-e", "instructions:u")
_CACHEGRIND = ("valgrind", "--quiet", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes")
_SUMMARY = "summary:"
_NOT_COUNTED = "<not"  # supported, counted

_Counter = Callable[[list[str], Path, float], int]


class _NoCounter(Exception):
    """A tool that cannot count here; the text says why."""


def _run(words: list[str], seconds: float) -> None:
    """Raises CommandError for a command that fails."""
    try:
        done = answered(words, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise CommandError(f"{words[0]} did not end within {seconds:g} s (--timeout)", ROW_FAILED) from None
    if done.returncode:
        said = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
        raise CommandError(f"a process under {words[0]} ended with code {done.returncode}: {short(said)}", ROW_FAILED)


def _by_perf(words: list[str], folder: Path, seconds: float) -> int:
    out = folder / "perf"
    _run([*_PERF, "-o", str(out), "--", *words], seconds)
    lines = [line.split(",") for line in out.read_text("utf-8", "replace").splitlines() if METRIC in line and not line.startswith("#")]
    if not lines or any(line[0].startswith(_NOT_COUNTED) for line in lines):
        raise _NoCounter("the processor shows no counter of instructions")
    return sum(int(line[0]) for line in lines)  # a line for each kind of core


def _by_cachegrind(words: list[str], folder: Path, seconds: float) -> int:
    for old in folder.glob("cachegrind.*"):
        old.unlink()
    _run([*_CACHEGRIND, f"--cachegrind-out-file={folder}/cachegrind.%p", *words], seconds)
    found = [line for path in folder.glob("cachegrind.*") for line in path.read_text("utf-8", "replace").splitlines() if line.startswith(_SUMMARY)]
    if not found:
        raise _NoCounter("it wrote no count")
    return sum(int(line[len(_SUMMARY) :].split()[0]) for line in found)  # a file for each process


_TOOLS: dict[str, _Counter] = {"perf": _by_perf, "valgrind": _by_cachegrind}


def _chosen(folder: Path, seconds: float) -> tuple[str, _Counter]:
    """The first tool that counts the instructions of a command that does nothing. Raises CommandError."""
    problems = []
    for name, count in _TOOLS.items():
        if shutil.which(name) is None:
            problems.append(f"{name} is not installed")
            continue
        try:
            if count(["true"], folder, seconds) > 0:
                return name, count
            problems.append(f"{name} counts none")
        except (_NoCounter, CommandError, OSError, ValueError) as error:
            problems.append(f"{name}: {error}")
    raise CommandError(f"--metric {METRIC} needs perf or valgrind: {'; '.join(problems)}", USAGE)


def _verdict(low: float, high: float, preset: gate.Preset) -> str:
    if low > preset.tolerance:
        return gate.WORSE
    if high < -preset.tolerance:
        return gate.BETTER
    return gate.SAME if high < preset.margin else gate.UNDECIDED


def _compared(counts: dict[str, list[int]], preset: gate.Preset) -> Comparison:
    """The row of two counts a side."""
    (first, baseline), (second, candidate) = (counts[arm] for arm in ARMS)
    noise = max(abs(math.log(baseline / first)), abs(math.log(candidate / second)))
    change = math.log(candidate / baseline)
    low, high = (math.expm1(change + sign * _REACH * noise) for sign in (-1, 1))
    row = Comparison(_ROW, gate.UNDECIDED, change=math.expm1(change), beyond_noise=low > 0 or high < 0, pairs=1, spread=noise,
                     baseline_value=float(baseline), candidate_value=float(candidate))
    if noise <= _LARGEST_NOISE:
        row.verdict = _verdict(low, high, preset)
    if noise > _LARGEST_NOISE:
        row.reason = f"two processes of a side differ by {100 * noise:.2f} %; allowed: {100 * _LARGEST_NOISE:g} %, by a command whose work is fixed"
    elif row.verdict == gate.UNDECIDED:
        row.reason = "the change lies between tolerance and margin"
    return row


def compare_instructions(commands: dict[str, list[str]], limits: Limits, seconds: float, say: Callable[[str], None]) -> Report:
    """The report on two commands. Raises CommandError if nothing counts here, or if a command fails."""
    for arm in ARMS:
        require_program(commands[arm][0])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        name, count = _chosen(folder, seconds)
        say(f"{name} counts the instructions of two processes a side")
        counts: dict[str, list[int]] = {arm: [] for arm in ARMS}
        for arm in (*ARMS, *ARMS):
            try:
                counts[arm].append(count(commands[arm], folder, seconds))
            except (_NoCounter, ValueError, OSError) as error:
                raise CommandError(f"the {arm}: {name}: {error}", ROW_FAILED) from None
    row = _compared(counts, limits.of(_ROW))
    preset = limits.of(_ROW)
    tool = "counted by the processor, in user mode" if name == "perf" else "simulated by cachegrind"
    note = (f"WORSE if more than {100 * preset.tolerance:g} % more instructions, SAME if less than {100 * preset.margin:g} % more. "
            "Fewer instructions need not take less time.")
    return Report("interleaved", *(" ".join(commands[arm]) for arm in ARMS), [row], notes=[note], metric=f"{METRIC}, {tool}, lower is better")

