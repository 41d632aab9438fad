"""The tables of ratios of docs/*.md, from duels only."""

from typing import Any, Optional

from ridgebench.base.printers import markdown_table
from ridgebench.base.text import markdown
from ridgebench.data.duels import Duel, Duels, Ratio, Side
from ridgebench.data.records import commit_of, date_of
from ridgebench.data.view import ORDER, ordered

from .result_tables import captioned, size_text

NONE = "No duel has been published yet."


def _interval_text(ratio: Any) -> str:
    if ratio.ci_low is None:
        return f"{ratio.ratio:.4f} (too few processes)"
    return f"{ratio.ratio:.4f} ({ratio.ci_low:.4f} to {ratio.ci_high:.4f})"


def _ratio_cells(ratio: Optional[Ratio]) -> list[str]:
    if ratio is not None and ratio.states:
        return ["; ".join(f"{state.clock_hz / 1e9:.2f} GHz: {_interval_text(state)} {state.verdict}" for state in ratio.states), ratio.verdict]
    if ratio is None or ratio.ratio is None:
        return ["–", "–"]
    return [_interval_text(ratio), ratio.verdict]


def _side_joules(side: Side) -> str:
    if side.energy_ci_low_j is None:
        return f"{side.energy_per_launch_j:.3g}"
    return f"{side.energy_per_launch_j:.4g} ({side.energy_ci_low_j:.4g} to {side.energy_ci_high_j:.4g})"


def _energy_cell(duel: Duel) -> str:
    sides = (duel.first, duel.second)
    return "–" if None in [side.energy_per_launch_j for side in sides] else " / ".join(_side_joules(side) for side in sides)


def _early_cell(duel: Duel) -> str:
    """The sides whose launches may start before the launch ahead has ended."""
    sides = {"first": duel.first.early, "second": duel.second.early}
    if None in sides.values():
        return "unknown"
    return " and ".join(name for name, early in sides.items() if early) or "–"


def _flags_text(duels: list[Duel]) -> str:
    """'Flags: `vec16` in bf16 clocks_differ; ...': facts on single duels for the reader; empty if none has a flag."""
    flagged = [f"`{duel.first.technique}` in {duel.format} {', '.join(map(markdown, duel.flags))}" for duel in duels if duel.flags]
    return f"Flags: {'; '.join(flagged)}." if flagged else ""


def _duel_cells(duel: Duel) -> list[str]:
    names = [f"`{side.technique}`" for side in (duel.first, duel.second)]
    head = [*names, duel.format, size_text(duel.shape) + (f", {duel.regime}" if duel.regime != "steady" else "")]
    if duel.status != "ok":
        return [*head, duel.status, *["–"] * 5]
    return [*head, *_ratio_cells(duel.in_time), *_ratio_cells(duel.one_clock), _early_cell(duel), _energy_cell(duel)]


def duel_table(duels: Duels, op: str, link: str) -> str:
    """The table of an operation: one line per duel that was timed or failed."""
    mine = [duel for duel in duels.duels if duel.op == op and duel.status != "skipped"]
    if not mine:
        return NONE
    rank = {name: i for i, name in enumerate(ordered({duel.format for duel in mine}, ORDER))}
    mine.sort(key=lambda duel: rank[duel.format])  # a stable order: a cold duel heads its size, as in the profile
    header = ["first", "second", "format", "size", "in time, first / second", "first is", "at one clock", "first is", "early", "J"]
    environment = duels.environment
    devices = {device["name"]: device for device in environment["devices"]}
    model = markdown(devices[mine[0].device]["model"])
    return captioned(
        markdown_table(header, [_duel_cells(duel) for duel in mine]),
        "The cells show ratios with their 95 % intervals. Below 1 the first technique is faster.",
        "In time: with the power that each draws; –: not measured.",
        "Cold: single launches behind emptied caches." if any(duel.regime == "cold" for duel in mine) else "",
        "Early: the side whose launches may start before the launch ahead has ended." if any(_early_cell(duel) != "–" for duel in mine) else "",
        _flags_text(mine),
        f"They come from the duels [{date_of(environment)}, {commit_of(environment)}]({link}) of {model}.",
    )
