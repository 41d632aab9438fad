"""Where the map shows each GPU: nodes are lines, GPUs are columns; long fleets take several blocks beside each other.

Beyond MOST_GPUS each node is one cell, with its lowest GPU and its gravest state.
"""

from typing import NamedTuple, Optional

import numpy as np

from ..judging.judge import Assessment
from ..judging.node_effects import slots_of
from ..judging.states import FINE, SLOW, STATES

MOST_GPUS = 2048  # that the map shows one by one
WIDTH = 1176  # px of the page
LARGE, SMALL, TINY = (72, 34), (37, 20), (44, 18)  # px of a cell: few GPUs, many, whole nodes
FEW_NODES = 8  # that have large cells
CHARACTER = 7.2  # px of a digit in the name of a node
GAP = 2
BLOCK_GAP = 28
HEAD = 20  # px above a block


class Cell(NamedTuple):
    """A place of the map, in px. members: the GPUs that it stands for; one, or all of a node."""

    x: float
    y: float
    members: tuple[int, ...]
    name: str


class Text(NamedTuple):
    x: float
    y: float
    text: str
    anchor: str  # start, middle, end


class Layout(NamedTuple):
    width: float
    height: float
    size: tuple[float, float]  # of a cell
    cells: list[Cell]
    texts: list[Text]
    whole_nodes: bool


def by_node(assessment: Assessment) -> dict[str, dict[int, list[int]]]:
    """Node: slot: GPUs. Copies of a GPU share its place."""
    gpus = assessment.fleet.gpus
    names, place = slots_of(gpus, np.arange(len(gpus)))
    found: dict[str, dict[int, list[int]]] = {name: {} for name in names}
    for index, (node, slot) in place.items():
        found[names[node]].setdefault(slot, []).append(index)
    return found


def block(nodes: list[str], table: dict, left: float, size: tuple[int, int], label: float, slots: int) -> tuple[list, list]:
    """The cells and texts of one block; its top is at 0."""
    width, height = size
    cells, texts = [], []
    for slot in range(slots):
        texts.append(Text(left + label + slot * (width + GAP) + width / 2, HEAD - 7, str(slot), "middle"))
    for line, node in enumerate(nodes):
        y = HEAD + line * (height + GAP)
        texts.append(Text(left + label - 8, y + height / 2, node, "end"))
        for slot, members in sorted(table[node].items()):
            cells.append(Cell(left + label + slot * (width + GAP), y, tuple(members), f"{node} GPU {slot}"))
    return cells, texts


def of_gpus(table: dict, width: float) -> Layout:
    slots = 1 + max((slot for line in table.values() for slot in line), default=0)
    size = LARGE if len(table) <= FEW_NODES and slots * (LARGE[0] + GAP) < width - 120 else SMALL
    label = 16 + CHARACTER * min(18, max(map(len, table), default=0))
    block_width = label + slots * (size[0] + GAP)
    beside = max(1, int((width + BLOCK_GAP) // (block_width + BLOCK_GAP)))
    names = list(table)
    lines = max(-(-len(names) // beside), min(len(names), FEW_NODES), 1)
    cells, texts, columns = [], [], -(-len(names) // lines)
    for number in range(columns):
        part = names[number * lines : (number + 1) * lines]
        more = block(part, table, number * (block_width + BLOCK_GAP), size, label, slots)
        cells, texts = cells + more[0], texts + more[1]
    whole = columns * (block_width + BLOCK_GAP) - BLOCK_GAP
    return Layout(max(whole, 1), HEAD + lines * (size[1] + GAP), size, cells, texts, False)


def of_nodes(table: dict, width: float) -> Layout:
    names, (across, down) = list(table), TINY
    label = 16 + CHARACTER * min(18, max(map(len, names)))
    beside = int((width - label) // (across + GAP))
    cells, texts = [], []
    for number, node in enumerate(names):
        line, place = divmod(number, beside)
        members = tuple(index for slot in table[node].values() for index in slot)
        cells.append(Cell(label + place * (across + GAP), line * (down + GAP), members, node))
        if place == 0:
            texts.append(Text(label - 8, line * (down + GAP) + down / 2, node, "end"))
    lines = -(-len(names) // beside)
    return Layout(label + beside * (across + GAP), lines * (down + GAP), TINY, cells, texts, True)


def make_layout(table: dict[str, dict[int, list[int]]], width: float = WIDTH) -> Layout:
    """The layout of by_node()'s table in this width (px)."""
    number = sum(len(members) for line in table.values() for members in line.values())
    return of_nodes(table, width) if number > MOST_GPUS else of_gpus(table, width)


def state_of(assessment: Assessment, cell: Cell) -> str:
    """The gravest state of the members."""
    order = list(STATES)
    return min((assessment.verdicts[index].state for index in cell.members), key=order.index, default=FINE)


def lowest(assessment: Assessment, cell: Cell) -> Optional[int]:
    """The member with the lowest row; None where no member is judged."""
    known = [index for index in cell.members if assessment.verdicts[index].worst]
    return min(known, key=lambda index: assessment.verdicts[index].worst.ratio, default=None)


def is_slow(assessment: Assessment, cell: Cell) -> bool:
    return any(assessment.verdicts[index].state == SLOW for index in cell.members)
