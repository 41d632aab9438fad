"""Shared by all commands: exit codes, and errors of one line on stderr."""

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn

from . import config
from .errors import (
    DEVICE_LOST, INCOMPARABLE, INTERNAL, INTERRUPTED, OK, REGRESSION, ROW_FAILED, STALE, UNDECIDED, USAGE, CommandError, code_of,
    what_failed,
)  # fmt: skip
from .places import ROOT, TREE  # noqa: F401  (modules import them from here)
from .text import one_line

RESULTS = Path("results")  # where commands write by default: below the current folder, as `ridgebench run` does
BINARY = ""  # the program ridgebench that started this process, if one did


def fail(message: str, code: int, program: str) -> int:
    """Prints the message as one line; returns the code."""
    print(f"{program}: {one_line(message)}", file=sys.stderr)
    return code


class Parser(argparse.ArgumentParser):
    """An argument parser whose usage error is one line, like every other error, and which reads --config."""

    takes_config = True

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        arguments = sys.argv[1:] if args is None else list(args)
        if self.takes_config and config.add_to(self):
            arguments = config.expanded(self, arguments)
        return super().parse_known_args(arguments, namespace)

    def error(self, message: str) -> NoReturn:
        program = self.prog.split()[0]  # prog of a subparser is "baseline check"
        raise SystemExit(fail(f"{message} (--help lists the options)", USAGE, program))
