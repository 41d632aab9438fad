"""Soaks below the folder of a fleet. The program adds up their logs (`ridgebench soak --read`); this module decides the state."""

import os
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Iterator, Optional

from ridgebench.base.command_line import DEVICE_LOST, INTERRUPTED, OK, REGRESSION, ROW_FAILED
from ridgebench.base.files import ResultsError, malformed, parse_quickly, read
from ridgebench.base.text import one_line, quoted
from ridgebench.base.units import and_more, counted
from ridgebench.data import program

from .gpu import FAILED, STARTED, Gpu
from .places import OF_NODE, OF_RESULTS, REPORT, SOAK, SOAK_LOG, natural, unreadable
from .results_folder import LONGEST_REASON, MALFORMED, reason_of
from .results_tree import index_of
from .states import FAIL, FINE, INFO, SLOW, UNHEALTHY, WARN, WRONG, Verdict, becomes

_CODES = frozenset({OK, INTERRUPTED, REGRESSION, ROW_FAILED, DEVICE_LOST})  # of `soak --read` that has read the logs


@dataclass(frozen=True)
class _SoakErrors:
    """The wrong bits of a kernel, or of a pattern of memory."""

    id: str
    mismatches: int  # launches with wrong bits
    words: int
    bits: int
    units: tuple[int, ...]  # multiprocessors, where the kernel tells them apart
    phases: tuple[tuple[str, int], ...]  # mismatches of each phase


@dataclass(frozen=True)
class Soak:
    """The soak of one GPU, or of a host."""

    node: str
    index: Optional[int]
    device: str
    uuid_hash: Optional[str]
    model: Optional[str]
    folder: str  # from that of the fleet
    state: str
    severity: str
    code: int
    reason: str
    planned_s: Optional[float] = None
    elapsed_s: Optional[float] = None
    bytes: Optional[float] = None  # that were compared
    errors: tuple[_SoakErrors, ...] = ()
    faults: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def mismatches(self) -> int:
        return sum(one.mismatches for one in self.errors)

    @property
    def bits(self) -> int:
        return sum(one.bits for one in self.errors)

    def is_of(self, gpu: Gpu) -> bool:
        """True for the soak of this GPU: by its UUID, or by its place if one of the two has no UUID."""
        if self.uuid_hash and gpu.uuid_hash:
            return self.uuid_hash == gpu.uuid_hash
        return (self.node, self.index) == (gpu.node, gpu.index)

    def gpu(self) -> Gpu:
        """The GPU as one without rows."""
        return Gpu(self.node, self.index, self.uuid_hash, self.model, self.state, self.reason, 0, {}, {}, host=self.index is None)


def _errors_of(soak: dict[str, Any]) -> tuple[_SoakErrors, ...]:
    """The kernels and patterns with wrong bits."""
    wrong = (unit for unit in soak["units"] if unit["mismatches"])
    return tuple(_SoakErrors(one_line(one["id"]), one["mismatches"], one["words"], one["bits"], tuple(one["units"]),
                            tuple(one["phases"].items())) for one in wrong)  # fmt: skip


def _wrong_text(errors: tuple[_SoakErrors, ...]) -> str:
    """'71 wrong bits in 71 mismatches of unit_products/... and of 1 more; SM 2; phase hot 60, memory 11'."""
    units = sorted({unit for one in errors for unit in one.units})
    phases: Counter = Counter()
    for one in errors:
        phases.update(dict(one.phases))
    where = [f"SM {', '.join(map(str, units[:8]))}{and_more(len(units) - 8)}"] if units else []
    where += [f"phase {', '.join(f'{name} {number:,}' for name, number in phases.most_common())}"] if phases else []
    bits, launches = sum(one.bits for one in errors), sum(one.mismatches for one in errors)
    first = max(errors, key=lambda one: one.mismatches).id
    text = f"{counted(bits, 'wrong bit')} in {launches:,} mismatch{'es' * (launches != 1)} of {first}"
    return "; ".join([text + and_more(len(errors) - 1, "of "), *where])


def _progress(soak: dict[str, Any]) -> str:
    return f"{soak['elapsed_s'] / 60:.3g} of {soak['planned_s'] / 60:.3g} min"


def _judged(soak: dict[str, Any], pass_: dict[str, Any]) -> tuple[str, str, int, str]:
    """State, severity, exit code and reason. pass_: what node.json says of the process; empty of a folder without it."""
    why, ended = pass_.get("reason") or "", pass_.get("state", "done")
    faults, left_out = "; ".join(soak["faults"]), "; ".join(soak["left_out"])
    if soak["mismatches"]:
        return WRONG, FAIL, ROW_FAILED, "; ".join(filter(None, (_wrong_text(_errors_of(soak)), faults)))
    if soak["exit"] == ROW_FAILED:
        return (UNHEALTHY, FAIL, ROW_FAILED, faults) if faults else (WRONG, FAIL, ROW_FAILED, f"left out {left_out}")
    if ended == "hung" or (ended == "failed" and pass_.get("exit") == DEVICE_LOST):
        return FAILED, FAIL, ROW_FAILED, why
    if not soak["finished"]:
        interrupted = ended in ("done", "running", "waiting") or why == "interrupted"
        reason = "; ".join(filter(None, (why, f"did not finish: {_progress(soak)}")))
        return (STARTED, WARN, INTERRUPTED, reason) if interrupted else (STARTED, FAIL, ROW_FAILED, reason)
    if soak["exit"] == REGRESSION:
        slow = [unit["id"] for unit in soak["units"] if unit["slow"]]
        return SLOW, WARN, REGRESSION, f"the last round of {slow[0]}{and_more(len(slow) - 1)} is slower than its fastest one"
    return (FINE, INFO, OK, "") if soak["exit"] == OK else (STARTED, WARN, soak["exit"], "no kernel was launched")


