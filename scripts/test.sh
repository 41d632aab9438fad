#!/usr/bin/env bash
# Sets up, builds both halves and runs the tests; those that need a GPU are skipped without one. Ends with the slowest tests.
#   scripts/test.sh [--quick | --all] [--no-cuda] [--checks]
#   --quick    leaves out the tests that take some seconds: what to run after each change
#   --all      adds the tests that take from five seconds to minutes, as CI does
#   --no-cuda  leaves the CUDA half out; without it, a machine without nvcc fails
#   --checks   then runs scripts/check.sh with all of its checks
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/tools.sh
preset=cuda
checks=
left_out=(--label-exclude "thorough|slow")
for argument in "$@"; do
  case $argument in
    --quick) left_out=(--label-exclude "thorough|slow|seconds") ;;
    --all) left_out=() ;;
    --no-cuda) preset=release ;;
    --checks) checks=yes ;;
    *)
      echo "test.sh: unknown argument '$argument'; allowed: --quick, --all, --no-cuda, --checks" >&2
      exit 2
      ;;
  esac
done
scripts/setup.sh --dev ${checks:+--checks}
scripts/build.sh "$preset" -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_WERROR=ON -DRIDGEBENCH_HOST_LEVELS=all

log=build/$preset/tests.log
status=0
ctest --preset "$preset" -j "$(($(nproc) + 1))" "${left_out[@]}" | tee "$log" || status=$?  # some tests wait
echo "The slowest tests, in seconds:"
sed -nE 's/^.* Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*/\2 \1/p' "$log" | sort -rn | sed -n 1,25p  # sed reads to the end: head would end sort by SIGPIPE
if [[ $status != 0 ]]; then exit "$status"; fi
if [[ -n $checks ]]; then
  scripts/check.sh
fi
