#!/usr/bin/env bash
# Measures kernels of torch on the host, some honest and some that do not do their work in each launch, and compares the
# verdicts with those expected: scripts/try/cheats.sh [CASE...]. It installs torch of PyPI into the folder of models.sh and
# needs network, and libridgebench.so in build/ (scripts/build.sh), but no GPU.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(install honest cheating problems)

case_install() { try_torch numpy; }

# Measures the kernels of one kind and compares their verdicts: measure_kernels KIND
measure_kernels() {
  local folder
  folder=$(mktemp -d "$try/cheats.XXXXXX")
  PYTHONPATH=$checkout/roofline "$models/bin/python" "$checkout/scripts/try/cheats.py" "$1" "$folder" | tee "$folder/output"
  try_says "$(grep -c '^verdict on ' "$folder/output") kernels, with the verdicts expected"
  rm -rf "$folder"
}

case_honest() { measure_kernels honest; }
case_cheating() { measure_kernels cheating; }

# Solves the twelve problems of the tests with torch: right, wrong, and by a cheat. It needs the tests' program of scripts/test.sh.
case_problems() {
  local build=$checkout/build/cuda
  [[ -d $build ]] || build=$checkout/build/release
  "$models/bin/pip" install -q pytest jsonschema fastjsonschema
  (
    cd "$checkout"
    export RIDGEBENCH_BUILD=$build RIDGEBENCH=$build/tests/ridgebench_with_simulation RIDGEBENCH_LIBRARY=$build/libridgebench.so
    export RIDGEBENCH_PYTHON=$models/bin/python PYTHONDONTWRITEBYTECODE=1
    "$models/bin/python" -m pytest -q -p no:cacheprovider -k torch tests/roofline/ridgebench/problems/twelve_test.py
  )
  try_says "twelve problems with the verdicts expected"
}

try_main "$@"
