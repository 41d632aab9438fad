#!/usr/bin/env bash
# Tries ridgebench from nothing in minimal Debian systems: scripts/try/debian.sh [CASE...]. It needs root and network.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(debian-12 debian-13)

# Fails unless a results folder of the system is sound and has a picture: try_results PROGRAM FOLDER
try_results() {
  local picture=$system$2/figures/lecture.png width height
  try_run "$1 verify $2"
  [[ $(od -An -tx1 -N8 "$picture" | tr -d ' \n') == 89504e470d0a1a0a ]] || try_fail "$picture is not a PNG"
  width=$((16#$(od -An -tx1 -j16 -N4 "$picture" | tr -d ' \n')))
  height=$((16#$(od -An -tx1 -j20 -N4 "$picture" | tr -d ' \n')))
  [[ $width -ge 800 && $height -ge 500 && $(stat -c %s "$picture") -ge 20000 ]] || try_fail "$picture is too small"
  cp "$picture" "$try/log/$try_case.png"
  try_says "$(wc -l <"$system$2/records.jsonl") rows are sound; the picture has $width x $height pixels"
}

# The first command of the README, as root, where nothing is installed.
case_debian_12() {
  try_system bookworm
  try_clone /src
  try_run --in /src scripts/run.sh
  try_results /src/build/ridgebench /src/results/local/latest
}

case_debian_13() {
  try_system trixie
  try_clone /src
  try_run --in /src 'scripts/run.sh --budget 10'
  try_results /src/build/ridgebench /src/results/local/latest
}

try_main "$@"
