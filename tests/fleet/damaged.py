"""What the tests of the collection share: how they read a fleet, and how they damage it."""

import json
from datetime import timedelta
from pathlib import Path

from ridgebench.fleet import collect as collecting
from ridgebench.fleet.gpu import DONE, Fleet
from synthetic_fleet import PLANNED

NOW = PLANNED + timedelta(minutes=10)


def collect(folder: Path) -> Fleet:
    return collecting.collect(folder, NOW)


def attempt(fleet: Path, node: str, number: int = 1) -> Path:
    return fleet / "nodes" / node / f"attempt-{number}"


def odd(fleet: Fleet) -> dict[tuple, tuple]:
    """The GPUs that are not DONE, with state and reason."""
    return {(gpu.node, gpu.index): (gpu.state, gpu.reason) for gpu in fleet.gpus if gpu.state != DONE}


def change_node(folder: Path, change) -> None:
    node = json.loads((folder / "node.json").read_text())
    change(node)
    (folder / "node.json").write_text(json.dumps(node))
