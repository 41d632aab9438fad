"""The next command to type for a GPU that is not well."""

import shlex

from ridgebench.base.text import one_line

from ..gpu import DUPLICATE, FAILED, MISSING, STALE, STARTED, Fleet
from .states import INCOMPLETE, NOT_COMPARABLE, SLOW, UNHEALTHY, WRONG, Verdict, measured_again

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
