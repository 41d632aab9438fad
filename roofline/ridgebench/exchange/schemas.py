"""Prints the JSON schema of a file or of a command's --json; without a name, the names."""

import argparse
import json

from ridgebench.base.command_line import OK, USAGE, CommandError, Parser
from ridgebench.base.printers import aligned
from ridgebench.base.text import quoted
from ridgebench.data.records import SCHEMAS

_END = ".schema.json"


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog="schema", description=__doc__)
    parser.add_argument("name", nargs="?", help="e.g. record, environment, predict; default: list the names")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    name = _parse(arguments).name
    paths = {path.name.removesuffix(_END): path for path in sorted(SCHEMAS.glob(f"*{_END}"))}
    if name is None:
        print("\n".join(aligned([[known, json.loads(path.read_text("utf-8"))["title"]] for known, path in paths.items()])))
        return OK
    if name not in paths:
        raise CommandError(f"no schema named {quoted(name)}; allowed: {', '.join(paths)}", USAGE)
    print(paths[name].read_text("utf-8"), end="")
    return OK
