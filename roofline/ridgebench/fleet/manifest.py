"""The manifest of a fleet: which nodes and how many GPUs should be there. Coverage is counted from it, not from exit codes."""

from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import malformed, parse_json, read, write_at_once
from ridgebench.base.printers import json_text

_SCHEMA = "ridgebench.fleet_manifest/1"
NAME = "manifest.json"
MOST_GPUS = 1024  # of a node; a larger count is a slip of the pen


@dataclass(frozen=True)
class Node:
    """A node of the manifest; `note` is a state of the scheduler in which no job starts there, such as drained."""

    node: str
    gpus: int
    note: Optional[str] = None


@dataclass(frozen=True)
class Manifest:
    """Decisions of `fleet plan`."""

    nodes: list[Node]
    planned: datetime  # UTC; results that are older are stale
    order: list[str]  # in which the nodes are submitted
    suite: str
    command: list[str]  # arguments of `ridgebench run`, without --out
    limit_s: float  # seconds after which a node's job kills the command


def time_of(text: Any) -> datetime:
    """The time of an RFC 3339 text in UTC, as the program writes it. Raises ValueError."""
    try:
        time = datetime.fromisoformat(text[:-1] if text.endswith("Z") else text).replace(tzinfo=timezone.utc)
    except (AttributeError, TypeError):
        raise ValueError(f"{text!r} is not a time") from None
    if not 1970 <= time.year < 9999:  # a sum with it could leave the range of datetime
        raise ValueError(f"{text!r} is not a time of a run; allowed: the years 1970 to 9998")
    return time


def text_of(time: datetime) -> str:
    return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(manifest: Manifest, folder: Path) -> Path:
    """Writes the manifest into the folder of a fleet; returns its path."""
    path = folder / NAME
    value = {"schema": _SCHEMA, **asdict(manifest), "planned": text_of(manifest.planned)}
    value["nodes"] = [{key: item for key, item in node.items() if item is not None} for node in value["nodes"]]
    write_at_once(path, json_text(value))
    return path


def _node_of(entry: Any) -> Node:
    node = Node(entry["node"], entry["gpus"], entry.get("note"))
    if not isinstance(node.node, str) or not is_name(node.node):
        raise ValueError(f"node {node.node!r} is not a name of a host")
    if type(node.gpus) is not int or not 1 <= node.gpus <= MOST_GPUS:
        raise ValueError(f"gpus of {node.node} is {node.gpus!r}; allowed: 1 to {MOST_GPUS}")
    return node


def is_name(name: str) -> bool:
    """True if a text can be the name of a host, which becomes the name of a folder and a word of a shell."""
    return name.isascii() and name[:1].isalnum() and all(c.isalnum() or c in ".-_" for c in name)


def load(folder: Path) -> Optional[Manifest]:
    """The manifest of a fleet's folder, None if there is none. Raises ResultsError for one that is malformed."""
    path = folder / NAME
    if not path.exists():
        return None
    value = parse_json(read(path, "the manifest of a fleet"), str(path))
    try:
        if value["schema"] != _SCHEMA:
            raise ValueError(f"schema is {value['schema']!r}; allowed: {_SCHEMA}")
        nodes = [_node_of(entry) for entry in value["nodes"]]
        names = [node.node for node in nodes]
        order, command = value["order"], value["command"]
        if sorted(order) != sorted(set(names)) or len(names) != len(order):
            raise ValueError("order does not name each node once")
        if not all(isinstance(word, str) for word in command):
            raise ValueError("command is not a list of texts")
        return Manifest(nodes, time_of(value["planned"]), order, str(value["suite"]), command, float(value["limit_s"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise malformed(path, error, "no manifest") from None
