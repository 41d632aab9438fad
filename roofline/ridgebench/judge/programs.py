"""The two programs of a session: whether they can be started, and how one ended that did not finish."""

import shutil
import signal
import subprocess
from pathlib import Path

from ridgebench.base.children import answered
from ridgebench.base.command_line import USAGE, CommandError
from ridgebench.base.units import counted
from ridgebench.data.program import SLOW_NODE_S
from ridgebench.data.records import read_rows

_SHELL = 128  # a script ends with this and the number of the signal that ended its program


def require_program(name: str) -> None:
    """Raises CommandError for a program that does not exist."""
    if shutil.which(name) is None:
        raise CommandError(f"cannot run {name}: no such program; allowed: an executable file", USAGE)


def help_of(words: list[str]) -> str:
    """The help of a command `ridgebench run` with all of its options. Raises CommandError for one that cannot be started."""
    require_program(words[0])
    try:
        text = answered([*words, "--help"]).stdout.decode("utf-8", "replace")
        if "--help-all" in text:  # older programs have all options in --help
            text = answered([*words, "--help-all"]).stdout.decode("utf-8", "replace")
        return text
    except OSError as error:
        raise CommandError(f"cannot run {words[0]}: {error.strerror}; allowed: an executable file", USAGE) from None


def require_words(arm: str, words: list[str]) -> None:
    """Raises CommandError for a command `ridgebench run` that its program refuses, before anything is measured."""
    try:
        done = answered([*words, "--dry-run"], timeout=SLOW_NODE_S)
    except subprocess.TimeoutExpired:
        return  # its processes will show what is wrong
    if done.returncode == USAGE:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["refuses its arguments"]
        raise CommandError(f"the {arm} ({words[0]}): {said[-1].removeprefix('ridgebench: ')}", USAGE)


def signal_number(code: int) -> int:
    """The signal that an exit code represents, of a program or of a shell that ran it; below 1 for no signal."""
    return -code if code < 0 else code - _SHELL


def death(folder: Path, number: int) -> str:
    """How a signal ended a process. The row that it died of has no record, the one before it has."""
    path = folder / "records.jsonl"
    rows = read_rows(path)[0] if path.exists() else []
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    last = f"after {counted(len(rows), 'finished row')}, the last of them {rows[-1].id}" if rows else "before a row was finished"
    return f"was ended by {name} {last}; what it wrote is in {folder}"
