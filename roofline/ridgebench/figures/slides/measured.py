"""The points that a run measured: the best verified row of each operation, never a naive one."""

from typing import Callable, Optional

from ridgebench.data.records import Row, of_a_batch, shape_text
from ridgebench.data.view import PRODUCTS, View
from ridgebench.figures.page.power import watts
from ridgebench.figures.scene.roofline import placed

from .model import Mark

_LEAST_SWEEP = 3  # sizes that make a path
_NEAR = 0.5  # share of the fastest technique's rate that a path must reach


def mark_of(row: Row, view: View, size: int = 0) -> Mark:
    return Mark(row.op, row.intensity_flop_per_byte or 0.0, row.flops_per_s or 0.0, row.time_median_s or 0.0, row.flops,
                size, True, row.technique, shape_text(row.shape), heads=view.may_head(row))


def verified(view: View, format_: str, op: str, regime: str = "steady") -> list[Row]:
    """The verified rows of an operation."""
    return [row for row in view.rows if row.drawable and (row.format, row.op, row.regime) == (format_, op, regime)]


def _candidates(view: View, format_: str, op: str, regime: str = "steady") -> list[Row]:
    """The verified rows of an operation but naive ones."""
    rows = verified(view, format_, op, regime)
    return [row for row in filter(placed, rows) if not row.naive]


def _hand_first(rows: list[Row]) -> list[Row]:
    """The hand-written rows; those of libraries where there is none."""
    return [row for row in rows if row.origin == "hand"] or rows


def best(view: View, format_: str, op: str) -> Optional[Row]:
    """The fastest row; of the operations that memory limits, at the largest size: a cache holds small ones."""
    rows = _hand_first([row for row in _candidates(view, format_, op) if not row.served_by_cache])
    if op not in PRODUCTS:
        largest = max((row.bytes for row in rows), default=0.0)
        rows = [row for row in rows if row.bytes == largest]
    return max(rows, key=lambda row: row.flops_per_s or 0.0, default=None)


def pair(view: View, format_: str) -> Optional[tuple[Row, Row]]:
    """ReLU and GeLU at their largest common size, each by its fastest hand-written technique."""
    by_size: dict[str, dict[str, Row]] = {}
    for op in ("relu", "gelu"):
        rows = [row for row in _candidates(view, format_, op) if not row.served_by_cache]
        for row in sorted(_hand_first(rows), key=lambda r: r.flops_per_s or 0.0):
            by_size.setdefault(shape_text(row.shape), {})[op] = row
    both = [(found["relu"], found["gelu"]) for found in by_size.values() if len(found) == 2]
    return max(both, key=lambda rows: rows[0].bytes, default=None)


def _sweep(view: View, format_: str, size_of: Callable[[Row], Optional[int]]) -> list[Mark]:
    """Matmul over its sizes by one technique in one regime: with the most sizes, hand-written, the fastest.

    A technique far below the fastest one does not count, even with more sizes: its path would bend below the roof.
    """
    paths: dict[tuple[str, str], dict[int, Row]] = {}
    for regime in ("steady", "cold", "warm"):
        for row in _candidates(view, format_, "matmul", regime):
            if size := size_of(row):
                paths.setdefault((regime, row.technique), {})[size] = row
    tops = {key: max(row.flops_per_s or 0.0 for row in found.values()) for key, found in paths.items()}
    near = [key for key in paths if tops[key] >= _NEAR * max(tops.values())]
    hand = {key for key in paths if next(iter(paths[key].values())).origin == "hand"}
    chosen = max(near, key=lambda key: (len(paths[key]), key in hand, tops[key]), default=None)
    sizes = paths[chosen] if chosen else {}
    return [mark_of(sizes[size], view, size) for size in sorted(sizes)]


def product_of(row: Row) -> Optional[tuple[int, int, int]]:
    """m, n and k of a product by itself, in layout nt and without leading dimensions."""
    values = [row.shape.get(name) for name in "mnk"]
    whole = all(isinstance(value, int) for value in values) and row.shape.get("layout", "nt") == "nt"
    return tuple(values) if whole and not of_a_batch(row.shape) else None  # type: ignore[return-value]


def squares(view: View, format_: str) -> list[Mark]:
    """Matmul of square matrices, the smallest first."""

    def size_of(row: Row) -> Optional[int]:
        sizes = product_of(row)
        return sizes[0] if sizes and len(set(sizes)) == 1 else None

    return _sweep(view, format_, size_of)


def _growing(view: View, format_: str, split: Callable[..., Optional[tuple[int, int]]]) -> tuple[int, list[Mark]]:
    """Matmul over one dimension, at the fixed size with the most of its sizes; none where the run has no such sweep.

    `split` takes m, n and k and returns the fixed size and the growing one, or None.
    """
    products = [split(*sizes) for row in _candidates(view, format_, "matmul") if (sizes := product_of(row))]

    def size_of(row: Row, fixed: int) -> Optional[int]:
        parts = split(*sizes) if (sizes := product_of(row)) else None
        return parts[1] if parts and parts[0] == fixed else None

    found = {fixed: _sweep(view, format_, lambda row: size_of(row, fixed)) for fixed, _ in sorted(filter(None, products))}
    fixed = max(found, key=lambda one: len(found[one]), default=0)
    marks = found.get(fixed, [])
    return (fixed, marks) if len(marks) >= _LEAST_SWEEP else (0, [])


def growing_rows(view: View, format_: str) -> tuple[int, list[Mark]]:
    """Matmul of m rows at one k = n, and that k."""
    return _growing(view, format_, lambda m, n, k: (n, m) if n == k else None)


def growing_depth(view: View, format_: str) -> tuple[int, list[Mark]]:
    """Matmul over k at one m = n, and that m."""
    return _growing(view, format_, lambda m, n, k: (m, k) if m == n else None)


def held(row: Row) -> tuple[Optional[float], Optional[float], list[str]]:
    """Clock (Hz) and power (W) during a row, and the driver's reasons for a lower clock."""
    events = row.telemetry.get("clock_events")
    reasons = [str(one) for one in events] if isinstance(events, list) else []
    return row.clock_hz, watts(row), reasons
