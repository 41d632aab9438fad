"""The golden results that the tests of the figures draw."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden_results"


def read_records(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def read_environment(folder: Path) -> dict:
    return json.loads((folder / "environment.json").read_text())


def write_records(folder: Path, records: list[dict]) -> None:
    (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
