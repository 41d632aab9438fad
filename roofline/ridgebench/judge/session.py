"""A session: pairs of processes, one of each side, and what they measured.

Processes run one after the other, A B B A, so that a slow drift cancels. A session is a folder: session.json,
`reference` (an unscored run of the baseline) and, for pair i, what its processes wrote, `i-baseline` and `i-candidate`.
"""

import fcntl
import shlex
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, ClassVar, NamedTuple, Optional, TextIO

from ridgebench.base.children import end, tied
from ridgebench.base.command_line import ROW_FAILED, USAGE, CommandError
from ridgebench.base.files import malformed, parse_json, read, write_at_once
from ridgebench.base.interruption import held
from ridgebench.base.printers import json_text

from . import gate
from .code.finding import SAME as SAME_CODE
from .report import Comparison

_SCHEMA = "ridgebench.session/3"
ARMS = ("baseline", "candidate")


class Pair(NamedTuple):
    """Results of both processes of a pair: objects with the `environment` and the rows `by_id` of a Run."""

    baseline: Any
    candidate: Any


def order(pair: int) -> tuple[str, str]:
    """The arms in the order of a pair: A B in pairs 1, 3, 5 ..., else B A."""
    return ARMS if pair % 2 else ARMS[::-1]


class NothingMatches(CommandError):
    """The filter matches no row of the candidate, though the candidate can run."""


@dataclass
class Session(ABC):
    """`commands` are the words that start a process of each side; `filter` chooses rows."""

    folder: Path
    commands: dict[str, list[str]]
    filter: Optional[str] = None
    pairs: int = 0
    seconds: float = 0.0  # of a process: that the unscored one took, or that a later one will take
    reader: str = "ridgebench"
    most_pairs: int = gate.LOOKS[-1]  # after which the last look comes
    ends: list[int] = field(default_factory=list)  # pairs after which --minutes ended the measuring: each is a look
    code: Optional[dict[str, list[str]]] = None  # state and reason of each row whose machine code was compared
    lock: Optional[TextIO] = field(default=None, repr=False)
    has_locks: bool = True  # the file system keeps other comparisons out of the folder

    KEYS: ClassVar[tuple[str, ...]] = ("reader", "filter", "pairs", "seconds", "most_pairs", "ends", "code")  # of session.json
    OWN_KEYS: ClassVar[tuple[str, ...]] = ()  # of session.json, only of this kind of session

    @abstractmethod
    def require_programs(self) -> None:
        """Raises CommandError if a side cannot be started."""

    @abstractmethod
    def measure(self, arm: str, folder: Path, ids: Optional[list[str]] = None) -> None:
        """Runs one process that measures the rows `ids`, or all, into a folder. Raises CommandError."""

    @abstractmethod
    def load(self, folder: Path) -> Any:
        """Result of a process: an object with the `environment` and the rows `by_id` of a Run."""

    @abstractmethod
    def differences(self, one: dict, other: dict, allowed: list[str]) -> tuple[list[str], list[str]]:
        """The texts of what forbids to compare two environments, and of other differences."""

    @abstractmethod
    def kernels(self) -> list[str]:
        """The rows that the unscored process measured."""

    @property
    def sides(self) -> tuple[str, str]:
        """Both commands as texts."""
        return tuple(shlex.join(self.commands[arm]) for arm in ARMS)

    @property
    def metric(self) -> Optional[str]:
        """The metric of another program with its direction; None for ridgebench."""
        return None

    @property
    def same(self) -> list[str]:
        """The rows whose machine code is the same on both sides: they are not measured."""
        return [name for name, (state, _) in (self.code or {}).items() if state == SAME_CODE]

    @property
    def gives_up(self) -> bool:
        """True if a row that the last look will hardly decide is not measured on."""
        return True

    def state_values(self, row: Comparison) -> None:
        """Sets the values of both sides if they are not times; the values of a row are in seconds."""

    @property
    def reference(self) -> Path:
        return self.folder / "reference"

    def run_folder(self, pair: int, arm: str) -> Path:
        return self.folder / f"{pair:02}-{arm}"

    def named(self, arm: str, folder: Path) -> str:
        """A process in a message: its side, its pair and its program."""
        pair = folder.name.partition("-")[0]
        which = f" of pair {int(pair)}" if pair.isdecimal() else ", in the first process, which is not scored,"
        return f"the {arm}{which} ({self.commands[arm][0]})"

    def save(self) -> None:
        keys = {key: getattr(self, key) for key in (*self.KEYS, *self.OWN_KEYS)}
        text = {"schema": _SCHEMA} | self.commands | keys
        write_at_once(self.folder / "session.json", json_text(text))

    def own(self) -> None:
        """Keeps other comparisons out of the folder until this process ends. Raises CommandError."""
        self.lock = (self.folder / "lock").open("a", encoding="utf-8")
        # The lock of a gate that was killed is free once the process that it was starting has started.
        for patience in (*[0.05] * 20, None):
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if patience is None:
                    raise CommandError(f"{self.folder}: another comparison measures into this session", USAGE) from None
                time.sleep(patience)
                continue
            except OSError:
                self.has_locks = False
            return

    def create(self) -> bool:
        """Makes the folder and owns it; False if there is one already. Both programs are tried first."""
        self.require_programs()
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
        started = time.monotonic()
        self.measure("baseline", self.reference)
        self.seconds = time.monotonic() - started
        self.save()

    def start(self, words: list[str], folder: Path, **how: Any) -> subprocess.Popen:
        """Starts a process whose output goes into files next to its folder. Raises CommandError."""
        how = how or {"start_new_session": True, "preexec_fn": tied()}  # so that whatever it started ends with it
        with open(f"{folder}.stdout", "wb") as stdout, open(f"{folder}.stderr", "wb") as stderr:
            try:
                return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, **how)
            except OSError as error:
                raise CommandError(f"cannot run {words[0]}: {error.strerror}", USAGE) from None

    def run(self, arm: str, words: list[str], folder: Path, seconds: Optional[float] = None) -> int:
        """The exit code of a process. Raises CommandError for one that takes longer than this."""
        process = None
        try:
            with held():
                process = self.start(words, folder)
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            end(process)
            hung = f"{self.named(arm, folder)} did not end within {seconds:g} s (--timeout)"
            raise CommandError(f"{hung}; what it wrote is in {folder}", ROW_FAILED) from None
        except BaseException:
            if process:
                end(process)
            raise

    def last_words(self, folder: Path) -> str:
        """The last line of a process on stderr."""
        with open(f"{folder}.stderr", "rb") as file:
            file.seek(0, 2)
            file.seek(max(file.tell() - 4096, 0))
            text = file.read().decode("utf-8", "replace")
        return (text.strip().splitlines() or ["no message"])[-1]

    def measure_pair(self, pair: int, ids: Optional[list[str]]) -> None:
        for arm in order(pair):
            self.measure(arm, self.run_folder(pair, arm), ids)

    def load_pair(self, pair: int) -> Pair:
        return Pair(*(self.load(self.run_folder(pair, arm)) for arm in ARMS))

    def drop_pair(self, pair: int) -> None:
        """Removes what a pair left that was cut short."""
        for arm in ARMS:
            shutil.rmtree(self.run_folder(pair, arm), ignore_errors=True)

    def seconds_of_pair(self, ids: Optional[list[str]] = None) -> float:
        """About what a pair of these rows, or of all, takes."""
        return 2 * self.seconds

    def extend(self, pairs: int, ids: Optional[list[str]], show: Callable[[int], None]) -> None:
        """Measures until the session has this number of pairs; only the rows `ids`, where they are given."""
        while self.pairs < pairs:
            show(self.pairs)
            self.measure_pair(self.pairs + 1, ids)
            self.pairs += 1
            self.save()


