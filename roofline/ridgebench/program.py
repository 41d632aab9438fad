"""The program ridgebench as a source of numbers: FLOPs, bytes and predictions are defined there alone."""

import json
import shutil
import subprocess
from functools import cache
from typing import Any

from ridgebench import command_line, installed
from ridgebench.processes.children import answered
from ridgebench.files import ResultsError

SECONDS = 30.0


@cache
def binary() -> str:
    """The binary that started this process, else that of the wheel or the checkout, else that of PATH; empty without one."""
    return command_line.BINARY or str(installed.program() or shutil.which("ridgebench") or "")


@cache
def ask(*words: str, seconds: float = SECONDS) -> dict[str, Any]:
    """What `ridgebench WORDS --json` prints. Raises ResultsError with the program's line and its exit code."""
    code = command_line.USAGE
    try:
        command = [binary(), *words, "--json"]
        done = answered(command, text=True, timeout=seconds, errors="replace")
        if done.returncode == 0:
            return json.loads(done.stdout)
        code = done.returncode if done.returncode > 0 else command_line.INTERNAL
        problem = done.stderr.strip().removeprefix("ridgebench: ")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        problem = f"cannot ask {binary() or 'the binary ridgebench'} for `{' '.join(words)}`: {error}"
    raise ResultsError(problem, code)


def refusal(*words: str, seconds: float = SECONDS) -> tuple[int, str]:
    """Exit code and last line on stderr of a command that only checks its words, such as `run --dry-run`.

    Raises ResultsError where there is no program, or no answer.
    """
    try:
        done = subprocess.run([binary(), *words], capture_output=True, text=True, check=False, timeout=seconds, errors="replace")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ResultsError(f"cannot ask {binary() or 'the binary ridgebench'}: {error}") from None
    lines = done.stderr.strip().splitlines() or [f"{words[0]} ended with exit code {done.returncode}"]
    return (done.returncode if done.returncode >= 0 else command_line.INTERNAL), lines[-1].removeprefix("ridgebench: ")


def predict(operation: str, shape: str, format_: str, device: str) -> dict[str, Any]:
    """The keys of results/schema/predict.schema.json. Raises ResultsError."""
    return ask("predict", operation, shape, "--format", format_, "--on", device)
