"""The error rates of the gate as tables for docs/error_rates.md: simulated ones, and those of scripts/prove_gate.sh."""

import json
from pathlib import Path
from typing import Optional

import numpy as np

from ridgebench.base.printers import markdown_table
from ridgebench.judge import gate

from .result_tables import captioned

VERDICTS = (gate.WORSE, gate.SAME, gate.BETTER, gate.UNDECIDED, gate.NOT_GATED)


_DRAWS = 10_000  # simulated comparisons of a row
_NOISES = (0.004, 0.01, 0.05)  # deviation of a process's log time
_CHANGES = (0.0, 0.005, 0.02, 0.05, 0.1)


def simulated(noise: float, change: float) -> tuple[dict[str, float], float]:
    """The share of each verdict and the mean number of pairs; rows are given up as measure.py does."""
    preset = gate.PRESETS["standard"]
    ratios = np.random.default_rng(1).normal(np.log1p(change), noise * np.sqrt(2), (_DRAWS, gate.LOOKS[-1]))
    verdicts, pairs = np.full(_DRAWS, gate.UNDECIDED), np.full(_DRAWS, gate.LOOKS[-1])
    open_rows = np.ones(_DRAWS, bool)
    for count in gate.LOOKS:
        verdicts[open_rows] = gate.look(ratios[open_rows, :count], preset)
        pairs[open_rows] = count
        hopeless = gate.chance(ratios[:, :count], preset) < gate.LEAST_CHANCE
        open_rows &= (verdicts == gate.UNDECIDED) & ~hopeless
    return {verdict: float((verdicts == verdict).mean()) for verdict in VERDICTS}, float(pairs.mean())


def simulated_table() -> str:
    header = ["a process scatters by", "slower by", *VERDICTS[:-1], "pairs, mean"]
    lines = []
    for noise in _NOISES:
        for change in _CHANGES:
            shares, pairs = simulated(noise, change)
            cells = [f"{100 * noise:g} %", f"{100 * change:g} %"]
            cells += [f"{100 * shares[verdict]:.2f} %" for verdict in VERDICTS[:-1]]
            lines.append([*cells, f"{pairs:.0f}"])
    return captioned(markdown_table(header, lines), f"Each line represents {_DRAWS:,} comparisons of a row with the standard preset.")


def _found(group: dict) -> str:
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
    header = ["work added", "bound by", "a process", "rows", "comparisons", "verdicts", "measured change"]
    header.append("WORSE of those judged")
    lines = []
    for group in summary["groups"]:
        change = (
            f"{100 * group['median_change']:+.2f} % "
            f"({100 * group['least_change']:+.2f} to {100 * group['most_change']:+.2f})"
        )
        cells = [f"{100 * group['asked']:g} %", group["bound"], f"{group['seconds']:g} s"]
        cells += [str(group["rows"]), str(group["tries"])]
        verdicts = ", ".join(f"{group[verdict]} {verdict}" for verdict in VERDICTS if group[verdict])
        cells += [verdicts, change, _found(group)]
        lines.append(cells)
    device = summary["device"]
    return captioned(
        markdown_table(header, lines),
        f"`scripts/prove_gate.sh` measured these rates on {device['model']}, {device['threads']} threads, on "
        f"{summary['started'][:10]}, at {' and '.join(summary['commits'])}, with the standard preset.",
        "The bounds are one-sided and hold with 95 % confidence.",
    )
