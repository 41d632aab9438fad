"""Effects of whole nodes: 'all GPUs of gn2 are 5 % slow' is one finding, not eight."""

from typing import NamedTuple

import numpy as np

from . import outlier
from ..gpu import Gpu
from .matrix import Group

_FEWEST_NODES = 3  # two nodes do not say which of them is slow
_FEWEST_GPUS = 2  # of a node


class Effect(NamedTuple):
    """A node whose GPUs are slow together in some columns. effect: -0.05 is 5 % below the median of the fleet."""

    node: str
    members: tuple[int, ...]  # indexes of GPUs
    columns: tuple[int, ...]
    effect: float  # the lowest of its columns
    worst: int  # that column


class SlotEffect(NamedTuple):
    """The GPU of one index that is slow in all nodes: airflow or wiring, no defect of one GPU."""

    slot: int
    effect: float
    worst: int


def slots_of(gpus: list[Gpu], members: np.ndarray) -> tuple[list[str], dict[int, tuple[int, int]]]:
    """The nodes in order, and for each GPU its node and its slot: its index, or its place where indexes are unknown."""
    by_node: dict[str, list[int]] = {}
    for index in members.tolist():
        by_node.setdefault(gpus[index].node, []).append(index)
    place = {}
    for node, (_, indexes) in enumerate(by_node.items()):
        named = [gpus[index].index for index in indexes]
        usable = None not in named and len(set(named)) == len(named) and max(named) < 4 * len(named) + 16
        place.update({index: (node, named[n] if usable else n) for n, index in enumerate(indexes)})
    return list(by_node), place


def _polish(gpus: list[Gpu], group: Group, ratio: np.ndarray) -> tuple[list[str], dict, np.ndarray, np.ndarray]:
    """Names of nodes, places of GPUs, effects of nodes [column, node] and of slots [column, slot]."""
    names, place = slots_of(gpus, group.members)
    table = np.full((ratio.shape[1], len(names), 1 + max(slot for _, slot in place.values())), np.nan)
    nodes, slots = (np.array([place[index][k] for index in group.members.tolist()]) for k in (0, 1))
    table[:, nodes, slots] = ratio[group.members].T
    effects, slot_effects, _ = outlier.median_polish(table)
    return names, place, effects, slot_effects


def find(gpus: list[Gpu], group: Group, ratio: np.ndarray) -> tuple[list[Effect], list[SlotEffect]]:
    """The nodes and the slots of a group that are slow as a whole.

    The limits are those of a single GPU, although the median of several GPUs scatters less.
    """
    judged = group.columns is not None and not np.isnan(group.columns.cut).all()
    if not judged or len({gpus[index].node for index in group.members.tolist()}) < _FEWEST_NODES:
        return [], []
    names, place, effects, slot_effects = _polish(gpus, group, ratio)
    members: list[list[int]] = [[] for _ in names]
    for index in group.members.tolist():
        members[place[index][0]].append(index)
    cut = group.columns.cut - 1
    low = effects < cut[:, None]
    found = []
    for node in np.flatnonzero(low.any(axis=0)).tolist():
        if len(members[node]) < _FEWEST_GPUS:
            continue
        where = np.flatnonzero(low[:, node])
        worst = int(where[np.argmin(effects[where, node])])
        found.append(Effect(names[node], tuple(members[node]), tuple(where.tolist()), float(effects[worst, node]), worst))
    slots = []
    for slot in np.flatnonzero((slot_effects < -outlier.FLOOR).any(axis=0)).tolist():
        worst = int(np.argmin(slot_effects[:, slot]))
        slots.append(SlotEffect(slot, float(slot_effects[worst, slot]), worst))
    return found, slots
