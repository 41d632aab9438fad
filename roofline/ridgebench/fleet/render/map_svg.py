"""The map of the fleet as SVG, and what report.js needs to show another row in it."""

import math
from typing import Any, Optional

import numpy as np

from ridgebench.figures.html.svg import element
from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.states import FAST, FINE, SLOW

from . import colours
from .layout import Cell, Layout, is_slow, lowest, state_of


def percent(ratio: float) -> str:
    return f"{100 * ratio:.1f}" if 0.01 <= ratio < 9.995 else f"{100 * ratio:.0f}"


def lowest_ratio(assessment: Assessment, cell: Cell) -> float:
    index = lowest(assessment, cell)
    return math.nan if index is None else assessment.verdicts[index].worst.ratio


def _described(assessment: Assessment, cell: Cell, whole: bool) -> str:
    """Tooltip of a GPU: 'gn2 GPU 3: SLOW, 92.1 % of the median in dram_copy/vec16/fp32 (loaded)'."""
    index = lowest(assessment, cell)
    state = state_of(assessment, cell)
    shown = index if index is not None and (whole or state in (SLOW, FAST, FINE)) else cell.members[0]
    verdict = assessment.verdicts[shown]
    name = f"{cell.name}, GPU {verdict.gpu.index}" if whole else cell.name
    text = f"{name}: {verdict.state}"
    if verdict.worst:
        text += f", {percent(verdict.worst.ratio)} % of the median in {assessment.columns[verdict.worst.column].name}"
    return "; ".join([text, *filter(None, (verdict.reason, *verdict.notes))])


def _cell_svg(assessment: Assessment, cell: Cell, layout: Layout, number: int) -> str:
    state, ratio = state_of(assessment, cell), lowest_ratio(assessment, cell)
    sign = colours.SIGNS.get(state)
    text = sign if sign is not None else "" if math.isnan(ratio) else percent(ratio)
    kind = f"state {state.lower()}" if sign is not None else "none" if math.isnan(ratio) else f"s{colours.step_of(ratio)}"
    slow = " slow" if sign is None and is_slow(assessment, cell) else ""
    width, height = layout.size
    return element(
        "g", element("title", text=_described(assessment, cell, layout.whole_nodes)),
        element("rect", x=cell.x, y=cell.y, width=width, height=height, rx=2),
        element("text", x=cell.x + width / 2, y=cell.y + height / 2, text=text),
        class_=f"cell {kind}{slow}", id=f"c{number}",
    )  # fmt: skip


def _hatch() -> str:
    """The pattern of a GPU without results."""
    line = element("path", d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5", class_="hatch-line")
    return element("defs", element("pattern", line, id="hatch", width=6, height=6, patternUnits="userSpaceOnUse"))


def draw(assessment: Assessment, layout: Layout) -> str:
    pad = 3.0
    texts = [element("text", x=one.x, y=one.y, class_=f"name {one.anchor}", text=one.text) for one in layout.texts]
    cells = [_cell_svg(assessment, cell, layout, number) for number, cell in enumerate(layout.cells)]
    return element(
        "svg", element("title", text="Map of the fleet: percent of the median", id="map-title"), _hatch(),
        element("g", *texts, class_="names", aria_hidden="true"), *(f"\n{cell}" for cell in cells),
        xmlns="http://www.w3.org/2000/svg", id="map", class_="map large" if layout.size[0] > 60 else "map", role="img",
        width=layout.width + 2 * pad, viewBox=f"{-pad} {-pad} {layout.width + 2 * pad:.0f} {layout.height + 2 * pad:.0f}",
        aria_labelledby="map-title",
    )  # fmt: skip


def key(assessment: Assessment, layout: Layout) -> str:
    """The legend: steps of colour, then the signs that occur."""
    items = [f'<li><i class="chip s{n}"></i>{name}</li>' for n, name in enumerate(colours.NAMES)]
    states = dict.fromkeys(state_of(assessment, cell) for cell in layout.cells)
    if SLOW in states:
        items.append('<li><i class="chip slow none"></i>slow by the rule</li>')
    for state, sign in colours.SIGNS.items():
        if state in states:
            items.append(f'<li><i class="chip state {state.lower()}">{sign}</i>{state.lower().replace("_", " ")}</li>')
    return f'<ul class="key-list">{"".join(items)}</ul>'


def _per_mille(value: float) -> Optional[int]:
    return None if math.isnan(value) else round(10000 * value)


def data(assessment: Assessment, layout: Layout) -> dict[str, Any]:
    """For each row the ratio of each cell, in hundredths of a percent, and the cells that are slow in it."""
    ratio, scored_slow = assessment.scored.ratio, assessment.scored.slow
    signed = [state_of(assessment, cell) in colours.SIGNS for cell in layout.cells]
    columns = []
    for number, column in enumerate(assessment.columns):
        values: list[Optional[int]] = []
        slow: list[int] = []
        for place, cell in enumerate(layout.cells):
            own = ratio[list(cell.members), number]
            own = own[~np.isnan(own)]
            values.append(None if signed[place] or not len(own) else _per_mille(float(own.min())))
            if not signed[place] and scored_slow[list(cell.members), number].any():
                slow.append(place)
        columns.append({"name": column.name + ", per clock" * column.per_clock, "values": values, "slow": slow})
    names = [cell.name for cell in layout.cells]
    return {"steps": [round(10000 * end) for end in colours.STEPS], "columns": columns, "names": names}
