"""Prints hand-written matrix products next to the library's, shape by shape, from one run.

The fastest of either side represents it, fp8 by the way it accumulates, in steady state and, where it was measured,
cold. Clock and joules per FLOP (median power over the rate) follow, then the geometric mean and the worst of a format,
then the training step of a linear layer: forward, dX and dW are the layouts nt, nn and tn of the same three numbers.
A line says where its rows differ in their power state. Rows that the budget cut are left out.
"""

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Iterator

from ridgebench.base.command_line import OK, Parser
from ridgebench.base.printers import aligned
from ridgebench.base.units import counted
from ridgebench.data.doubts import cut_by_budget, overlap, why_unfinished
from ridgebench.data.power_states import DIFFER, differ
from ridgebench.data.records import Row, Run, load_run, of_a_batch


def _accumulation(row: Row) -> str:
    """How fp8 accumulates, by the technique's name.

    The library promotes unless its row is called _fast_accum; a hand-written technique promotes if it is called so, or
    multiplies by scales of blocks.
    """
    if not row.format.startswith("fp8"):
        return ""
    by_hand = any(name in row.technique for name in ("_promoted", "_block_scaled"))
    promotes = by_hand if row.origin == "hand" else "_fast_accum" not in row.technique
    return "promoted" if promotes else "fast"


def _kept(row: Row) -> bool:
    """True for a product of two matrices, whichever operation it belongs to."""
    return row.drawable and {"m", "n", "k"} <= row.shape.keys() and not of_a_batch(row.shape)


def rivals(rows: list[Row]) -> dict[tuple, dict[str, Row]]:
    """(operation, format, accumulation, shape, regime) -> origin -> its fastest row."""
    best: dict[tuple, dict[str, Row]] = defaultdict(dict)
    for row in filter(_kept, rows):
        shape = "x".join(str(v) for v in row.shape.values())
        group = best[(row.op, row.format, _accumulation(row), shape, row.regime)]
        if row.origin not in group or row.rate > group[row.origin].rate:
            group[row.origin] = row
    return {key: group for key, group in best.items() if len(group) == 2}


def _picojoules_per_flop(row: Row) -> str:
    """By the energy of the samples, or else by the power that telemetry saw."""
    if joules := row.reading("energy_per_flop_j"):
        return f"{1e12 * joules:.2f}"
    power = row.telemetry.get("power_w")
    return f"{1e12 * power['median'] / row.rate:.2f}" if power and power.get("median") else "-"


def _ratio_in_cycles(hand: Row, library: Row) -> str:
    """How often the hand-written product fits into the library's cycles; the clocks do not matter."""
    if not hand.cycles_median or not library.cycles_median:
        return "-"
    return f"{library.cycles_median / hand.cycles_median:.3f}"


def lines(rows: list[Row]) -> Iterator[str]:
    """The table of rivals, then a line per format."""
    table = [["product", "hand", "TFLOP/s", "library", "TFLOP/s", "ratio", "cycles", "GHz", "pJ/FLOP", ""]]
    ratios = defaultdict(list)
    two_states: Counter[tuple] = Counter()
    for key, group in sorted(rivals(rows).items()):
        hand, library = group["hand"], group["library"]
        ratio = hand.rate / library.rate
        states = differ(row.power_state for row in (hand, library))
        form = (key[0], key[1], key[2], key[4])
        ratios[form].append(ratio)
        two_states[form] += bool(states)
        clocks = "/".join(f"{row.clock_hz / 1e9:.2f}" if row.clock_hz else "-" for row in (hand, library))
        energy = "/".join(_picojoules_per_flop(row) for row in (hand, library))
        table.append([
            " ".join(filter(None, key)), hand.technique, f"{hand.rate / 1e12:.1f}", library.technique, f"{library.rate / 1e12:.1f}",
            f"{ratio:.3f}", _ratio_in_cycles(hand, library), clocks, energy, ", ".join(filter(None, (states, overlap(hand, library)))),
        ])  # fmt: skip
    yield from aligned(table, right=(2, 4, 5, 6, 7, 8))
    yield ""
    means = {key: math.exp(sum(map(math.log, values)) / len(values)) for key, values in sorted(ratios.items())}
    yield from aligned([
        [
            " ".join(filter(None, key)),
            f"{counted(len(ratios[key]), 'shape')}, geometric mean {mean:.3f}, worst {min(ratios[key]):.3f}"
            + (f"; {DIFFER} in {two_states[key]}" if two_states[key] else ""),
        ]
        for key, mean in means.items()
    ])  # fmt: skip


def steps(rows: list[Row]) -> Iterator[str]:
    """6mnk FLOPs over the time of the three products, where a technique has all of them."""
    layers: dict[tuple, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if _kept(row) and row.op == "matmul" and row.regime == "steady":
            m, n, k, layout = (row.shape[name] for name in ("m", "n", "k", "layout"))
            layers[(row.technique, row.format, f"{m}x{n}x{k}")][layout] = row
    for key, products in sorted(layers.items()):
        if len(products) == 3:
            seconds = sum(row.time_median_s for row in products.values())
            flops = sum(row.flops for row in products.values())
            shares = [row.mfu for row in products.values()]
            # Each product's time at the peak over the time taken.
            mfu = f", MFU {100 * 3 / sum(1 / share for share in shares):.1f} %" if all(shares) else ""
            states = differ(row.power_state for row in products.values())
            yield f"step {' '.join(key):50} {1e3 * seconds:8.3f} ms {flops / seconds / 1e12:8.1f} TFLOP/s{mfu}{', ' * bool(states)}{states}"


def finished(run: Run) -> Iterator[Row]:
    """The rows that the run could finish, or none of a run that did not end."""
    if not why_unfinished(run.environment):
        yield from (row for row in run.rows if not cut_by_budget(row, run.environment))


def main(arguments: list[str]) -> int:
    parser = Parser(prog="rivals", description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, metavar="DIR")
    run = load_run(parser.parse_args(arguments).results)
    rows = list(finished(run))
    if unfinished := why_unfinished(run.environment):
        print(f"UNFINISHED: {unfinished}; none of its rows is a result")
    print("\n".join([*lines(rows), "", *steps(rows)]))
    return OK
