#!/usr/bin/env python3
"""What ratios.py measured as Markdown: scripts/crosscheck/page.py ratios.json ... > docs/crosscheck.md."""

import json
import statistics
import sys
from pathlib import Path

HEADER = "| A | B | unit | A | B | A / B | range |\n| --- | --- | --- | --- | --- | --- | --- |"


def short(row: str) -> str:
    """An id without what is the same in every row."""
    return row.replace("/steady@cpu", "").replace("@cpu", "").replace("/layout:nt", "")


def share_within(limit: float, spreads: list[float]) -> float:
    return sum(s <= limit for s in spreads) / len(spreads)


def in_short(spreads: list[float]) -> str:
    return f"{statistics.median(spreads):.1%}, {share_within(0.01, spreads):.0%} of them within 1 %"


def agreement(result: dict) -> list[str]:
    """The section on how far processes disagree, where it was measured."""
    if not result["spread"]:
        return []
    seconds = f" of {result['budget_s']:g} s" if result.get("budget_s") else ""
    lines = [
        *opening("How well processes agree", result),
        f"Spread of a row's median over {result['processes']} whole quick runs{seconds}, in turns of one batch as well: "
        "largest over smallest, less one.",
        "",
        "| rows bound by | rows | within 1 % | within 5 % | median spread | largest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for bound in sorted({row["bound"] or "unknown" for row in result["spread"]}):
        spreads = [r["spread"] for r in result["spread"] if (r["bound"] or "unknown") == bound]
        lines.append(
            f"| {bound} | {len(spreads)} | {share_within(0.01, spreads):.0%} | {share_within(0.05, spreads):.0%} "
            f"| {statistics.median(spreads):.1%} | {max(spreads):.0%} |"
        )
    cut = [row for row in result["spread"] if "spread_of_batches" in row]
    if cut:
        now, uncut = (in_short([row[key] for row in cut]) for key in ("spread", "spread_of_batches"))
        lines += [
            "",
            f"Of {len(cut)} rows whose batches are cut into samples the median spread is {now}; with one sample for each "
            f"batch, its mean, it would be {uncut}.",
        ]
    return lines


def provenance(result: dict) -> str:
    device, libraries = result["device"], result["libraries"]
    dirty = " with changes" if result["dirty"] else ""
    return (
        f"{device['model']}, {device['threads']} threads, {result['started'][:10]}, "
        f"commit {result['commit'][:7]}{dirty}. {libraries['openblas']}; oneDNN {libraries['onednn']}."
    )


def opening(title: str, result: dict) -> list[str]:
    """Of a section: its heading names the machine."""
    return ["", f"## {title}: {result['device']['model']}", "", provenance(result), ""]


def table(pairs: list[dict]) -> str:
    rows = [
        f"| {short(p['a'])} | {short(p['b'])} | {p['unit']} | {p['a_speed']:.3g} | {p['b_speed']:.3g} "
        f"| **{p['ratio']:.2f}** | {p['low']:.2f} to {p['high']:.2f} |"
        for p in pairs
    ]
    return "\n".join([HEADER, *rows])


def with_programs(results: Path) -> str:
    """The table of docs/method.md: the newest pairs with other programs under results/<device>/crosscheck."""
    for path in sorted(results.glob("*/crosscheck/*.json"), key=lambda p: (p.name, p), reverse=True):
        result = json.loads(path.read_text("utf-8"))
        pairs = [pair for pair in result["pairs"] if pair.get("part") == "programs"]
        if pairs:
            return f"{table(pairs)}\n\nMeasured by `scripts/crosscheck/ratios.py`: {provenance(result)}"
    return "Not measured yet: `scripts/crosscheck/ratios.py`."


def ratios(result: dict) -> list[str]:
    """The section on pairs, where some were measured."""
    if not result["pairs"]:
        return []
    return [
        *opening("Pairs", result),
        f"Speed of A over speed of B, measured in turns of one batch: median of {result['blocks']} pairs of processes, "
        "and their range.",
        "",
        table(result["pairs"]),
    ]


def page(results: list[dict]) -> str:
    """All of them, with a section for each part that was measured."""
    lines = ["# Cross-checks on hosts", "", "Made by `scripts/crosscheck/ratios.py`, which says how; not written by hand."]
    for result in results:
        lines += ratios(result) + agreement(result)
    return "\n".join(lines)


if __name__ == "__main__":
    print(page([json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:]]))
