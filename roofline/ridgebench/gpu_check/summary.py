"""Prints the short table of a run on a GPU.

Every operation and format has its best hand-written row, its best library row and their ratio; every ceiling has its
share of what the hardware can do.
"""

from collections import Counter
from pathlib import Path
from typing import Iterator, Optional

from ridgebench.command_line import OK, Parser
from ridgebench.records import BROKEN, Row, load_run


def best(rows: list[Row], origin: str) -> Optional[Row]:
    return max((row for row in rows if row.origin == origin), key=lambda row: row.rate, default=None)


def percent(value: Optional[float]) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def ceilings(rows: list[Row]) -> Iterator[str]:
    yield f"{'ceiling':44} {'GB/s or GFLOP/s':>16} {'at clock':>9} {'GHz':>6}"
    for row in rows:
        if row.role != "kernel":
            amount = row.flops_per_s if row.saturates in ("fma", "tensor", "sfu") else row.bytes_per_s
            name = f"{row.op}/{row.technique}/{row.format}" + (" again" if row.role == "control" else "")
            clock = f"{row.clock_hz / 1e9:.3f}" if row.clock_hz else "-"
            rate = f"{amount / 1e9:.1f}" if amount else "-"
            yield f"{name:44} {rate:>16} {percent(row.fraction_of_roof_at_clock):>9} {clock:>6}"


def kernels(rows: list[Row]) -> Iterator[str]:
    yield f"{'kernel':34} {'hand':20} {'of roof':>8} {'MFU':>7} {'library':22} {'of roof':>8} {'hand/library':>12}"
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.role == "kernel":
            groups.setdefault((row.op, row.format, str(row.shape)), []).append(row)
    for (op, form, _), group in sorted(groups.items()):
        hand, library = best(group, "hand"), best(group, "library")
        text = f"{op + '/' + form:34}"
        for row, width in ((hand, 20), (library, 22)):
            text += f" {row.technique if row else '-':{width}}"
            text += f" {percent(row.fraction_of_measured_roof if row else None):>8}"
            text += f" {percent(row.mfu if row else None):>7}" if width == 20 else ""
        yield text + (f" {hand.rate / library.rate:12.3f}" if hand and library else f" {'-':>12}")


def lines(rows: list[Row]) -> Iterator[str]:
    """Statuses, rows that are broken, ceilings, kernels."""
    yield f"statuses: {dict(Counter(row.status for row in rows))}"
    for row in rows:
        if row.status in BROKEN:
            yield f"{row.status.upper()} {row.id}: {row.reason}"
    ok = [row for row in rows if row.status == "ok" and row.regime == "steady"]
    yield ""
    yield from ceilings(ok)
    yield ""
    yield from kernels(ok)


def tuning(rows: list[Row]) -> Iterator[str]:
    """Time of the tuned cuBLASLt rows over the time of cuBLASLt's own choice: above 1 only by noise."""
    times = {
        (row.op, row.format, str(row.shape), row.regime, row.technique): row.time_median_s
        for row in rows if row.status == "ok"
    }
    for (*key, technique), first in times.items():
        tuned = times.get((*key, technique.replace("cublas", "cublas_tuned")))
        if technique in ("cublas", "cublas_fast_accum") and tuned:
            yield f"{key[0]}/{key[1]}/{technique}: tuned takes {tuned / first:.3f} of its time, {key[3]} {key[2]}"


def devices(environment: dict) -> Iterator[str]:
    for device in environment["devices"]:
        facts = {key: device[key] for key in ("model", "driver", "cuda", "cublas", "power_limit_w") if key in device}
        gaps = {key: f"{device[key] * 1e6:.3f} us" for key in device if key.endswith(("_gap_s", "_tick_s"))}
        yield f"{device['name']}: {facts} {gaps}"


def main(arguments: list[str]) -> int:
    parser = Parser(prog="summary", description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, metavar="DIR")
    run = load_run(parser.parse_args(arguments).results)
    print("\n".join([*devices(run.environment), *lines(run.rows), "", *tuning(run.rows)]))
    return OK
