"""What the tests of `ridgebench step` share: its record, and copies of it with another number."""

import json
import shutil
from pathlib import Path

from command_line import schema, strict_json

_STEP = schema("step")


def step_of(folder: Path) -> dict:
    """The line of step.jsonl, which must obey the schema and hold its keys and no other."""
    (line,) = (folder / "step.jsonl").read_text().splitlines()
    step = strict_json(line)
    assert list(_STEP.iter_errors(step)) == []
    assert list(step) == list(_STEP.schema["properties"])
    return step


def changed_copy(folder: Path, copy: Path, key: str) -> Path:
    """A copy of the folder in which a number is twice as large."""
    shutil.copytree(folder, copy)
    step = strict_json((folder / "step.jsonl").read_text())
    step[key] *= 2
    (copy / "step.jsonl").write_text(json.dumps(step, separators=(",", ":")) + "\n")
    return copy


def rounded(count: int) -> int:
    """Bytes of a tensor in the arena."""
    return -(-count // 256) * 256
