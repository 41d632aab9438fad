"""Each GPU against its peers, with the effects of whole nodes and the shares of the data sheet."""

from typing import NamedTuple

import numpy as np

from . import node_effects, outlier
from ..gpu import Gpu
from .matrix import Group, Matrix, is_ceiling, peers, promised, sheet_of

# The lowest ceiling of a healthy GPU among the published runs has 59 % of the data sheet (tensor_peak/mma_sync in bf16
# of an H200, results/nvidia-h200); a GPU below half of it is broken whatever its peers do.
SHEET_FLOOR = 0.5


def judged_groups(gpus: list[Gpu], matrix: Matrix, usable: list[int]) -> list[Group]:
    """The groups; all that are large enough, and the first one, have their columns."""
    groups = peers(gpus, usable)
    pools = np.array([column.per_clock for column in matrix.columns], int)
    counted = [g.members for n, g in enumerate(groups) if n == 0 or len(g.members) >= outlier.FEWEST]
    comparisons = sum(int((~np.isnan(matrix.values[members])).sum()) for members in counted)
    found = []
    for number, group in enumerate(groups):
        if number and len(group.members) < outlier.FEWEST:
            found.append(group)
            continue
        columns = outlier.columns_of(matrix.values[group.members], pools, comparisons)
        found.append(Group(group.key, group.members, group.differs, columns))
    return found


class Scored(NamedTuple):
    """[GPU, column] of the groups that are judged, and what their nodes do."""

    ratio: np.ndarray
    z: np.ndarray
    slow: np.ndarray
    fast: np.ndarray
    sheet: np.ndarray
    group_of: np.ndarray
    promised: list[np.ndarray]  # of each group: the rates of the data sheet, NaN if unknown
    effects: list[node_effects.Effect]
    slots: list[node_effects.SlotEffect]


def score(gpus: list[Gpu], matrix: Matrix, groups: list[Group]) -> Scored:
    shape = matrix.values.shape
    ratio, z, sheet = (np.full(shape, np.nan) for _ in range(3))
    slow, fast = np.zeros(shape, bool), np.zeros(shape, bool)
    group_of, promises, effects, slots = np.full(len(gpus), -1), [], [], []
    for number, group in enumerate(groups):
        group_of[group.members] = number
        own_sheet = sheet_of(gpus[group.members[0]])
        promises.append(np.array([promised(column, own_sheet) for column in matrix.columns]))
        sheet[group.members] = matrix.rates[group.members] / promises[-1]
        if group.columns is None:
            continue
        found = outlier.scores(matrix.values[group.members], group.columns)
        ratio[group.members], z[group.members] = found.ratio, found.z
        slow[group.members], fast[group.members] = found.slow, found.fast
        of_nodes, of_slots = node_effects.find(gpus, group, ratio)
        effects, slots = effects + of_nodes, slots + of_slots
    slow |= below_floor(sheet, matrix)
    return Scored(ratio, z, slow, fast, sheet, group_of, promises, effects, slots)


def below_floor(sheet: np.ndarray, matrix: Matrix) -> np.ndarray:
    """Where a ceiling is below the floor; sheet: shares of the data sheet, a column for each of the matrix."""
    return np.array([is_ceiling(column) for column in matrix.columns], bool) & (sheet < SHEET_FLOOR)


def of_whole_node(scored: Scored, groups: list[Group], effect: node_effects.Effect, index: int) -> bool:
    """True if the effect of its node explains all that is slow about a GPU."""
    columns = groups[scored.group_of[index]].columns
    slow = np.flatnonzero(scored.slow[index])
    if not set(slow.tolist()) <= set(effect.columns):
        return False
    own = scored.ratio[index, list(effect.columns)] - effect.effect
    return bool(np.all(~(own < columns.cut[list(effect.columns)])))
