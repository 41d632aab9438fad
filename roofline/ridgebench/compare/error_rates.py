"""The error rates of the gate that scripts/prove_gate.sh measured, as a table for docs/method.md."""

import json
from pathlib import Path
from typing import Optional

from . import gate

VERDICTS = (gate.WORSE, gate.SAME, gate.BETTER, gate.UNDECIDED, gate.NOT_GATED)


def found(group: dict) -> str:
    """The rate of WORSE with its 95 % bound: an upper one for identical code, else a lower one.

    Comparisons that were not gated are left out: they cannot be WORSE.
    """
    tries, worse = group["tries"] - group[gate.NOT_GATED], group[gate.WORSE]
    if tries == 0:
        return "none judged"
    if group["asked"] == 0:
        return f"{worse / tries:.1%}, at most {gate.most_failures(worse, tries):.1%}"
    return f"{worse / tries:.1%}, at least {1 - gate.most_failures(tries - worse, tries):.1%}"


def newest(results: Path) -> Optional[dict]:
    """The proof of the latest date under results/<device>/gate."""
    found = sorted(results.glob("*/gate/*.json"), key=lambda path: (path.name, path))
    return json.loads(found[-1].read_text("utf-8")) if found else None


def table(summary: dict) -> str:
    header = ["work added", "bound by", "a process", "rows", "comparisons", "verdicts", "measured change", "WORSE of those judged"]
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for group in summary["groups"]:
        change = (
            f"{100 * group['median_change']:+.2f} % "
            f"({100 * group['least_change']:+.2f} to {100 * group['most_change']:+.2f})"
        )
        cells = [f"{100 * group['asked']:g} %", group["bound"], f"{group['seconds']:g} s"]
        cells += [group["rows"], group["tries"]]
        verdicts = ", ".join(f"{group[verdict]} {verdict}" for verdict in VERDICTS if group[verdict])
        cells += [verdicts, change, found(group)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    device = summary["device"]
    return "\n".join(lines) + (
        f"\n\nMeasured by `scripts/prove_gate.sh`: {device['model']}, {device['threads']} threads, "
        f"{summary['started'][:10]}, {' and '.join(summary['commits'])}; standard preset. "
        "Bounds are one-sided, of 95 % confidence."
    )
