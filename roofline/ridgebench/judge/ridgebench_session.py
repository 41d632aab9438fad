"""A session of ridgebench itself: each process writes a results directory, and all use the ceilings of the first one.

On a host, whose neighbours and clocks change faster than whole processes alternate, both processes of a pair run at
once and take turns of a few samples.
"""

import re
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Optional

from ridgebench.base.children import answered
from ridgebench.base.command_line import DEVICE_LOST, INTERNAL, ROW_FAILED, UNDECIDED, USAGE, CommandError
from ridgebench.data.records import Run, load_run

from . import comparable
from .consistent import load, turns_of
from .programs import death, help_of, require_words, signal_number
from .session import ARMS, NothingMatches, Session, order
from .turns import take_turns

# Options of `ridgebench run` that a session sets.
_OURS = ("--out", "--resume", "--dry-run", "--take-turns", "--benchmark_filter")
_FILTER = "--filter"
PROCESS, SAMPLES = "process", "samples"  # what a turn is
# Where processes take turns, a row gets this much more time than it had in the unscored run: coming to a row's first
# sample costs a process about as much, and precision grows with time.
_MORE_SECONDS = 1.0


def _refuse_own_options(words: list[str]) -> None:
    for word in words:
        if word.split("=")[0] in _OURS:
            raise CommandError(f"{word} is not allowed in a command: the gate sets it", USAGE)


def _only(ids: list[str]) -> str:
    return f"^(?:{'|'.join(map(re.escape, ids))})$"


def _without_filter(words: list[str]) -> list[str]:
    """The words of a command without --filter RE."""
    kept, skip = [], False
    for word in words:
        if not skip and word != _FILTER and not word.startswith(f"{_FILTER}="):
            kept.append(word)
        skip = not skip and word == _FILTER
    return kept


@dataclass
class RidgebenchSession(Session):
    """A session of two commands `ridgebench run ...`."""

    turns: Optional[str] = None  # PROCESS or SAMPLES; None until prepare() knows the device

    OWN_KEYS: ClassVar[tuple[str, ...]] = ("turns",)

    def require_programs(self) -> None:
        for arm in ARMS:
            _refuse_own_options(self.commands[arm])
            help_of(self.commands[arm])
        for arm in ARMS:
            require_words(arm, _without_filter(self.commands[arm]))

    def prepare(self) -> None:
        super().prepare()
        if self.reference_run.environment["interrupted"]:
            message = f"the first run did not finish: {self.last_words(self.reference)}"
            raise CommandError(message, ROW_FAILED)
        if self.turns is None:
            self.turns = self.suitable_turns()
            self.save()

    def words(self, arm: str, folder: Path, ids: Optional[list[str]]) -> list[str]:
        """The command of a process; of one that is scored with the time and the ceilings of the unscored one."""
        pattern = _only(ids) if ids else self.filter
        words = self.commands[arm] if pattern is None else [*_without_filter(self.commands[arm]), _FILTER, pattern]
        words = [*words, "--out", str(folder)]
        if folder == self.reference:
            return words
        ceilings = [] if self.given("--ceilings") else ["--ceilings", str(self.reference)]
        return [*words, *self.time_for(ids), *ceilings]

    def measure(self, arm: str, folder: Path, ids: Optional[list[str]] = None) -> None:
        self.require_success(arm, folder, self.run(arm, self.words(arm, folder, ids), folder))

    def measure_pair(self, pair: int, ids: Optional[list[str]]) -> None:
        if self.turns == PROCESS:
            super().measure_pair(pair, ids)
            return
        arms = order(pair)
        folders = [self.run_folder(pair, arm) for arm in arms]
        starts = [
            partial(self.start, [*self.words(arm, folder, ids), "--take-turns"], folder)
            for arm, folder in zip(arms, folders)
        ]
        records = [folder / "records.jsonl" for folder in folders]
        for arm, folder, code in zip(arms, folders, take_turns(starts, records)):
            self.require_success(arm, folder, code)

    def load(self, folder: Path) -> Run:
        return load(folder, None if self.turns == PROCESS else turns_of)

    def differences(self, one: dict, other: dict, allowed: list[str]) -> tuple[list[str], list[str]]:
        return comparable.differences(one, other, allowed)

    def require_success(self, arm: str, folder: Path, code: int) -> None:
        """Raises CommandError for a process that did not finish: every row of a pair needs both sides."""
        if code in (0, ROW_FAILED):
            return
        if (number := signal_number(code)) > 0:
            raise CommandError(f"{self.named(arm, folder)} {death(folder, number)}", ROW_FAILED)
        if code == USAGE and arm == "candidate" and self.only_filter_fails():
            raise NothingMatches(f"the {arm} has no row that the filter matches")
        known = code if code in (USAGE, UNDECIDED, DEVICE_LOST) else INTERNAL
        raise CommandError(f"{self.named(arm, folder)} ended with code {code}: {self.last_words(folder)}", known)

    def only_filter_fails(self) -> bool:
        """True if the candidate can run with the arguments of the session, but not with the filter."""
        given = self.commands["candidate"]
        chosen = given if self.filter is None else [*_without_filter(given), _FILTER, self.filter]
        codes = [
            answered([*words, "--dry-run"]).returncode
            for words in (_without_filter(given), chosen)
        ]
        return codes[0] in (0, ROW_FAILED) and codes[1] == USAGE

    @cached_property
    def reference_run(self) -> Run:
        return load_run(self.reference)

    def suitable_turns(self) -> str:
        host = all(device["name"] == "cpu" for device in self.reference_run.environment["devices"])
        known = all("--take-turns" in help_of(words) for words in self.commands.values())
        return SAMPLES if host and known else PROCESS

    def given(self, option: str) -> bool:
        return any(word.split("=")[0] == option for words in self.commands.values() for word in words)

    def kernels(self) -> list[str]:
        """The rows that the unscored run measured: kernels or, where it has none, ceilings."""
        rows = [row for row in self.reference_run.rows if row.status == "ok"]
        return [row.id for row in rows if row.role == "kernel"] or [row.id for row in rows]

    def time_for(self, ids: Optional[list[str]]) -> list[str]:
        """The option that limits the time of a process to what these rows, or all rows, need."""
        if self.turns == PROCESS or self.given("--budget"):
            return []
        measured = sum(row.status == "ok" for row in self.reference_run.rows)
        seconds = self.seconds_of_reference() / max(measured, 1) + _MORE_SECONDS
        return ["--budget", f"{seconds * len(ids or self.kernels()):.1f}"]

    def seconds_of_pair(self, ids: Optional[list[str]] = None) -> float:
        """About what a pair takes; more than that where the unscored run measured ceilings."""
        limited = self.time_for(ids)
        return 2 * (float(limited[1]) if limited else self.seconds_of_reference())

    def seconds_of_reference(self) -> float:
        return self.reference_run.environment.get("duration_s") or 0.0
