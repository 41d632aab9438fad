"""Measures the error rates of the gate on a real device: a binary against itself, and against itself with work added.

scripts/prove_gate.sh calls it. Every session is a whole comparison. FOLDER/sessions.jsonl holds one line per finished
session, so that a proof that was ended goes on where it stopped. The device `injected` of the tests' binary adds the
work that the environment variable RIDGEBENCH_INJECT_WORK names: one launch to every 50 or 20; both arms have batches
of as many launches.
"""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ridgebench.base.command_line import OK, CommandError, Parser, fail
from ridgebench.judge.limits import Limits
from ridgebench.judge.measure import measure
from ridgebench.judge.past.baseline_store import slug
from ridgebench.judge.report import FAILED, MISSING, NOT_COMPARABLE
from ridgebench.judge.ridgebench_session import RidgebenchSession
from ridgebench.judge.session import ARMS
from ridgebench.pages.error_rates import VERDICTS

SCHEMA = "ridgebench.proof/1"
BROKEN = (FAILED, MISSING, NOT_COMPARABLE)
COMPUTE_BOUNDS = ("compute", "special")

VARIABLE = "RIDGEBENCH_INJECT_WORK"
ALLOWED = ["environment_variables"]  # the candidate differs by the variable
# Rows bound by arithmetic with short launches: a turn may have to hold 50 of them.
COMPUTE = "^matmul(_gelu)?/((packed|onednn)/fp32|packed/(bf16|fp8_e4m3))/m:256/"
# One set of buffers: rotation over several would wait for memory as well.
WARM = ("--profile", "standard", "--regime", "warm")
# Rows bound by memory, at the one size of the quick profile. No work is added to them: on a host with large caches
# twenty launches take seconds.
MEMORY = "^(relu/streaming|dot/accumulators)/bf16/"
QUICK = ("--profile", "quick")


@dataclass(frozen=True)
class Series:
    """Sessions of the same rows, work and measuring time."""

    rows: str  # filter
    arguments: tuple[str, ...]  # of `ridgebench run`
    every: int  # number of launches to which one is added; 0: identical code
    sessions: int
    seconds: float  # that each process measures

    def name(self, number: int) -> str:
        kind = f"one-of-{self.every}" if self.every else "identical"
        return f"{kind}-{slug(self.rows)}-{self.seconds:g}s-{number:02}"


SERIES = (
    Series(COMPUTE, WARM, 0, 27, 0.6),
    Series(COMPUTE, WARM, 20, 1, 2),
    Series(COMPUTE, WARM, 50, 3, 8),
    Series(MEMORY, QUICK, 0, 1, 2),
)
TRIAL = (Series(COMPUTE, WARM, 0, 1, 0.6), Series(COMPUTE, WARM, 20, 1, 2))


