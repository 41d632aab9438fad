"""Reads the folder of a node, which `ridgebench run --concurrent` wrote: node.json and a results folder for each GPU and pass."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Optional

from ridgebench.base.command_line import INTERRUPTED
from ridgebench.base.files import ResultsError, parse_quickly, read, real
from ridgebench.base.text import one_line, quoted

from .gpu_facts import GpuFacts, health_of_parts, origins_of, worst
from .gpu import DONE, FAILED, STARTED, Gpu
from .health import Examined, Health, examined
from .jobs import job as jobs
from .manifest import time_of
from .places import OF_NODE, Place
from .results_folder import LONGEST_REASON, MALFORMED, Results, read_results, reason_of, text_or_none

_SCHEMA = "ridgebench.node/1"
PASSES = ("isolated", "loaded")
# Exit codes of `timeout`, and of a shell whose command a signal ended: 128 and the signal's number.
_TIMED_OUT, _SIGNALLED = 124, 128


class Setting(NamedTuple):
    """Facts of the fleet for the reader of a node."""

    expected: Optional[int]  # GPUs of the node; None: unknown
    now: datetime


def _is_killed(code: int) -> bool:
    return code in (INTERRUPTED, _TIMED_OUT) or code >= _SIGNALLED


def _how_it_ended(job: Optional[jobs.Job], node: dict, now: datetime) -> str:
    """Why a pass that began has no end, as far as the node's files say."""
    if job is not None and job.ended is not None:
        return f"the job ended with exit code {job.exit}"
    if node.get("ended") is not None:
        return f"the node's run ended with exit code {node.get('exit')}"
    started = job.started if job else time_of(node["started"])
    return f"not ended {max(0, round((now - started).total_seconds()))} s after the start of the node's run"


def _pass_state(name: str, entry: dict, open_end: str) -> tuple[str, Optional[str]]:
    """DONE, FAILED or STARTED of one pass, with the reason. Raises ValueError for a state that is unknown."""
    state, code = entry["state"], entry.get("exit")
    said = f": {entry['reason']}" if entry.get("reason") else ""
    if state in ("hung", "killed"):
        return STARTED, f"{name}: {state}{said}"
    if state in ("running", "waiting"):
        return STARTED, f"{name}: {'began, ' if state == 'running' else 'did not begin, '}{open_end}"
    if state == "failed" and code is None:  # left out, because the GPU hung or was lost in the pass before
        return STARTED, f"{name}{said}"
    if state not in ("done", "failed"):
        raise ValueError(f"state of {name} is {quoted(state)}")
    if state == "done" and not code:
        return DONE, None
    killed = type(code) is int and _is_killed(code)
    return STARTED if killed else FAILED, f"{name}: exit code {code}{said}"


def _inside(folder: Path, name: Any) -> Path:
    """The folder of this name in a node's folder. Raises ValueError for a path that leads out of it, also by a link."""
    path = folder / str(name)
    if Path(str(name)).is_absolute() or ".." in Path(str(name)).parts or not real(path).is_relative_to(real(folder)):
        raise ValueError(f"folder is {quoted(name)}; allowed: a folder in that of node.json")
    return path


def _pass_results(place: Place, name: str, entry: dict, state: tuple) -> tuple[Optional[Results], tuple]:
    """The results of a pass, and its state once its files were read: a pass that ended well must have sound files."""
    if entry["state"] == "waiting":
        return None, state
    try:
        results = read_results(_inside(place.folder, entry["folder"]))[0]
    except MALFORMED as error:
        return None, (FAILED, f"{name}: {reason_of(error, place.folder)}") if state[0] == DONE else state
    if state[0] == DONE and (results.torn or not results.readings):
        what = "the last record was cut off" if results.torn else "holds no record"
        return results, (FAILED, f"{name}: {entry['folder']}/records.jsonl: {what}")
    return results, state


