"""fleet.json: the collected form as one file.

Rows and facts are named once, and a reading is a list, so that 10,000 GPUs take some 20 MB.
"""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Optional

from ridgebench.base.files import write_at_once

from . import manifest as manifests
from .gpu import STATES, Fleet, Gpu, Reading

NAME = "fleet.json"
_SCHEMA = "urn:ridgebench:fleet:1"
_DIGITS = 6  # significant ones of a reading; its spread is larger


def counts(fleet: Fleet) -> dict[str, int]:
    found = Counter(gpu.state for gpu in fleet.gpus)
    return {state: found[state] for state in STATES}


def expected(fleet: Fleet) -> Optional[int]:
    return sum(node.gpus for node in fleet.manifest.nodes) if fleet.manifest else None


def _rounded(value: Optional[float]) -> Optional[float]:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


class _Table:
    """Numbers equal values, in the order of their first use."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.values: list[Any] = []

    def number(self, key: Any, value: Any) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.values)
            self.values.append(value)
        return self.numbers[key]


class _Writer:
    """Builds the value of fleet.json."""

    def __init__(self) -> None:
        self.rows, self.facts, self.versions = _Table(), _Table(), _Table()

    def gpu(self, gpu: Gpu) -> dict[str, Any]:
        """The readings by pass: row, status and the other fields of Reading but `unit`, which the row has, and `cached`."""
        passes: dict[str, list[list]] = defaultdict(list)
        fingerprints: dict[str, list[list]] = defaultdict(list)
        for (pass_name, row), one in gpu.readings.items():
            number = self.rows.number((row, one.unit), {"id": row, "unit": one.unit})
            values = (one.seconds, one.rate, one.cycles, one.clock_hz, one.watts, one.celsius)
            passes[pass_name].append([number, one.status, *map(_rounded, values), list(one.events), one.reason, one.power_state])
            if one.bits:
                fingerprints[pass_name].append([number, *one.bits])
        return {
            "node": gpu.node, "index": gpu.index, "uuid_hash": gpu.uuid_hash, "model": gpu.model, "state": gpu.state,
            "reason": gpu.reason, "attempt": gpu.attempt,
            "facts": self.facts.number(tuple(gpu.facts.items()), gpu.facts) if gpu.facts else None,
            "versions": self.versions.number(tuple(gpu.versions.items()), gpu.versions) if gpu.versions else None,
            "health": [one._asdict() for one in gpu.health], "doubted": list(gpu.doubted),
            "readings": passes, "fingerprints": fingerprints, "earlier": self.gpu(gpu.earlier) if gpu.earlier else None,
        }  # fmt: skip


def _value_of(fleet: Fleet) -> dict[str, Any]:
    """The object of fleet.json; results/schema/fleet.schema.json describes it."""
    writer = _Writer()
    gpus = [writer.gpu(gpu) for gpu in fleet.gpus]
    manifest = fleet.manifest
    return {
        "schema": _SCHEMA,
        "planned": manifests.text_of(manifest.planned) if manifest else None,
        "suite": manifest.suite if manifest else None,
        "expected": expected(fleet),
        "states": counts(fleet),
        "reading": ["row", "status", *(name for name in Reading._fields if name not in ("status", "unit", "bits", "cached"))],
        "rows": writer.rows.values, "facts": writer.facts.values, "versions": writer.versions.values,
        "gpus": gpus,
    }  # fmt: skip


def text_of(fleet: Fleet) -> str:
    """One GPU a line, so that grep finds it."""
    value = _value_of(fleet)
    gpus = value.pop("gpus")
    head = json.dumps(value, separators=(",", ":"))[:-1]
    return head + ',"gpus":[\n' + ",\n".join(json.dumps(gpu, separators=(",", ":")) for gpu in gpus) + "\n]}\n"


def write(fleet: Fleet, text: str) -> Path:
    path = fleet.folder / NAME
    write_at_once(path, text)
    return path
