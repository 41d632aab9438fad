"""A session of two commands of any kind, whose output a reader understands."""

import itertools
import shutil
import signal
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Optional

from ridgebench.base.command_line import ROW_FAILED, USAGE, CommandError
from ridgebench.base.files import read
from ridgebench.base.patterns import Pattern
from ridgebench.base.text import quoted

from .programs import require_program, signal_number
from .readers import FEWEST, NO_MATCH, READERS, Reader, environment_differences, gbench_filter
from .readings import Metric, Readings
from .report import Comparison
from .session import ARMS, Session

OUTPUT = "{out}"  # in a command: the file that it shall write


def _how_it_ended(code: int) -> str:
    """By a signal or by itself."""
    number = signal_number(code)
    name = f" ({signal.Signals(number).name})" if number in set(signal.Signals) else ""
    return f"was ended by a signal{name}" if code < 0 else f"ended with code {code}{name}"


@dataclass
class CommandSession(Session):
    """Metric, direction and statistic are as the options say; `timeout` is in seconds, for each process."""

    metric_name: Optional[str] = None
    better: Optional[str] = None
    statistic: Optional[str] = None
    timeout: float = 1800.0

    OWN_KEYS: ClassVar[tuple[str, ...]] = ("metric_name", "better", "statistic", "timeout")

    @property
    def format(self) -> Reader:
        return READERS[self.reader]

    @cached_property
    def measured(self) -> Metric:
        name = self.metric_name or self.format.metric
        higher = self.better == "higher" or (self.better is None and name in self.format.higher)
        # Other programs only add time: Chen and Revels, Robust benchmarking in noisy environments, arXiv:1608.04295.
        known = name in (*self.format.times, *self.format.higher)
        best = self.statistic == "best" or (self.statistic is None and known)
        return Metric(name, higher, name in self.format.times and not higher, best)

    @property
    def metric(self) -> Optional[str]:
        return self.measured.description

    def require_programs(self) -> None:
        for arm in ARMS:
            require_program(self.commands[arm][0])
        _ = self.pattern  # refuses what is none before anything is measured

    @cached_property
    def pattern(self) -> Optional[Pattern]:
        """The pattern that selects rows here; None without a filter, and for a program that filters by itself in its own syntax."""
        return Pattern(self.filter, "--filter") if self.filter is not None and self.format.select is None else None

    @cached_property
    def sets_time(self) -> bool:
        """True if one of the commands says how long it measures, or gets no arguments at all: the other must not either."""
        words = itertools.chain(*self.commands.values())
        return any(OUTPUT in word or word.startswith(self.format.own_time) for word in words)

    def words(self, arm: str, folder: Path, ids: Optional[list[str]]) -> list[str]:
        """The command of a process, with the arguments that its reader adds."""
        output = folder.absolute() / "output"  # a script may change the folder
        words = [word.replace(OUTPUT, str(output)) for word in self.commands[arm]]
        if words == self.commands[arm]:
            words += self.format.output(output)
        if not self.sets_time:
            words += self.format.time(FEWEST if folder == self.reference else self.plan(ids)[0])
        if self.format.select is not None:
            pattern = gbench_filter(ids) if ids else self.filter
            words += [] if pattern is None else self.format.select(pattern)
        return words

    def prepare(self) -> None:
        super().prepare()
        if not self.sets_time:
            self.seconds = max(self.seconds, self.plan(None)[1])
            self.save()

    def plan(self, ids: Optional[list[str]]) -> tuple[int, float]:
        """Repetitions and seconds of a process, by the unscored one. The fewer rows are left, the more often they run."""
        return self.format.plan(*self.output(self.reference), ids)

    def measure(self, arm: str, folder: Path, ids: Optional[list[str]] = None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        code = self.run(arm, self.words(arm, folder, ids), folder, self.timeout)
        if code != 0:
            raise CommandError(f"{self.named(arm, folder)} {_how_it_ended(code)}: {self.last_words(folder)}", ROW_FAILED)
        rows = self.load(folder).rows
        if folder == self.reference and not any(row.status == "ok" for row in rows):
            chosen = "" if self.filter is None else f" that --filter {quoted(self.filter)} matches"
            why = f" ('{rows[0].id}': {rows[0].reason})" if rows else chosen
            raise CommandError(f"the {arm} measured no row{why}; allowed: one or more", USAGE)

    def output(self, folder: Path) -> tuple[str, str]:
        """The output of a process and its place: the file, otherwise standard output."""
        path = folder / "output"
        if not path.exists() or path.stat().st_size == 0:
            path = Path(f"{folder}.stdout")
        return read(path, "what a process printed"), str(path)

    def load(self, folder: Path) -> Readings:
        text, path = self.output(folder)
        if not text.strip():
            if self.format.select is not None and NO_MATCH in self.errors(folder):
                return Readings(folder, [])
            arm = "baseline" if folder == self.reference else folder.name.partition("-")[2]
            raise CommandError(f"{self.named(arm, folder)} printed no result, and wrote no file: {self.last_words(folder)}", ROW_FAILED)
        found = self.format.parse(text, path, self.measured)
        if self.pattern is None:
            return found
        rows = [row for row in found.rows if self.pattern.search(row.id)]
        return Readings(found.folder, rows, found.environment)

    def errors(self, folder: Path) -> str:
        return Path(f"{folder}.stderr").read_text("utf-8", "replace")

    def differences(self, one: dict, other: dict, allowed: list[str]) -> tuple[list[str], list[str]]:
        return environment_differences(self.format, one, other, allowed)

    def kernels(self) -> list[str]:
        return [row.id for row in self.load(self.reference).rows if row.status == "ok"]

    @property
    def gives_up(self) -> bool:
        """Not where the gate chose the time of a process: rows that are left run more often, and scatter less."""
        return self.sets_time or not self.format.own_time

    def state_values(self, row: Comparison) -> None:
        if self.measured.is_time or row.baseline_s is None:
            return
        row.baseline_value, row.candidate_value = map(self.measured.value, (row.baseline_s, row.candidate_s))
        row.baseline_s = row.candidate_s = None
