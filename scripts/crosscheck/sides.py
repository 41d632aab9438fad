"""Two things measured in turn, a little each: what changes the machine meanwhile strikes both."""

import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from compare.turns import take_turns  # noqa: E402  (scripts/compare)

BLOCKS = 5
SECONDS = "0.6"  # that a row's process measures


@dataclass(frozen=True)
class Side:
    """A process that takes turns; its speed is read from its folder, where `stdout` lies too."""

    name: str
    command: Callable[[Path], list[str]]
    speed: Callable[[Path], float]
    measures_rows: bool = True  # ridgebench does, in the folder `run`

    def start(self, folder: Path, **how) -> subprocess.Popen:
        with (folder / "stdout").open("w") as stdout:
            command = self.command(folder)
            return subprocess.Popen(command, stdout=stdout, stderr=subprocess.STDOUT, **how)


def records(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def row_side(binary: str, row: dict, unit: str, ceilings: str, *options: str) -> Side:
    """A row in a process of its own; the ceilings' folder spares it theirs."""
    given = ["--filter", f"^{re.escape(row['id'])}$", "--ceilings", ceilings, "--budget", SECONDS]

    def speed(folder: Path) -> float:
        (found,) = [r for r in records(folder / "run") if r["id"] == row["id"]]
        return found["flops_per_s" if unit == "GFLOP/s" else "bytes_per_s"] / 1e9

    return Side(row["id"], lambda folder: run_command(binary, folder, *options, *given), speed)


def run_command(binary: str, folder: Path, *options: str) -> list[str]:
    run = [binary, "run", "--device", "cpu", "--take-turns", "--out", str(folder / "run")]
    return [*run, *options]


def program_side(name: str, pattern: str, *command: str, scale: float = 1) -> Side:
    """A program that prints its speed, or that of each sample: the pattern finds it, in 1 / scale.

    It may stop itself before each of its samples; else it measures in one turn, all of them.
    """

    def speed(folder: Path) -> float:
        found = re.findall(pattern, (folder / "stdout").read_text(), re.MULTILINE)
        if not found:
            raise SystemExit(f"{name} did not print its speed: {(folder / 'stdout').read_text()[-300:]}")
        return scale * statistics.median(map(float, found))

    pinned = ["env", "OMP_PROC_BIND=true", *command]  # as ridgebench's own threads are
    return Side(name, lambda _: pinned, speed, measures_rows=False)


def in_turn(sides: list[Side], folder: Path) -> list[Path]:
    """Runs them once; their folders."""
    folders = [folder / str(i) for i in range(len(sides))]
    for each in folders:
        each.mkdir()
    starts = [partial(side.start, each) for side, each in zip(sides, folders)]
    in_step = all(side.measures_rows for side in sides)
    records = [each / "run" / "records.jsonl" for each in folders] if in_step else []
    for side, code in zip(sides, take_turns(starts, records)):
        if code != 0:
            raise SystemExit(f"{side.name} ended with code {code}")
    return folders


def speeds(sides: list[Side]) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        folders = in_turn(sides, Path(folder))
        return [side.speed(each) for side, each in zip(sides, folders)]


def compare(a: Side, b: Side) -> dict:
    """The ratio of each block, A's speed over B's; each side begins every other block."""
    found = []
    for block in range(BLOCKS):
        first, second = speeds([a, b] if block % 2 == 0 else [b, a])
        found.append((first, second) if block % 2 == 0 else (second, first))
    ratios = [x / y for x, y in found]
    return {
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
        "a_speed": statistics.median(x for x, _ in found),
        "b_speed": statistics.median(y for _, y in found),
    }
