"""Where the results of a fleet lie: the folders of nodes, or results folders anywhere in a tree."""

import os
import re
from pathlib import Path
from typing import NamedTuple, Optional

from ridgebench.base.command_line import CommandError
from ridgebench.base.text import one_line
from ridgebench.data.records import other_results

NODES = "nodes"  # below the folder of a fleet: nodes/gn1/attempt-1
JOB_END = ".job.json"  # beside the folder, which must be new for the run: nodes/gn1/attempt-1.job.json
_ATTEMPT = re.compile(r"attempt-([1-9][0-9]{0,5})")
OF_NODE = "node.json"
SOAK = "soak"  # of the pass in the folder of a node that `soak --concurrent` wrote
OF_RESULTS = "environment.json"
SOAK_LOG = "soak.jsonl"
REPORT = "report"  # the folder of the report, below that of the fleet


class Place(NamedTuple):
    """A folder to read. `node` is None for a results folder that lies directly in the tree's root."""

    folder: Path
    node: Optional[str]
    attempt: int
    has_node: bool  # a folder of a node, which may be absent if only its job began; otherwise a results folder


def natural(text: str) -> list[tuple[int, int, str]]:
    """A key that sorts gn2 before gn10."""
    parts = re.split(r"([0-9]{1,18})", text)
    return [(0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts]


def _subfolders(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir()] if folder.is_dir() else []


def attempts_in(node: Path) -> list[int]:
    """The attempts of which the folder of a node has a folder or the record of a job."""
    names = os.listdir(node) if node.is_dir() else []
    return sorted({int(match[1]) for name in names if (match := _ATTEMPT.fullmatch(name.removesuffix(JOB_END)))})


def planned_places(fleet: Path) -> list[Place]:
    """The attempts of all nodes in the folder of a fleet with a manifest."""
    nodes = sorted(_subfolders(fleet / NODES), key=lambda node: natural(node.name))
    return [Place(node / f"attempt-{attempt}", one_line(node.name), attempt, True) for node in nodes for attempt in attempts_in(node)]


def _node_place(root: Path, folder: Path) -> Place:
    """The folder of a node's run, named as in the folder of a fleet: NODE/attempt-N, or NODE."""
    match = _ATTEMPT.fullmatch(folder.name)
    named = folder.parent if match else folder
    name = one_line(named.name) if named not in (root, root.parent) else None
    return Place(folder, name, int(match[1]) if match else 1, True)


def unreadable(error: OSError) -> None:
    """What a walk does at a folder that it cannot read."""
    raise error


def walked_places(root: Path, may_be_empty: bool = False) -> list[Place]:
    """Every folder of a node's run, and every results folder that is not in one; soaks are left out (soaks.py).

    Raises CommandError where there is none and `may_be_empty` is false.
    """
    found: dict[Path, Place] = {}
    for name, folders, files in os.walk(root, onerror=unreadable):
        folder = Path(name)
        for began in (folder / file.removesuffix(JOB_END) for file in files if file.endswith(JOB_END)):
            found[began] = _node_place(root, began)
        if OF_NODE in files:
            if SOAK not in folders:
                found[folder] = _node_place(root, folder)
            folders.clear()
        elif OF_RESULTS in files and not other_results(folder):
            steps = folder.relative_to(root).parts
            found[folder] = Place(folder, one_line(steps[0]) if steps else None, 1, False)
            folders.clear()
    if not found and not may_be_empty:
        raise CommandError(f"{root}: holds no results; allowed: the folder of a fleet, or a tree with results folders")
    return sorted(found.values(), key=lambda place: natural(str(place.folder)))
