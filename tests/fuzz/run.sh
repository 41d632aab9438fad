#!/usr/bin/env bash
# Looks for files that break a reader: tests/fuzz/run.sh [SECONDS per reader, 600] [READER...]
# libFuzzer of clang 19 changes the files that the program reads, with the sanitizers of the preset `fuzz`; atheris changes
# those that Python reads (readers.py). A file may take 5 s and 1 GiB; one that takes 10 s is tried again alone. A search
# starts from tests/fuzz/corpus and keeps what it finds in build/fuzzed. A file that breaks a reader is written to
# build/fuzzed/READER-*: after the repair it belongs into the corpus, which keeps at most 200 kB per reader and which `ctest`
# replays. Exit codes: 0 no reader broke, 1 one did, 2 usage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/tools.sh
program=(records environment soaks duels nodes sheets models shapes configs)
python=(gbench nvbench ncu cutlass triton llama-bench torch-profiler nccl-tests nvbandwidth csv map environment_py records_py compared tolerances configs_py judged duels_py node_py)
seconds=${1:-600}
chosen=("${@:2}")
[[ ${#chosen[@]} -gt 0 ]] || chosen=("${program[@]}" "${python[@]}")
if [[ ! $seconds =~ ^[1-9][0-9]{0,6}$ || $seconds -gt 5999940 ]]; then  # 99999 minutes, as check.sh --fuzz
  echo "run.sh: SECONDS is '$seconds'; allowed: a whole number from 1 to 5999940" >&2
  exit 2
fi
for reader in "${chosen[@]}"; do
  if [[ " ${program[*]} ${python[*]} " != *" $reader "* ]]; then
    echo "run.sh: unknown reader '$reader'; allowed: ${program[*]} ${python[*]}" >&2
    exit 2
  fi
done

if [[ -w /dev/shm ]]; then export TMPDIR=/dev/shm; fi  # each input is a file or more
export PYTHONPATH=$fuzzer_folder ASAN_OPTIONS=allocator_may_return_null=1 OMP_NUM_THREADS=1
status=0
for reader in "${chosen[@]}"; do
  search=("build/fuzz/tests/fuzz/fuzz_$reader" -close_fd_mask=3) longest=10
  if [[ " ${python[*]} " == *" $reader "* ]]; then
    search=(scripts/python.sh tests/fuzz/readers.py "$reader") longest=100  # readers.py limits the processor's time to 5 s
  fi
  mkdir -p "build/fuzzed/found/$reader"
  options=(-max_total_time="$seconds" -timeout="$longest" -rss_limit_mb=1024 -max_len=16384
           -artifact_prefix="$PWD/build/fuzzed/$reader-" "$PWD/build/fuzzed/found/$reader")
  [[ ! -d tests/fuzz/corpus/$reader ]] || options+=("$PWD/tests/fuzz/corpus/$reader")
  log=build/fuzzed/$reader.log
  if "${search[@]}" "${options[@]}" >"$log" 2>&1; then
    echo "$reader: $(sed -nE 's/^Done ([0-9]+) runs.*/\1/p' "$log") files in $seconds s, none broke it"
  elif slow=$(sed -nE 's/^artifact_prefix=.* written to (.*-timeout-.*)$/\1/p' "$log") && [[ -n $slow ]] &&
    "${search[@]}" -timeout=5 "$slow" >>"$log" 2>&1; then
    rm "$slow"
    echo "$reader: a file took $longest s and, alone, less than 5 s: the machine has other work. The search ended early." >&2
  else
    echo "$reader: a file broke it, see $log" >&2
    status=1
  fi
done
exit "$status"
