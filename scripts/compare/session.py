"""A session: both binaries in turn, one process each, A B B A, so that a slow drift cancels.

A folder holds it: session.json, `reference` (an unscored run of the baseline whose ceilings all
others use) and, for pair i, `i-baseline` and `i-candidate`, results directories all of them.
"""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

from roofline.plot.records import ResultsError, read

from .report import DEVICE_LOST, INTERNAL, ROW_FAILED, UNDECIDED_CODE, USAGE

SCHEMA = "ridgepoint.session/1"
ARMS = ("baseline", "candidate")
OURS = ("--out", "--resume", "--filter", "--dry-run")  # of run's options, those that a session sets


class SessionError(Exception):
    """A process of the session failed; `code` is the exit code that this leads to."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def refuse_own_options(arguments: list[str]) -> None:
    for argument in arguments:
        if argument.split("=")[0] in (*OURS, "--benchmark_filter"):
            raise SessionError(f"after -- {argument} is not allowed: compare.py sets it", USAGE)


def order(pair: int) -> tuple[str, str]:
    """A B in pairs 1, 3, 5...; B A in between."""
    return ARMS if pair % 2 else ARMS[::-1]


def only(ids: list[str]) -> str:
    return f"^(?:{'|'.join(map(re.escape, ids))})$"


@dataclass
class Session:
    folder: Path
    binaries: dict[str, str]
    arguments: list[str]
    filter: Optional[str] = None
    pairs: int = 0

    def save(self) -> None:
        text = {
            "schema": SCHEMA,
            "baseline": self.binaries["baseline"],
            "candidate": self.binaries["candidate"],
            "arguments": self.arguments,
            "filter": self.filter,
            "pairs": self.pairs,
        }
        temporary = self.folder / "session.json.tmp"
        temporary.write_text(json.dumps(text, indent=1) + "\n", "utf-8")
        temporary.replace(self.folder / "session.json")

    @classmethod
    def open(cls, folder: Path) -> "Session":
        path = folder / "session.json"
        try:
            told = json.loads(read(path))
            if told["schema"] != SCHEMA:
                raise ValueError(f"schema is not {SCHEMA}")
            arms = {arm: str(told[arm]) for arm in ARMS}
            return cls(folder, arms, told["arguments"], told["filter"], int(told["pairs"]))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ResultsError(f"{path}: not a session: {error!r}"[:300]) from None

    def run_folder(self, pair: int, arm: str) -> Path:
        return self.folder / f"{pair:02}-{arm}"

    def measure(self, arm: str, folder: Path, extra: list[str]) -> None:
        command = [self.binaries[arm], "run", "--out", str(folder), *self.arguments, *extra]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, errors="replace",
            )
        except OSError as error:
            raise SessionError(f"cannot run {command[0]}: {error.strerror}", USAGE) from None
        try:
            _, stderr = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        if process.returncode not in (0, ROW_FAILED):
            raise SessionError(*self.failure(arm, process.returncode, stderr))

    def failure(self, arm: str, code: int, stderr: str) -> tuple[str, int]:
        last = (stderr.strip().splitlines() or ["no message"])[-1]
        known = code if code in (USAGE, UNDECIDED_CODE, DEVICE_LOST) else INTERNAL
        return f"the {arm} ended with code {code}: {last}", known

    def selection(self, ids: Optional[list[str]]) -> list[str]:
        pattern = only(ids) if ids else self.filter
        return [] if pattern is None else ["--filter", pattern]

    def prepare(self) -> None:
        """The unscored run; it fills caches of files and settles the machine as well."""
        self.folder.mkdir(parents=True)
        self.save()
        self.measure("baseline", self.folder / "reference", self.selection(None))

    def extend(self, pairs: int, ids: Optional[list[str]], told: Callable[[int], None]) -> None:
        """Up to so many pairs in all; of the rows `ids` alone, where they are given."""
        extra = self.selection(ids)
        if not any(a.split("=")[0] == "--ceilings" for a in self.arguments):
            extra += ["--ceilings", str(self.folder / "reference")]
        while self.pairs < pairs:
            told(self.pairs)
            for arm in order(self.pairs + 1):
                self.measure(arm, self.run_folder(self.pairs + 1, arm), extra)
            self.pairs += 1
            self.save()


def listen_for_termination() -> None:
    """SIGTERM ends a session as Ctrl-C does: the running process is ended, finished pairs stay."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def progress(total: int) -> Callable[[int], None]:
    """Tells on a terminal how far the session is."""
    started = time.monotonic()

    def tell(done: int) -> None:
        spent = time.monotonic() - started
        left = f", {spent / done * (total - done):.0f} s left" if done else ""
        if sys.stderr.isatty():
            print(f"\r{done}/{total} pairs{left}   ", end="", file=sys.stderr, flush=True)

    return tell
