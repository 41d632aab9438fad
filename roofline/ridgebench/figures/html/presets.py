"""Views that a report can open on: one format of one run, one operation, several runs beside each other, or everything. Each has its finding."""

from dataclasses import dataclass
from typing import Optional

from ridgebench.base.files import ResultsError
from ridgebench.base.units import counted, enumerate_words, rate
from ridgebench.data.records import Row
from ridgebench.data.view import ORDER, View, ordered
from ridgebench.figures.page.doubt import unfinished_title
from ridgebench.figures.page.finding import roofline_title, spoken
from ridgebench.figures.page.runs import LETTERS, OneRun
from ridgebench.figures.page.runs import title as runs_title
from ridgebench.figures.slides.devices import default_format

from .sources import Content, ShownRun

_MOST_FORMATS = 3  # in the finding of an operation


@dataclass(frozen=True)
class _Preset:
    """Names of the filters that stay on; None leaves all on. `beside`: whether roofs and arrows of other runs are shown."""

    name: str
    heading: str
    format: Optional[str] = None
    operation: Optional[str] = None
    run: Optional[int] = None
    beside: bool = False


def _opening_format(run: ShownRun) -> Optional[str]:
    """The format of the lecture figure, else the first one of the rows; None without rows."""
    try:
        return default_format(run.view, [])
    except ResultsError:
        return next(iter(ordered({row.format for row in run.rows}, ORDER)), None)


def finding(run: ShownRun, format_: Optional[str] = None) -> str:
    """The title of the run's figure, of one format or of all; it is about its steady rows."""
    if run.rows and not (run.view.points or run.view.external):
        return f"{counted(len(run.rows), 'verified row')}, none of them steady"
    return roofline_title(run.view.only(format_) if format_ else run.view)


def _operation_finding(view: View, op: str) -> str:
    """'matmul: 1,413 TFLOP/s in fp8_e5m2, 741 TFLOP/s in bf16 and 51.2 TFLOP/s in fp32', by the best verified rows of some formats."""
    if view.why_unfinished:
        return unfinished_title(view, f"rows of {spoken(op)}")
    rows = [row for row in view.points if row.op == op and not row.naive and row.rate and view.may_head(row)]
    best: dict[str, Row] = {row.format: row for row in sorted(rows, key=lambda row: row.rate or 0.0)}
    fast = sorted(best.values(), key=lambda row: -(row.rate or 0.0))
    if not fast:
        return f"{spoken(op)}: no finding rests on its rows"
    shown = [fast[0], fast[len(fast) // 2], fast[-1]] if len(fast) > _MOST_FORMATS else fast
    speeds = [rate(row.flops_per_s, "FLOP/s") if row.flops_per_s else rate(row.bytes_per_s or 0.0, "B/s") for row in shown]
    told = [f"{speed} in {row.format}" for speed, row in zip(speeds, shown)]
    return f"{spoken(op)}: {enumerate_words(told)}"


def _beside_finding(content: Content) -> str:
    """The speed of every run over the first one, of as many runs as a figure can hold."""
    return runs_title([OneRun(run.view, run.name, run.letter) for run in content.runs[: len(LETTERS)]])


def everything(content: Content) -> _Preset:
    """The view of all rows of all runs."""
    several = len(content.runs) > 1
    return _Preset("Everything", _beside_finding(content) if several else finding(content.runs[0]), beside=True)


def presets(content: Content) -> list[_Preset]:
    """The views of a report, the one that it opens on first."""
    first = content.runs[0]
    name, several = _opening_format(first), len(content.runs) > 1
    found = [_Preset(f"{first.letter} in {name}" if several else name, finding(first, name), name, run=0)] if name else []
    for op in ordered({row.op for row in first.rows}, tuple(content.operations)):
        found.append(_Preset(f"{spoken(op)}{f' of {first.letter}' if several else ''}", _operation_finding(first.view, op), None, op, 0))
    if several:
        found.append(_Preset(f"All runs{f' in {name}' if name else ''}", _beside_finding(content), name, beside=True))
    return [*found, everything(content)]
