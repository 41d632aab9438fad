#!/usr/bin/env bash
# Sets up, builds both halves and runs all tests; those that need a GPU are skipped without one.
#   scripts/test.sh [--no-cuda] [--checks]
#   --no-cuda  leaves the CUDA half out; without it, a machine without nvcc fails
#   --checks   also runs the sanitizers, clang-tidy and clang-format
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/tools.sh
preset=cuda
checks=
for argument in "$@"; do
  case $argument in
    --no-cuda) preset=release ;;
    --checks) checks=yes ;;
    *)
      echo "test.sh: unknown argument '$argument'; allowed: --no-cuda, --checks" >&2
      exit 2
      ;;
  esac
done
scripts/setup.sh --dev ${checks:+--checks}
scripts/build.sh "$preset" -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_WERROR=ON
ctest --preset "$preset" -j "$(($(nproc) + 1))"  # some tests wait
if [[ -n $checks ]]; then
  scripts/check.sh
fi
