"""`fleet plan`: which nodes, how many GPUs, which rows."""

import argparse
from datetime import datetime, timezone
from pathlib import Path

from ridgebench.base.command_line import OK, USAGE, CommandError, number_within
from ridgebench.base.text import one_line
from ridgebench.base.units import counted
from ridgebench.data import program

from . import hostlist, scheduler
from .. import manifest as manifests
from ..places import natural
from .suites import OWN, SUITES


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=Path, metavar="FILE", help="a node or a range gn[1-4] a line, with its number of GPUs; default: sinfo")
    parser.add_argument("--partition", default="", metavar="PARTITION", help="only the nodes of this partition of Slurm")
    parser.add_argument("--gpus", type=number_within(1, manifests.MOST_GPUS, int), metavar="N", help="GPUs of a node, where the file does not say it, or in place of Slurm's Gres")
    parser.add_argument("--suite", choices=list(SUITES), default="quick", help="the rows to measure; default: quick")
    parser.add_argument("--out", type=Path, required=True, metavar="FLEET", help="folder of the fleet, on a file system that all nodes share")
    parser.add_argument("--limit", type=number_within(1, 1e6), metavar="SECONDS", help="when a node's job kills the command; default: by suite")
    parser.add_argument("words", nargs="*", metavar="ARGUMENT", help="after --: arguments of `ridgebench run` in place of the suite's")


def _require_words(words: list[str]) -> None:
    """Raises CommandError for words that `ridgebench run` refuses: every node would, after it has waited in the queue.

    A machine without GPU finds that out, too. Without a program here nothing is checked.
    """
    if not words or not program.binary():
        return
    code, said = program.refusal("run", "--concurrent", *words, "--dry-run", seconds=program.SLOW_NODE_S)
    if code == USAGE:
        raise CommandError(f"after --: {said}")


def _make(options: argparse.Namespace, now: datetime) -> manifests.Manifest:
    """The manifest that the options describe. Raises CommandError."""
    if options.nodes is not None and options.partition:
        raise CommandError("--partition asks Slurm, and --nodes does not; allowed: one of them")
    suite = SUITES[options.suite]
    limit = suite.limit_s if options.limit is None else options.limit
    taken = [word for word in options.words if word.split("=")[0] in ("--out", "--concurrent", "--resume")]
    if taken:
        raise CommandError(f"{taken[0]} belongs to the job of a node; allowed: other arguments of `ridgebench run`")
    _require_words(options.words)
    if options.nodes is not None:
        found = hostlist.from_file(options.nodes, options.gpus)
    else:
        found = hostlist.from_sinfo(scheduler.nodes(options.partition), options.gpus)
    found.sort(key=lambda node: natural(node.node))
    command = options.words or suite.command
    order = [node.node for node in found]
    return manifests.Manifest(found, now, order, OWN if options.words else options.suite, command, float(limit))


def main(options: argparse.Namespace) -> int:
    path = options.out / manifests.NAME
    if path.exists():
        raise CommandError(f"{path} exists; allowed: a new folder, as results of another plan would count as stale")
    manifest = _make(options, datetime.now(timezone.utc).replace(microsecond=0))
    options.out.mkdir(parents=True, exist_ok=True)
    manifests.write(manifest, options.out)
    usable = [node for node in manifest.nodes if node.note is None]
    nodes, gpus = counted(len(manifest.nodes), "node"), counted(sum(node.gpus for node in manifest.nodes), "GPU")
    print(f"{one_line(str(path))}: {nodes}, {gpus}, suite {manifest.suite}")
    for note in sorted({node.note for node in manifest.nodes if node.note}):
        names = [node.node for node in manifest.nodes if node.note == note]
        print(f"{note}: {hostlist.folded(names)}; planned, and no job is submitted there")
    if usable:
        print(f"next: ridgebench fleet submit {one_line(str(options.out))}")
    return OK
