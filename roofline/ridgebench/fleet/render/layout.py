"""Where the map shows each GPU: nodes are lines, GPUs are columns; long fleets take several blocks beside each other.

Beyond MOST_GPUS each node is one cell, with its lowest GPU and its gravest state.
"""

from typing import NamedTuple, Optional

import numpy as np

from ridgebench.fleet.judge import Assessment
from ridgebench.fleet.matrix import slots_of
from ridgebench.fleet.states import FINE, SLOW, STATES

MOST_GPUS = 2048  # that the map shows one by one
WIDTH = 1176  # px of the page
_LARGE, _SMALL, _TINY = (72, 34), (37, 20), (44, 18)  # px of a cell: few GPUs, many, whole nodes
_FEW_NODES = 8  # that have large cells
_CHARACTER = 7.2  # px of a digit in the name of a node
_GAP = 2
_BLOCK_GAP = 28
_HEAD = 20  # px above a block


class Cell(NamedTuple):
    """A place of the map, in px. members: the GPUs that it represents; one, or all of a node."""

    x: float
    y: float
    members: tuple[int, ...]
    name: str


class _Text(NamedTuple):
    x: float
    y: float
    text: str
    anchor: str  # start, middle, end


class Layout(NamedTuple):
    width: float
    height: float
    size: tuple[float, float]  # of a cell
    cells: list[Cell]
    texts: list[_Text]
    whole_nodes: bool


def by_node(assessment: Assessment) -> dict[str, dict[int, list[int]]]:
    """Node: slot: GPUs. Copies of a GPU share its place."""
    gpus = assessment.fleet.gpus
    names, place = slots_of(gpus, np.arange(len(gpus)))
    found: dict[str, dict[int, list[int]]] = {name: {} for name in names}
    for index, (node, slot) in place.items():
        found[names[node]].setdefault(slot, []).append(index)
    return found


def _block(nodes: list[str], table: dict, left: float, size: tuple[int, int], label: float, slots: int) -> tuple[list, list]:
    """The cells and texts of one block; its top is at 0."""
    width, height = size
    cells, texts = [], []
    for slot in range(slots):
        texts.append(_Text(left + label + slot * (width + _GAP) + width / 2, _HEAD - 7, str(slot), "middle"))
    for line, node in enumerate(nodes):
        y = _HEAD + line * (height + _GAP)
        texts.append(_Text(left + label - 8, y + height / 2, node, "end"))
        for slot, members in sorted(table[node].items()):
            cells.append(Cell(left + label + slot * (width + _GAP), y, tuple(members), f"{node} GPU {slot}"))
    return cells, texts


def _of_gpus(table: dict, width: float) -> Layout:
    slots = 1 + max((slot for line in table.values() for slot in line), default=0)
    size = _LARGE if len(table) <= _FEW_NODES and slots * (_LARGE[0] + _GAP) < width - 120 else _SMALL
    label = 16 + _CHARACTER * min(18, max(map(len, table), default=0))
    block_width = label + slots * (size[0] + _GAP)
    beside = max(1, int((width + _BLOCK_GAP) // (block_width + _BLOCK_GAP)))
    names = list(table)
    lines = max(-(-len(names) // beside), min(len(names), _FEW_NODES), 1)
    cells, texts, columns = [], [], -(-len(names) // lines)
    for number in range(columns):
        part = names[number * lines : (number + 1) * lines]
        more = _block(part, table, number * (block_width + _BLOCK_GAP), size, label, slots)
        cells, texts = cells + more[0], texts + more[1]
    whole = columns * (block_width + _BLOCK_GAP) - _BLOCK_GAP
    return Layout(max(whole, 1), _HEAD + lines * (size[1] + _GAP), size, cells, texts, False)


def _of_nodes(table: dict, width: float) -> Layout:
    names, (across, down) = list(table), _TINY
    label = 16 + _CHARACTER * min(18, max(map(len, names)))
    beside = int((width - label) // (across + _GAP))
    cells, texts = [], []
    for number, node in enumerate(names):
        line, place = divmod(number, beside)
        members = tuple(index for slot in table[node].values() for index in slot)
        cells.append(Cell(label + place * (across + _GAP), line * (down + _GAP), members, node))
        if place == 0:
            texts.append(_Text(label - 8, line * (down + _GAP) + down / 2, node, "end"))
    lines = -(-len(names) // beside)
    return Layout(label + beside * (across + _GAP), lines * (down + _GAP), _TINY, cells, texts, True)


def make_layout(table: dict[str, dict[int, list[int]]], width: float = WIDTH) -> Layout:
    """The layout of by_node()'s table in this width (px)."""
    number = sum(len(members) for line in table.values() for members in line.values())
    return _of_nodes(table, width) if number > MOST_GPUS else _of_gpus(table, width)


def state_of(assessment: Assessment, cell: Cell) -> str:
    """The gravest state of the members."""
    order = list(STATES)
    return min((assessment.verdicts[index].state for index in cell.members), key=order.index, default=FINE)


def lowest(assessment: Assessment, cell: Cell) -> Optional[int]:
    """The member with the lowest row; None if no member is judged."""
    known = [index for index in cell.members if assessment.verdicts[index].worst]
    return min(known, key=lambda index: assessment.verdicts[index].worst.ratio, default=None)


def is_slow(assessment: Assessment, cell: Cell) -> bool:
    return any(assessment.verdicts[index].state == SLOW for index in cell.members)
