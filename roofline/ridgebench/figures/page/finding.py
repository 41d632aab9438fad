"""Titles: sentences that are computed from the records."""

from itertools import product
from typing import Callable, Iterable, Optional

from ridgebench.base.text import capital
from ridgebench.base.units import counted, percent, rate
from ridgebench.data.records import Row
from ridgebench.data.view import ORDER, View, ordered

from .doubt import ENGINES, unfinished_title
from .page import fits
from .roofs import measured_roofs
from .style import family

_ON_THE_ROOF = 0.895  # share of the measured roof from which a row counts as on it; printed as 90 %
NOISE = 0.03  # speeds nearer than this are not ranked in a title
_SPOKEN = {"relu": "ReLU", "gelu": "GeLU", "matmul_gelu": "matmul + GeLU"}


def spoken(op: str) -> str:
    return _SPOKEN.get(op, op)


def best(rows: Iterable[Row], key: Callable[[Row], Optional[float]]) -> Optional[Row]:
    """The row with the largest value; of equal ones the first."""
    known = [row for row in rows if key(row) is not None]
    return max(known, key=key) if known else None


def named(view: View) -> list[Row]:
    """The hand-written rows that a figure may name: not a naive one, and none that caches may have served."""
    return [row for row in view.points if row.origin == "hand" and not row.naive and not row.served_by_cache]


def _hand(view: View) -> list[Row]:
    """Those of them that a title may speak of."""
    return list(filter(view.may_head, named(view)))


def settled(view: View) -> list[Row]:
    """Those of them whose roofs did not move during the run."""
    return [row for row in _hand(view) if not view.unsettled(row)]


def share(row: Row) -> Optional[float]:
    return row.fraction_of_measured_roof


def _fastest(rows: list[Row], operations: list[str]) -> list[Row]:
    """The fastest row; of operations within the noise, the one that comes first in the lecture."""
    top = max((row.flops_per_s for row in rows), default=0.0)
    near = [row for row in rows if row.flops_per_s >= (1 - NOISE) * top]
    return sorted(near, key=lambda row: (operations.index(row.op), -row.flops_per_s))[:1]


def compute_bound(view: View) -> list[Row]:
    """The fastest compute-bound row of each engine, or of all engines where the view has one format.

    Rows that multiply in their own format come before storage formats. A row whose roof moved is not a finding, and a
    slower one does not stand in for it.
    """
    roofs = {row.id: row for row in view.ceilings}
    found = []
    for engine in ENGINES:
        rows = [
            row
            for row in _hand(view)
            if row.bound == "compute" and share(row) and row.engine == engine and row.roof["compute_ceiling"] in roofs
        ]
        rows = [r for r in rows if roofs[r.roof["compute_ceiling"]].saturates == engine]
        native = [r for r in rows if r.arithmetic == r.format]
        found += _fastest(native or rows, view.operations)
    top = _fastest(found, view.operations) if view.format else found
    return [row for row in top if not view.unsettled(row)]


def _compute_finding(view: View) -> str:
    """'fp32 matmul reaches 92 % of this machine's FMA roof and bf16 matmul 34 % of ...'"""
    parts = []
    for row in compute_bound(view):
        verb, whose = ("", "its") if parts else (" reaches", "this machine's")
        roof = f"{percent(share(row))} % of {whose} {ENGINES[row.engine]} roof"
        parts.append(f"{row.format} {spoken(row.op)}{verb} {roof}")
    return " and ".join(parts)


def _memory_rows(view: View) -> dict[str, dict[str, Row]]:
    """The hand-written row with the best share of the memory roof, by operation and format.

    A format that also has a compute-bound row is judged only by its compute roof.
    """
    found: dict[str, dict[str, Row]] = {}
    compute = {(row.op, row.format) for row in view.points if row.bound == "compute"}
    bound: dict[tuple[str, str], list[Row]] = {}
    for row in settled(view):
        if row.bound == "memory":
            bound.setdefault((row.op, row.format), []).append(row)
    for op, name in product(view.operations, view.formats):
        row = best(bound.get((op, name), []), share)
        if row and (op, name) not in compute:
            found.setdefault(op, {})[name] = row
    return found


def _on_roof(rows: dict[str, Row]) -> list[str]:
    """The formats that are on the roof."""
    return [name for name, row in rows.items() if share(row) >= _ON_THE_ROOF]


