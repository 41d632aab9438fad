"""The words of the commands that a gate runs, as given on its own command line."""

import shlex
import shutil
from typing import Collection

from ridgebench.base.command_line import CommandError

from .session import ARMS


def _words_of(arm: str, given: list[str]) -> list[str]:
    """The words of a command: several, the path of a program, or a quoted text. Raises CommandError."""
    if not given:
        raise CommandError(f"--{arm} has no command")
    if len(given) > 1 or shutil.which(given[0]) is not None:
        return given
    try:
        words = shlex.split(given[0])
    except ValueError as error:
        raise CommandError(f"'{given[0]}' is not a command: {error}") from None
    if not words:
        raise CommandError("an empty text is not a command; allowed: a program and its arguments")
    return words


def split_commands(arguments: list[str], options: Collection[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The commands by their arm, and the other arguments. A command ends before the next of the gate's own options."""
    commands: dict[str, list[str]] = {}
    rest: list[str] = []
    target = rest
    for word in arguments:
        name, equals, value = word.partition("=")
        if name.removeprefix("--") in ARMS and name.startswith("--"):
            if name[2:] in commands:
                raise CommandError(f"{name} comes twice")
            target = commands[name[2:]] = [value] if equals else []
        elif name in options:
            target = rest
            rest.append(word)
        else:
            target.append(word)
    return {arm: _words_of(arm, given) for arm, given in commands.items()}, rest
