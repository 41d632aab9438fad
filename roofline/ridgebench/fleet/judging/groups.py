"""GPUs that differ from the fleet in a key that must agree: whether that is news, and how far their rates are from the fleet's."""

from typing import Optional

import numpy as np

from ridgebench.base.units import and_more

from . import outlier
from .matrix import KEYS, Column, Group
from .states import FAIL, WARN

_LEAST_SHARE = 0.1  # of all GPUs: the GPUs of another model that are as many are a part of the site, and no slip
_MOST_KEYS = 3  # that a text names
_MODEL = "model"


def _model_of(group: Group) -> str:
    return str(group.key[KEYS.index(_MODEL)])


def _reference_of(group: Group, groups: list[Group]) -> Group:
    """The largest group of the same model, with which a group is compared."""
    return next(other for other in groups if _model_of(other) == _model_of(group))


def _is_odd(group: Group, groups: list[Group]) -> bool:
    """True if the keys of a group are news: eight GPUs that agree with each other may all be set wrongly.

    The largest group of a model is none if it has a tenth of all GPUs, and is large enough to be judged by itself.
    """
    if group is groups[0]:
        return False
    total = sum(len(other.members) for other in groups)
    own_fleet = _reference_of(group, groups) is group and len(group.members) >= _LEAST_SHARE * total
    return not own_fleet or group.columns is None


def _below_fleet(group: Group, groups: list[Group], columns: list[Column]) -> Optional[tuple[float, str]]:
    """The largest loss of the group's medians against the fleet's, as a share with its text; None if none is slow."""
    reference = _reference_of(group, groups)
    if reference is group or group.columns is None or reference.columns is None:
        return None
    ratio = group.columns.median / reference.columns.median
    low = np.flatnonzero(ratio < 1 - outlier.FLOOR)
    if not len(low):
        return None
    worst = int(low[np.argmin(ratio[low])])
    more = and_more(len(low) - 1, "in ")
    unit = " per clock" if columns[worst].per_clock else ""
    loss = 1 - float(ratio[worst])
    return loss, f"{100 * loss:.1f} % below the fleet's median{unit} in {columns[worst].name}{more}"


def _differs_text(group: Group) -> str:
    more = and_more(len(group.differs) - _MOST_KEYS)
    return "; ".join(group.differs[:_MOST_KEYS]) + more


def oddity(group: Group, groups: list[Group], columns: list[Column]) -> Optional[tuple[str, str]]:
    """Severity and reason for the GPUs of a group whose keys are news; None for others."""
    if not _is_odd(group, groups):
        return None
    loss = _below_fleet(group, groups, columns)
    severity = FAIL if loss and loss[0] > outlier.FAIL else WARN
    return severity, "; ".join(filter(None, (_differs_text(group), loss[1] if loss else "")))
