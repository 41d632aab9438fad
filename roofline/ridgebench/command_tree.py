"""Prints the commands of this package with their options as JSON: `ridgebench completion` reads it."""

import argparse
import json
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import MagicMock

from ridgebench.base import config
from ridgebench.base.command_line import OK, Parser

_PACKAGES = ("numpy", "scipy", "matplotlib", "fastjsonschema")


class _Found(Exception):
    """A command got as far as reading its arguments."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


class _StandIns(MetaPathFinder, Loader):
    """Empty modules in place of the packages: the options do not depend on them, and a build may lack them."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        return ModuleSpec(fullname, self, is_package=True) if fullname.split(".")[0] in _PACKAGES else None

    def create_module(self, spec: ModuleSpec) -> Any:
        return MagicMock(name=spec.name)

    def exec_module(self, module: Any) -> None:
        pass


def _stop(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> NoReturn:
    raise _Found(parser)


def _parser_of(module: str) -> argparse.ArgumentParser:
    """The parser that the command of a module reads its arguments with."""
    try:
        import_module(f"ridgebench.{module}").main([])
    except _Found as found:
        return found.parser
    raise TypeError(f"{module}.main() reads its arguments without a Parser")


def _option_of(parser: argparse.ArgumentParser, action: argparse.Action) -> dict[str, Any]:
    formatter = parser._get_formatter()
    takes_value = action.nargs != 0
    metavar = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar or ())
    return {
        "names": action.option_strings or [metavar or action.dest],
        "positional": not action.option_strings,
        "type": (metavar or action.dest.upper()) if takes_value else "",
        "help": " ".join(formatter._expand_help(action).split()) if action.help else "",
        "values": [str(value) for value in action.choices or ()],
        "files": action.type is Path or metavar in ("FILE", "DIR"),
    }


def _describe(name: str, what: str, parser: argparse.ArgumentParser) -> dict[str, Any]:
    if isinstance(parser, Parser) and parser.takes_config:
        config.add_to(parser)
    options: list[dict[str, Any]] = []
    commands: list[dict[str, Any]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            told = {choice.dest: choice.help or "" for choice in action._choices_actions}
            commands += [_describe(word, told.get(word, ""), sub) for word, sub in action.choices.items()]
        elif action.help != argparse.SUPPRESS:
            options.append(_option_of(parser, action))
    return {"name": name, "help": what, "options": options, "commands": commands}


def main(arguments: list[str]) -> int:
    Parser(prog="tree", description=__doc__).parse_args(arguments)
    from ridgebench.__main__ import COMMANDS

    Parser.parse_args = Parser.parse_known_args = _stop
    sys.meta_path.insert(0, _StandIns())
    print(json.dumps([_describe(name, what, _parser_of(module)) for name, (module, what) in COMMANDS.items()]))
    return OK
