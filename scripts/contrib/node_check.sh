#!/usr/bin/env bash
# Is this node healthy? Prints one line and ends with the codes of a Nagios plugin.
#   node_check.sh [--gpus N] [--timeout SECONDS]    queries the driver (`ridgebench doctor`): a second
#   node_check.sh --baseline FILE [--rows RE] ...   then also measures against a baseline: a minute
# More options, after --, go to `ridgebench baseline check`. RIDGEBENCH names the program if it is not in PATH.
#
# How many GPUs the node should have: --gpus; else, in a job, SLURM_GPUS_ON_NODE; else the entries of CUDA_VISIBLE_DEVICES;
# else the largest number that earlier calls saw. They remember it in RIDGEBENCH_NODE_STATE (/var/lib/ridgebench/gpus);
# delete that file after a GPU was taken out. A call that can neither know nor remember the number ends with 3.
#
# 0 OK
# 1 WARNING   a row is surely slower than the baseline
# 2 CRITICAL  a GPU is missing or cannot be used, or a result is wrong
# 3 UNKNOWN   no answer: no program, a timeout, a usage error, a run that cannot be compared, an undecided row
# A scheduler drains a node on exit code 2 only: a mistake in this script or its options is never 2.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
gpus='' seconds=20 baseline='' rows='^(dram_copy|dram_read|fma_peak|tensor_peak)/'

end() {
  echo "$2"
  exit "$1"
}

while [[ $# -gt 0 ]]; do
  case $1 in
    --gpus | --timeout | --baseline | --rows) [[ $# -ge 2 ]] || end 3 "UNKNOWN: $1 needs a value" ;;&
    --gpus) gpus=$2 ;;
    --timeout) seconds=$2 ;;
    --baseline) baseline=$2 ;;
    --rows) rows=$2 ;;
    --) shift && break ;;
    *) end 3 "UNKNOWN: unknown argument '$1'; allowed: --gpus, --timeout, --baseline, --rows, --" ;;
  esac
  shift 2
done
[[ $gpus =~ ^[0-9]*$ ]] || end 3 "UNKNOWN: --gpus '$gpus' is not a whole number; allowed: 8"
[[ $seconds =~ ^[0-9]+$ ]] || end 3 "UNKNOWN: --timeout '$seconds' is not a whole number; allowed: 20"

program=${RIDGEBENCH:-$(command -v ridgebench || echo "$here/../../build/ridgebench")}
[[ -x $program ]] || end 3 "UNKNOWN: no program ridgebench; RIDGEBENCH may name it"

# The driver may hang: doctor has a limit of its own, and timeout one for doctor.
said=$(timeout -k 2 $((seconds + 5)) "$program" doctor --timeout "$seconds" 2>&1)
status=$?
verdict=$(tail -n 1 <<<"$said")
case $status in
  0) ;;
  7) end 2 "CRITICAL: $verdict" ;;
  *) end 3 "UNKNOWN: doctor ended with $status: $verdict" ;;
esac
ready=0
[[ $verdict =~ ready\ to\ measure\ ([0-9]+)\ GPU ]] && ready=${BASH_REMATCH[1]}

# Sets gpus to the number that an earlier call saw, and source to where it is from. The first call and one that sees more
# remember their number.
recall() {
  local file=${RIDGEBENCH_NODE_STATE:-/var/lib/ridgebench/gpus}
  gpus=$(head -n 1 "$file" 2>/dev/null)
  source=" (seen before: $file)"
  if [[ $gpus =~ ^[0-9]+$ && $gpus -ge $ready ]]; then
    return
  fi
  if { mkdir -p "$(dirname "$file")" && echo "$ready" >"$file.new" && mv "$file.new" "$file"; } 2>/dev/null; then
    gpus=$ready
    verdict+="; $file remembers $ready GPUs"
  elif [[ ! $gpus =~ ^[0-9]+$ ]]; then
    end 3 "UNKNOWN: how many GPUs should this node have? $file cannot be written; allowed: --gpus N ($verdict)"
  fi
}

source=''
if [[ -z $gpus && ${SLURM_GPUS_ON_NODE:-} =~ ^[0-9]+$ ]]; then
  gpus=$SLURM_GPUS_ON_NODE source=" of the job"
elif [[ -z $gpus && -n ${CUDA_VISIBLE_DEVICES:-} ]]; then
  gpus=$(tr -cd , <<<"$CUDA_VISIBLE_DEVICES" | wc -c) source=" of CUDA_VISIBLE_DEVICES"
  gpus=$((gpus + 1))
elif [[ -z $gpus ]]; then
  recall
fi
[[ $ready -ge $gpus ]] || end 2 "CRITICAL: $ready of $gpus GPUs$source: $verdict"
[[ -n $baseline ]] || end 0 "OK: $verdict"

scratch=$(mktemp -d) || end 3 "UNKNOWN: no folder for the results"
trap 'rm -rf "$scratch"' EXIT
said=$(timeout -k 5 180 "$program" baseline check "$baseline" --run --filter "$rows" --out "$scratch/check" "$@" 2>&1)
status=$?
counted=$(grep -E '^[0-9]+ rows: ' <<<"$said" || tail -n 1 <<<"$said")
case $status in
  0) end 0 "OK: $counted" ;;
  4) end 1 "WARNING: $counted; $(grep -m 1 -E '^(WORSE|MISSING)' <<<"$said" | tr -s ' ')" ;;
  6 | 7) end 2 "CRITICAL: $counted" ;;
  *) end 3 "UNKNOWN: the check ended with $status: $counted" ;;
esac
