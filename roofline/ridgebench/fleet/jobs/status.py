"""`fleet status`: how far each node is, by its files and, where there is one, by the queue of Slurm."""

import argparse
from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Optional

from ridgebench.base.command_line import OK, CommandError
from ridgebench.base.files import ResultsError
from ridgebench.base.printers import aligned

from . import job as jobs
from . import scheduler
from .. import manifest as manifests
from ..places import NODES, attempts_in
from .hostlist import folded
from .submit import GRACE_S, submitted

_PLANNED, _QUEUED, _RUNNING, _FINISHED, _FAILED, _LOST = "planned", "queued", "running", "done", "failed", "missing"
_ABOUT = {
    _PLANNED: "not submitted",
    _QUEUED: "waits in the queue",
    _RUNNING: "the job began and has not ended",
    _FINISHED: "the job ended with exit code 0",
    _FAILED: "the job ended with another exit code, or was killed",
    _LOST: "submitted, and neither in the queue nor in the folder",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fleet", type=Path, metavar="FLEET", help="folder that `fleet plan` made")


def _ended(job: jobs.Job, is_queued: Optional[bool], limit_s: float, now: datetime) -> tuple[str, str]:
    """The state of a job that began. Without a queue its age decides if it can still run."""
    if job.exit is not None:
        return (_FINISHED, "") if job.exit == 0 else (_FAILED, f"exit code {job.exit}")
    seconds = (now - job.started).total_seconds()
    alive = is_queued if is_queued is not None else seconds < limit_s
    return (_RUNNING, "") if alive else (_FAILED, f"killed, or hung since {manifests.text_of(job.started)}")


def _state_of(folder: Path, number: Optional[str], queue: Optional[dict[str, str]], limit_s: float, now: datetime) -> tuple[str, str]:
    """The state of a node's last attempt, with the reason; `number` is its job, `queue` the states of all jobs."""
    try:
        job = jobs.load(folder)
    except ResultsError as error:
        return _FAILED, str(error)
    if job is not None:
        number = job.job or number
        return _ended(job, None if queue is None or number is None else number in queue, limit_s, now)
    if number is None:
        return _PLANNED, ""
    if queue is None:
        return _QUEUED, "as far as the folder tells; this machine has no squeue"
    if number not in queue:
        return _LOST, f"job {number}"
    return (_QUEUED if queue[number] == "PENDING" else _RUNNING), f"job {number} {queue[number].lower()}"


def _states(fleet: Path, manifest: manifests.Manifest, queue: Optional[dict[str, str]], now: datetime) -> dict[str, tuple[str, str]]:
    """The state of each node of the manifest and the reason."""
    last = {job["node"]: job for job in submitted(fleet)}  # a later line is a later attempt
    found = {}
    for node in manifest.nodes:
        job = last.get(node.node, {})
        attempt = max([job.get("attempt", 0), *attempts_in(fleet / NODES / node.node)])
        folder = fleet / NODES / node.node / f"attempt-{attempt}"
        number = job.get("job") if job.get("attempt") == attempt else None
        state, reason = _state_of(folder, number, queue, manifest.limit_s + GRACE_S, now)
        found[node.node] = (state, reason or (node.note or "" if state == _PLANNED else ""))
    return found


def main(options: argparse.Namespace) -> int:
    fleet = options.fleet
    manifest = manifests.load(fleet)
    if manifest is None:
        raise CommandError(f"{fleet}: holds no {manifests.NAME}; allowed: a folder that `ridgebench fleet plan` made")
    queue = scheduler.jobs() if scheduler.has("squeue") else None
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for node, (state, reason) in _states(fleet, manifest, queue, datetime.now(timezone.utc)).items():
        found[state][reason].append(node)
    table = []
    for state, about in _ABOUT.items():
        table.append([state, str(sum(map(len, found[state].values()))), about])
        table += [["", "", f"{folded(names)}{f': {reason}' if reason else ''}"] for reason, names in found[state].items()]
    print("\n".join(aligned(table, right=(1,))))
    return OK
