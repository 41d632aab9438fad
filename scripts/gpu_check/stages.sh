#!/usr/bin/env bash
# Runs one stage of scripts/gpu_check.sh: stages.sh NAME
set -uo pipefail
folder=$(dirname "${BASH_SOURCE[0]}")
source scripts/tools.sh
# shellcheck disable=SC1090,SC2154  # common.sh names the variables
for file in common right picture ratios node; do source "$folder/$file.sh"; done

stage_machine() {
  "$binary" info --json >"$work/info.json.new" && mv "$work/info.json.new" "$work/info.json" || return
  git log -1 --format='commit %H' >"$work/commit.txt" 2>/dev/null
  have_gpu || echo "gpu_check: nvidia-smi finds no GPU"
}

"stage_$1"
