#!/usr/bin/env bash
# Measures a minute and leaves metrics for the textfile collector of Prometheus's node exporter.
#   textfile.sh FOLDER [OPTIONS OF ridgebench run]
# The options replace a budget of 50 s and the ceilings of memory, FMA and tensor cores. FOLDER is that of
# --collector.textfile.directory. Call it while the node is idle, for instance by cron:
#   17 4 * * * root squeue -h -w "$(hostname -s)" | grep -q . || /opt/ridgebench/scripts/contrib/node_exporter/textfile.sh FOLDER
# FOLDER/ridgebench.prom is replaced at once, and stays as it was if the run could not measure: node_textfile_mtime_seconds
# tells its age, and ridgebench_row_ok which rows are right. Exit code: that of the run, else that of the export.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${RIDGEBENCH:-$(command -v ridgebench || echo "$here/../../../build/ridgebench")}
if [[ $# -eq 0 || ! -d $1 ]]; then
  echo "textfile.sh: '${1:-}' is not a folder; allowed: the folder of the textfile collector" >&2
  exit 2
fi
folder=$1
shift
scratch=$(mktemp -d) || exit 3
trap 'rm -rf "$scratch"' EXIT
# One name for all runs: it is the label `run`, and each value of a label is a series of its own.
[[ $# -gt 0 ]] || set -- --budget 50 --filter '^(dram_copy|dram_read|fma_peak|tensor_peak)/'
timeout -k 5 180 "$program" run --no-plot --out "$scratch/node" "$@" >/dev/null
status=$?
[[ $status -eq 0 || $status -eq 6 ]] || exit "$status"
"$program" export "$scratch/node" --prom -o "$folder/ridgebench.prom" || exit
exit "$status"
