"""The rule of measured roofs: a roof is the best that anything verified reached (docs/method.md, section 4).

A record is judged by the ceilings that were known when it was measured. Readers judge it again by the raised roofs.
"""

from dataclasses import replace
from typing import Iterable, Optional

from ridgebench.records import Row

MARGIN = 0.01  # a row above its roof by more raises it; ceilings that are measured again differ by less
ABOVE_ROOF, PARTIAL_RATE = "above_roof", "partial_rate"  # flags
SERVED_BY_CACHE, SHORT_ROTATION = "served_by_cache", "short_rotation"
RAISED = "↑"  # how tables and figures show the first
PRODUCTS = ("matmul", "matmul_gelu")
TF32_PRODUCTS = 3  # tf32 products in one of tf32x3

# The rates of a roof, and the rows of the ceilings that gave them.
SIDES = (("flops_per_s", "compute_ceiling"), ("bytes_per_s", "memory_ceiling"))


def is_roof(ceiling: Row) -> bool:
    """Whether a ceiling judges kernels: no burst, whose rate power does not sustain, the full rate, and no cache's."""
    burst = "burst" in ceiling.technique if ceiling.burst is None else ceiling.burst  # older records: by name
    return not burst and PARTIAL_RATE not in ceiling.flags and SERVED_BY_CACHE not in ceiling.flags


def heads(row: Row) -> bool:
    """Whether a title may rest on a row: caches that may serve its data do not matter to one that arithmetic limits."""
    return SERVED_BY_CACHE not in row.flags or row.bound == "compute"


def with_flags_of_caches(rows: list[Row]) -> list[Row]:
    """The rows, with the flag of those that caches may serve where older records have that of a short rotation alone.

    Where ceilings of the memory have a short rotation too, the device limits all of them: a row is like its ceiling.
    """
    if any(row.saturates == "memory" and SHORT_ROTATION in row.flags for row in rows):
        return rows
    return [
        replace(row, flags=[*row.flags, SERVED_BY_CACHE])
        if SHORT_ROTATION in row.flags and SERVED_BY_CACHE not in row.flags
        else row
        for row in rows
    ]


def with_roof_of_products(row: Row, rows: list[Row]) -> Row:
    """The row with a third of tf32's tensor roof where an older record of tf32x3 has no compute roof."""
    lacks = row.roof is not None and row.roof["flops_per_s"] is None
    if not lacks or (row.arithmetic, row.engine) != ("tf32x3", "tensor"):
        return row
    tensor = [c for c in rows if c.role == "ceiling" and c.status == "ok" and c.saturates == "tensor" and is_roof(c)]
    best = max((c for c in tensor if c.format == "tf32"), key=lambda c: c.flops_per_s, default=None)
    if best is None:
        return row
    roof = {**row.roof, "flops_per_s": best.flops_per_s / TF32_PRODUCTS, "compute_ceiling": best.id}
    compute = row.flops / roof["flops_per_s"] > row.bytes / roof["bytes_per_s"]
    return replace(row, roof=roof, bound=row.bound or ("compute" if compute else "memory"))


def excesses(row: Row) -> dict[str, float]:
    """The ceilings that a verified steady row exceeds, with its rate as a multiple of each.

    None for a row that caches may serve: its ceilings measured another thing.
    """
    if not (row.drawable and row.regime == "steady" and row.roof) or SERVED_BY_CACHE in row.flags:
        return {}
    found = {}
    for key, ceiling in SIDES:
        rate, roof = getattr(row, key), row.roof[key]
        counts = rate and roof and not (key == "flops_per_s" and row.engine == "memory")
        if counts and rate > (1 + MARGIN) * roof:
            found[row.roof[ceiling]] = rate / roof
    return found


def least_time(row: Row) -> Optional[float]:
    """The least time (s) by the roofs of a row: compute, memory, and special functions or conversions.

    None for arithmetic that no ceiling measured: traffic alone would give too low a bound.
    """
    roof = row.roof or {}
    if row.flops and row.engine != "memory" and not roof.get("flops_per_s"):
        return None
    work = {"flops_per_s": row.flops, "bytes_per_s": row.bytes, "special_results_per_s": roof.get("special_results")}
    if row.engine == "memory":
        del work["flops_per_s"]
    times = [amount / roof[key] for key, amount in work.items() if amount and roof.get(key)]
    return max(times, default=None)


def raised(rows: Iterable[Row]) -> dict[str, tuple[float, Row]]:
    """By the id of a ceiling: the factor that raises it, and the row that does.

    The FLOPs of GeLU are a convention, so that only products raise the roof of an engine.
    """
    best: dict[str, tuple[float, Row]] = {}
    for row in rows:
        for ceiling, factor in excesses(row).items():
            if row.op not in PRODUCTS and ceiling == row.roof["compute_ceiling"]:
                continue
            if factor > best.get(ceiling, (1.0, row))[0]:
                best[ceiling] = (factor, row)
    return best


def judged(rows: list[Row]) -> list[Row]:
    """The rows by the raised roofs; a row that raised one is flagged, and a raised ceiling has its factor."""
    rows = [with_roof_of_products(row, rows) for row in with_flags_of_caches(rows)]
    factors = raised(rows)
    return [judged_row(row, factors) for row in rows]


def judged_row(row: Row, factors: dict[str, tuple[float, Row]]) -> Row:
    if row.role == "ceiling" and row.id in factors:
        factor, best = factors[row.id]
        return replace(row, raised=factor, raised_by=best.id)
    if row.roof is None or row.time_median_s is None:
        return row
    if excesses(row) and ABOVE_ROOF not in row.flags:
        row = replace(row, flags=[*row.flags, ABOVE_ROOF])
    moved = {key: factors[row.roof[ceiling]][0] for key, ceiling in SIDES if row.roof[ceiling] in factors}
    completed = row.fraction_of_measured_roof is None and row.roof["flops_per_s"]
    if not moved and not completed:
        return row
    row = replace(row, roof={**row.roof, **{key: row.roof[key] * factor for key, factor in moved.items()}})
    least = least_time(row) if row.roof["bytes_per_s"] else None
    return replace(row, fraction_of_measured_roof=least / row.time_median_s if least else None)
