#!/usr/bin/env bash
# Cross-compiles the host half for 64-bit ARM in a minimal Debian 12 and runs it under qemu: scripts/try/aarch64.sh
# [CASE...]. It needs root and network.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(aarch64-gcc aarch64-clang)

# Tests that fail under emulation only: docs/install.md has the reasons.
emulated_only=()

# Builds with a compiler that is in the packages: try_cross COMPILER "TARGETS" PACKAGE...
try_cross() {
  local compiler=$1 targets=$2
  shift 2
  try_system bookworm
  chroot "$system" dpkg --add-architecture arm64
  try_install "$@" cmake ninja-build git python3 qemu-user-static nlohmann-json3-dev libcli11-dev \
    lib{fmt,benchmark,re2,ssl,gtest,gmock,openblas-openmp,dnnl}-dev:arm64
  try_clone /src
  try_run --in /src "cmake -S . -B build -G Ninja --toolchain cmake/toolchains/aarch64-linux-gnu.cmake \
    -DCMAKE_CXX_COMPILER=$compiler -DRIDGEBENCH_CUDA=OFF -DRIDGEBENCH_FETCH=OFF -DRIDGEBENCH_WERROR=ON"
  try_run --in /src "cmake --build build --target $targets"
}

# Measures small rows on an emulated processor, and checks what the records say of it:
# try_rows PROCESSOR MODEL ISA
try_rows() {
  local program="qemu-aarch64-static -cpu $1 build/ridgebench" out=/src/results/$1
  try_run --in /src "$program info && $program list --op relu,matmul"
  try_run --in /src "$program run --op fma_peak,dram_copy,relu,dot,matmul --shape n:1024 --shape m:64/n:64/k:64 \
    --budget 60 --out $out; $program verify $out"
  try_run --in /src "python3 - $out $2 $3" <<'PYTHON'
PYTHON
}

case_aarch64_gcc() {
  try_cross aarch64-linux-gnu-g++ all g++-aarch64-linux-gnu
}

try_main "$@"
