"""The script of a node's job. It needs bash, date and timeout on the node, and the fleet's folder."""

import shlex
from pathlib import Path

from ridgebench.base.command_line import CommandError
from ridgebench.base.text import one_line

from ..health import DOCTOR_END
from ..manifest import Manifest
from ..places import JOB_END
from .job import SCHEMA

NAME = "node.sh"
DOCTOR_S = 30  # seconds in which the driver must answer `doctor`
DOCTOR_GRACE_S = 10  # beyond them, for all that is not the driver
_KILL_AFTER_S = 20  # seconds from SIGTERM, on which the run writes what it has, to SIGKILL

_TEXT = """#!/bin/bash
# The job of one node of a fleet: node.sh NODE ATTEMPT. NODE - is the name that the scheduler gives this node.
# attempt-N{job} is written first and last: a job that hung or was killed leaves the first one. attempt-N{doctor} has what
# `ridgebench doctor` says of the node before its run. Both lie beside the folder of the run, which must be new.
set -u
node=$1 attempt=$2
[[ $node != - ]] || node=${{SLURMD_NODENAME:-$(hostname -s)}}
folder={fleet}/nodes/$node/attempt-$attempt
if [[ -e $folder{job} || -e $folder ]]; then
  echo "node.sh: $folder was begun already; allowed: a new attempt" >&2
  exit 2
fi
mkdir -p "${{folder%/*}}" || exit 2
now() {{ date -u +%Y-%m-%dT%H:%M:%SZ; }}
started=$(now) job=null
[[ -z ${{SLURM_JOB_ID:-}} ]] || job="\\"$SLURM_JOB_ID\\""
# write_job ENDED EXIT
write_job() {{
  printf '{{"schema": "{schema}", "node": "%s", "job": %s, "started": "%s", "ended": %s, "exit": %s}}\\n' \\
    "$node" "$job" "$started" "$1" "$2" >"$folder.job.tmp" && mv "$folder.job.tmp" "$folder{job}"
}}
child= again= stopped=
# This script must live to note the end of the command, which may get the signal of a scheduler twice.
trap 'again=yes stopped=yes; [[ -z $child ]] || kill -TERM "$child" 2>/dev/null' TERM HUP INT
# Runs a command and leaves its exit code in `code`.
attend() {{
  again=
  "$@" &
  child=$!
  wait "$child"
  code=$?
  while [[ -n $again || $code -lt 0 ]]; do  # a signal ends wait before the command ends; bash 5.2 then may leave -1
    again=
    wait "$child"
    code=$?
    [[ $code -ge 0 ]] || kill -0 "$child" 2>/dev/null || code=143  # and keeps -1 when the command has ended: it was terminated
  done
  child=
}}
write_job null null || exit 2
attend timeout -k {kill} {doctor_limit} {program} doctor --json --timeout {doctor_s} >"$folder{doctor}" 2>/dev/null
code=143
if [[ -z $stopped ]]; then
  attend timeout -k {kill} {limit} {program} run --concurrent {words} --out "$folder" >"$folder.output.txt" 2>&1
fi
write_job "\\"$(now)\\"" "$code"
exit "$code"
"""


def text_of(fleet: Path, manifest: Manifest, program: str) -> str:
    """The script; `program` is the path of ridgebench on the nodes.

    Raises CommandError where that is unknown, and for a folder whose name no text can hold.
    """
    if one_line(str(fleet)) != str(fleet):
        raise CommandError(f"{fleet}: the name is not printable UTF-8; allowed: another folder")
    if not program:
        raise CommandError("the program ridgebench is not found; scripts/build.sh builds it, and --program names another")
    return _TEXT.format(
        fleet=shlex.quote(str(fleet)), job=JOB_END, schema=SCHEMA, kill=_KILL_AFTER_S, limit=f"{manifest.limit_s:g}",
        doctor=DOCTOR_END, doctor_s=DOCTOR_S, doctor_limit=DOCTOR_S + DOCTOR_GRACE_S,
        program=shlex.quote(str(Path(program).absolute())), words=shlex.join(manifest.command),
    )  # fmt: skip