def read_session(folder: Path) -> dict[str, Any]:
    """The keys of session.json. Raises ResultsError."""
    path = folder / "session.json"
    saved = parse_json(read(path, "a session of the gate"), f"{path}: not a session")
    try:
        if saved["schema"] != _SCHEMA:
            raise ValueError(f"schema is not {_SCHEMA}")
        for arm in ARMS:
            if not saved[arm] or not all(isinstance(word, str) for word in saved[arm]):
                raise ValueError(f"{arm} is not a command")
        for key, least in (("pairs", 0), ("most_pairs", gate.FEWEST_PAIRS)):
            if type(saved[key]) is not int or not least <= saved[key] <= gate.MOST_PAIRS:
                raise ValueError(f"{key} is not a number of pairs from {least} to {gate.MOST_PAIRS}")
        ends = saved.get("ends", [])
        if not isinstance(ends, list) or not all(type(end) is int and 1 <= end <= saved["pairs"] for end in ends):
            raise ValueError("ends is not a list of numbers of pairs")
        code = saved.get("code")
        if code is not None and not all(isinstance(one, list) and len(one) == 2 and all(isinstance(text, str) for text in one) for one in code.values()):
            raise ValueError("code is not a finding for each row")
        return saved | {"ends": ends, "code": code, "seconds": float(saved["seconds"]), "reader": str(saved["reader"])}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, error, "not a session") from None
