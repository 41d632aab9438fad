"""Processes that measure in turns: one runs at a time, until it stops itself.

The processes are `ridgebench run --take-turns`; see harness/measure/turns.hpp.
"""

import itertools
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Callable, Sequence

from ridgebench.base.children import tied
from ridgebench.base.interruption import held

_Start = Callable[..., subprocess.Popen]  # takes keywords for Popen


def _own_group() -> dict[str, Any]:
    """Keywords for Popen: a process that stops its group must not stop this one or the other."""
    return {"preexec_fn": tied(os.setpgrp)}


def _stopped(process: subprocess.Popen) -> bool:
    """Waits until the process stops itself (True) or has ended (False), which is left to wait()."""
    state = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
    if state.si_code != os.CLD_STOPPED:
        return False
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)  # WNOWAIT left the stop to be collected
    return True


def _resume(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGCONT)


def _end(process: subprocess.Popen) -> None:
    """Ends a process by SIGTERM; it keeps what it finished."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        _resume(process)
        while _stopped(process):  # the process was about to end its turn
            _resume(process)
        process.wait()


class _Lines:
    """Counts the lines of a growing file, which need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self.count = path, 0, 0

    def counted(self) -> int:
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self.size)
                added = file.read()
            self.size += len(added)
            self.count += added.count(b"\n")
        return self.count


def take_turns(starts: list[_Start], records: Sequence[Path] = ()) -> list[int]:
    """Starts processes, lets them run in turn until all have ended, and returns their exit codes.

    Two processes run A B B A: a slow drift cancels. More run in a circle, so that each follows another.
    `records`: the file of each process that gets a line per finished row, if all measure rows. A process that is a
    row ahead then waits: one may fit more turns into its time than the other, and turns that are compared must
    remain neighbours.
    """
    rows = [_Lines(path) for path in records] or [_Lines(Path(os.devnull))] * len(starts)
    processes: list[subprocess.Popen] = []
    waiting: list[bool] = []
    try:
        for start in starts:
            with held():
                processes.append(start(**_own_group()))
            waiting.append(_stopped(processes[-1]))
        order = (0, 1, 1, 0) if len(starts) == 2 else range(len(starts))
        for turn in itertools.cycle(order):
            if not any(waiting):
                break
            behind = min(row.counted() for row, waits in zip(rows, waiting) if waits)
            if waiting[turn] and rows[turn].count == behind:
                _resume(processes[turn])
                waiting[turn] = _stopped(processes[turn])
    except BaseException:
        for process in processes:
            _end(process)
        raise
    return [process.wait() for process in processes]
