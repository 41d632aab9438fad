"""Doubts about a run: it did not end, or controls of its roofs moved. Titles leave it to one line above the footer."""

from typing import Iterable, Optional

from ridgebench.base.text import capital
from ridgebench.base.units import counted, enumerate_words, percent
from ridgebench.data.records import Row
from ridgebench.data.view import View

from .style import family

DOUBT = "doubt"  # group id of the line on it
ENGINES = {"fma": "FMA", "tensor": "tensor"}


def _roof_names(ceilings: list[Row]) -> list[str]:
    """'memory', 'fp16, bf16 tensor': what saturates each resource; fp32 needs no name, and fp8 is one."""
    formats: dict[str, dict[str, None]] = {}
    for row in ceilings:
        resource = ENGINES.get(row.saturates, row.saturates)
        plain = row.format == "fp32" or resource == "memory"
        formats.setdefault(resource, {})["" if plain else family(row.format)] = None
    return [f"{', '.join(filter(None, names))} {resource}".strip() for resource, names in formats.items()]


def drift(view: View, drawn: Optional[Iterable[Row]] = None) -> str:
    """'the memory and fp16, bf16 tensor roofs drifted during the run: controls moved by 3 to 7 %'; empty of a calm run.

    It names the roofs over the rows that are drawn, by default the points, and the drawn rows that are such roofs.
    """
    ceilings = {one for row in (view.points if drawn is None else drawn) for one in (row.id, *view.unsettled(row)) if one in view.moved}
    if not ceilings:
        return ""
    names = _roof_names([row for row in view.ceilings if row.id in ceilings]) or ["earlier"]  # of the run that --ceilings names
    roofs, control = ("roof", "its control") if len(ceilings) == 1 else ("roofs", "controls")
    sizes = sorted(abs(view.moved[ceiling]) for ceiling in ceilings)
    moved = " to ".join(dict.fromkeys((percent(sizes[0]), percent(sizes[-1]))))
    return f"the {enumerate_words(names)} {roofs} drifted during the run: {control} moved by {moved} %"


def doubt(view: View, drawn: Optional[Iterable[Row]] = None) -> str:
    """The one line on what puts the drawn rows of a run in doubt; empty of a run that ended and whose controls stayed."""
    unfinished = f"no claim: {view.why_unfinished}" if view.why_unfinished else ""
    return capital("; ".join(filter(None, [unfinished, drift(view, drawn)])))


def unfinished_title(view: View, what: str = "") -> str:
    """The title of a figure of a run that did not end: it names what is drawn and claims nothing; empty of a whole run."""
    if not view.why_unfinished:
        return ""
    rows = counted(len(view.points), "verified row") if view.points else "roofs" if view.ceilings else "no verified row"
    return capital(f"{f'{view.format}: ' if view.format else ''}{what or rows} of an unfinished run")