class Proof:
    """All sessions of a proof, in a folder."""

    def __init__(self, binary: Path, out: Path, device: str, series: tuple[Series, ...]) -> None:
        self.binary, self.out, self.device, self.series = binary.resolve(), out, device, series
        out.mkdir(parents=True, exist_ok=True)

    @property
    def lines(self) -> Path:
        return self.out / "sessions.jsonl"

    def finished(self) -> dict[str, dict]:
        """Finished sessions by name."""
        if not self.lines.exists():
            return {}
        sessions = [json.loads(line) for line in self.lines.read_text("utf-8").splitlines()]
        return {one["name"]: one for one in sessions}

    def binary_with(self, work: str) -> Path:
        """A script that runs the binary with this work added to every batch."""
        path = self.out / f"work-{work.replace('/', '-of-')}.sh"
        path.write_text(f'#!/bin/sh\n{VARIABLE}={work} exec "{self.binary}" "$@"\n')
        path.chmod(0o755)
        return path

    def session(self, name: str, series: Series) -> RidgebenchSession:
        """A session without pairs; what an earlier attempt left is removed."""
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        binaries = [self.binary] * 2
        if series.every:
            binaries = [self.binary_with(f"{extra}/{series.every}") for extra in (0, 1)]
        seconds = str(series.seconds)
        arguments = ["--device", self.device, *series.arguments, "--budget", seconds]
        commands = {arm: [str(binary), "run", *arguments] for arm, binary in zip(ARMS, binaries)}
        session = RidgebenchSession(folder, commands, series.rows)
        session.create()
        return session

    def compare(self, name: str, series: Series) -> None:
        """Makes a whole comparison, as `ridgebench gate` does, and keeps its verdicts."""
        session = self.session(name, series)
        report = measure(session, Limits(), ALLOWED)
        first = session.load_pair(1).baseline
        bounds = {row.id: row.bound for row in first.rows}
        keys = ("id", "verdict", "change", "spread", "pairs")
        rows = [{k: getattr(row, k) for k in keys} | {"bound": bounds.get(row.id)} for row in report.rows]
        asked = 1 / series.every if series.every else 0
        line = {"name": name, "asked": asked, "seconds": series.seconds, "rows": rows, "environment": first.environment}
        with self.lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"\r{name}: {report.counts()}", file=sys.stderr)

    def run(self) -> None:
        for series in self.series:
            for number in range(1, series.sessions + 1):
                name = series.name(number)
                if name not in self.finished():
                    self.compare(name, series)


def group_of(rows: list[dict], asked: float, bound: str, seconds: float) -> dict[str, Any]:
    verdicts = [row["verdict"] for row in rows]
    changes = [row["change"] for row in rows]
    return {
        "bound": bound,
        "asked": asked,
        "seconds": seconds,
        "tries": len(rows),
        "rows": len({row["id"] for row in rows}),
        "median_change": float(np.median(changes)),
        "least_change": min(changes),
        "most_change": max(changes),
        **{verdict: verdicts.count(verdict) for verdict in VERDICTS},
        "broken": sum(verdict in BROKEN for verdict in verdicts),
    }


def commit_of(environment: dict[str, Any]) -> str:
    changed = " with changes" if environment["dirty"] else ""
    return (environment["commit"] or "unknown")[:7] + changed


def summarise(sessions: list[dict]) -> dict[str, Any]:
    """The summary of all sessions: groups by added work, by the bound of the row and by measuring time."""
    groups: dict[tuple[float, str, float], list[dict]] = {}
    for session in sessions:
        for row in session["rows"]:
            if row["change"] is not None:
                bound = "compute" if row["bound"] in COMPUTE_BOUNDS else row["bound"] or "unknown"
                groups.setdefault((session["asked"], bound, session["seconds"]), []).append(row)
    environments = [session["environment"] for session in sessions]
    environment = environments[0]
    keys = ("started", "build", "libraries", "environment_variables", "host")
    return {
        "schema": SCHEMA,
        **{key: environment[key] for key in keys},
        "commits": list(dict.fromkeys(map(commit_of, environments))),
        "device": environment["devices"][0],
        "sessions": len(sessions),
        "groups": [group_of(rows, *group) for group, rows in sorted(groups.items())],
    }


def main(arguments: list[str]) -> int:
    parser = Parser(prog="prove-gate", description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="injected")
    parser.add_argument("--trial", action="store_true", help="a few minutes: does it work at all?")
    parser.add_argument("--publish", type=Path, metavar="RESULTS", help="write the rates here")
    options = parser.parse_args(arguments)
    proof = Proof(options.binary, options.out, options.device, TRIAL if options.trial else SERIES)
    proof.run()
    summary = summarise(list(proof.finished().values()))
    path = options.out / "summary.json"
    if options.publish:
        device = summary["device"]
        name = f"{slug(device['model'])}-{device['threads']}-threads"
        path = options.publish / name / "gate" / f"{summary['started'][:10]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(summary, indent=1) + "\n", "utf-8")
    for group in summary["groups"]:
        print(", ".join(f"{key} {group[key]}" for key in ("bound", "asked", "tries", *VERDICTS)))
    return OK


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CommandError as error:
        sys.exit(fail(str(error), error.code, "prove-gate"))
