"""A session: pairs of processes, one of each binary.

They run one after the other, A B B A, so that a slow drift cancels. On a host, whose neighbours and clocks change
faster than that, both run at once and take turns of a few samples.

A session is a folder: session.json, `reference` (an unscored run of the baseline whose ceilings all others use) and,
for pair i, the results directories `i-baseline` and `i-candidate`.
"""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional

from ridgebench.command_line import DEVICE_LOST, INTERNAL, ROW_FAILED, UNDECIDED, USAGE, CommandError
from ridgebench.records import ResultsError, load_run, read

from .turns import take_turns

SCHEMA = "ridgebench.session/1"
ARMS = ("baseline", "candidate")
# Options of `ridgebench run` that a session sets.
OURS = ("--out", "--resume", "--filter", "--dry-run", "--take-turns")
PROCESS, SAMPLES = "process", "samples"  # what a turn is
# Where processes take turns, a row gets this much more time than it had in the unscored run: coming to a row's first
# sample costs a process about as much, and precision grows with time.
MORE_SECONDS = 1.0


def refuse_own_options(arguments: list[str]) -> None:
    for argument in arguments:
        if argument.split("=")[0] in (*OURS, "--benchmark_filter"):
            raise CommandError(f"after -- {argument} is not allowed: compare sets it", USAGE)


def order(pair: int) -> tuple[str, str]:
    """The arms in the order of a pair: A B in pairs 1, 3, 5 ..., else B A."""
    return ARMS if pair % 2 else ARMS[::-1]


def only(ids: list[str]) -> str:
    return f"^(?:{'|'.join(map(re.escape, ids))})$"


def knows_turns(binary: str) -> bool:
    """Whether `ridgebench run` has --take-turns; older ones do not."""
    help_of = subprocess.run([binary, "run", "--help"], capture_output=True, text=True, check=False)
    return "--take-turns" in help_of.stdout


@dataclass
class Session:
    folder: Path
    binaries: dict[str, str]
    arguments: list[str]
    filter: Optional[str] = None
    pairs: int = 0
    turns: Optional[str] = None  # PROCESS or SAMPLES; None until prepare() knows the device

    def save(self) -> None:
        text = {"schema": SCHEMA, **self.binaries, "arguments": self.arguments}
        text |= {"filter": self.filter, "pairs": self.pairs, "turns": self.turns}
        temporary = self.folder / "session.json.tmp"
        temporary.write_text(json.dumps(text, indent=1) + "\n", "utf-8")
        temporary.replace(self.folder / "session.json")

    @classmethod
    def open(cls, folder: Path) -> "Session":
        path = folder / "session.json"
        try:
            saved = json.loads(read(path))
            if saved["schema"] != SCHEMA:
                raise ValueError(f"schema is not {SCHEMA}")
            arms = {arm: str(saved[arm]) for arm in ARMS}
            parts = saved["arguments"], saved["filter"], int(saved["pairs"]), saved["turns"]
            return cls(folder, arms, *parts)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ResultsError(f"{path}: not a session: {error!r}"[:300]) from None

    def run_folder(self, pair: int, arm: str) -> Path:
        return self.folder / f"{pair:02}-{arm}"

    def start(self, arm: str, folder: Path, extra: list[str], **how: Any) -> subprocess.Popen:
        command = [self.binaries[arm], "run", "--out", str(folder), *self.arguments, *extra]
        with self.errors_of(arm).open("w") as stderr:
            try:
                null = subprocess.DEVNULL
                return subprocess.Popen(command, stdin=null, stdout=null, stderr=stderr, **how)
            except OSError as error:
                raise CommandError(f"cannot run {command[0]}: {error.strerror}", USAGE) from None

    def errors_of(self, arm: str) -> Path:
        return self.folder / f"{arm}.stderr"

    def measure(self, arm: str, folder: Path, extra: list[str]) -> None:
        process = self.start(arm, folder, extra)
        try:
            process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        self.require_success(arm, process.returncode)

    def measure_pair(self, pair: int, extra: list[str]) -> None:
        arms = order(pair)
        folders = [self.run_folder(pair, arm) for arm in arms]
        if self.turns == PROCESS:
            for arm, folder in zip(arms, folders):
                self.measure(arm, folder, extra)
            return
        extra = [*extra, "--take-turns"]
        starts = [partial(self.start, arm, folder, extra) for arm, folder in zip(arms, folders)]
        records = [folder / "records.jsonl" for folder in folders]
        for arm, code in zip(arms, take_turns(starts, records)):
            self.require_success(arm, code)

    def require_success(self, arm: str, code: int) -> None:
        if code in (0, ROW_FAILED):
            return
        known = code if code in (USAGE, UNDECIDED, DEVICE_LOST) else INTERNAL
        raise CommandError(f"the {arm} ended with code {code}: {self.last_words(arm)}", known)

    def last_words(self, arm: str) -> str:
        stderr = self.errors_of(arm).read_text("utf-8", "replace")
        return (stderr.strip().splitlines() or ["no message"])[-1]

    def selection(self, ids: Optional[list[str]]) -> list[str]:
        pattern = only(ids) if ids else self.filter
        return [] if pattern is None else ["--filter", pattern]

    def prepare(self) -> None:
        """Makes the folder and measures the unscored run, which also fills file caches and settles the machine."""
        self.folder.mkdir(parents=True)
        self.save()
        self.measure("baseline", self.reference, self.selection(None))
        if load_run(self.reference).environment["interrupted"]:
            message = f"the first run did not finish: {self.last_words('baseline')}"
            raise CommandError(message, ROW_FAILED)
        if self.turns is None:
            self.turns = self.suitable_turns()
            self.save()

    @property
    def reference(self) -> Path:
        return self.folder / "reference"

    def suitable_turns(self) -> str:
        devices = load_run(self.reference).environment["devices"]
        host = all(device["name"] == "cpu" for device in devices)
        return SAMPLES if host and all(map(knows_turns, self.binaries.values())) else PROCESS

    def given(self, option: str) -> bool:
        return any(argument.split("=")[0] == option for argument in self.arguments)

    def time_for(self, ids: Optional[list[str]]) -> list[str]:
        """The option that limits the time of a process to what these rows, or all rows, need."""
        if self.turns == PROCESS or self.given("--budget"):
            return []
        reference = load_run(self.reference)
        measured = [row for row in reference.rows if row.status == "ok"]
        kernels = [row for row in measured if row.role != "ceiling"] or measured
        seconds = reference.environment["duration_s"] / max(len(measured), 1) + MORE_SECONDS
        return ["--budget", f"{seconds * len(ids or kernels):.1f}"]

    def extend(self, pairs: int, ids: Optional[list[str]], show: Callable[[int], None]) -> None:
        """Measures until the session has this number of pairs; only the rows `ids`, where they are given."""
        extra = self.selection(ids) + self.time_for(ids)
        if not self.given("--ceilings"):
            extra += ["--ceilings", str(self.reference)]
        while self.pairs < pairs:
            show(self.pairs)
            self.measure_pair(self.pairs + 1, extra)
            self.pairs += 1
            self.save()


def listen_for_termination() -> None:
    """Makes SIGTERM end a session as Ctrl-C does: the running process ends, finished pairs stay."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def progress(total: int) -> Callable[[int], None]:
    """A function that shows on a terminal how far the session is."""
    started = time.monotonic()

    def show(done: int) -> None:
        spent = time.monotonic() - started
        left = f", {spent / done * (total - done):.0f} s left" if done else ""
        if sys.stderr.isatty():
            print(f"\r{done}/{total} pairs{left}   ", end="", file=sys.stderr, flush=True)

    return show
