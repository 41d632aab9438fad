#!/usr/bin/env bash
# Cross-compiles the host half for 64-bit ARM in a minimal Debian 12 and runs it under qemu's user emulation:
# scripts/try/aarch64.sh [CASE...]. It needs root and network.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(aarch64-gcc aarch64-wheel)

# Measures two ceilings on a processor of qemu, and checks what the run says of it: try_rows PROCESSOR MODEL ISA. The ceilings
# of memory read and write gigabytes, for which an emulated launch takes so long that it counts as hung.
try_rows() {
  local program="qemu-aarch64-static -cpu $1 build/ridgebench" out=out/$1
  try_run --in /src "$program info && $program list"
  try_run --in /src "$program run --filter '^(launch|fma_peak)/' --budget 60 --out $out || [[ \$? == 3 ]]; $program verify $out"
  try_run --in /src "python3 - $out '$2' '$3'" <<'PYTHON'
import json, sys
folder, model, isa = sys.argv[1:]
run = json.load(open(f"{folder}/environment.json"))
assert run["host"]["architecture"] == "aarch64", run["host"]
assert run["host"]["cpu_model"] == run["devices"][0]["model"] == model, run["host"]
assert run["devices"][0]["isa"] == isa and "asimd" in run["host"]["cpu_features"], run["devices"]
assert "-march=armv8-a" in run["build"]["flags"] and "x86" not in json.dumps(run), run["build"]
rows = [json.loads(line) for line in open(f"{folder}/records.jsonl")]
assert {row["isa"] for row in rows if row["op"] == "fma_peak"} == {isa}
assert not [row for row in rows if row["status"] in ("wrong", "suspect", "invalid", "failed")]
PYTHON
}

case_aarch64_gcc() {
  try_system bookworm
  chroot "$system" dpkg --add-architecture arm64
  try_install g++-aarch64-linux-gnu cmake ninja-build git python3 qemu-user-static nlohmann-json3-dev libcli11-dev \
    lib{fmt,benchmark,re2,ssl,gtest,gmock,openblas-openmp,dnnl}-dev:arm64
  try_clone /src
  try_run --in /src "cmake -S . -B build -G Ninja --toolchain cmake/toolchains/aarch64-linux-gnu.cmake \
    -DRIDGEBENCH_CUDA=OFF -DRIDGEBENCH_FETCH=OFF -DRIDGEBENCH_WERROR=ON && cmake --build build"
  local built=$SECONDS
  try_rows neoverse-n1 Neoverse-N1 armv8-a
  try_rows max,sve512=on 'ARM implementer 0x00 part 0x051' armv8-a+sve
  # The emulator cannot do the following: start a copy of itself, report sizes of caches, or give small stacks and huge pages.
  local cannot='*DeathTest.*:CampaignTest.*:Process.ThreadsHaveStacks*:CpuDevice.AsksForHugePages'
  try_run --in /src "qemu-aarch64-static -cpu max,sve512=on build/tests/ridgebench_tests --gtest_brief=1 --gtest_filter='-$cannot'"
  try_says "builds without a warning; rows on NEON and on SVE, and the unit tests, in $((SECONDS - built)) s of emulation"
}

# The wheel, from the compiler and the emulator of Debian and without libraries for arm64: it has what it needs beside it.
case_aarch64_wheel() {
  local program="qemu-aarch64-static -L /usr/aarch64-linux-gnu wheel/ridgebench/tree/bin/ridgebench"
  try_system bookworm
  try_install g++-aarch64-linux-gnu cmake ninja-build git ca-certificates python3-venv qemu-user-static
  try_clone /src
  try_run --in /src "python3 -m venv /venv && CMAKE_ARGS='--toolchain /src/cmake/toolchains/aarch64-linux-gnu.cmake -DRIDGEBENCH_CUDA=OFF' \
    /venv/bin/pip wheel --no-deps --wheel-dir dist ."
  try_run --in /src "python3 -m zipfile -e dist/ridgebench-*_aarch64.whl wheel && chmod +x wheel/ridgebench/tree/bin/*"
  try_run --in /src "$program --version && $program predict matmul n:4096 --format bf16 --on h100"
  try_run --in /src "$program run --filter '^fma_peak/' --budget 60 --out run || [[ \$? == 3 ]]; $program verify run"
  try_says "$(basename "$system"/src/dist/*.whl) measures a ceiling under qemu"
}

try_main "$@"
