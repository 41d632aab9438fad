"""Every GPU of the fleet in every row: one strip for each row and pass, a dot for each GPU, the flagged ones named."""

import math
from collections import Counter
from typing import Iterator, NamedTuple

import numpy as np

from ridgebench.base.text import ends
from ridgebench.figures.html.svg import element
from ridgebench.fleet.findings import name_of
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.states import FAST, SLOW

from .details import UNKNOWN

_WIDTH, _LEFT, _RIGHT, _TOP = 1176, 340, 66, 26  # px
_STRIP, _ROW_GAP, _SECTION = 24, 8, 30
_LOWEST, _HIGHEST = 0.80, 1.10  # ratios that the axis shows at most
_MOST_DOTS = 1024  # GPUs that are drawn one by one; more are a histogram
_BIN = 3.0  # px of a step of the histogram, and of a column of dots
_NAME_WIDTH = 7.3  # px of a letter
_LONGEST_NAME = 35  # letters of a row
_CLOSE = 64.0  # px between two marks of which each has a name


class _Axis:
    def __init__(self, assessment: Assessment) -> None:
        ratio = assessment.scored.ratio
        known = ratio[~np.isnan(ratio)]
        low = min(0.945, float(known.min()) - 0.005) if len(known) else 0.945
        high = max(1.035, float(known.max()) + 0.005) if len(known) else 1.035
        self.low, self.high = max(_LOWEST, math.floor(100 * low) / 100), min(_HIGHEST, math.ceil(100 * high) / 100)

    def x(self, ratio: float) -> float:
        """Ratios outside of the axis are at its ends."""
        share = (min(max(ratio, self.low), self.high) - self.low) / (self.high - self.low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def ticks(self) -> list[int]:
        step = 1 if self.high - self.low < 0.13 else 2 if self.high - self.low < 0.2 else 5
        return [n for n in range(round(100 * self.low), round(100 * self.high) + 1) if n % step == 0]


def _dots(xs: np.ndarray, middle: float) -> str:
    """Dots that do not cover each other as long as there is room: those of a column are beside the middle in turn."""
    seen: Counter = Counter()
    parts = []
    for x in xs.tolist():
        rank = seen[round(x / _BIN)]
        seen[round(x / _BIN)] += 1
        step = (rank + 1) // 2 * (1 if rank % 2 else -1)
        parts.append(f"M{x:.1f} {middle + max(-9, min(9, 2.4 * step)):.1f}h0")
    return element("path", class_="dots", d="".join(parts))


def _histogram(xs: np.ndarray, middle: float) -> str:
    """The square root of the number of GPUs at each place, so that a single one is visible."""
    counts = Counter((xs // _BIN).astype(int).tolist())
    most = max(counts.values(), default=1)
    parts = []
    for place, count in sorted(counts.items()):
        half = max(0.8, 10 * math.sqrt(count / most))
        parts.append(f"M{place * _BIN:.1f} {middle - half:.1f}v{2 * half:.1f}")
    return element("path", class_="bars", d="".join(parts))


class _Marked(NamedTuple):
    """A GPU that is flagged in a column."""

    ratio: float
    kind: str  # SLOW or FAST
    node: str
    gpu: str


def _marked(assessment: Assessment, column: int) -> list[_Marked]:
    """The lowest first."""
    scored, found = assessment.scored, []
    for kind, flags in ((SLOW, scored.slow), (FAST, scored.fast)):
        for index in np.flatnonzero(flags[:, column]).tolist():
            gpu, ratio = assessment.fleet.gpus[index], float(scored.ratio[index, column])
            if not math.isnan(ratio):
                found.append(_Marked(ratio, kind, gpu.node, name_of(gpu.index)))
    return sorted(found)


def _clusters(axis: _Axis, found: list[_Marked]) -> list[list[_Marked]]:
    """Neighbours that are too close for a name each."""
    groups: list[list[_Marked]] = []
    for one in found:
        if groups and groups[-1][0].kind == one.kind and axis.x(one.ratio) - axis.x(groups[-1][-1].ratio) < _CLOSE:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _name_of_cluster(axis: _Axis, group: list[_Marked]) -> str:
    """'gn2/3', 'gn2 ×8' for GPUs of one node, or 'gn2/3 +4'; with the number where it is beyond the axis."""
    beyond = f" {100 * group[0].ratio:.0f} %" if group[0].ratio < axis.low else ""
    if len(group) == 1:
        return f"{group[0].node}/{group[0].gpu}{beyond}"
    if len({one.node for one in group}) == 1:
        return f"{group[0].node} ×{len(group)}{beyond}"
    return f"{group[0].node}/{group[0].gpu} +{len(group) - 1}{beyond}"


def _labels(axis: _Axis, found: list[_Marked], middle: float) -> Iterator[str]:
    """Marks of the flagged GPUs, and a name for each cluster where there is room at its left or right."""
    end = float(_LEFT)
    groups = _clusters(axis, found)
    for place, group in enumerate(groups):
        for one in group:
            yield element("circle", element("title", text=f"{one.node}/{one.gpu}: {100 * one.ratio:.1f} %"), cx=axis.x(one.ratio),
                          cy=middle, r=3.6, class_=f"mark {one.kind.lower()}")  # fmt: skip
        name, left, right = _name_of_cluster(axis, group), axis.x(group[0].ratio) - 8, axis.x(group[-1].ratio) + 8
        room = axis.x(groups[place + 1][0].ratio) - 8 if place + 1 < len(groups) else _WIDTH - _RIGHT
        width = _NAME_WIDTH * len(name)
        if left - width > end:
            yield element("text", x=left, y=middle, text=name, class_=f"label end {group[0].kind.lower()}")
        elif right + width < room:
            yield element("text", x=right, y=middle, text=name, class_=f"label {group[0].kind.lower()}")
            right += width
        end = right


def _strip(assessment: Assessment, axis: _Axis, column: int, top: float) -> str:
    middle, one = top + _STRIP / 2, assessment.columns[column]
    ratio = assessment.scored.ratio[:, column]
    flags = assessment.scored.slow[:, column] | assessment.scored.fast[:, column]
    xs = np.sort([axis.x(value) for value in ratio[~np.isnan(ratio) & ~flags].tolist()])
    fleet = assessment.groups[0].columns
    cut, spread = float(fleet.cut[column]), float(fleet.own[column])
    shade = edge = ""
    if not math.isnan(cut):
        shade = element("rect", class_="shade", x=_LEFT, y=top + 1, width=axis.x(cut) - _LEFT, height=_STRIP - 2)
        edge = element("path", class_="cut", d=f"M{axis.x(cut):.1f} {top + 1:.1f}v{_STRIP - 2}")
    return "".join((
        shade, edge, (_dots if len(xs) <= _MOST_DOTS else _histogram)(xs, middle),
        element("text", x=_LEFT - 10, y=middle, text=one.pass_, class_="end quiet"),
        element("text", x=_WIDTH - _RIGHT + 10, y=middle, class_="quiet",
                text=UNKNOWN if math.isnan(spread) else f"± {100 * spread:.1f} %"),
        *_labels(axis, _marked(assessment, column), middle),
    ))  # fmt: skip


def _frame(axis: _Axis, top: float, bottom: float) -> str:
    grid = []
    for tick in axis.ticks():
        x = axis.x(tick / 100)
        grid.append(element("path", d=f"M{x:.1f} {top:.1f}V{bottom:.1f}", class_="median" if tick == 100 else None))
        grid.append(element("text", x=x, y=top - 10, text=f"{tick} %" if tick in (100, axis.ticks()[0]) else str(tick), class_="middle"))
    return element("g", *grid, class_="grid")


def _heading(y: float, text: str) -> str:
    return element("text", x=0, y=y, text=text, class_="heading")


def draw(assessment: Assessment) -> str:
    """All strips; those of rows at the power limit come last, under a heading of their own."""
    axis, y, parts, previous = _Axis(assessment), float(_TOP), [], None
    for number, column in enumerate(assessment.columns):
        if previous is not None and previous.row != column.row:
            y += _ROW_GAP
        if column.per_clock and (previous is None or not previous.per_clock):
            y += _SECTION
            parts.append(_heading(y - 12, "At the power limit, rate per clock cycle"))
        if previous is None or previous.row != column.row:
            name = ends(column.label.removesuffix("/steady"), _LONGEST_NAME, "…")
            parts.append(element("text", element("title", text=column.row), x=0, y=y + _STRIP / 2, text=name, class_="row"))
        parts.append(_strip(assessment, axis, number, y) + "\n")
        y, previous = y + _STRIP, column
    return element(
        "svg", element("title", text="Each GPU in each row, in percent of the median", id="strip-title"), _frame(axis, _TOP, y), *parts,
        xmlns="http://www.w3.org/2000/svg", class_="strips", role="img", width=_WIDTH, viewBox=f"0 0 {_WIDTH} {y + 6:.0f}",
        aria_labelledby="strip-title",
    )  # fmt: skip
