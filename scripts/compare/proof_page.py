"""The rates that a proof of the gate measured: summed up, and as a table for docs/method.md."""

import json
from pathlib import Path
from typing import Any, Optional

import numpy as np

from . import gate
from .report import FAILED, MISSING, NOT_COMPARABLE

SCHEMA = "ridgebench.proof/1"
ALL = (gate.WORSE, gate.SAME, gate.BETTER, gate.UNDECIDED, gate.NOT_GATED)
BROKEN = (FAILED, MISSING, NOT_COMPARABLE)
COMPUTE = ("compute", "special")


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
        **{verdict: verdicts.count(verdict) for verdict in ALL},
        "broken": sum(verdict in BROKEN for verdict in verdicts),
    }


def commit_of(environment: dict[str, Any]) -> str:
    changed = " with changes" if environment["dirty"] else ""
    return (environment["commit"] or "unknown")[:7] + changed


def summarise(sessions: list[dict]) -> dict[str, Any]:
    """Groups by what was injected, what bounds the row and how long a process measured."""
    groups: dict[tuple[float, str, float], list[dict]] = {}
    for session in sessions:
        for row in session["rows"]:
            if row["change"] is not None:
                bound = "compute" if row["bound"] in COMPUTE else row["bound"] or "unknown"
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


def found(group: dict) -> str:
    """The rate of WORSE with its 95 % bound: an upper one for identical code, else a lower one.

    Of the comparisons that were judged: those not gated cannot be WORSE.
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
    header = ["work added", "bound by", "a process", "rows", "comparisons", *ALL]
    header += ["measured change", "WORSE of those judged"]
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for group in summary["groups"]:
        change = (
            f"{100 * group['median_change']:+.2f} % "
            f"({100 * group['least_change']:+.2f} to {100 * group['most_change']:+.2f})"
        )
        cells = [f"{100 * group['asked']:g} %", group["bound"], f"{group['seconds']:g} s"]
        cells += [group["rows"], group["tries"]]
        cells += [*(group[verdict] for verdict in ALL), change, found(group)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    device = summary["device"]
    return "\n".join(lines) + (
        f"\n\nMeasured by `scripts/prove_gate.sh`: {device['model']}, {device['threads']} threads, "
        f"{summary['started'][:10]}, {' and '.join(summary['commits'])}; standard preset. Bounds are one-sided, of 95 % "
        "confidence."
    )
