#!/usr/bin/env bash
# Runs tools that look for defects: scripts/check.sh [--fuzz MINUTES] [CHECK...], by default all of them.
#   format    clang-format
#   tidy      clang-tidy; .clang-tidy says what is left out and why
#   memory    the tests under the address and undefined-behaviour sanitizers
#   threads   the tests in C++ and five runs under the thread sanitizer
#   valgrind  ten commands under memcheck
#   fuzz      files that are changed at random, for 20 seconds or MINUTES for each reader
# Exit codes: 0 no check found anything, 1 one did, 2 usage or a missing tool. CONTRIBUTING.md says how long each takes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/tools.sh
all=(format tidy memory threads valgrind fuzz)
checks=()
seconds=20
while [[ $# -gt 0 ]]; do
  case $1 in
    --fuzz)
      if [[ ! ${2:-} =~ ^[1-9][0-9]{0,4}$ ]]; then
        echo "check.sh: --fuzz is '${2:-}'; allowed: whole minutes from 1 to 99999" >&2
        exit 2
      fi
      seconds=$((60 * $2))
      shift
      ;;
    *)
      if [[ " ${all[*]} " != *" $1 "* ]]; then
        echo "check.sh: unknown check '$1'; allowed: --fuzz MINUTES, ${all[*]}" >&2
        exit 2
      fi
      checks+=("$1")
      ;;
  esac
  shift
done
[[ ${#checks[@]} -gt 0 ]] || checks=("${all[@]}")

for check in "${checks[@]}"; do  # a check is not left out silently
  mapfile -t missing < <(missing_for "$check")
  if [[ ${#missing[@]} -gt 0 ]]; then
    echo "check.sh: $check needs ${missing[*]}, not installed; scripts/setup.sh --checks installs them where apt and pip work" >&2
    exit 2
  fi
done

published=results/intel-r-xeon-r-processor-2-threads/2026-11-26-ac38e7c
tests() { ctest --preset "$1" -j "$(($(nproc) + 1))" "${@:2}"; }  # some tests wait

check_format() {
  local sources
  mapfile -t sources < <(git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh')
  clang-format-19 --dry-run --Werror "${sources[@]}"
}

# Nothing is compiled. Files that a build compiles at once are read at once, because most of the work is reading their headers.
# operations.cpp includes every specification of a kernel.
check_tidy() {
  scripts/build.sh --target ridgebench_build_info tidy
  scripts/python.sh - >build/tidy/files <<'EOS'
import json
import os

files = {command["file"] for command in json.load(open("build/tidy/compile_commands.json"))}
own = (os.path.relpath(file) for file in files)
ours = (file for file in own if not file.startswith(("tests/", "build/tidy/tests/", "..")))
print(*sorted(file for file in ours if "/Unity/" in file or file.endswith("generated/operations.cpp") or
              file.endswith(".cpp") and not file.startswith("build/")), sep="\n")
EOS
  xargs -P "$(nproc)" -n 1 clang-tidy-19 -p build/tidy --quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include <build/tidy/files 2>&1 |
    { grep -vE '^[0-9]+ warnings? (generated|treated as errors?)\.?$' || true; }
}

# The thorough tests are left out, because their time goes to Python and to builds without sanitizers. The one that runs all
# the same puts thousands of questions to the program. clang's OpenMP, and GCC's below oneDNN and OpenBLAS, keep memory to the end.
check_memory() {
  scripts/build.sh dev -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_WERROR=ON
  mkdir -p build/dev && printf 'leak:%s\n' libomp libgomp >build/dev/leaks_of_libraries
  export LSAN_OPTIONS="suppressions=$PWD/build/dev/leaks_of_libraries:print_suppressions=0"
  tests dev --label-exclude thorough
  tests dev --tests-regex cli/answers/random_calls_test
}

# Every process writes what it finds into a file of its own, because tests expect exit codes and errors of theirs. The sanitizer
# sees the synchronisation of clang's OpenMP, and none of the one that OpenBLAS and oneDNN use: it does not watch libraries that
# are not compiled for it. die_after_fork=0 lets a child of a process with threads start threads. The runs take the ceilings of a
# published run, because a ceiling of DRAM goes through 1 GiB, which takes minutes under the sanitizer.
check_threads() {
  local words out symbolizer found=0
  symbolizer=$(command -v llvm-symbolizer-19)
  scripts/build.sh --target ridgebench_tests threads -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_WERROR=ON
  scripts/build.sh --target ridgebench threads -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_WERROR=ON
  out=$PWD/build/threads/found
  rm -rf "$out" && mkdir "$out"
  export TSAN_OPTIONS="ignore_noninstrumented_modules=1 die_after_fork=0 log_path='$out/race' \
external_symbolizer_path='$symbolizer'"
  build/threads/tests/ridgebench_tests --gtest_brief=1 || found=1
  while read -r words; do
    # shellcheck disable=SC2086  # a list of words
    build/threads/ridgebench run --device cpu --budget 5 --no-plot --out "$out/results" $words >"$out/said" 2>&1 || {
      echo "threads: ridgebench run $words: exit code $?" >&2
      cat "$out/said" >&2
      found=1
    }
    rm -rf "$out/results"
  done <<EOS
--op relu --shape 65536 --ceilings $published
--op matmul --shape 128 --technique packed,naive --ceilings $published
--op softmax --shape m:64/n:4096 --ceilings $published
--op dot --shape 100000 --ceilings $published
--filter cache_l3_read
EOS
  if compgen -G "$out/race.*" >/dev/null; then
    cat "$out"/race.* >&2
    found=1
  fi
  return "$found"
}

# Each line holds the exit codes that docs/commands.md allows for the command, and its words: doctor ends with 7 if this machine
# has a GPU that this program cannot use. With one thread of OpenMP: valgrind runs one thread at a time, and the others would spin.
check_valgrind() {
  local golden=tests/data/golden_results found=0 codes words code
  scripts/build.sh --program release
  while read -r codes words; do
    code=0
    # shellcheck disable=SC2086  # a list of words
    OMP_NUM_THREADS=1 timeout 600 valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
      --suppressions=tests/valgrind.supp --log-file=build/valgrind.log build/release/ridgebench $words >/dev/null 2>&1 || code=$?
    if [[ -s build/valgrind.log || " ${codes//,/ } " != *" $code "* ]]; then  # 99: memcheck; 124: not in time
      echo "valgrind: ridgebench $words: exit code $code; allowed: $codes" >&2
      cat build/valgrind.log >&2
      found=1
    fi
  done <<EOS
0 list --device cpu --op relu
0 info
0 number 0.1 --json
0 predict matmul 4096 --format bf16 --on h100-sxm
0 predict model gpt-2 --on h200 --json
0 plan train --flops 1e20 --on h200 --mfu 0.4
0 verify $published
0 plot --terminal $golden
0 run --dry-run --device cpu --op relu
0,7 doctor
EOS
  return "$found"
}

check_fuzz() {
  scripts/build.sh --target fuzz_targets fuzz
  tests/fuzz/run.sh "$seconds"
}

failed=()
for check in "${checks[@]}"; do
  started=$SECONDS
  "check_$check" &  # a condition would switch off that an error ends it
  if wait $!; then
    echo "check.sh: $check found nothing in $((SECONDS - started)) s"
  else
    failed+=("$check")
    echo "check.sh: $check failed after $((SECONDS - started)) s" >&2
  fi
done
[[ ${#failed[@]} -eq 0 ]]
