"""--config FILE: options of a command from a file in TOML, as docs/commands.md describes it."""

import argparse
from pathlib import Path
from typing import Any

from .files import ResultsError, parse_toml, read

_OPTION = "--config"


def add_to(parser: argparse.ArgumentParser) -> bool:
    """Adds --config to a parser that has options; returns whether it has --config."""
    options = [action for action in parser._actions if action.option_strings]
    if any(_OPTION in action.option_strings for action in options):
        return True
    if len(options) == 1 or any(isinstance(action, argparse._SubParsersAction) for action in parser._actions):
        return False  # only --help, or commands with options of their own
    parser.add_argument(_OPTION, type=Path, metavar="FILE", help="options of this command in TOML; the command line wins")
    return True


def expanded(parser: argparse.ArgumentParser, arguments: list[str]) -> list[str]:
    """The arguments with the options of the file in place of --config. Those that are given win over the file.

    Raises ResultsError, which names file and key and what is allowed.
    """
    at = next((at for at, word in enumerate(arguments) if word.partition("=")[0] == _OPTION), None)
    if at is None or arguments[at:] == [_OPTION]:
        return arguments
    rest = at + (1 if "=" in arguments[at] else 2)
    path = Path(arguments[at].partition("=")[2] or arguments[at + 1])
    given = {word.partition("=")[0] for word in arguments}
    words = [word for key, value in _keys_of(path, parser.prog) for word in _words_of(path, parser, key, value, given)]
    return [*arguments[:at], *words, *arguments[rest:]]


def _keys_of(path: Path, command: str) -> list[tuple[str, Any]]:
    """The keys before the first section, and those of the section of the command: [baseline.check]."""
    told = section = parse_toml(read(path, "a file of options"), str(path))
    for word in command.split():
        section = section.get(word, {})
        if not isinstance(section, dict):
            raise ResultsError(f"{path}: key {word!r} has a value; allowed: a section [{'.'.join(command.split())}]")
    found = [(key, value) for table in (told, section) for key, value in table.items() if not isinstance(value, dict)]
    twice = {key for key, _ in found if key in told and key in section}
    if twice:
        raise ResultsError(f"{path}: key {min(twice)!r} is given twice; allowed: once")
    return found


def _words_of(path: Path, parser: argparse.ArgumentParser, key: str, value: Any, given: set[str]) -> list[str]:
    """The words that say the same as a key; none where the option is given or the key is false."""
    options = {name[2:]: action for action in parser._actions for name in action.option_strings if name.startswith("--")}
    known = {name: action for name, action in options.items() if name not in ("help", "help-all", "config")}
    if key not in known:
        raise ResultsError(f"{path}: key {key!r} is not an option of {parser.prog}; allowed: {', '.join(known)}")
    action = known[key]
    if isinstance(value, bool) != (action.nargs == 0) and action.nargs != "?":
        raise ResultsError(f"{path}: key {key!r} is {value!r}; allowed: {'true or false' if action.nargs == 0 else action.metavar or ', '.join(action.choices or ['a text'])}")
    if value is False or given & {*action.option_strings}:
        return []
    return [f"--{key}" if one is True else f"--{key}={one}" for one in (value if isinstance(value, list) else [value])]
