#!/usr/bin/env bash
# Starts the archive of `scripts/gpu_check.sh --pack` in systems that have nothing but their base packages, without network:
# scripts/try/pack.sh [CASE...]. PREBUILT names the archive without .tar.gz (default build/gpu_check/prebuilt). A case is a
# system by the version of its glibc.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(glibc-2.35 glibc-2.36 glibc-2.39)
archive=${PREBUILT:-$checkout/build/gpu_check/prebuilt}.tar.gz

# starts_in SUITE: the program says what it would measure and predicts, and the device tests say that there is no GPU.
starts_in() {
  [[ -s $archive ]] || try_fail "$archive is missing: scripts/gpu_check.sh --pack makes it"
  try_system "$1"
  mkdir "$system/packed"
  tar -C "$system/packed" -xzf "$archive"
  chmod -R a+rX "$system/packed"
  # shellcheck disable=SC2016
  try_run --user --offline --in /packed 'export LD_LIBRARY_PATH=$PWD/lib
    ! ldd ridgebench ridgebench_device_tests lib/* | grep -E "not found"
    ./ridgebench --version
    ./ridgebench info --json >/tmp/info.json
    ./ridgebench predict matmul n:4096 --format bf16 --on h100 >/dev/null
    ./ridgebench run --device cpu --profile quick --filter "^relu/naive/fp32/" --budget 2 --out /tmp/results >/dev/null
    ./ridgebench verify /tmp/results
    ./ridgebench_device_tests --gtest_filter="Memory.*" >/tmp/tests.txt 2>&1 || code=$?
    test "${code:-0}" = 77 && cat /tmp/tests.txt'
  try_says "$(stat -c %s "$archive") bytes; $(try_run --offline 'ldd --version' | sed -n 's/^ldd //p')"
}

case_glibc_2.35() { starts_in jammy; }
case_glibc_2.36() { starts_in bookworm; }
case_glibc_2.39() { starts_in noble; }

try_main "$@"
