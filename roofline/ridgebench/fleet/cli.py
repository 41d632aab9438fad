"""Measures all GPUs of many nodes, and finds the odd ones: plan, submit, status, collect, report."""

import argparse
from importlib import import_module
from typing import Any

from ridgebench.base.command_line import Parser

_PROGRAM = "fleet"
# Command: its module, which has add_options() and main(); what it does.
_COMMANDS = {
    "plan": ("jobs.plan", "write the manifest: nodes, their GPUs, the rows to measure"),
    "submit": ("jobs.submit", "submit a job for each node to Slurm, or print what runs without it"),
    "status": ("jobs.status", "say how far each node is"),
    "collect": ("summary", "read what the nodes wrote, and say which GPUs are there"),
    "report": ("report", "judge each GPU among the others, and write the report"),
}


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Imports a command's module only for this command, for --help and for the tree: drawing takes long to import."""
    parser = Parser(prog=_PROGRAM, description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    named = arguments[0] if arguments and arguments[0] in _COMMANDS else None
    for name, (_, what) in _COMMANDS.items():
        command = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        if name in (named or name):
            _module_of(name).add_options(command)
    return parser.parse_args(arguments)


def _module_of(name: str) -> Any:
    return import_module(f"ridgebench.fleet.{_COMMANDS[name][0]}")


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    return _module_of(options.command).main(options)
