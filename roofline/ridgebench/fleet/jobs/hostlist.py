"""Names of nodes: bracket ranges, a file of nodes, and what Slurm's sinfo says."""

import math
import re
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path
from typing import Optional

from ridgebench.base.command_line import CommandError
from ridgebench.base.files import read
from ridgebench.base.text import one_line, quoted

from ..manifest import MOST_GPUS, Node, is_name
from ..places import natural

_BRACKETS = re.compile(r"\[([0-9,-]+)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_MOST_NODES = 100_000
# gpu:8, gpu:h100:8(S:0-1), gpu:h100:no_consume:8 of sinfo's %G
_GPUS_OF_GRES = re.compile(r"(?:^|,)gpu(?::[^,:(]+)*?:([0-9]{1,5})(?=[,(]|$)")
# States of sinfo in which a node takes jobs now or when it is free.
_TAKES_JOBS = {"idle", "mixed", "allocated", "completing", "planned", "reserved", "allocated+"}


def _numbers(text: str) -> list[str]:
    """`8-10,012` -> 8, 9, 10, 012; leading zeros stay. Raises CommandError."""
    found = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not match or not first <= last < first + _MOST_NODES:
            raise CommandError(f"[{one_line(text)}]: {part!r} is not a range; allowed: a number or FIRST-LAST, separated by commas")
        found += [f"{number:0{len(match[1])}}" for number in range(first, last + 1)]
    return found


def expand(text: str) -> list[str]:
    """`gn[1-3]-ib[0,1]` -> gn1-ib0, gn1-ib1, gn2-ib0, ... Raises CommandError."""
    parts = _BRACKETS.split(text)
    choices = [_numbers(part) if at % 2 else [part] for at, part in enumerate(parts)]
    if math.prod(map(len, choices)) > _MOST_NODES:  # ranges multiply: nine digits in brackets are a billion names
        raise CommandError(f"{quoted(text)} names more than {_MOST_NODES} nodes; allowed: gn1, or a range as gn[1-4,07]")
    names = ["".join(choice) for choice in product(*choices)]
    for name in names:
        if not is_name(name):
            raise CommandError(f"{quoted(name)} is not a name of a node; allowed: gn1, or a range as gn[1-4,07]")
    return names


def folded(names: list[str]) -> str:
    """The shortest text that expand() takes apart into these names: gn[1-3,7],login1."""
    split = [re.fullmatch(r"(.*?)([0-9]{0,9})", name, re.DOTALL) for name in sorted(names, key=natural)]
    shown = []
    for prefix, group in groupby(split, key=lambda match: match[1]):
        ranges: list[list[str]] = []
        for digits in (match[2] for match in group):
            if not digits:
                shown.append(prefix)
            elif ranges and digits == f"{int(ranges[-1][1]) + 1:0{len(ranges[-1][1])}}":  # 09 is followed by 10, not by 010
                ranges[-1][1] = digits
            else:
                ranges.append([digits, digits])
        told = ",".join(first if first == last else f"{first}-{last}" for first, last in ranges)
        if told:
            shown.append(f"{prefix}{told}" if told.isdecimal() else f"{prefix}[{told}]")
    return ",".join(shown)


def from_file(path: Path, gpus: Optional[int]) -> list[Node]:
    """A node or a range a line, and the number of its GPUs where `gpus` does not say it. Raises CommandError."""
    found: dict[str, Node] = {}
    for at, line in enumerate(read(path, "a file of nodes").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        count = words[1] if len(words) > 1 else gpus
        if len(words) > 2 or count is None or not (str(count).isdecimal() and 1 <= int(count) <= MOST_GPUS):
            raise CommandError(f"{path}:{at}: {quoted(line)}; allowed: NODE GPUS, or NODE with --gpus; 1 to {MOST_GPUS} GPUs")
        for name in expand(words[0]):
            if name in found:
                raise CommandError(f"{path}:{at}: node {name} comes twice")
            found[name] = Node(name, int(count))
    if not found:
        raise CommandError(f"{path}: names no node")
    return list(found.values())


def gpus_of_gres(gres: str) -> int:
    return sum(int(count) for count in _GPUS_OF_GRES.findall(gres))


def _note_of(state: str) -> Optional[str]:
    """The state where no job starts in it; a star says that the node does not answer."""
    return None if state in _TAKES_JOBS else state


def told_by_sinfo(text: str) -> dict[str, Node]:
    """The nodes of `sinfo -h -N -o '%N|%T|%G'`, which names a node once for each of its partitions; most have no GPU."""
    found = {}
    for line in text.splitlines():
        name, state, gres = [*line.split("|", 2), "", ""][:3]
        if is_name(name):
            found[name] = Node(name, gpus_of_gres(gres), _note_of(state.strip()))
    return found


def from_sinfo(text: str, gpus: Optional[int]) -> list[Node]:
    """The nodes with GPUs; `gpus` counts in place of Gres. Raises CommandError where there is none."""
    found = [node if gpus is None else replace(node, gpus=gpus) for node in told_by_sinfo(text).values()]
    if not any(node.gpus for node in found):
        raise CommandError("sinfo names no node with GPUs (Gres); allowed: --gpus N, or --nodes FILE")
    return [node for node in found if node.gpus]