def _gpu_of(place: Place, node_name: str, entry: dict, node: dict, open_end: str, doctor: Optional[Examined]) -> GpuFacts:
    """One entry of node.json's gpus. Raises what MALFORMED lists."""
    states, results = [], {}
    for name in (name for name in PASSES if name in entry["passes"]):
        part = entry["passes"][name]
        read_of_pass, state = _pass_results(place, name, part, _pass_state(name, part, open_end))
        states.append(state)
        if read_of_pass is not None:
            results[name] = read_of_pass
    state, reason = worst(states) if states else (FAILED, "node.json names no pass")
    if entry["index"] is not None and type(entry["index"]) is not int:
        raise ValueError(f"index is {quoted(entry['index'])}")
    uuid = text_or_none(entry.get("uuid_hash"))
    first = next(iter(results.values()), None)
    gpu = Gpu(
        node_name, entry["index"], uuid or (first.uuid_hash if first else None),
        text_or_none(entry.get("model")) or (first.model if first else None),
        state, reason and one_line(reason)[:LONGEST_REASON], place.attempt,
        facts=first.facts if first else {},
        readings={(name, row): one for name, each in results.items() for row, one in each.readings.items()},
        versions=first.versions if first else {},
        examined=doctor is not None,
        **health_of_parts(results.values(), doctor.of(str(entry.get("device"))) if doctor else ()),
    )  # fmt: skip
    facts = GpuFacts(gpu, {}, [str(node["started"]), *(each.started for each in results.values())])
    for name, each in results.items():
        facts.origins |= origins_of(each, name, f"{place.folder.name}/{entry['passes'][name]['folder']}")
        facts.own = facts.own and uuid in (None, each.uuid_hash)
    facts.own = facts.own and node.get("node") == node_name
    return facts


def all_alike(place: Place, setting: Setting, node: str, state: str, reason: str, started: Optional[str]) -> list[GpuFacts]:
    """Every GPU that the manifest expects on the node, in one state; one GPU where the number is unknown."""
    indices = range(setting.expected) if setting.expected else [None]
    gpus = [Gpu(node, i, None, None, state, one_line(reason)[:LONGEST_REASON], place.attempt, {}, {}) for i in indices]
    return [GpuFacts(gpu, {}, [started] if started else []) for gpu in gpus]


def _without_node_file(place: Place, setting: Setting, node: str, job: jobs.Job) -> list[GpuFacts]:
    """A job that wrote no node.json: it runs still, was killed, or its command failed at once."""
    started = job.started.isoformat()
    if job.exit is None or job.ended is None:
        seconds = max(0, round((setting.now - job.started).total_seconds()))
        return all_alike(place, setting, node, STARTED, f"the job began, and is not ended after {seconds} s", started)
    state = STARTED if _is_killed(job.exit) else FAILED
    reason = f"the job ended with exit code {job.exit} and wrote no node.json"
    return all_alike(place, setting, node, state, reason, started)


def _doctor_of(place: Place) -> tuple[Optional[Examined], tuple[Health, ...]]:
    """Doctor's findings before the run; of an answer that cannot be read, the reason."""
    try:
        return examined(place.folder), ()
    except ResultsError as error:
        return None, (Health(False, reason_of(error, place.folder.parent)),)


def _add_others(gpus: list[GpuFacts], others: tuple[Health, ...]) -> None:
    """Gives the first GPU of a node what doctor says of devices that have no results: the node's GPUs that are absent."""
    gpus[0].gpu = replace(gpus[0].gpu, health=(*gpus[0].gpu.health, *others))


def read_node(place: Place, setting: Setting) -> list[GpuFacts]:
    """The GPUs of one attempt on a node; none where its folder is empty. A malformed file makes its GPUs FAILED."""
    name = place.node or "node"
    path = place.folder / OF_NODE
    try:
        job = jobs.load(place.folder)
        if not path.exists():
            return _without_node_file(place, setting, place.node or job.node, job) if job else []
        node: Any = parse_quickly(read(path), str(path))
        name = place.node or one_line(node["node"])
        if node["schema"] != _SCHEMA:
            raise ResultsError(f"{path}: schema is {quoted(node['schema'])}; allowed: {_SCHEMA}")
        open_end = _how_it_ended(job, node, setting.now)
        doctor, unread = _doctor_of(place)
        gpus = [_gpu_of(place, name, entry, node, open_end, doctor) for entry in node["gpus"]]
        if gpus:
            measured = {str(entry.get("device")) for entry in node["gpus"]}
            _add_others(gpus, doctor.others(measured) if doctor else unread)
    except MALFORMED as error:
        return all_alike(place, setting, name, FAILED, reason_of(error, place.folder), None)
    if not gpus and (code := node.get("exit")) is not None:
        return all_alike(place, setting, name, FAILED, f"the node's run found no GPU and ended with exit code {code}", None)
    return gpus
