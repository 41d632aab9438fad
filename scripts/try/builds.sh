#!/usr/bin/env bash
# Builds the host half as docs/install.md promises: scripts/try/builds.sh [CASE...]. RIDGEBENCH_TARGETS names what is built
# (default: all, with the test programs). A compiler that this machine lacks is tried in a system of its own, as root.
# shellcheck disable=SC2031
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(g++-11 g++-12 g++-13 g++-14 clang-16 clang-19 cmake-3.22 cmake-4 makefiles path offline)
export RIDGEBENCH_TARGETS=${RIDGEBENCH_TARGETS:-all}
libraries=(libfmt-dev nlohmann-json3-dev libcli11-dev libbenchmark-dev libre2-dev libgmock-dev)
installed=() # the options of a build that is installed, for which all that is configured must be built
[[ $RIDGEBENCH_TARGETS == all ]] || installed=(-DRIDGEBENCH_TESTS=OFF)

# Configures, builds, calls the program and says the versions: build TARGETS CMAKE SOURCES FOLDER [OPTION]...
build() {
  local compiler
  rm -rf "$4"
  "$2" -S "$3" -B "$4" -DRIDGEBENCH_CUDA=OFF -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_WERROR=ON "${@:5}"
  # shellcheck disable=SC2086
  "$2" --build "$4" --parallel 2 --target $1
  "$4/ridgebench" list --device cpu --filter '(?i)^MATMUL/\w+/fp[[:digit:]]+/' | grep matmul
  compiler=$(sed -n 's/.* compiler = "\(.*\)";/\1/p' "$4/generated/harness/base/build_info.cpp")
  echo "$compiler, CMake $("$2" --version | sed -n '1s/.* //p')" >"$4/versions"
}

# Builds a kernel outside the tree, and a program that has it, against an installed build: own_kernel BUILD FOLDER
own_kernel() {
  mkdir -p "$2/own"
  cmake --install "$1" --prefix "$2/prefix"
  echo '#include <ridgebench/kernel.hpp>' >"$2/own/own.cpp"
  cat >"$2/own/CMakeLists.txt" <<'LISTS'
cmake_minimum_required(VERSION 3.22)
project(own LANGUAGES CXX)
find_package(ridgebench REQUIRED)
ridgebench_add_kernels(own own.cpp STANDALONE)
LISTS
  cmake -S "$2/own" -B "$2/own/build" -DCMAKE_PREFIX_PATH="$2/prefix"
  cmake --build "$2/own/build"
  "$2/own/build/own" list --device cpu | grep matmul
}

# Prints a function and a call of it, for the shell of a system.
call() {
  declare -f "$1"
  printf '%q ' "$@"
}

# Builds on this machine: build_here CMAKE SOURCES FOLDER [OPTION]...
build_here() {
  build "$RIDGEBENCH_TARGETS" "$@"
  try_says "$(cat "$3/versions")"
}

# Builds with a compiler of this machine, or of a system that gets the packages: build_with COMPILER SUITE PACKAGE...
build_with() {
  if echo '#include <omp.h>' | "$1" -fopenmp -fsyntax-only -x c++ -; then
    build_here cmake "$checkout" "$try/build/$try_case" -DCMAKE_CXX_COMPILER="$1"
    return
  fi
  try_system "$2"
  try_install "${@:3}" cmake make python3 "${libraries[@]}"
  try_clone /src
  try_run "$(call build "$RIDGEBENCH_TARGETS" cmake /src /build -DCMAKE_CXX_COMPILER="$1")"
  try_says "$(cat "$system/build/versions")"
}

# Builds with a CMake of PyPI: build_by VERSION
build_by() {
  local environment=$try/cmake/$1
  [[ -x $environment/bin/cmake ]] || { python3 -m venv "$environment" && "$environment/bin/pip" install "cmake==$1.*"; }
  build_here "$environment/bin/cmake" "$checkout" "$try/build/$try_case" -G Ninja
}

case_g++_11() { build_with g++-11 bookworm g++-11; }
case_g++_12() { build_with g++-12 bookworm g++-12; }
# The C++ libraries of Debian 13 need the standard library of GCC 14: CMake fetches their sources.
case_g++_13() {
  libraries=(ca-certificates gcc)
  build_with g++-13 trixie g++-13
}
case_g++_14() { build_with g++-14 trixie g++-14; }
case_clang_16() { build_with clang++-16 bookworm clang-16 libomp-16-dev; }
case_clang_19() { build_with clang++-19 bookworm clang-19 libomp-19-dev; }
case_cmake_3.22() { build_by 3.22; }
case_cmake_4() { build_by 4; }
case_makefiles() { build_here cmake "$checkout" "$try/build/$try_case" -G "Unix Makefiles"; }

case_path() {
  local folder="$try/build/Größe & Maß (C++)"
  rm -rf "$folder"
  mkdir -p "$folder"
  git clone -q "$checkout" "$folder/die Quellen"
  RIDGEBENCH_TARGETS=all build_here cmake "$folder/die Quellen" "$folder/der Bau" "${installed[@]}"
  own_kernel "$folder/der Bau" "$folder"
}

# The libraries' sources lie in the tree, as in a release tarball; nothing is installed but the compiler and CMake.
case_offline() {
  try_system bookworm
  try_install g++ cmake ninja-build
  try_clone /src
  cmake -DFOLDER="$system/src/third_party" -P "$checkout/cmake/third_party.cmake"
  try_run --offline "$(call build all cmake /src /build -G Ninja "${installed[@]}")"
  try_run --offline "export CMAKE_GENERATOR=Ninja; $(call own_kernel /build /tmp)"
  try_says "$(cat "$system/build/versions")"
}

try_main "$@"
