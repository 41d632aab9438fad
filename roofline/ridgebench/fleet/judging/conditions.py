"""Findings of a GPU's own files, whatever its peers do: impossible rates, rows that are absent, health, moved ceilings."""

import numpy as np

from ridgebench.base.units import and_more

from ..gpu import DONE
from ..health import Health
from .matrix import Column
from .states import FAIL, FAST, FINE, INCOMPLETE, INFO, NOT_COMPARABLE, STATES, UNHEALTHY, WARN, WRONG, Verdict

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
