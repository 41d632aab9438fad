#!/usr/bin/env bash
# Tries ridgebench from nothing in minimal systems of Debian and Ubuntu: scripts/try/debian.sh [CASE...]. It needs root and network.
set -euo pipefail
# shellcheck source=scripts/try/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cases=(debian-12 debian-13 ubuntu-22.04 ubuntu-24.04 debian-11 debian-12-user debian-12-no-python tarball)
cases+=(binary deb wheel binary-13 deb-13 wheel-13)
drawing=(python3-numpy python3-scipy python3-matplotlib python3-fastjsonschema)

# Fails unless a results folder of the system is sound and has a picture: try_results PROGRAM FOLDER
try_results() {
  local picture=$system$2/figures/lecture.png width height
  try_run "$(printf '%q verify %q' "$1" "$2")"
  [[ $(od -An -tx1 -N8 "$picture" | tr -d ' \n') == 89504e470d0a1a0a ]] || try_fail "$picture is not a PNG"
  width=$((16#$(od -An -tx1 -j16 -N4 "$picture" | tr -d ' \n')))
  height=$((16#$(od -An -tx1 -j20 -N4 "$picture" | tr -d ' \n')))
  [[ $width -ge 800 && $height -ge 500 && $(stat -c %s "$picture") -ge 20000 ]] || try_fail "$picture is too small"
  cp "$picture" "$try/log/$try_case.png"
  try_says "$(wc -l <"$system$2/records.jsonl") rows are sound; the picture has $width x $height pixels"
}

# scripts/run.sh as root, where nothing is installed: from_nothing SUITE [ARGUMENTS]
from_nothing() {
  try_system "$1"
  try_clone /src
  try_run --in /src "scripts/run.sh ${*:2}"
  try_results /src/build/ridgebench /src/results/local/latest
}

case_debian_12() { from_nothing bookworm; }  # the first command of the README
case_debian_13() { from_nothing trixie --budget 10; }
case_ubuntu_22.04() { from_nothing jammy --budget 10; }
case_ubuntu_24.04() { from_nothing noble --budget 10; }

# Its g++ and its CMake are too old; clang with its own standard library and pip's CMake and Ninja build.
case_debian_11() {
  try_system bullseye
  try_install clang-16 libc++-16-dev libc++abi-16-dev libomp-16-dev ca-certificates python3 python3-venv
  try_clone /home/tester/src tester
  try_run --user --in /home/tester/src 'CXX=clang++-16 CXXFLAGS=-stdlib=libc++ scripts/run.sh --budget 10'
  try_results /home/tester/src/build/ridgebench /home/tester/src/results/local/latest
}

# A user without root in a folder with blanks and umlauts; pip has what drawing needs.
case_debian_12_user() {
  local source='/home/tester/Über uns/ridge bench'
  try_system bookworm
  try_install g++ cmake make ca-certificates python3 python3-venv
  mkdir "$system/home/tester/Über uns"
  try_clone "$source" tester
  try_run --user --in "$source" 'scripts/run.sh --budget 10'
  try_results "$source/build/ridgebench" "$source/results/local/latest"
}

# The line that run.sh prints draws, once there is Python.
case_debian_12_no_python() {
  local source=/home/tester/src
  try_system bookworm
  try_install g++ cmake make ca-certificates
  try_clone "$source" tester
  try_run --user --in "$source" 'scripts/run.sh --budget 10 2>&1 | tee output'
  try_run --user --in "$source" 'build/ridgebench verify results/local/latest; test ! -e results/local/latest/figures'
  try_install "${drawing[@]}"
  try_run --user --in "$source" "$(sed -n 's/.*this draws later: //p' "$system$source/output")"
  try_results "$source/build/ridgebench" "$source/results/local/latest"
}

# The sources with those of the libraries, without network.
case_tarball() {
  local tarball source
  tarball=$(try_artifact 'ridgebench-[0-9.]*\.tar\.gz')
  try_system bookworm
  try_install g++ cmake make "${drawing[@]}"
  cp "$tarball" "$system/home/tester/"
  try_run --user --offline --in /home/tester "tar -xf $(basename "$tarball")"
  source=/home/tester/$(cd "$system/home/tester" && echo ridgebench-*[0-9])
  try_run --user --offline --in "$source" 'scripts/run.sh --budget 10'
  try_results "$source/build/ridgebench" "$source/results/local/latest"
}

# A program that is built, without compiler and at first without Python: try_program PROGRAM
try_program() {
  try_run --user "$1 info >/dev/null; $1 list >/dev/null; $1 doctor"
  try_run --user --in /tmp "$1 run --budget 10 --out /home/tester/run"
  try_install "${drawing[@]}"
  try_run --user --in /tmp "$1 plot /home/tester/run"
  try_results "$1" /home/tester/run
}

# The binary archive: binary SUITE
binary() {
  local tarball
  tarball=$(try_artifact 'ridgebench-.*-linux-.*\.tar\.gz')
  try_system "$1"
  tar -C "$system/opt" -xf "$tarball"
  try_program "/opt/$(cd "$system/opt" && echo ridgebench-*/bin/ridgebench)"
}

# The Debian package: deb SUITE
deb() {
  local package
  package=$(try_artifact 'ridgebench.*\.deb')
  try_system "$1"
  cp "$package" "$system/tmp/"
  try_install "/tmp/$(basename "$package")"
  try_program ridgebench
}

# The wheel, and the lines of the README that need no checkout: wheel SUITE
wheel() {
  local wheel
  wheel=$(try_artifact 'ridgebench-.*\.whl')
  try_system "$1"
  try_install python3 python3-venv
  cp "$wheel" "$system/tmp/"
  try_run --user --in /home/tester "python3 -m venv venv; venv/bin/pip install -q '/tmp/$(basename "$wheel")[plot,gate]'"
  try_run --user --in /tmp "export PATH=/home/tester/venv/bin:\$PATH
    ridgebench run --budget 10 --out /home/tester/run; ridgebench plot /home/tester/run; ridgebench predict table --on h100 --format bf16
    ridgebench predict matmul 4096 --format bf16 --on h100; ridgebench explain /home/tester/run; code=0
    ridgebench gate --reader csv --baseline \"printf 'name,value\nsum,1\n'\" --candidate \"printf 'name,value\nsum,1.05\n'\" || code=\$?
    [[ \$code == 4 ]]"
  try_results /home/tester/venv/bin/ridgebench /home/tester/run
}

case_binary() { binary bookworm; }
case_binary_13() { binary trixie; }
case_deb() { deb bookworm; }
case_deb_13() { deb trixie; }
case_wheel() { wheel bookworm; }
case_wheel_13() { wheel trixie; }

try_main "$@"
