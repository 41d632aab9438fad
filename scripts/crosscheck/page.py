#!/usr/bin/env python3
"""What ratios.py measured as Markdown: scripts/crosscheck/page.py ratios.json ... > docs/crosscheck.md."""

import json
import statistics
import sys
from pathlib import Path
from typing import Callable, Iterable

HEADER = "| A | B | unit | A | B | A / B | range |\n| --- | --- | --- | --- | --- | --- | --- |"


def short(row: str) -> str:
    """An id without what is the same in every row."""
    return row.replace("/steady@cpu", "").replace("@cpu", "").replace("/layout:nt", "")


def share_within(limit: float, spreads: list[float]) -> str:
    return f"{sum(s <= limit for s in spreads) / len(spreads):.0%}"


def cut_rows(rows: list[dict]) -> str:
    """Those whose batches are cut into samples: the median spread, and what it would be uncut."""
    cut = [row for row in rows if "spread_of_batches" in row]
    if not cut:
        return "–"
    now, uncut = (statistics.median(row[key] for row in cut) for key in ("spread", "spread_of_batches"))
    return f"{now:.1%}, {uncut:.1%}"


def agreeing(rows: list[dict], spread: str) -> str:
    """The share of rows within 1 % and the median, of a spread that not every measurement has."""
    found = [row[spread] for row in rows if spread in row]
    return f"{share_within(0.01, found)}, {statistics.median(found):.1%}" if found else "–"


def agreement_rows(result: dict) -> list[str]:
    time = f"{result['budget_s']:g} s" if result.get("budget_s") else "quick"
    run = f"{result['started'][:16].replace('T', ' ')}, {result['commit'][:7]} | {time}"
    lines = []
    for bound in sorted({row["bound"] or "unknown" for row in result["spread"]}):
        rows = [row for row in result["spread"] if (row["bound"] or "unknown") == bound]
        spreads = [row["spread"] for row in rows]
        lines.append(
            f"| {run} | {bound} | {len(rows)} | {share_within(0.01, spreads)} | {share_within(0.05, spreads)} "
            f"| {statistics.median(spreads):.1%} | {max(spreads):.0%} "
            f"| {agreeing(rows, 'spread_in_cycles')} | {agreeing(rows, 'spread_of_neighbours')} | {cut_rows(rows)} |"
        )
    return lines


def agreement(results: list[dict]) -> list[str]:
    """The section on how far processes of one machine disagree, where it was measured."""
    rows = [line for result in results for line in agreement_rows(result)]
    if not rows:
        return []
    return [
        "",
        f"## How well processes agree: {machine(results[0])}",
        "",
        f"{results[0]['processes']} whole quick runs took turns on the machine, each in the time of the quick profile or the one "
        "named. Spread of a row: the largest of its medians over the smallest, less one. In cycles: the same of the medians times the "
        "clock held; the share of rows within 1 %, and the median. Neighbours: two runs compared as the gate does, turn by turn, which "
        "leaves out what the machine did to both; the same of the two that differ most. Cut, uncut, for rows with several samples to a "
        "batch: the median spread, and what it would be if each batch counted as one sample, its mean.",
        "",
        "| begun (UTC), commit | a run | rows bound by | rows | within 1 % | within 5 % | median spread | largest | in cycles | neighbours | cut, uncut |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *rows,
    ]


def machine(result: dict) -> str:
    """Its model and largest cache: virtual machines give processors that differ one name."""
    device = result["device"]
    last_level = max((cache["bytes"] for cache in device["caches"]), default=0)
    return f"{device['model']}, {last_level >> 20} MiB of last-level cache"


def provenance(result: dict) -> str:
    device, libraries = result["device"], result["libraries"]
    dirty = " with changes" if result["dirty"] else ""
    return (
        f"{machine(result)}, {device['threads']} threads, {result['started'][:10]}, "
        f"commit {result['commit'][:7]}{dirty}. {libraries['openblas']}; oneDNN {libraries['onednn']}."
    )


def opening(title: str, result: dict) -> list[str]:
    """Of a section: its heading names the machine."""
    return ["", f"## {title}: {machine(result)}", "", provenance(result), ""]


def table(pairs: list[dict]) -> str:
    rows = [
        f"| {short(p['a'])} | {short(p['b'])} | {p['unit']} | {p['a_speed']:.3g} | {p['b_speed']:.3g} "
        f"| **{p['ratio']:.2f}** | {p['low']:.2f} to {p['high']:.2f} |"
        for p in pairs
    ]
    return "\n".join([HEADER, *rows])


def in_order(results: Iterable[dict]) -> list[dict]:
    """As they were measured."""
    return sorted(results, key=lambda result: result["started"])


def newest(results: Iterable[dict], holds: Callable[[dict], bool]) -> list[dict]:
    """The last measured of those that hold something, if any."""
    return in_order(filter(holds, results))[-1:]


def programs_of(result: dict) -> list[dict]:
    return [pair for pair in result["pairs"] if pair.get("part") == "programs"]


def with_programs(results: Path) -> str:
    """The table of docs/method.md: the newest pairs with other programs under results/<device>/crosscheck."""
    found = (json.loads(path.read_text("utf-8")) for path in results.glob("*/crosscheck/*.json"))
    for result in newest(found, programs_of):
        return f"{table(programs_of(result))}\n\nMeasured by `scripts/crosscheck/ratios.py`: {provenance(result)}"
    return "Not measured yet: `scripts/crosscheck/ratios.py`."


def ratios(results: list[dict]) -> list[str]:
    """The section on the newest pairs of a machine, where some were measured."""
    return [
        line
        for result in newest(results, lambda result: result["pairs"])
        for line in (
            *opening("Pairs", result),
            f"Speed of A over speed of B, measured in turn: median and range of the ratios of {result['blocks']} pairs of "
            "processes. The speeds are medians of their own, whose ratio may be another.",
            "",
            table(result["pairs"]),
        )
    ]


def page(results: list[dict]) -> str:
    """Of each machine, the last measured first, the newest pairs, and how far processes agree."""
    results = in_order(results)
    lines = ["# Cross-checks on hosts", "", "Made by `scripts/crosscheck/ratios.py`, whose text says how; not written by hand."]
    for each in dict.fromkeys(map(machine, reversed(results))):
        of_one = [result for result in results if machine(result) == each]
        lines += ratios(of_one) + agreement(of_one)
    return "\n".join(lines)


if __name__ == "__main__":
    print(page([json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:]]))
