"""The two programs of a session: whether they can be started, and how one ended that did not finish."""

import shutil
import signal
import subprocess
from pathlib import Path

from ridgebench.command_line import USAGE, CommandError
from ridgebench.records import read_rows

SHELL = 128  # a script ends with this and the number of the signal that ended its program
PATIENCE_S = 10.0

def help_of(binary: str) -> str:
    """What `ridgebench run --help` prints. Raises CommandError for a program that cannot be started."""
    if shutil.which(binary) is None:
        raise CommandError(f"cannot run {binary}: no such program; allowed: an executable file", USAGE)
    try:
        null = subprocess.DEVNULL
        return subprocess.run([binary, "run", "--help"], stdin=null, capture_output=True, check=False).stdout.decode(
            "utf-8", "replace")
    except OSError as error:
        raise CommandError(f"cannot run {binary}: {error.strerror}; allowed: an executable file", USAGE) from None


def end(process: subprocess.Popen) -> None:
    """Ends a process, which keeps the rows that it finished; one that hangs gets no more time than that takes."""
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def death(folder: Path, number: int) -> str:
    """How a signal ended a process. The row that it died of has no record, the one before it has."""
    path = folder / "records.jsonl"
    rows = read_rows(path)[0] if path.exists() else []
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    last = f"after {len(rows)} finished rows, the last of them {rows[-1].id}" if rows else "before a row was finished"
    return f"was ended by {name} {last}; what it wrote is in {folder}"
