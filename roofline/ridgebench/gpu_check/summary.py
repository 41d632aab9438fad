"""Prints the short table of a run on a GPU.

Every operation and format has its best hand-written row, its best library row and their ratio; every ceiling has its
share of what the hardware can do. The rows of a ratio are minutes apart. A ratio of rows that the budget cut is left out.
"""

from collections import Counter
from pathlib import Path
from typing import Any, Iterator, Optional

from ridgebench.base.command_line import OK, Parser
from ridgebench.base.printers import aligned
from ridgebench.data.doubts import UNSETTLED, cut_by_budget, overlap, recorded, why_unfinished
from ridgebench.data.power_states import differ
from ridgebench.data.records import BROKEN, Row, load_run

_Environment = dict[str, Any]


def best(rows: list[Row], origin: str, environment: _Environment) -> Optional[Row]:
    """The fastest row; one whose samples the budget cut counts only where there is no other."""
    found = [row for row in rows if row.origin == origin]
    return max(found, key=lambda row: (not cut_by_budget(row, environment), row.rate), default=None)


def _percent(value: Optional[float]) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _ceilings(rows: list[Row]) -> Iterator[str]:
    table = [["ceiling", "GB/s or GFLOP/s", "at clock", "GHz"]]
    for row in rows:
        if row.role != "kernel":
            amount = row.flops_per_s if row.saturates in ("fma", "tensor", "sfu") else row.bytes_per_s
            name = f"{row.op}/{row.technique}/{row.format}" + (" again" if row.role == "control" else "")
            clock = f"{row.clock_hz / 1e9:.3f}" if row.clock_hz else "-"
            rate = f"{amount / 1e9:.1f}" if amount else "-"
            table.append([name, rate, _percent(row.fraction_of_roof_at_clock), clock])
    yield from aligned(table, right=(1, 2, 3))


def _of_roof(row: Optional[Row], environment: _Environment) -> str:
    """The share of the roof, marked where the roof's control moved."""
    doubted = row is not None and row.id in (environment.get("doubted") or {})
    return UNSETTLED * doubted + _percent(row.fraction_of_measured_roof if row else None)


def _ratio(hand: Optional[Row], library: Optional[Row], environment: _Environment) -> str:
    """The ratio of the rates of two whole rows, and after it that their power states differ or the launches of one overlap."""
    if hand is None or library is None or cut_by_budget(hand, environment) or cut_by_budget(library, environment):
        return "-"
    words = differ(row.power_state for row in (hand, library)), overlap(hand, library)
    return ", ".join(filter(None, (f"{hand.rate / library.rate:.3f}", *words)))


def _kernels(rows: list[Row], environment: _Environment) -> Iterator[str]:
    table = [["kernel", "hand", "of roof", "MFU", "library", "of roof", "hand/library"]]
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.role == "kernel":
            groups.setdefault((row.op, row.format, str(row.shape)), []).append(row)
    for (op, form, _), group in sorted(groups.items()):
        hand, library = (best(group, origin, environment) for origin in ("hand", "library"))
        sides = [[row.technique if row else "-", _of_roof(row, environment)] for row in (hand, library)]
        ratio = _ratio(hand, library, environment)
        table.append([f"{op}/{form}", *sides[0], _percent(hand.mfu if hand else None), *sides[1], ratio])
    yield from aligned(table, right=(2, 3, 5))
    yield "hand/library compares two rows of this run; `duel` measures both in turns and decides"


def lines(rows: list[Row], environment: _Environment) -> Iterator[str]:
    """Warnings that concern all rows, statuses, rows that are broken, ceilings, kernels."""
    if unfinished := why_unfinished(environment):
        yield f"UNFINISHED: {unfinished}; no row below is a result"
    for ceiling, change in (recorded(environment) or {}).items():
        yield f"CONTROL MOVED: the rate of {ceiling} changed by {100 * change:+.1f} %; {UNSETTLED} marks the shares that this puts in doubt"
    yield f"statuses: {dict(Counter(row.status for row in rows))}"
    for row in rows:
        if row.status in BROKEN:
            yield f"{row.status.upper()} {row.id}: {row.reason}"
    ok = [row for row in rows if row.status == "ok" and row.regime == "steady"]
    yield ""
    yield from _ceilings(ok)
    yield ""
    yield from _kernels(ok, environment)


def tuning(rows: list[Row]) -> Iterator[str]:
    """Time of the tuned cuBLASLt rows over the time of cuBLASLt's own choice: above 1 only by noise."""
    known = {(row.op, row.format, str(row.shape), row.regime, row.technique): row for row in rows if row.status == "ok"}
    for (*key, technique), first in known.items():
        tuned = known.get((*key, technique.replace("cublas", "cublas_tuned")))
        if technique in ("cublas", "cublas_fast_accum") and tuned:
            states = differ(row.power_state for row in (first, tuned))
            yield (f"{key[0]}/{key[1]}/{technique}: tuned takes {tuned.time_median_s / first.time_median_s:.3f} of its time, {key[3]} {key[2]}"
                   + (f", {states}" if states else ""))


def _devices(environment: dict) -> Iterator[str]:
    for device in environment["devices"]:
        facts = {key: device[key] for key in ("model", "driver", "cuda", "cublas", "power_limit_w") if key in device}
        gaps = {key: f"{device[key] * 1e6:.3f} us" for key in device if key.endswith(("_gap_s", "_tick_s"))}
        yield f"{device['name']}: {facts} {gaps}"


def main(arguments: list[str]) -> int:
    parser = Parser(prog="summary", description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, metavar="DIR")
    run = load_run(parser.parse_args(arguments).results)
    print("\n".join([*_devices(run.environment), *lines(run.rows, run.environment), "", *tuning(run.rows)]))
    return OK
