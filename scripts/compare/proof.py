"""Proves the gate on a real device: a binary against itself, and against itself with work added.

    python -m compare.proof BINARY --out FOLDER [--trial]    scripts/prove_gate.sh calls it

Every session is a whole comparison of compare.py. FOLDER/sessions.jsonl holds one line per finished
session, so that a proof that was ended goes on where it stopped. Work is added by the environment
variable RIDGEPOINT_INJECT_WORK; its share is set once per row, by sessions that count for nothing,
so that the time grows by what was asked.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import gate
from .judge import judge, load_pair, measure
from .proof_page import ALL, summarise
from .report import Report
from .session import ARMS, Session, only, progress

VARIABLE = "RIDGEPOINT_INJECT_WORK"
ALLOWED = ["environment_variables"]  # the variable is what the candidate differs by
# Rows bound by arithmetic, where a host is quiet enough to judge, and two bound by memory.
FILTER = (
    "^(matmul/(naive|packed|vdpbf16)/(fp32|bf16)|matmul_gelu/packed/fp32"
    "|(relu/streaming|dot/accumulators)/bf16)/"
)
SECONDS_PER_ROW = 0.3
CALIBRATED_WITHIN = 0.002
CALIBRATIONS = 3


@dataclass(frozen=True)
class Plan:
    """How many sessions, and which shares of work are added to how many rows."""

    identical: int = 40
    gates: int = 10
    injected: tuple[float, ...] = (0.02, 0.05)
    rows: int = 6
    filter: str = FILTER


TRIAL = Plan(1, 1, (0.05,), 1, "^matmul/(naive|packed)/fp32/")


class Proof:
    def __init__(self, binary: Path, out: Path, device: str, plan: Plan) -> None:
        self.binary, self.out, self.device, self.plan = binary.resolve(), out, device, plan
        out.mkdir(parents=True, exist_ok=True)

    @property
    def lines(self) -> Path:
        return self.out / "sessions.jsonl"

    def finished(self) -> dict[str, dict]:
        """Finished sessions by name."""
        if not self.lines.exists():
            return {}
        told = [json.loads(line) for line in self.lines.read_text("utf-8").splitlines()]
        return {one["name"]: one for one in told}

    def slowed(self, share: float) -> Path:
        """The binary with work added."""
        path = self.out / f"injected-{share:.6f}.sh"
        path.write_text(f'#!/bin/sh\n{VARIABLE}={share:.6f} exec "{self.binary}" "$@"\n')
        path.chmod(0o755)
        return path

    def session(self, name: str, share: float, pattern: str, rows: int) -> Session:
        """Prepared and without pairs; what an earlier attempt left is dropped."""
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        candidate = self.slowed(share) if share else self.binary
        budget = f"{SECONDS_PER_ROW * rows:.2f}"
        arguments = ["--device", self.device, "--budget", budget]
        binaries = dict(zip(ARMS, (str(self.binary), str(candidate))))
        session = Session(folder, binaries, arguments, pattern)
        session.prepare()
        return session

    def compare(self, name: str, asked: float, share: float, pattern: str, rows: int) -> dict:
        """A whole comparison, as compare.py makes it; told by name if it was made before."""
        if name in (done := self.finished()):
            return done[name]
        session = self.session(name, share, pattern, rows)
        report = measure(session, "standard", ALLOWED)
        return self.remember(name, asked, share, report, session)

    def single_look(self, name: str, asked: float, share: float, pattern: str, rows: int) -> dict:
        """As many pairs as the first look has: enough to tell the change, whatever the verdict."""
        if name in (done := self.finished()):
            return done[name]
        session = self.session(name, share, pattern, rows)
        session.extend(gate.LOOKS[0], None, progress(gate.LOOKS[0]))
        report = judge(session, "standard", ALLOWED)
        return self.remember(name, asked, share, report, session)

    def remember(self, name: str, asked: float, share: float, report: Report, session) -> dict:
        first = load_pair(session, 1)[0]
        bounds = dict(zip(first.table.ids, first.table.bound))
        keys = ("id", "verdict", "change", "spread", "pairs")
        rows = [{k: getattr(row, k) for k in keys} | {"bound": bounds.get(row.id)}
                for row in report.rows]
        told = {"name": name, "asked": asked, "share": share, "rows": rows}
        told["environment"] = first.environment
        with self.lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
        print(f"\r{name}: {report.counts()}", file=sys.stderr)
        return told

    def calibrate(self, row: str, asked: float) -> float:
        """The share of work that makes this row take so much longer."""
        share = asked
        for attempt in range(CALIBRATIONS):
            name = f"calibration-{asked:g}-{attempt}-{slug(row)}"
            done = self.single_look(name, asked, share, only([row]), 1)
            change = done["rows"][0]["change"]
            if abs(change - asked) <= CALIBRATED_WITHIN:
                break
            share = float(np.clip(share * asked / max(change, asked / 10), 1e-4, 1))
        return share

    def compute_bound(self) -> Iterator[str]:
        """Rows of the A/A sessions whose limit is arithmetic, one per technique and format."""
        found = {}
        for session in self.finished().values():
            if session["asked"] == 0:
                for row in session["rows"]:
                    if row["bound"] in ("compute", "special") and row["change"] is not None:
                        found.setdefault(row["id"], row)
        return iter(list(found)[: self.plan.rows])

    def run(self) -> None:
        rows = 2
        for number in range(1, self.plan.identical + 1):
            done = self.compare(f"identical-{number:02}", 0, 0, self.plan.filter, rows)
            rows = len(done["rows"])
        for row in self.compute_bound():
            for asked in self.plan.injected:
                share = self.calibrate(row, asked)
                for number in range(1, self.plan.gates + 1):
                    name = f"injected-{asked:g}-{number:02}-{slug(row)}"
                    self.compare(name, asked, share, only([row]), 1)


def slug(row: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in row.split("@")[0])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="prove_gate.sh", description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--trial", action="store_true", help="a few minutes: does it work at all?")
    parser.add_argument("--publish", type=Path, metavar="RESULTS", help="write the rates here")
    options = parser.parse_args(arguments)
    proof = Proof(options.binary, options.out, options.device, TRIAL if options.trial else Plan())
    proof.run()
    summary = summarise(list(proof.finished().values()))
    path = options.out / "summary.json"
    if options.publish:
        device = summary["device"]
        name = f"{slug(device['model'].lower())}-{device['threads']}-threads"
        path = options.publish / name / "gate" / f"{summary['started'][:10]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(summary, indent=1) + "\n", "utf-8")
    for group in summary["groups"]:
        print(", ".join(f"{key} {group[key]}" for key in ("bound", "asked", "tries", *ALL)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
