"""The states of a GPU in a report: severities, exit codes, reasons, and the next command to type.

The findings of a GPU's own files hold whatever its peers do: impossible rates, absent rows, health, moved ceilings.
"""

import shlex
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import numpy as np

from ridgebench.base.command_line import INCOMPARABLE, INTERRUPTED, OK, REGRESSION, ROW_FAILED
from ridgebench.base.text import one_line
from ridgebench.base.units import and_more

from .gpu import DONE, DUPLICATE, FAILED, MISSING, STALE, STARTED, Fleet, Gpu
from .health import Health
from .matrix import Column

INFO, WARN, FAIL = "INFO", "WARN", "FAIL"
# States that a comparison adds to those of the files. FINE replaces DONE.
FINE, SLOW, FAST, WRONG, NOT_COMPARABLE = "OK", "SLOW", "FAST", "WRONG", "NOT_COMPARABLE"
UNHEALTHY, INCOMPLETE = "UNHEALTHY", "INCOMPLETE"  # by doctor or by what the rows recorded; rows are absent
# Gravest first: the exit code that a state leads to, and its severity. SLOW, FAST and UNHEALTHY have two of each (code_of).
STATES = {
    WRONG: (ROW_FAILED, FAIL),
    FAILED: (ROW_FAILED, FAIL),
    STARTED: (ROW_FAILED, FAIL),
    UNHEALTHY: (ROW_FAILED, FAIL),
    MISSING: (REGRESSION, FAIL),
    INCOMPLETE: (REGRESSION, WARN),
    DUPLICATE: (INCOMPARABLE, WARN),
    STALE: (INCOMPARABLE, WARN),
    NOT_COMPARABLE: (INCOMPARABLE, WARN),
    SLOW: (REGRESSION, WARN),
    FAST: (OK, INFO),
    FINE: (OK, INFO),
}
SLOW_ONCE = INTERRUPTED  # the code of a slow GPU that was not measured again: undecided
_MILD = {UNHEALTHY: REGRESSION, FAST: INCOMPARABLE}  # the codes of these states with severity WARN
_AGAIN = (FAILED, STARTED, MISSING, INCOMPLETE, STALE, DUPLICATE, WRONG)  # a further attempt may change these states


class Mark(NamedTuple):
    """A GPU in a column. ratio: to the median of its peers; sheet: share of the data sheet, NaN if unknown."""

    column: int
    ratio: float
    z: float
    sheet: float


@dataclass
class Verdict:
    """The report's verdict on a GPU. slow: the columns that decide; worst: the lowest column, of any GPU that is judged."""

    gpu: Gpu
    state: str
    severity: str
    reason: str = ""
    next: str = ""
    worst: Optional[Mark] = None
    slow: list[Mark] = field(default_factory=list)
    confirmed: bool = False
    of_node: bool = False  # slow only as its whole node is
    notes: list[str] = field(default_factory=list)


def code_of(verdict: Verdict) -> int:
    if verdict.severity == WARN and verdict.state in _MILD:
        return _MILD[verdict.state]
    return SLOW_ONCE if verdict.state == SLOW and not verdict.confirmed else STATES[verdict.state][0]


def measured_again(verdict: Verdict) -> bool:
    """True if `fleet submit --again` measures the GPU."""
    return verdict.state in _AGAIN or (verdict.state == SLOW and not verdict.confirmed)


# Boards run up to some 15 % above the boost clock for which a data sheet states its peaks.
_MOST_OF_SHEET = 1.2
MOVED = "control moved"  # how the note on a ceiling begins


def _graver(state: str, other: str) -> bool:
    order = list(STATES)
    return order.index(state) < order.index(other)


def becomes(verdict: Verdict, state: str, severity: str, reason: str) -> None:
    """Gives the verdict a graver state and keeps the earlier reason as a note; of a state that is not graver only a note stays."""
    if _graver(state, verdict.state):
        verdict.notes = [*filter(None, (verdict.reason,)), *verdict.notes]
        verdict.state, verdict.reason, verdict.of_node = state, reason, False
        verdict.severity = severity
    else:
        verdict.notes.append(reason)
        if verdict.severity == INFO or severity == FAIL:
            verdict.severity = severity


def _judge_sheet(verdict: Verdict, sheet: np.ndarray, columns: list[Column]) -> None:
    """WRONG for a rate that the data sheet excludes. sheet: shares of what it promises, NaN if it promises nothing."""
    known = np.flatnonzero(sheet > _MOST_OF_SHEET)
    if len(known):
        worst = int(known[np.argmax(sheet[known])])
        more = and_more(len(known) - 1, "in ")
        becomes(verdict, WRONG, FAIL, f"{100 * sheet[worst]:.4g} % of the data sheet in {columns[worst].name}{more}: no GPU is so fast")


