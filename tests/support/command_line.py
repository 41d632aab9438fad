"""Runs the ridgebench under test and checks what all its answers have in common."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Callable, Optional, TypeVar

from jsonschema import Draft202012Validator

BINARY = os.environ["RIDGEBENCH"]  # no default: the tests of another build would prove nothing
ROOT = Path(__file__).resolve().parents[2]
OK, USAGE, UNDECIDED, ROW_FAILED, DEVICE_LOST = 0, 2, 3, 6, 7
# A whole run within a second: a few small rows of the simulated device with the ceilings they need.
SMALL = ("--device", "sim", "--filter", "(relu|dot)/naive/(fp32|bf16)", "--budget", "0.7")
RELU = ("predict", "relu", "n:64", "--format", "bf16", "--on")
# The commands that read a results folder. `{}` represents the folder.
READERS = {
    "verify": ("verify", "{}"),
    "resume": ("run", "--resume", "{}"),
    "ceilings": ("run", "--out", "{}.new", *SMALL, "--ceilings", "{}"),
    "predict": (*RELU, "{}"),
    "plan": ("plan", "train", "--flops", "1e20", "--on", "h200", "--mfu", "{}"),
}
Found = TypeVar("Found")


def read_by(reader: str, folder: Path) -> subprocess.CompletedProcess:
    """What a command of READERS makes of a results folder."""
    arguments = [argument.replace("{}", str(folder)) for argument in READERS[reader]]
    return ridgebench(*arguments, cwd=folder.parent)


def environment(**variables: str) -> dict[str, str]:
    """This process's variables; idle OpenMP threads leave the cores to other tests."""
    return os.environ | {"OMP_WAIT_POLICY": "passive"} | variables


def ridgebench(*arguments, **options) -> subprocess.CompletedProcess:
    command = [BINARY, *map(str, arguments)]
    defaults = {"env": environment(), "stdin": subprocess.DEVNULL}
    defaults |= {"encoding": "utf-8", "errors": "surrogateescape"}  # a folder's name may be bytes
    return subprocess.run(command, capture_output=True, check=False, **defaults | options)


def start(*arguments, **options) -> subprocess.Popen:
    """Starts ridgebench without waiting for it."""
    command = [BINARY, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{"env": environment(), "text": True} | pipes | options)


def one_line(result: subprocess.CompletedProcess, code: int) -> str:
    """The only line on stderr of a command that ended with this exit code."""
    assert result.returncode == code, result.stderr
    assert result.stderr.startswith("ridgebench: ") and result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1, result.stderr
    assert not any(ord(character) < 32 for character in result.stderr[:-1]), result.stderr
    assert len(result.stderr) < 1000, result.stderr
    return result.stderr


def refused(result: subprocess.CompletedProcess, *parts: str, code: int = USAGE) -> None:
    """The command failed with one line that holds these parts, and printed nothing else."""
    line = one_line(result, code)
    assert result.stdout == ""
    for part in parts:
        assert part in line


def strict_json(text: str):
    """Parses JSON without the NaN and Infinity that Python would let pass."""

    def reject(constant: str):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=reject)


def answer(*arguments):
    """What a command prints with --json: JSON and nothing else."""
    result = ridgebench(*arguments, "--json")
    assert (result.returncode, result.stderr) == (OK, "")
    return strict_json(result.stdout)


def run(folder: Path, *arguments, **options) -> subprocess.CompletedProcess:
    return ridgebench("run", "--out", folder, *(arguments or SMALL), **options)


def records(folder: Path) -> list[dict]:
    return [strict_json(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def ids(folder: Path) -> list[str]:
    return [record["id"] for record in records(folder)]


def read_environment(folder: Path) -> dict:
    return strict_json((folder / "environment.json").read_text())


def interrupted_copy(finished: Path, folder: Path, rows: int) -> list[str]:
    """Makes what a run leaves that was ended after this number of rows; returns its lines."""
    folder.mkdir()
    shutil.copy(finished / "environment.json", folder)
    lines = (finished / "records.jsonl").read_text().splitlines(keepends=True)
    assert 0 < rows < len(lines)
    (folder / "records.jsonl").write_text("".join(lines[:rows]))
    return lines[:rows]


def wait_until(condition: Callable[[], Found], process: Optional[subprocess.Popen] = None) -> Found:
    """Waits for an event, however long a loaded machine takes; returns the first true value of the condition.

    The end of the process that is to make it true is a failure. The only limit is ctest's TIMEOUT.
    """
    while True:
        ended = process is not None and process.poll() is not None
        if found := condition():
            return found
        assert not ended, f"the process ended first, with {process.returncode}"
        time.sleep(0.01)


def wait_for_rows(process: subprocess.Popen, folder: Path, rows: int) -> None:
    path = folder / "records.jsonl"
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= rows, process)


def schema(name: str) -> Draft202012Validator:
    return Draft202012Validator(
        json.loads((ROOT / f"results/schema/{name}.schema.json").read_text())
    )


def read_terminal(terminal: int) -> bytes:
    """What a pseudo-terminal gets until the program at its other end has closed it."""
    shown = b""
    try:
        while chunk := os.read(terminal, 1 << 16):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return shown


def finish(process: subprocess.Popen) -> subprocess.CompletedProcess:
    """Waits for what `start` began."""
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
