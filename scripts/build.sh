#!/usr/bin/env bash
# Configures and builds a preset: scripts/build.sh [preset] [cmake options]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  if [[ $preset == cuda || $preset == portable ]]; then
    launcher+=(-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  fi
fi
cmake --preset "$preset" "${launcher[@]}" "${@:2}" >&2
cmake --build --preset "$preset" >&2
