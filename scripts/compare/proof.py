"""Proves the gate on a real device: a binary against itself, and against itself with work added.

    python -m compare.proof BINARY --out FOLDER [--trial]    scripts/prove_gate.sh calls it

Every session is a whole comparison of compare.py. FOLDER/sessions.jsonl holds one line per finished
session, so that a proof that was ended goes on where it stopped. Work is added by the environment
variable RIDGEPOINT_INJECT_WORK: one launch more to every 50 or 20, to both arms' batches of as many.
"""

import argparse
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from .judge import load_pair, measure
from .proof_page import ALL, summarise
from .session import ARMS, Session

VARIABLE = "RIDGEPOINT_INJECT_WORK"
ALLOWED = ["environment_variables"]  # the variable is what the candidate differs by
# Rows bound by arithmetic, of short launches: a turn of 50 of them should last but milliseconds.
COMPUTE = (
    "^matmul/(naive/fp32/m:64|(packed|onednn|openblas)/fp32/m:128)/",
    "^matmul/(packed|vdpbf16)/(bf16|fp8_e4m3)/m:128/",
    "^matmul_gelu/((packed|onednn)/fp32|(packed|vdpbf16)/bf16)/m:128/",
)
MEMORY = ("^(relu/streaming|dot/accumulators)/bf16/n:33554432/",)
# On one set of buffers: rotating over many would have to wait for memory as well.
ARGUMENTS = ["--profile", "standard", "--regime", "warm", "--budget", "0.6"]


@dataclass(frozen=True)
class Plan:
    """Sessions per filter: of identical code, and of one launch more to every so many."""

    identical: int
    injected: tuple[tuple[int, int], ...]
    filters: tuple[str, ...]


PLANS = (Plan(26, ((50, 5), (20, 3)), COMPUTE), Plan(6, ((50, 3), (20, 3)), MEMORY))
TRIAL = (Plan(1, ((20, 1),), COMPUTE[:1]),)


class Proof:
    def __init__(self, binary: Path, out: Path, device: str, plans: tuple[Plan, ...]) -> None:
        self.binary, self.out, self.device, self.plans = binary.resolve(), out, device, plans
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

    def session(self, name: str, pattern: str, binaries: tuple[Path, Path]) -> Session:
        """Prepared and without pairs; what an earlier attempt left is dropped."""
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        arms = dict(zip(ARMS, map(str, binaries)))
        session = Session(folder, arms, ["--device", self.device, *ARGUMENTS], pattern)
        session.prepare()
        return session

    def compare(self, name: str, asked: float, pattern: str, binaries: tuple[Path, Path]) -> None:
        """A whole comparison, as compare.py makes it, unless it was made before."""
        if name in self.finished():
            return
        session = self.session(name, pattern, binaries)
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
        for plan in self.plans:
            for number in range(1, plan.identical + 1):
                for pattern in plan.filters:
                    name = f"identical-{number:02}-{slug(pattern)}"
                    self.compare(name, 0, pattern, (self.binary, self.binary))
            for launches, sessions in plan.injected:
                arms = self.binary_with(f"0/{launches}"), self.binary_with(f"1/{launches}")
                for number in range(1, sessions + 1):
                    for pattern in plan.filters:
                        name = f"one-of-{launches}-{number:02}-{slug(pattern)}"
                        self.compare(name, 1 / launches, pattern, arms)


def slug(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="prove_gate.sh", description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--trial", action="store_true", help="a few minutes: does it work at all?")
    parser.add_argument("--publish", type=Path, metavar="RESULTS", help="write the rates here")
    options = parser.parse_args(arguments)
    proof = Proof(options.binary, options.out, options.device, TRIAL if options.trial else PLANS)
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
        print(", ".join(f"{key} {group[key]}" for key in ("bound", "asked", "tries", *ALL)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
