"""Proves the gate on a real device: a binary against itself, and against itself with work added.

    python -m compare.proof BINARY --out FOLDER [--trial]    scripts/prove_gate.sh calls it

Every session is a whole comparison of compare.py. FOLDER/sessions.jsonl holds one line per finished
session, so that a proof that was ended goes on where it stopped. Work is added by the environment
variable RIDGEPOINT_INJECT_WORK: one launch more to every 50 or 20, to both arms' batches of as many.
"""

import argparse
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from .judge import load_pair, measure
from .proof_page import ALL, summarise
from .session import ARMS, Session

VARIABLE = "RIDGEPOINT_INJECT_WORK"
ALLOWED = ["environment_variables"]  # the variable is what the candidate differs by
# Rows bound by arithmetic, on one set of buffers so that a host's neighbours disturb them little, and
# one bound by memory.
FILTER = (
    "^(matmul|matmul_gelu)/(naive/fp32/m:128|(packed|vdpbf16|onednn|openblas)/(fp32|bf16)/m:256)/"
    "|^relu/streaming/bf16/n:33554432/"
)
ARGUMENTS = ["--profile", "standard", "--regime", "warm"]
BUDGET_S = 2  # of a process; most rows are precise before their share ends


@dataclass(frozen=True)
class Plan:
    """How many sessions of identical code, and of each share of work: one launch more to so many."""

    identical: int = 24
    injected: tuple[tuple[int, int], ...] = ((50, 8), (20, 4))
    filter: str = FILTER


TRIAL = Plan(1, ((20, 1),), "^matmul/(naive/fp32/m:128|packed/fp32/m:256)/")


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

    def binary_with(self, work: str) -> Path:
        """The binary with so much work added to every batch."""
        path = self.out / f"work-{work.replace('/', '-of-')}.sh"
        path.write_text(f'#!/bin/sh\n{VARIABLE}={work} exec "{self.binary}" "$@"\n')
        path.chmod(0o755)
        return path

    def session(self, name: str, binaries: tuple[Path, Path]) -> Session:
        """Prepared and without pairs; what an earlier attempt left is dropped."""
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        arguments = ["--device", self.device, "--budget", str(BUDGET_S), *ARGUMENTS]
        arms = dict(zip(ARMS, map(str, binaries)))
        session = Session(folder, arms, arguments, self.plan.filter)
        session.prepare()
        return session

    def compare(self, name: str, asked: float, binaries: tuple[Path, Path]) -> None:
        """A whole comparison, as compare.py makes it, unless it was made before."""
        if name in self.finished():
            return
        session = self.session(name, binaries)
        report = measure(session, "standard", ALLOWED)
        first = load_pair(session, 1)[0]
        bounds = dict(zip(first.table.ids, first.table.bound))
        keys = ("id", "verdict", "change", "spread", "pairs")
        rows = [{k: getattr(row, k) for k in keys} | {"bound": bounds.get(row.id)}
                for row in report.rows]
        told = {"name": name, "asked": asked, "rows": rows, "environment": first.environment}
        with self.lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
        print(f"\r{name}: {report.counts()}", file=sys.stderr)

    def run(self) -> None:
        for number in range(1, self.plan.identical + 1):
            self.compare(f"identical-{number:02}", 0, (self.binary, self.binary))
        for launches, sessions in self.plan.injected:
            arms = self.binary_with(f"0/{launches}"), self.binary_with(f"1/{launches}")
            for number in range(1, sessions + 1):
                self.compare(f"one-of-{launches}-{number:02}", 1 / launches, arms)


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
