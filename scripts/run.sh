#!/usr/bin/env bash
# The main job in one command: sets up, builds, measures and draws. Takes the arguments of
# `ridgepoint run`; without any, the quick profile of the default device.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh && scripts/build.sh release -DRIDGEPOINT_TESTS=OFF || exit 8

started=$(mktemp)
build/release/ridgepoint run "$@"
status=$?

# Draws the run that was just made: --out DIR, --resume DIR, else the newest.
results=results/local/latest
arguments=("$@")
for ((i = 0; i < ${#arguments[@]}; i++)); do
  case ${arguments[i]} in
    --out | --resume) results=${arguments[i + 1]:-} ;;
    --out=* | --resume=*) results=${arguments[i]#*=} ;;
  esac
done
if [[ $results/records.jsonl -nt $started ]]; then
  .venv/bin/python roofline/plot "$results" >&2 || status=$((status > 8 ? status : 8))
  echo "figures: $results/figures" >&2
fi
rm -f "$started"
exit "$status"
