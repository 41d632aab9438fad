"""The program ridgebench as a source of numbers: only the program defines FLOPs, bytes and predictions."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import cache
from typing import Any, Collection, Iterator, Optional

from ridgebench.base import command_line, installed
from ridgebench.base.children import answered
from ridgebench.base.files import ResultsError

_SECONDS = 30.0
SLOW_NODE_S = 120.0  # for an answer that needs devices: a node of eight GPUs without persistence mode opens them slowly


@cache
def binary() -> str:
    """The binary that started this process, else that of the wheel or the checkout, else that of PATH; empty without one."""
    return command_line.BINARY or str(installed.program() or shutil.which("ridgebench") or "")


def require_program(*words: str) -> str:
    """The path of the program that is to run `ridgebench WORDS`. Raises ResultsError if it is missing."""
    path = binary()
    if shutil.which(path) is None:
        why = f"{path} is not a program" if path else "it is missing"
        raise ResultsError(f"cannot ask the program ridgebench for `{' '.join(words)}`: {why}; scripts/build.sh builds it")
    return path


def asked(*words: str, seconds: float = _SECONDS, program: Optional[str] = None,
          codes: Collection[int] = (command_line.OK,)) -> dict[str, Any]:  # fmt: skip
    """The output of `ridgebench WORDS --json`, perhaps of another build. codes: the exit codes that come with an answer.

    Raises ResultsError with the program's line and its exit code.
    """
    path, code = program or require_program(*words), command_line.USAGE
    try:
        done = answered([path, *words, "--json"], text=True, timeout=seconds, errors="replace")
        if done.returncode in codes:
            return json.loads(done.stdout)
        code = done.returncode if done.returncode > 0 else command_line.INTERNAL
        problem = done.stderr.strip().removeprefix("ridgebench: ")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        problem = f"cannot ask {path} for `{' '.join(words)}`: {error}"
    raise ResultsError(problem, code)


@cache
def ask(*words: str, seconds: float = _SECONDS) -> dict[str, Any]:
    """The same, where files do not change the answer while this process runs."""
    return asked(*words, seconds=seconds)


def refusal(*words: str, seconds: float = _SECONDS) -> tuple[int, str]:
    """Exit code and last line on stderr of a command that only checks its words, such as `run --dry-run`.

    Raises ResultsError if the program is missing or does not answer.
    """
    path = require_program(*words)
    try:
        done = answered([path, *words], text=True, timeout=seconds, errors="replace")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ResultsError(f"cannot ask {path}: {error}") from None
    lines = done.stderr.strip().splitlines() or [f"{words[0]} ended with exit code {done.returncode}"]
    return (done.returncode if done.returncode >= 0 else command_line.INTERNAL), lines[-1].removeprefix("ridgebench: ")


@contextmanager
def _interruptions_left_to_the_program() -> Iterator[None]:
    """Ctrl-C reaches the program too, which finishes its row and says so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)  # the program does not inherit it
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def measured(*words: str) -> tuple[int, str]:
    """Exit code of a command that prints for the user, and its last line on stderr, which is not printed where the run
    did not finish.

    The commands in Python that it starts run by this interpreter. Raises ResultsError if the program is missing.
    """
    path = require_program(*words)
    variables = {"RIDGEBENCH_PYTHON": sys.executable, **os.environ}
    last = ""
    try:
        with _interruptions_left_to_the_program(), subprocess.Popen(
                [path, *words], stderr=subprocess.PIPE, text=True, errors="replace", env=variables) as running:
            for line in running.stderr or ():
                sys.stderr.write(last)
                last = line
    except OSError as error:
        raise ResultsError(f"cannot start {path}: {error}") from None
    code = running.returncode
    if code in (command_line.OK, command_line.ROW_FAILED):
        sys.stderr.write(last)
    if code < 0:
        return command_line.INTERNAL, f"signal {-code} ended {path} {words[0]}"
    return code, last.strip().removeprefix("ridgebench: ")


def sent_by_a_rank(collective: str, ranks: int) -> float:
    """The bytes that a rank sends for each byte of the message of a collective, such as "all-reduce". Raises ResultsError."""
    words = ("--bytes", "1", "--link", "1", "--collective", collective, "--ranks", str(ranks))
    return float(ask("plan", "transfer", *words)["communication_bytes"])


@cache
def operations() -> frozenset[str]:
    """The operations that the program has; empty without the program."""
    try:
        return frozenset(one["op"] for one in ask("list", "--sources")["techniques"])
    except ResultsError:
        return frozenset()


def predict(operation: str, shape: str, format_: str, device: str) -> dict[str, Any]:
    """The keys of results/schema/predict.schema.json. Raises ResultsError."""
    return ask("predict", operation, shape, "--format", format_, "--on", device)
