"""A session: pairs of processes, one of each binary.

They run one after the other, A B B A, so that a slow drift cancels. On a host, whose neighbours and clocks change
faster than that, both run at once and take turns of a few samples.

A session is a folder: session.json, `reference` (an unscored run of the baseline whose ceilings all others use) and,
for pair i, the results directories `i-baseline` and `i-candidate`.
"""

import fcntl
import json
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Callable, Optional, TextIO

from ridgebench.command_line import DEVICE_LOST, INTERNAL, ROW_FAILED, UNDECIDED, USAGE, CommandError
from ridgebench.files import ResultsError, parse_json, read, write_at_once
from ridgebench.records import Run, load_run

from .programs import SHELL, death, end, help_of
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


class NothingMatches(CommandError):
    """The filter matches no row of the candidate, though the candidate can run."""


@dataclass
class Session:
    folder: Path
    binaries: dict[str, str]
    arguments: list[str]
    filter: Optional[str] = None
    pairs: int = 0
    turns: Optional[str] = None  # PROCESS or SAMPLES; None until prepare() knows the device
    lock: Optional[TextIO] = field(default=None, repr=False)

    def save(self) -> None:
        text = {"schema": SCHEMA, **self.binaries, "arguments": self.arguments}
        text |= {"filter": self.filter, "pairs": self.pairs, "turns": self.turns}
        write_at_once(self.folder / "session.json", json.dumps(text, indent=1) + "\n")

    def own(self) -> None:
        """Keeps other comparisons out of the folder until this process ends. Raises CommandError."""
        self.lock = (self.folder / "lock").open("a", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(f"{self.folder}: another comparison measures into this session", USAGE) from None
        except OSError:
            pass  # a file system without locks

    @classmethod
    def open(cls, folder: Path) -> "Session":
        path = folder / "session.json"
        saved = parse_json(read(path, "a session of compare"), f"{path}: not a session")
        try:
            if saved["schema"] != SCHEMA:
                raise ValueError(f"schema is not {SCHEMA}")
            arms = {arm: str(saved[arm]) for arm in ARMS}
            arguments, pairs = saved["arguments"], saved["pairs"]
            if type(pairs) is not int or pairs < 0 or not all(isinstance(one, str) for one in arguments):
                raise ValueError("pairs or arguments are not what a session has")
            return cls(folder, arms, arguments, saved["filter"], pairs, saved["turns"])
        except (KeyError, TypeError, ValueError) as error:
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
            end(process)
            raise
        self.require_success(arm, folder, process.returncode)

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
        for arm, folder, code in zip(arms, folders, take_turns(starts, records)):
            self.require_success(arm, folder, code)

    def require_success(self, arm: str, folder: Path, code: int) -> None:
        """Raises CommandError for a process that did not finish: every row of a pair needs both sides."""
        if code in (0, ROW_FAILED):
            return
        if code < 0 or code > SHELL:
            number = -code if code < 0 else code - SHELL
            raise CommandError(f"the {arm} ({self.binaries[arm]}) {death(folder, number)}", ROW_FAILED)
        if code == USAGE and arm == "candidate" and self.only_filter_fails():
            raise NothingMatches(f"the {arm} has no row that the filter matches")
        known = code if code in (USAGE, UNDECIDED, DEVICE_LOST) else INTERNAL
        raise CommandError(f"the {arm} ended with code {code}: {self.last_words(arm)}", known)

    def only_filter_fails(self) -> bool:
        """Whether the candidate can run with the arguments of the session, but not with the filter."""
        command = [self.binaries["candidate"], "run", *self.arguments, "--dry-run"]
        codes = [
            subprocess.run([*command, *more], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode
            for more in ([], self.selection(None))
        ]
        return codes == [0, USAGE]

    def last_words(self, arm: str) -> str:
        stderr = self.errors_of(arm).read_text("utf-8", "replace")
        return (stderr.strip().splitlines() or ["no message"])[-1]

    def selection(self, ids: Optional[list[str]]) -> list[str]:
        pattern = only(ids) if ids else self.filter
        return [] if pattern is None else ["--filter", pattern]

    def create(self) -> bool:
        """Makes the folder and owns it; False if there is one already. Both programs are tried first."""
        for arm in ARMS:
            help_of(self.binaries[arm])
        try:
            self.folder.mkdir(parents=True)
        except FileExistsError:
            return False
        self.own()
        self.save()
        return True

    def prepare(self) -> None:
        """Measures the unscored run, which also fills file caches and settles the machine."""
        shutil.rmtree(self.reference, ignore_errors=True)
        self.measure("baseline", self.reference, self.selection(None))
        if self.reference_run.environment["interrupted"]:
            message = f"the first run did not finish: {self.last_words('baseline')}"
            raise CommandError(message, ROW_FAILED)
        if self.turns is None:
            self.turns = self.suitable_turns()
            self.save()

    @property
    def reference(self) -> Path:
        return self.folder / "reference"

    @cached_property
    def reference_run(self) -> Run:
        return load_run(self.reference)

    def suitable_turns(self) -> str:
        host = all(device["name"] == "cpu" for device in self.reference_run.environment["devices"])
        return SAMPLES if host and all("--take-turns" in help_of(name) for name in self.binaries.values()) else PROCESS

    def given(self, option: str) -> bool:
        return any(argument.split("=")[0] == option for argument in self.arguments)

    def kernels(self) -> list[str]:
        """The rows that the unscored run measured: kernels or, where it has none, ceilings."""
        rows = [row for row in self.reference_run.rows if row.status == "ok"]
        return [row.id for row in rows if row.role == "kernel"] or [row.id for row in rows]

    def time_for(self, ids: Optional[list[str]]) -> list[str]:
        """The option that limits the time of a process to what these rows, or all rows, need."""
        if self.turns == PROCESS or self.given("--budget"):
            return []
        measured = sum(row.status == "ok" for row in self.reference_run.rows)
        seconds = self.seconds_of_reference() / max(measured, 1) + MORE_SECONDS
        return ["--budget", f"{seconds * len(ids or self.kernels()):.1f}"]

    def seconds_of_pair(self) -> float:
        """About what a pair takes; more than that where the unscored run measured ceilings."""
        limited = self.time_for(None)
        return 2 * (float(limited[1]) if limited else self.seconds_of_reference())

    def seconds_of_reference(self) -> float:
        return self.reference_run.environment.get("duration_s") or 0.0

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
