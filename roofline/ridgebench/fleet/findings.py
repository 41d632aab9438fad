"""The head of the report: one finding for each thing to act on, coverage, counts of states, and what differs."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ridgebench.base.command_line import OK
from ridgebench.base.text import cut
from ridgebench.base.units import and_more, counted, enumerate_words

from .gpu import DUPLICATE
from .judge import Assessment
from .matrix import Group, unfrozen
from .soaks import Soak
from .states import FAIL, FAST, FINE, INFO, MOVED, SLOW, STATES, WARN, Verdict, measured_again, next_step

_SEVERITIES = (FAIL, WARN, INFO)
_MOST_NODES = 4  # that a text names
_MOST_STATES = 3  # that a title names


@dataclass(frozen=True)
class Finding:
    """One GPU, several GPUs of one node, or a slot of all nodes."""

    severity: str
    state: str
    node: str
    indexes: tuple[Optional[int], ...]  # GPUs of the node
    whole: bool  # all of the node's
    reason: str
    next: str
    verdict: Optional[Verdict] = None  # of a single GPU
    host: bool = False  # the node itself, without GPU

    @property
    def where(self) -> str:
        if not self.node:
            return f"GPU {self.indexes[0]} of all nodes"
        if self.host:
            return self.node
        if len(self.indexes) == 1:
            return f"{self.node} GPU {name_of(self.indexes[0])}"
        return f"{self.node}, {'all ' if self.whole else ''}{len(self.indexes)} GPUs"


def name_of(index: Optional[int]) -> str:
    return "?" if index is None else str(index)


def _gpu_findings(assessment: Assessment) -> list[Finding]:
    """One for each GPU that is not well, and one for GPUs of one node that share state and reason."""
    sizes: dict[str, int] = {}
    same: dict[tuple, list[Verdict]] = {}
    for verdict in assessment.verdicts:
        node = verdict.gpu.node
        sizes[node] = sizes.get(node, 0) + 1
        if verdict.of_node or (verdict.state == FINE and not verdict.notes):
            continue
        reason = _reason_of([verdict])
        doubted = verdict.state == FINE and all(note.startswith(MOVED) for note in verdict.notes)
        alone = verdict.gpu.index if verdict.state in (SLOW, FAST, FINE) and not doubted else None
        shared = "" if verdict.state == DUPLICATE or doubted else reason  # each copy names its own original
        same.setdefault((node, verdict.state, shared, alone), []).append(verdict)
    found = []
    for (node, state, _, _), members in same.items():
        reason = _reason_of(members)
        indexes = tuple(verdict.gpu.index for verdict in members)
        only = members[0] if len(members) == 1 else None
        severity = min((verdict.severity for verdict in members), key=_SEVERITIES.index)
        next_ = members[0].next.removesuffix(f" -i {indexes[0]}") if only is None else members[0].next
        found.append(Finding(severity, state, node, indexes, len(members) == sizes[node], reason, next_, only,
                             members[0].gpu.host))  # fmt: skip
    return found


def _reason_of(members: list[Verdict]) -> str:
    """The reason with its notes; of several GPUs with different ones the first, and the number of the others."""
    texts = list(dict.fromkeys("; ".join(filter(None, (verdict.reason, *verdict.notes))) for verdict in members))
    return texts[0] + (f"; and {len(texts) - 1} more like this" if len(texts) > 1 else "")


def _noun(assessment: Assessment) -> str:
    """'GPU' or, of a tree of hosts, 'host'."""
    gpus = assessment.fleet.gpus
    return "host" if gpus and all(gpu.host for gpu in gpus) else "GPU"


def _node_findings(assessment: Assessment) -> list[Finding]:
    found = []
    for effect in assessment.scored.effects:
        verdicts = [assessment.verdicts[index] for index in effect.members]
        mine = [verdict for verdict in verdicts if verdict.of_node] or verdicts
        column = assessment.columns[effect.worst]
        more = and_more(len(effect.columns) - 1)
        unit = " per clock" if column.per_clock else ""
        confirmed = sum(verdict.confirmed for verdict in mine)
        how = "measured once" if not confirmed else f"confirmed by a second attempt on {counted(confirmed, 'GPU')}"
        reason = f"the whole node is {100 * -effect.effect:.1f} % slow{unit} in {column.name}{more}; {how}"
        severity = min((verdict.severity for verdict in mine), key=_SEVERITIES.index)
        next_ = mine[0].next.split(" -i ")[0]
        indexes = tuple(assessment.fleet.gpus[index].index for index in effect.members)
        found.append(Finding(severity, SLOW, effect.node, indexes, True, reason, next_))
    return found


def _slot_findings(assessment: Assessment) -> list[Finding]:
    return [
        Finding(INFO, FINE, "", (slot.slot,), False,
                f"{100 * -slot.effect:.1f} % slow in every node, in {assessment.columns[slot.worst].name}: airflow or wiring", "")
        for slot in assessment.scored.slots
    ]  # fmt: skip


def _soak_findings(assessment: Assessment) -> list[Finding]:
    """The soaks that are not well, of GPUs without rows: the others are in the verdicts."""
    found = []
    for soak in assessment.only_soaked:
        if soak.code != OK:
            verdict = Verdict(soak.gpu(), soak.state, soak.severity, soak.reason, confirmed=True)
            next_ = next_step(verdict, assessment.fleet, (), "ridgebench") if soak.index is not None else ""
            found.append(Finding(soak.severity, soak.state, soak.node, (soak.index,), False, f"soak: {soak.reason}", next_,
                                 host=soak.index is None))  # fmt: skip
    return found


def findings(assessment: Assessment) -> list[Finding]:
    """The gravest first."""
    found = _node_findings(assessment) + _gpu_findings(assessment) + _soak_findings(assessment) + _slot_findings(assessment)
    states = list(STATES)
    return sorted(found, key=lambda one: (_SEVERITIES.index(one.severity), states.index(one.state)))


def counts(assessment: Assessment) -> dict[str, int]:
    """The number of GPUs in each state, the gravest state first."""
    found = dict.fromkeys(STATES, 0)
    for verdict in assessment.verdicts:
        found[verdict.state] += 1
    return found


class _Coverage(NamedTuple):
    measured: int  # GPUs with a complete result of their own
    expected: Optional[int]  # by the manifest; None without one


def coverage(assessment: Assessment) -> _Coverage:
    manifest = assessment.fleet.manifest
    expected = sum(node.gpus for node in manifest.nodes) if manifest else None
    return _Coverage(int((assessment.scored.group_of >= 0).sum()), expected)


def coverage_text(assessment: Assessment) -> str:
    measured, expected = coverage(assessment)
    if expected is None:
        have = " has" if measured == 1 else "s have"
        return f"{measured:,} {_noun(assessment)}{have} complete results; how many there should be is unknown without a manifest"
    return f"{measured:,} of {expected:,} {_noun(assessment)}s have complete results"


def title(assessment: Assessment) -> str:
    """'29 of 32 GPUs are well: 2 slow, 1 missing'; with many states 'are well, 10 are not'."""
    return "; ".join(filter(None, (_title_of_gpus(assessment), soaks_text(assessment.only_soaked))))


def _title_of_gpus(assessment: Assessment) -> str:
    found = counts(assessment)
    total, well = len(assessment.verdicts), found[FINE] + found[FAST]
    if not total:
        return "No GPU has been measured"
    name = _noun(assessment)
    if well == total:
        return f"All {total:,} {name}s are well" if total > 1 else f"The {name} is well"
    bad = [f"{n:,} {state.lower().replace('_', ' ')}" for state, n in found.items() if n and state not in (FINE, FAST)]
    if len(bad) > _MOST_STATES:
        return f"{well:,} of {total:,} {name}s are well, {total - well:,} are not"
    return f"{well:,} of {total:,} {name}s are well: {', '.join(bad)}"


def soaks_text(soaks: list[Soak]) -> str:
    """'3 soaks: 2 well, 1 wrong'; empty without soaks."""
    if not soaks:
        return ""
    states = {state: sum(soak.state == state for soak in soaks) for state in (FINE, *STATES)}
    parts = [f"{number:,} {'well' if state == FINE else state.lower()}" for state, number in states.items() if number]
    return f"{counted(len(soaks), 'soak')}: {', '.join(parts)}"


def flagged(assessment: Assessment) -> list[dict[str, Any]]:
    """The GPUs that `fleet submit --again` measures once more."""
    return [
        {"node": verdict.gpu.node, "index": verdict.gpu.index, "state": verdict.state}
        for verdict in assessment.verdicts if measured_again(verdict)
    ]


class _Version(NamedTuple):
    value: str
    gpus: int
    nodes: list[str]


def differences(assessment: Assessment) -> dict[str, list[_Version]]:
    """Facts and versions that are not the same everywhere: the value of most GPUs first."""
    seen: dict[str, dict[Any, tuple[list[int], dict[str, None]]]] = {}
    for index, gpu in enumerate(assessment.fleet.gpus):
        for key, value in {**gpu.facts, **gpu.versions}.items():
            gpus, nodes = seen.setdefault(key, {}).setdefault(value, ([], {}))
            gpus.append(index)
            nodes[gpu.node] = None
    return {
        key: [_Version(_text_of(value), len(gpus), list(nodes)) for value, (gpus, nodes) in
              sorted(values.items(), key=lambda item: (-len(item[1][0]), item[1][0]))]
        for key, values in sorted(seen.items()) if len(values) > 1
    }  # fmt: skip


def _text_of(value: Any) -> str:
    value = unfrozen(value)
    if isinstance(value, dict):
        return cut(", ".join(f"{key}={item}" for key, item in value.items())) or "none"
    return "unknown" if value is None else cut(str(value))


def nodes_text(nodes: list[str]) -> str:
    more = [f"{len(nodes) - _MOST_NODES:,} more"] if len(nodes) > _MOST_NODES else []
    return enumerate_words([*nodes[:_MOST_NODES], *more])


def _examination(assessment: Assessment) -> list[str]:
    """How many GPUs `doctor` examined, unless it examined all: the health of the others is known only from their runs."""
    measured = [gpu for gpu in assessment.fleet.gpus if gpu.readings and not gpu.host]
    looked = sum(gpu.examined for gpu in measured)
    if looked == len(measured):
        return []
    rest = "from what their runs recorded" if assessment.fleet.judged else "only from what happened during rows"
    if looked == 0:
        return [f"`ridgebench doctor` examined no GPU before its run; their health is known {rest}."]
    return [f"`ridgebench doctor` examined {looked:,} of {len(measured):,} GPUs before their runs; the health of the others is known {rest}."]


def expectation(assessment: Assessment) -> list[str]:
    """The smallest faults that the report finds in this fleet, in sentences."""
    return _outlier_expectation(assessment) + _examination(assessment)


def _outlier_expectation(assessment: Assessment) -> list[str]:
    """The smallest faults that the rule of the peers finds, in sentences."""
    own, groups = assessment.expected, assessment.groups
    if not own.comparisons:
        number = len(groups[0].members) if groups else 0
        name = _noun(assessment)
        return [f"No {name} is judged against its peers: {number} comparable {name}{' is' if number == 1 else 's are'} too few, 8 are needed. "
                "Compare each with its own past by `ridgebench baseline check BASELINE DIR`."]  # fmt: skip
    flags = f"at most {own.false_flags:.2g}" if own.false_flags >= 0.001 else "less than 0.001"
    found = [f"{100 * chance:.0f} % of those that are {100 * slower:g} % slow in it" for slower, chance in own.found.items()]
    return [
        f"{own.comparisons:,} comparisons; the GPUs scatter by {100 * own.spread:.2g} % in the median row. "
        f"A healthy fleet that scatters so is expected to have {flags} false flags in a report like this one.",
        f"Of slow GPUs a row finds {enumerate_words(found)}; of those that are {100 * own.least_found:.2g} % slow, nine of ten.",
    ]


def median_rate(assessment: Assessment, group: Group, column: int) -> float:
    """The median rate of a group as measured, also where the column is judged per clock; NaN without any."""
    rates = assessment.matrix.rates[group.members, column]
    rates = rates[~np.isnan(rates)]
    return float(np.median(rates)) if len(rates) else float("nan")
