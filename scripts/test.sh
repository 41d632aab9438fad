#!/usr/bin/env bash
# Sets up, builds and runs all tests.  scripts/test.sh [--checks]  also runs the sanitizers, clang-tidy and
# clang-format.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --dev
scripts/build.sh release -DRIDGEPOINT_TESTS=ON
ctest --preset release -j "$(nproc)"

if [[ ${1:-} == --checks ]]; then
  scripts/check.sh
fi
