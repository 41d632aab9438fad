"""Processes that a command starts. They end with it, however it ends."""

import os
import signal
import subprocess
from functools import partial
from typing import Any, Callable, Optional

from .interruption import held

_PR_SET_PDEATHSIG = 1  # Linux, include/uapi/linux/prctl.h
PATIENCE_S = 10.0  # in which a program that is asked to end keeps what it has


def _tie(parent: int, first: Callable[[], Any], prctl: Callable[[int, int], int]) -> None:
    """Makes the system kill this process when its parent ends, also when it has ended already."""
    first()
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def tied(first: Callable[[], Any] = lambda: None) -> Callable[[], None]:
    """Function for a child after its fork; it calls `first` first. A Python without ctypes ties no child."""
    try:
        import ctypes
    except ImportError:
        return first
    return partial(_tie, os.getpid(), first, ctypes.CDLL(None).prctl)


def end(process: subprocess.Popen) -> None:
    """Ends a process, and the group that it leads; one that hangs gets no more time than keeping rows takes."""
    _send(process, signal.SIGTERM)
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        pass
    _send(process, signal.SIGKILL)
    process.wait()


def _send(process: subprocess.Popen, number: int) -> None:
    """Sends a signal to a process, or to its group if it leads one, which may outlive it."""
    try:
        if process.returncode is None and os.getpgid(process.pid) != process.pid:
            os.kill(process.pid, number)
        else:
            os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):  # all have ended, or run as another user
        pass


def completed(words: list[str], timeout: Optional[float] = None, **how: Any) -> subprocess.CompletedProcess:
    """subprocess.run() of a process that ends with this one, and that an interruption ends by SIGTERM."""
    process = None
    how = {"stdin": subprocess.DEVNULL, "preexec_fn": tied()} | how
    try:
        with held():
            process = subprocess.Popen(words, **how)
        stdout, stderr = process.communicate(timeout=timeout)
    except BaseException:
        if process:
            end(process)
        raise
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


OUTPUT = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def answered(words: list[str], **how: Any) -> subprocess.CompletedProcess:
    """The same of a program that only answers, with its output. It is not tied, because a fork takes longer than its answer."""
    return completed(words, preexec_fn=None, **OUTPUT, **how)
