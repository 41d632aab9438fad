#!/usr/bin/env bash
# Checks beside the tests: formatting, clang-tidy, and the tests under address and undefined-behaviour
# sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t sources < <(git ls-files '*.cpp' '*.hpp')
clang-format-19 --dry-run --Werror "${sources[@]}"

mapfile -t units < <(git ls-files '*.cpp' | grep -v '^tests/')
printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy-19 -p build/release --quiet --warnings-as-errors='*'

scripts/build.sh dev -DRIDGEPOINT_TESTS=ON
ctest --preset dev -j "$(nproc)"
