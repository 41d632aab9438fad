"""`fleet submit`: one pinned, exclusive job for each node, or one srun over all of them.

An array of jobs would not do: with one node drained, Slurm ran two elements on another node, and all ended with 0.
"""

import argparse
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ridgebench.base.children import completed
from ridgebench.base.command_line import OK, CommandError
from ridgebench.base.files import ResultsError, parse_json, read, real, write_at_once
from ridgebench.base.interruption import held
from ridgebench.base.text import one_line
from ridgebench.base.units import counted
from ridgebench.data import program

from . import scheduler
from .. import manifest as manifests
from ..places import NODES, REPORT, attempts_in
from .hostlist import folded, told_by_sinfo
from .script import DOCTOR_GRACE_S, DOCTOR_S, text_of
from .script import NAME as SCRIPT

_SUBMITTED = "submitted.jsonl"  # a line for each job: node, attempt, job
GRACE_S = 60 + DOCTOR_S + DOCTOR_GRACE_S  # of a job beyond the limit of its command: to start, to examine, to kill, to write


class _Task(NamedTuple):
    node: str
    attempt: int


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fleet", type=Path, metavar="FLEET", help="folder that `fleet plan` made")
    parser.add_argument("--together", action="store_true", help="one srun over all nodes, which load the site at once")
    parser.add_argument("--partition", default="", metavar="PARTITION", help="partition of Slurm for the jobs")
    parser.add_argument("--again", action="store_true", help="only the nodes of GPUs that `fleet report` flagged, as their next attempt")
    parser.add_argument("--program", default="", metavar="FILE", help="path of ridgebench on the nodes; default: this program")
    parser.add_argument("--dry-run", action="store_true", help="print the script and the commands; submit nothing")


def submitted(fleet: Path) -> list[dict]:
    """The jobs that were submitted. Raises ResultsError."""
    path = fleet / _SUBMITTED
    jobs = [parse_json(line, str(path)) for line in read(path).splitlines()] if path.exists() else []
    for job in jobs:
        if not isinstance(job, dict) or [type(job.get(key)) for key in ("node", "attempt")] != [str, int]:
            raise ResultsError(f"{path}: a line without node and attempt; allowed: what `fleet submit` wrote")
    return jobs


def _flagged(fleet: Path) -> list[str]:
    """The nodes of the GPUs that the report flagged. Raises CommandError."""
    path = fleet / REPORT / "report.json"
    if not path.exists():
        raise CommandError(f"{path} is missing; allowed after `ridgebench fleet report {fleet}`")
    try:
        return list(dict.fromkeys(str(gpu["node"]) for gpu in parse_json(read(path), str(path))["flagged"]))
    except (KeyError, TypeError):
        raise CommandError(f"{path}: has no list `flagged` of GPUs with their node") from None


def _nodes_now(manifest: manifests.Manifest) -> dict[str, manifests.Node]:
    """The nodes as Slurm sees them now; nodes that it lacks, as in the manifest but without GPUs to request."""
    known = told_by_sinfo(scheduler.nodes("")) if scheduler.has("sinfo") else {}
    return {node.node: known.get(node.node, replace(node, gpus=0)) for node in manifest.nodes}


def _split(fleet: Path, manifest: manifests.Manifest, again: bool) -> tuple[list[_Task], list[manifests.Node]]:
    """Jobs to submit, and the nodes that take no job now. Raises CommandError."""
    now = _nodes_now(manifest)
    tasks = _tasks_of(fleet, manifest, again)
    left_out = [now[task.node] for task in tasks if now[task.node].note is not None]
    return [task for task in tasks if now[task.node].note is None], left_out


def _tasks_of(fleet: Path, manifest: manifests.Manifest, again: bool) -> list[_Task]:
    """Nodes that remain to be measured: each node that was not submitted, or the flagged ones. Raises CommandError."""
    last: dict[str, int] = {}
    for job in submitted(fleet):
        last[job["node"]] = max(last.get(job["node"], 0), job["attempt"])
    for node in manifest.order:
        last[node] = max([last.get(node, 0), *attempts_in(fleet / NODES / node)])
    if again:
        unknown = [node for node in _flagged(fleet) if node not in last]
        if unknown:
            raise CommandError(f"{fleet}: the report flags {unknown[0]}, which is not in the manifest")
        return [_Task(node, last[node] + 1) for node in _flagged(fleet)]
    tasks = [_Task(node, 1) for node in manifest.order if not last[node]]
    if not tasks:
        raise CommandError(f"{fleet}: all nodes were submitted already; allowed: --again, or a new `fleet plan`")
    return tasks


