"""Calls of Slurm's commands. Nothing here is imported from Slurm; a machine without it has none of them."""

import shutil
import subprocess

from ridgebench.base.children import answered
from ridgebench.base.command_line import CommandError
from ridgebench.base.text import one_line

_SECONDS = 60.0  # a controller that is busy answers late


def has(command: str) -> bool:
    return shutil.which(command) is not None


def ask(*words: str) -> str:
    """The output of a command. Raises CommandError with the command's own line."""
    if not has(words[0]):
        raise CommandError(f"{words[0]} is missing: this machine has no Slurm; allowed: --nodes FILE for `plan`")
    try:
        done = answered(list(words), text=True, timeout=_SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        raise CommandError(f"{words[0]} did not answer in {_SECONDS:.0f} s") from None
    if done.returncode != 0:
        raise CommandError(f"{words[0]}: {one_line(done.stderr.strip().splitlines()[-1]) if done.stderr.strip() else f'exit code {done.returncode}'}")
    return done.stdout


def nodes(partition: str) -> str:
    """A line NODE|STATE|GRES for each node and partition."""
    return ask("sinfo", "-h", "-N", "-o", "%N|%T|%G", *(("-p", partition) if partition else ()))


def jobs() -> dict[str, str]:
    """The state of each job that the user has in the queue."""
    lines = ask("squeue", "-h", "--me", "-o", "%i|%T").splitlines()
    return dict(line.partition("|")[::2] for line in lines)