def _soak_of(place: Soak, soak: dict[str, Any], pass_: dict[str, Any]) -> Soak:
    state, severity, code, reason = _judged(soak, pass_)
    return replace(place, state=state, severity=severity, code=code, reason=_cut(reason), planned_s=soak["planned_s"],
                   elapsed_s=soak["elapsed_s"], bytes=soak["bytes"], errors=_errors_of(soak),
                   faults=tuple(map(one_line, soak["faults"])), left_out=tuple(map(one_line, soak["left_out"])))  # fmt: skip


def _cut(reason: str) -> str:
    return one_line(reason)[:LONGEST_REASON]


def _unread(node: str, index: Optional[int], device: str, folder: str, reason: str) -> Soak:
    """A soak whose log cannot be read."""
    return Soak(node, index, device, None, None, folder, FAILED, FAIL, ROW_FAILED, _cut(reason))


def _of_node(folder: Path, name: str, known: Optional[str]) -> Iterator[Soak]:
    """The soaks of a folder that `soak --concurrent` wrote. name: the folder from that of the fleet."""
    answer = program.asked("soak", "--read", str(folder), codes=_CODES)
    for gpu in answer["gpus"]:
        place = _unread(known or one_line(answer["node"]), gpu["index"], one_line(gpu["device"]), f"{name}/{gpu['folder']}",
                        (gpu["unreadable"] or gpu["reason"] or "no log").replace(f"{folder}/", ""))  # fmt: skip
        place = replace(place, uuid_hash=gpu["uuid_hash"], model=gpu["model"] and one_line(gpu["model"]))
        yield _soak_of(place, gpu["soak"], gpu) if gpu["soak"] else place


def _of_folder(folder: Path, name: str, known: Optional[str]) -> Iterator[Soak]:
    """The soak of a folder that `soak` wrote for one device."""
    answer = program.asked("soak", "--read", str(folder), codes=_CODES)
    path = folder / OF_RESULTS
    facts = parse_quickly(read(path), str(path))
    entry = next((one for one in facts["devices"] if one["name"] == answer["device"]), {})
    if not entry:
        raise ResultsError(f"{path}: does not list {quoted(answer['device'])}")
    device = one_line(answer["device"])
    place = _unread(known or str(facts["host"]["hostname_hash"]), index_of(device), device, name, "")
    yield _soak_of(replace(place, uuid_hash=entry.get("uuid_hash"), model=entry.get("model")), answer, {})


def _found(root: Path) -> Iterator[tuple[Path, bool]]:
    """Each folder with a soak, and whether it is that of a node. Reports and results of other kinds are passed over."""
    for name, folders, files in os.walk(root, onerror=unreadable):
        folder = Path(name)
        if OF_NODE in files and SOAK in folders:
            yield folder, True
            folders.clear()
        elif SOAK_LOG in files:
            yield folder, False
            folders.clear()
        elif OF_RESULTS in files:
            folders.clear()
        folders[:] = [one for one in folders if folder != root or one != REPORT]


def read_soaks(root: Path) -> list[Soak]:
    """All soaks of a tree, by node and GPU. One whose files are malformed is FAILED. Raises ResultsError without the program."""
    soaks: list[Soak] = []
    for folder, of_node in _found(root):
        program.require_program("soak")
        steps = folder.relative_to(root).parts
        name, known = "/".join(map(one_line, steps)) or ".", one_line(steps[0]) if steps and not of_node else None
        try:
            soaks += (_of_node if of_node else _of_folder)(folder, name, known)
        except MALFORMED as error:
            wrong = error if isinstance(error, ResultsError) else malformed(str(folder), error, "no soak")
            soaks.append(_unread(known or folder.name, None, "?", name, reason_of(wrong, root)))
    return sorted(soaks, key=lambda one: (natural(one.node), -1 if one.index is None else one.index, natural(one.folder)))


def add_soaks(verdicts: list[Verdict], soaks: list[Soak]) -> list[Soak]:
    """Gives each GPU what its soaks found, and returns the soaks of GPUs without rows."""
    others = []
    for soak in soaks:
        mine = [verdict for verdict in verdicts if soak.is_of(verdict.gpu)]
        for verdict in mine:
            if soak.code == ROW_FAILED:
                becomes(verdict, soak.state, FAIL, f"soak: {soak.reason}")
            elif soak.code != OK:
                verdict.notes.append(f"soak: {soak.reason}")
                verdict.severity = WARN if verdict.severity == INFO else verdict.severity
        others += [] if mine else [soak]
    return others