def below_memory(view: View) -> list[Row]:
    """Those of these rows that are below the memory roof, the furthest one first."""
    rows = [row for found in _memory_rows(view).values() for row in found.values() if share(row) < _ON_THE_ROOF]
    return sorted(rows, key=share)


def which(meant: list[str], drawn: list[str]) -> str:
    """The formats that are meant of those that an operation is drawn in, in brackets: empty if all are, else the shorter of two lists.

    Both formats of 8 bits together are fp8.
    """
    eights = [name for name in drawn if family(name) != name]
    lists = [meant, [name for name in drawn if name not in meant]]
    together = all(set(eights) <= set(names) or not set(eights) & set(names) for names in lists)
    few, others = ([*dict.fromkeys(family(name) if together else name for name in names)] for names in lists)
    if not others:
        return ""
    return f" ({', '.join(few)})" if len(few) <= len(others) else f" (all but {', '.join(others)})"


def _memory_finding(view: View) -> str:
    """The operations at the memory roof with their formats, and the point furthest below it."""
    rows, below = _memory_rows(view), below_memory(view)
    drawn = {op: ordered({row.format for row in view.points if row.op == op}, ORDER) for op in rows}
    at = [spoken(op) + which(meant, drawn[op]) for op, found in rows.items() if (meant := _on_roof(found))]
    parts = [f"at the memory roof: {', '.join(at)}"] if at else []
    if below:
        who = f"{'' if view.format else f'{below[0].format} '}{spoken(below[0].op)}"
        if len(below) > 1 and not at:
            parts.append("every operation below the memory roof")
        where = "below the memory roof" if not parts else "furthest below it" if len(below) > 1 else "below it"
        parts.append(f"{where}: {who}, {percent(share(below[0]))} %")
    return "; ".join(parts)


def _short_memory_finding(view: View) -> str:
    """The same without formats and that point, for a title that would not fit."""
    rows = _memory_rows(view)
    every = [spoken(op) for op, found in rows.items() if len(_on_roof(found)) == len(found)]
    some = [spoken(op) for op, found in rows.items() if 0 < len(_on_roof(found)) < len(found)]
    parts = [", ".join(every)] * bool(every) + ["in part " + ", ".join(some)] * bool(some)
    return f"at the memory roof: {', '.join(parts)}" if parts else "every operation below the memory roof"


def _in_format(sentence: str, view: View) -> str:
    """The sentence with the format of the figure in front, unless it begins with it."""
    named = view.format is None or sentence.startswith(view.format)
    return capital(sentence if named else f"{view.format} {sentence}")


def _roofs_alone(view: View) -> str:
    """The drawn roofs of a run that measured no kernel: main memory, multiply-adds and the fastest tensor roof."""
    roofs = measured_roofs(view)
    parts = [f"main memory {rate(roofs.memory[0].value, 'B/s')} ({roofs.memory[0].name})"] if roofs.memory else []
    for engine, name in ENGINES.items():
        flat = next((roof for roof in roofs.compute if roof.engine == engine), None)
        parts += [f"{flat.formats[0]} {name} {rate(flat.value, 'FLOP/s')}"] if flat else []
    return f"Roofs alone, no kernel: {', '.join(parts)}" if parts else ""


def without_finding(view: View) -> str:
    """The title where no row may head the figure, or none meets a roof."""
    count = counted(len(view.points), "verified row")
    if any(share(row) and row.cut_by_budget for row in view.points):
        return f"{count}; --budget cut the samples of the best ones"
    if any(share(row) and view.unsettled(row) for row in view.points):
        return f"{count} under roofs that drifted"
    if any(share(row) for row in view.points):
        return f"{count}, none bound by memory or arithmetic"
    return f"{count}, and no measured roof to judge them by"


def roofline_title(view: View) -> str:
    if view.why_unfinished:
        return unfinished_title(view)
    if not view.points:
        alone = "" if view.selected else _roofs_alone(view)
        return alone or ("Points of another tool, not verified" if view.external else "No verified row to draw")
    for memory in (_memory_finding, _short_memory_finding):
        found = (_compute_finding(view), memory(view) if _memory_rows(view) else "")
        parts = [part for part in found if part]
        title = _in_format("; ".join(parts), view) if parts else ""
        if fits(title):
            break
    return title or without_finding(view)