def _sbatch_words(fleet: Path, manifest: manifests.Manifest, task: _Task, partition: str) -> list[str]:
    """--exclusive grants all GPUs of the node. --no-requeue: a second start would mix its files with those of the first."""
    minutes = int((manifest.limit_s + GRACE_S) // 60) + 1
    output = fleet / NODES / task.node / f"attempt-{task.attempt}.slurm.txt"
    return ["sbatch", "--parsable", f"--nodelist={task.node}", "--nodes=1", "--ntasks=1", "--exclusive", "--mem=0", "--no-requeue",
            f"--time={minutes}", f"--job-name=ridgebench-{task.node}", f"--output={output}",
            *([f"--partition={partition}"] if partition else []), str(fleet / SCRIPT), task.node, str(task.attempt)]  # fmt: skip


def _srun_words(fleet: Path, manifest: manifests.Manifest, tasks: list[_Task], partition: str) -> list[str]:
    """A task for each node; the end of one ends no other. Raises CommandError for nodes that one srun cannot serve.

    A step of an exclusive job has the GPUs that it requests, and only a job's script has all of them.
    """
    if len({task.attempt for task in tasks}) > 1:
        raise CommandError("the nodes' next attempts differ in number; allowed: without --together")
    now = _nodes_now(manifest)
    counts = {now[task.node].gpus for task in tasks}
    if len(counts) > 1:
        raise CommandError("the nodes differ in their number of GPUs, and a step asks for one; allowed: without --together")
    count = counts.pop()
    minutes = int((manifest.limit_s + GRACE_S) // 60) + 1
    return ["srun", f"--nodelist={folded([task.node for task in tasks])}", f"--nodes={len(tasks)}", "--ntasks-per-node=1", "--exclusive",
            "--mem=0", "--kill-on-bad-exit=0", f"--time={minutes}", "--job-name=ridgebench",
            *([f"--gres=gpu:{count}"] if count else []),
            *([f"--partition={partition}"] if partition else []), str(fleet / SCRIPT), "-", str(tasks[0].attempt)]  # fmt: skip


def _shell_lines(fleet: Path, tasks: list[_Task]) -> list[str]:
    """How to run the jobs without Slurm. pdsh puts the name of the node in place of %h."""
    script = shlex.quote(str(fleet / SCRIPT))
    lines = []
    for attempt in sorted({task.attempt for task in tasks}):
        names = [task.node for task in tasks if task.attempt == attempt]
        lines.append(f"pdsh -w '{folded(names)}' {shlex.quote(f'{script} %h {attempt}')}")
        lines.append(f"for node in {' '.join(names)}; do ssh -n $node {script} $node {attempt} & done; wait")
    return lines


def _submit_each(fleet: Path, tasks: list[_Task], commands: list[list[str]]) -> None:
    """Submits a job for each node, and notes each at once. Raises CommandError at the first that Slurm refuses."""
    for task, words in zip(tasks, commands):
        (fleet / NODES / task.node).mkdir(parents=True, exist_ok=True)
        with held():  # no job without its note
            job = scheduler.ask(*words).strip().split(";")[0]
            with open(fleet / _SUBMITTED, "a", encoding="utf-8") as file:
                file.write(json.dumps({"node": task.node, "attempt": task.attempt, "job": job}) + "\n")


def _run_together(fleet: Path, words: list[str], tasks: list[_Task]) -> int:
    """Waits for all nodes. The exit code of srun is the largest of theirs and says nothing about coverage."""
    completed(words)
    print(f"{counted(len(tasks), 'node')} ended; next: ridgebench fleet collect {one_line(str(fleet))}")
    return OK


def main(options: argparse.Namespace) -> int:
    fleet = real(options.fleet)
    manifest = manifests.load(fleet)
    if manifest is None:
        raise CommandError(f"{options.fleet}: holds no {manifests.NAME}; allowed: a folder that `ridgebench fleet plan` made")
    tasks, left_out = _split(fleet, manifest, options.again)
    if left_out:
        print(f"not submitted: {folded([node.node for node in left_out])} ({', '.join(sorted({node.note or '' for node in left_out}))})")
    if not tasks:
        print("nothing to submit" + (": the report flags no GPU" if options.again and not left_out else ""))
        return OK
    text = text_of(fleet, manifest, options.program or program.binary())
    if options.together:
        commands = [_srun_words(fleet, manifest, tasks, options.partition)]
    else:
        commands = [_sbatch_words(fleet, manifest, task, options.partition) for task in tasks]
    needed = "srun" if options.together else "sbatch"
    if options.dry_run:
        print("\n".join([f"# {fleet / SCRIPT}", text, *(map(shlex.join, commands) if scheduler.has(needed) else _shell_lines(fleet, tasks))]))
        return OK
    write_at_once(fleet / SCRIPT, text)
    (fleet / SCRIPT).chmod(0o755)
    if not scheduler.has(needed):
        print("\n".join(_shell_lines(fleet, tasks)))
        raise CommandError(f"{needed} is missing: this machine has no Slurm; allowed: one of the lines above, for pdsh or ssh")
    if options.together:
        return _run_together(fleet, commands[0], tasks)
    _submit_each(fleet, tasks, commands)
    print(f"{counted(len(tasks), 'job')} submitted; next: ridgebench fleet status {one_line(str(options.fleet))}")
    return OK
