"""Shared by all commands: exit codes, and errors of one line on stderr."""

import argparse
import math
import re
import sys
from pathlib import Path
from typing import Any, Callable, NoReturn

from . import config
from .errors import (
    DEVICE_LOST, INCOMPARABLE, INTERNAL, INTERRUPTED, OK, REGRESSION, ROW_FAILED, STALE, UNDECIDED, USAGE, CommandError, code_of,
    what_failed,
)  # fmt: skip
from .installation import ROOT, TREE  # noqa: F401  (modules import them from here)
from .text import one_line

RESULTS = Path("results")  # where commands write by default: below the current folder, as `ridgebench run` does
BINARY = ""  # the program ridgebench that started this process, if one did


def fail(message: str, code: int, program: str) -> int:
    """Prints the message as one line; returns the code."""
    print(f"{program}: {one_line(message)}", file=sys.stderr)
    return code


# The one grammar of numbers, that of kernels/common/number.hpp: 4096, 0.5, 1e6, 4k. A number has an exponent or a suffix.
_NUMBER = re.compile(r"(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][-+]?[0-9]+)|([kKMGgBbTt]))?", re.ASCII)
_SUFFIXES = {"k": "e3", "m": "e6", "g": "e9", "b": "e9", "t": "e12"}


def number_of(text: str, least: float, most: float, kind: type = float, what: str = "") -> float:
    """A number within limits, of an option; `what` begins the message about another text, or about a part of `kind` int."""
    match = _NUMBER.fullmatch(text)
    value = float(match[1] + (match[2] or _SUFFIXES.get((match[3] or "").lower(), ""))) if match else math.nan
    whole = kind is int
    if not least <= value <= most or (whole and value != int(value)):
        raise argparse.ArgumentTypeError(f"{what}{text!r} is not a {'whole ' * whole}number from {least:g} to {most:g}")
    return kind(value)


def number_within(least: float, most: float, kind: type = float) -> Callable[[str], float]:
    """The type of an option that takes a number within limits."""
    return lambda text: number_of(text, least, most, kind)


class _PrintAll(argparse.Action):
    """--help-all."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        assert isinstance(parser, Parser)
        print(parser.format_all(), end="")
        raise SystemExit(OK)


def _path(text: str) -> Path:
    """The type Path of every option: Path("") would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty text names nothing; allowed: a file or a folder, . is the current one")
    return Path(text)


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage error is one line, like every other error, and which reads --config."""

    takes_config = True
    _apart: frozenset[str] = frozenset()

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self.register("type", Path, _path)
        if self.add_help:  # every command has it; without options apart it prints what --help prints
            self.add_argument("--help-all", action=_PrintAll, nargs=0, help=argparse.SUPPRESS)

    def list_apart(self, *options: str) -> None:
        """Leaves these options to --help-all: few calls need them."""
        self._apart = frozenset(options)

    def format_help(self) -> str:
        apart = [action for action in self._actions if self._apart.intersection(action.option_strings)]
        kept = [(action, action.help) for action in apart]
        for action in apart:
            action.help = argparse.SUPPRESS
        self.epilog, epilog = "\n\n".join(filter(None, (self._note_on(apart), self.epilog))) or None, self.epilog
        try:
            return self.format_all()
        finally:
            self.epilog = epilog
            for action, text in kept:
                action.help = text

    def format_all(self) -> str:
        """The help with all options."""
        if self.usage is None and not any(isinstance(action, argparse._SubParsersAction) for action in self._actions):
            values = (action for action in self._actions if not action.option_strings)
            words = (self._get_formatter()._format_args(action, action.metavar or action.dest) for action in values)
            self.usage = " ".join(("ridgebench %(prog)s [OPTIONS]", *words))
        return super().format_help()

    def _note_on(self, apart: list[argparse.Action]) -> str:
        return f"`ridgebench {self.prog} --help-all` lists {len(apart)} other options." if apart else ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        arguments = sys.argv[1:] if args is None else list(args)
        if self.takes_config and config.add_to(self):
            arguments = config.expanded(self, arguments)
        return super().parse_known_args(arguments, namespace)

    def error(self, message: str) -> NoReturn:
        program = self.prog.split()[0]  # prog of a subparser is "baseline check"
        raise SystemExit(fail(f"{message} (--help lists the options)", USAGE, program))
