"""The simulated table of docs/error_rates.md: how often the outlier rule flags healthy GPUs, and finds slow ones."""

from typing import NamedTuple

import numpy as np

from ridgebench.base.printers import markdown_table
from ridgebench.fleet import peers
from ridgebench.fleet.peers import SLOWER, chance, false_flags, median_row

from .result_tables import captioned

FLEETS = 2_000  # simulated reports of each line
_ROWS = 12  # rows in two passes, as the quick suite has
_PASSES = 2
_COLUMNS = _ROWS * _PASSES
_WIDER = 3  # times as much as the others do the wide rows scatter
_BATCH = 200_000  # numbers at a time
# GPUs, spread, wide rows
LINES = [(size, spread, 0) for size in (8, 16, 64, 512) for spread in (0.005, 0.01)]
LINES += [(size, 0.02, 0) for size in (8, 64)] + [(size, 0.01, wide) for size in (8, 16, 64) for wide in (1, 4)]
_STATING = 10  # every tenth report states how often it finds a slow GPU


class _Simulated(NamedTuple):
    reports: float  # share of the reports with a false flag
    flags: float  # false flags of a report, mean
    confirmed: float  # share of the reports with a false flag that a second attempt confirms
    stated: float  # false flags that the reports themselves expect, mean
    slow_once: dict[float, float]  # of a GPU that is slower in all rows: share of reports whose first row finds it
    slow_in_all: dict[float, float]  # share of reports in which any row does
    stated_once: dict[float, float]  # the chance that the reports themselves state for the median row, mean


def _of_fleet(columns: peers.Columns, fleet: int) -> peers.Columns:
    return peers.Columns(*(part[fleet * _COLUMNS : (fleet + 1) * _COLUMNS] for part in columns))


def _draw(random: np.random.Generator, size: int, fleets: int, spreads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two attempts of `fleets` fleets: [GPU, fleet x row x pass]. Half of the variance is the GPU's own in each row."""
    shape = (size, fleets, _ROWS)
    own = random.normal(0, 0.5**0.5, (*shape, 1))
    first, second = (own + random.normal(0, 0.5**0.5, (*shape, _PASSES)) for _ in range(2))
    return tuple((1 + spreads[:, None] * values).reshape(size, -1) for values in (first, second))


def _found_slow(values: np.ndarray, pools: np.ndarray, slower: float) -> np.ndarray:
    """[fleet, column]: whether the first GPU of each fleet is found slow, if it is slower by this share in all rows."""
    changed = values.copy()
    changed[0] *= 1 - slower
    columns = peers.columns_of(changed, pools, len(values) * _COLUMNS)
    return peers.scores(changed[:1], columns).slow.reshape(-1, _COLUMNS)


def simulated(size: int, spread: float, wide: int = 0, fleets: int = 400, seed: int = 1) -> _Simulated:
    """Fleets of normally distributed rates, of which the last `wide` rows scatter _WIDER times as much.

    What a slow GPU does to the report is counted in the same draws: the first GPU is slowed afterwards.
    """
    random, batch = np.random.default_rng(seed), max(1, _BATCH // (size * _COLUMNS))
    spreads = spread * np.where(np.arange(_ROWS) < _ROWS - wide, 1, _WIDER)
    flags, reports, confirmed, stated = 0, 0, 0, 0.0
    once, everywhere, stated_once = ({slower: [] for slower in SLOWER} for _ in range(3))
    for start in range(0, fleets, batch):
        number = min(batch, fleets - start)
        values, again = _draw(random, size, number, spreads)
        pools = np.repeat(np.arange(number), _COLUMNS)
        columns = peers.columns_of(values, pools, size * _COLUMNS)
        slow = peers.scores(values, columns).slow.reshape(size, number, _COLUMNS)
        both = slow & peers.scores(again, columns).slow.reshape(slow.shape)
        flags += int(slow.any(axis=2).sum())
        reports += int(slow.any(axis=(0, 2)).sum())
        confirmed += int(both.any(axis=(0, 2)).sum())
        stated += float(false_flags(columns).sum())
        rows = [median_row(_of_fleet(columns, fleet)) for fleet in range(0, number, _STATING)]
        for slower in SLOWER:
            found = _found_slow(values, pools, slower)
            once[slower] += found[:, 0].tolist()
            everywhere[slower] += found.any(axis=1).tolist()
            stated_once[slower] += [chance(row, slower) for row in rows]
    shares = ({slower: float(np.mean(seen[slower])) for slower in SLOWER} for seen in (once, everywhere, stated_once))
    return _Simulated(reports / fleets, flags / fleets, confirmed / fleets, stated / fleets, *shares)


def _cells_of(size: int, spread: float, wide: int) -> list[str]:
    found = simulated(size, spread, wide, FLEETS)
    line = [str(size), f"{100 * spread:g} %", str(wide) if wide else "none", f"{100 * found.reports:.2f} %"]
    line += [f"{100 * found.confirmed:.2f} %", f"{found.flags:.3f}", f"{found.stated:.3f}"]
    for slower in SLOWER:
        line += [f"{100 * part[slower]:.0f} %" for part in (found.stated_once, found.slow_once, found.slow_in_all)]
    return line


def simulated_table() -> str:
    """The table of docs/error_rates.md."""
    header = ["GPUs", "they scatter by", "wide rows", "reports with a false flag", "with a confirmed one", "false flags of a report"]
    header += ["those it expects at most"]
    header += [f"{100 * s:g} % slow: {what}" for s in SLOWER for what in ("a row finds, stated", "a row finds", "any row finds")]
    return captioned(
        markdown_table(header, [_cells_of(*line) for line in LINES]),
        f"Each line represents {FLEETS:,} simulated reports of {_ROWS} rows in {_PASSES} passes, with normally distributed rates.",
        f"Wide rows scatter {_WIDER} times as much as the others. Half of the variance is the GPU's own and returns in a second attempt.",
        "In the last six columns one GPU of each fleet is slow in all rows; the row that finds it is not a wide one.",
    )
