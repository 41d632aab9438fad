"""The golden results that the tests of the figures draw, and what tests of results folders share."""

import errno
import json
from pathlib import Path
from typing import Any, Callable, NoReturn

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden_results"


def read_records(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def read_environment(folder: Path) -> dict:
    return json.loads((folder / "environment.json").read_text())


def write_records(folder: Path, records: list[dict]) -> None:
    (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))


def change_records(folder: Path, change: Callable[[dict], dict]) -> None:
    """Replaces each record of a results folder."""
    write_records(folder, list(map(change, read_records(folder))))


def imported(folder: Path, tool: str, text: str, *words: str) -> dict[str, dict]:
    """The records, by id, that `ridgebench import` makes of a tool's file with this text."""
    from ridgebench.__main__ import run

    (folder / "file").write_text(text)
    assert run("import", [tool, str(folder / "file"), "-o", str(folder / "out"), *words]) == 0
    return {record["id"]: record for record in read_records(folder / "out")}


def full_disk(path: Any = "file", *_: Any) -> NoReturn:
    """What writing to a full disk does, in place of a function that writes a file."""
    raise OSError(errno.ENOSPC, "No space left on device", str(path))
