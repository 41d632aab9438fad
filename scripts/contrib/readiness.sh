#!/usr/bin/env bash
# Is this node ready for work? For a readiness engine that calls a container and reads an exit code and JSON:
#   scripts/contrib/readiness.sh FOLDER [MINUTES]
# FOLDER is empty, or absent, and keeps every result. A step runs only if the earlier ones ended with 0:
#   doctor   each GPU by NVML, the driver, the kernel and RULES; a warning, such as a broken rule, leaves the exit code 0
#   run      all GPUs of the node, each by itself and all together, in BUDGET seconds: rates, and the bits of each multiprocessor
#   worn     counters of faults that grew during `run`, and again during `soak`, by `doctor --worn`
#   soak     MINUTES (0) of load on all GPUs at the same time, every bit compared
# One line of JSON on standard output: ready, exit, the code of each step (null: it did not run), and the folder.
# Exit codes are those of ridgebench, the largest of the steps: 0 ready, 3 undecided, 4 slow, 6 wrong, 7 no GPU that works,
# and 2 or 8 for a mistake of this check, which says nothing of the node.
#   RIDGEBENCH  the program (default ridgebench)    RULES   file of rules for `doctor --rules`
#   BUDGET      seconds of `run` (default 60)       DEVICE  one device, in place of every GPU
set -u
folder=${1-} minutes=${2:-0}
program=${RIDGEBENCH:-ridgebench} rules=${RULES:-}
if [[ -z $folder || $# -gt 2 || ! $minutes =~ ^[0-9]+([.][0-9]+)?$ ]]; then
  echo "readiness.sh: allowed: readiness.sh FOLDER [MINUTES]" >&2
  exit 2
fi
if [[ -e $folder/doctor.json ]] || ! mkdir -p "$folder" 2>/dev/null || [[ ! -w $folder ]]; then
  echo "readiness.sh: $folder has results or cannot be written to; allowed: a new folder" >&2
  exit 2
fi

worst=0 doctor=null run=null worn=null soak=null child=
# The first process of a container ignores a signal without a handler. The step ends with what it measured, and the line says so.
trap '[[ $worst -ge 3 ]] || worst=3; [[ -z $child ]] || kill -TERM "$child" 2>/dev/null' TERM INT HUP
# step NAME COMMAND...: its standard output is NAME.json or NAME.txt, and its standard error goes on.
step() {
  local code
  "$program" "${@:2}" >"$folder/$1" </dev/null &
  child=$!
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do  # a signal ended wait, and not the step
    wait "$child"
    code=$?
  done
  child=
  [[ $code -ne 127 && $code -ne 126 ]] || code=8  # no program
  [[ $code -le 8 ]] || code=3                      # ended by a signal
  [[ $code -le $worst ]] || worst=$code
  return "$code"
}

# grown FOLDER: did a counter of faults of a GPU grow during the step that wrote this folder?
grown() {
  [[ $worst -eq 0 ]] || return 0
  step "worn_$1.json" doctor --json --worn "$folder/$1"
  worn=$?
}

step doctor.json doctor --json ${rules:+--rules "$rules"}
doctor=$?
if [[ $worst -eq 0 ]]; then
  if [[ -n ${DEVICE:-} ]]; then
    step run.txt run --device "$DEVICE" --fingerprint --budget "${BUDGET:-60}" --no-plot --out "$folder/run"
  else
    step run.txt run --concurrent --fingerprint --budget "${BUDGET:-60}" --out "$folder/run"
  fi
  run=$?
  grown run
fi
if [[ $worst -eq 0 && ! $minutes =~ ^0+([.]0+)?$ ]]; then
  if [[ -n ${DEVICE:-} ]]; then
    step soak.json soak --json --device "$DEVICE" --minutes "$minutes" --out "$folder/soak"
  else
    step soak.json soak --json --concurrent --minutes "$minutes" --out "$folder/soak"
  fi
  soak=$?
  grown soak
fi
ready=$([[ $worst -eq 0 ]] && echo true || echo false)
escaped=${folder//\\/\\\\}
printf '{"ready":%s,"exit":%d,"doctor":%s,"run":%s,"worn":%s,"soak":%s,"folder":"%s"}\n' \
  "$ready" "$worst" "$doctor" "$run" "$worn" "$soak" "${escaped//\"/\\\"}"
exit "$worst"