def _judge_rows(verdict: Verdict, lacking: np.ndarray, columns: list[Column]) -> None:
    """INCOMPLETE where rows that the peers have are absent; rows that were skipped say why, and are noted."""
    seen = verdict.gpu.readings
    absent = [columns[n] for n in lacking.tolist() if (columns[n].pass_, columns[n].row) not in seen]
    if absent:
        becomes(verdict, INCOMPLETE, WARN, f"{len(absent)} of {len(columns)} rows are absent, {absent[0].name} among them")
    elif len(lacking):
        verdict.notes.append(f"{len(lacking)} of {len(columns)} rows were skipped")


def _judge_health(verdict: Verdict) -> None:
    """UNHEALTHY by what doctor and the rows say of the GPU."""
    found: tuple[Health, ...] = verdict.gpu.health
    if not found:
        return
    severe = any(one.severe for one in found)
    reason = "; ".join(one.text for one in sorted(found, key=lambda one: not one.severe))
    if severe or verdict.state in (FINE, FAST):
        becomes(verdict, UNHEALTHY, FAIL if severe else WARN, reason)
    else:
        verdict.notes.append(reason)


def _note_doubts(verdict: Verdict) -> None:
    """Notes the ceilings that moved between their first and last measurement: the machine changed during the run."""
    moved = verdict.gpu.doubted
    if moved:
        more = and_more(len(moved) - 1)
        verdict.notes.append(f"{MOVED}: {moved[0]} from first to last{more}; shares of roofs are doubted")


def judge_conditions(verdict: Verdict, sheet: np.ndarray, lacking: np.ndarray, columns: list[Column]) -> None:
    """Fills the verdict of a GPU whose peers were judged; of one whose files are bad only its health and doubts count."""
    if verdict.gpu.state == DONE and verdict.state != WRONG:
        _judge_sheet(verdict, sheet, columns)
        if verdict.state != NOT_COMPARABLE or len(lacking) < len(columns):
            _judge_rows(verdict, lacking, columns)
    _judge_health(verdict)
    _note_doubts(verdict)


# A key by which GPUs are not comparable: the section of `nvidia-smi -q -d` that shows it.
_SECTIONS = {"power_limit_w": "POWER", "clocks": "CLOCK", "ecc": "ECC", "mig": "MIG"}
_DIAGNOSTIC_LEVEL = 3  # of dcgmi diag: the first one with stress tests of memory and arithmetic


def _on(verdict: Verdict, what: str) -> str:
    """A command that runs on the node of the GPU."""
    return f"ssh {shlex.quote(verdict.gpu.node)} {what}"


def _selected(verdict: Verdict) -> str:
    return "" if verdict.gpu.index is None else f" -i {verdict.gpu.index}"


def _measure_again(verdict: Verdict, fleet: Fleet, command: str) -> str:
    """The command that measures the GPU once more: a job or, in a tree that nobody planned, a run on its node."""
    if fleet.manifest is not None:
        return f"{command} fleet submit {shlex.quote(one_line(str(fleet.folder)))} --again"
    gpu = verdict.gpu
    out = one_line(str(fleet.folder / gpu.node / f"attempt-{gpu.attempt + 1}"))
    kind = "run" if gpu.host else "run --concurrent"
    return _on(verdict, shlex.quote(f"{command} {kind} --out {shlex.quote(out)}"))


def next_step(verdict: Verdict, fleet: Fleet, differs: tuple[str, ...], command: str) -> str:
    """The command; empty for a GPU that is well. differs: the keys by which it is not comparable."""
    diagnosis = _on(verdict, f"dcgmi diag -r {_DIAGNOSTIC_LEVEL}{_selected(verdict)}")
    again = _measure_again(verdict, fleet, command)
    if verdict.state == SLOW:
        return again if measured_again(verdict) else diagnosis
    if verdict.state == WRONG:
        return diagnosis
    if verdict.state in (FAILED, STARTED, UNHEALTHY):
        return _on(verdict, f"{command} doctor")
    if verdict.state in (MISSING, INCOMPLETE, STALE, DUPLICATE):
        return again
    if verdict.state == NOT_COMPARABLE:
        section = next((_SECTIONS[key] for key in (text.split(":")[0] for text in differs) if key in _SECTIONS), None)
        return _on(verdict, f"nvidia-smi -q -d {section}{_selected(verdict)}" if section else f"{command} doctor")
    if any(note.startswith("heat") for note in verdict.notes):
        return _on(verdict, f"nvidia-smi -q -d TEMPERATURE,PERFORMANCE{_selected(verdict)}")
    return ""
