#!/usr/bin/env bash
# Checks this tree on a machine with a GPU, in one command, without network and in less than nine minutes. It builds for
# the GPU found and runs the device tests, the quick profile, hardware counters, an independent measurement, an A/A
# comparison, the sanitizer on small shapes, sweeps and the standard profile. Each stage has a time limit, so that one
# that hangs does not cost the others; stages for which no time is left are skipped. The results are one tar file in $OUT
# (default build/gpu_check); the last output is a table.
#   OUT                where the results go
#   PREBUILT           folder with ridgebench and ridgebench_device_tests built elsewhere for this GPU;
#                      without it they are built here
#   CMAKE_PREFIX_PATH  where libraries are that are not installed
#   BUDGET             seconds of the standard profile (default 90)
#   LIMIT              seconds of the whole check (default 520)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(mkdir -p "${OUT:-build/gpu_check}" && cd "${OUT:-build/gpu_check}" && pwd)
work=$out/gpu_check
rm -rf "$work" && mkdir -p "$work"
export PATH=$PATH:/usr/local/cuda/bin
binary=${PREBUILT:-build/cuda}/ridgebench
device_tests=${PREBUILT:-build/cuda/tests/device}/ridgebench_device_tests
python=scripts/python.sh
budget=${BUDGET:-90}
deadline=$((SECONDS + ${LIMIT:-520}))
summary=$work/summary.txt

# stage NAME SECONDS COMMAND...: runs a command with a limit; its output goes to NAME.log, a line to the summary.
stage() {
  local name=$1 limit=$2 started=$SECONDS status result
  shift 2
  limit=$((limit < deadline - SECONDS ? limit : deadline - SECONDS))
  if ((limit <= 0)); then
    printf '%-12s %4d s  %s\n' "$name" 0 "skipped: no time is left" | tee -a "$summary" >&2
    return 0
  fi
  export stage_end=$((EPOCHSECONDS + limit))
  timeout --kill-after=10 "$limit" "$@" >"$work/$name.log" 2>&1
  status=$?
  case $status in
    0) result=ok ;;
    77) result="skipped: $(tail -1 "$work/$name.log")" ;;
    124 | 137) result="stopped after $limit s" ;;
    *) result="FAILED ($status): $(grep -v '^$' "$work/$name.log" | tail -1 | cut -c1-120)" ;;
  esac
  printf '%-12s %4d s  %s\n' "$name" $((SECONDS - started)) "$result" | tee -a "$summary" >&2
  return "$status"
}

# gpu_stage NAME SECONDS COMMAND: a stage that needs a GPU; the command may be a function of this script.
gpu_stage() { stage "$1" "$2" bash -c "have_gpu || skip 'no GPU'; $3"; }

skip() {
  echo "$*"
  exit 77
}

have_gpu() { nvidia-smi -L >/dev/null 2>&1; }

build() {
  local architecture=
  if [[ -n ${PREBUILT:-} ]]; then
    ldd "$binary" "$device_tests"
    have_gpu || return 0
    "$device_tests" --gtest_filter=Adapter.KnowsCublas && return
    echo "cuBLAS cannot be loaded: name its folder in LD_LIBRARY_PATH"
    return 1
  fi
  command -v nvcc >/dev/null || skip "no nvcc"
  have_gpu && architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d '. \r')
  local launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  cmake --preset cuda -DRIDGEBENCH_TESTS=ON -DRIDGEBENCH_FETCH=OFF "${launcher[@]}" \
    ${architecture:+-DCMAKE_CUDA_ARCHITECTURES="$architecture-real"} &&
    cmake --build --preset cuda --target ridgebench ridgebench_device_tests
}

techniques() { "$device_tests" --gtest_list_tests | sed -n 's|^  [A-Za-z0-9]*/\([a-z0-9_]*\).*|\1|p' | sort -u; }

# one_device_test FOLDER FILTER COMMAND...: runs the tests that the filter names under the command. It ends before its
# stage does: the stage's end would leave it running during the next one.
one_device_test() {
  local log=$work/$1/${2//[^a-zA-Z0-9_]/}.log left=$((stage_end - EPOCHSECONDS - 8))
  mkdir -p "$work/$1"
  if ((left <= 0)); then
    echo "not run, no time is left: $2"
    return 1
  fi
  OMP_NUM_THREADS=4 timeout --kill-after=5 $((left < 100 ? left : 100)) "${@:3}" "$device_tests" --gtest_filter="$2" >"$log" 2>&1 && return
  echo "FAILED ($?) $2: $(grep -m1 -A3 -E 'Failure|exception|rror' "$log" | tr '\n' ' ' | cut -c1-300)"
  return 1
}

# The adapter's tests run alone because they time gaps between launches. Then each technique has a process of its own,
# four at a time: one that breaks its context or hangs costs no other.
run_device_tests() {
  local status=0
  one_device_test tests 'Memory.*:Adapter.*' || status=1
  techniques | sed 's|^|*/|' | xargs -P 4 -I % bash -c 'one_device_test tests "%"' || status=1
  return "$status"
}

# Only hand-written kernels: ceilings and libraries would take the rest of the time.
sanitize() {
  command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer"
  export RIDGEBENCH_UNGATED=1
  techniques | grep -E '^(relu|gelu|dot|matvec|matmul)_' | grep -v _cub |
    xargs -P 6 -I % bash -c "one_device_test $1 '*SmallShapes/%' compute-sanitizer --tool $1 --error-exitcode 9 --print-limit 5"
}

# run_profile NAME ARGUMENTS...
run_profile() {
  local results=$work/$1 status
  "$binary" run --device cuda:0 --profile "$1" --out "$results" "${@:2}"
  status=$?
  scripts/plot.sh "$results" || echo "figures failed: $?"
  "$binary" verify "$results" || echo "verify: $?"
  return "$status"
}

# run_sweep REGIME SECONDS: products of the sizes that matter, hand-written and the library's best, in one run. The rows
# that are finished when time is up are compared.
run_sweep() {
  local rows='^matmul(_gelu)?/(wgmma_(tuned|split_k)|cublas_(tuned|unfused)|ffma_tma).*/(fp32|tf32|fp16|bf16|fp8_e4m3)/m:([^1]|1[^6]|16[^3]|163[^8]|1638[^4])'  # not 16384
  timeout --foreground --signal=INT --kill-after=5 "$2" "$binary" run --device cuda:0 --profile full --regime "$1" --filter "$rows" \
    --budget $(($2 - 10)) --ceilings "$work/quick" --out "$work/sweep_$1"
  local status=$?
  "$python" -m ridgebench rivals "$work/sweep_$1" || return
  return $((status == 124 ? 0 : status))
}

# Measures the same binary in the order A B B A, on a row bound by memory, one bound by arithmetic and a library's.
compare_with_itself() {
  local rows='^(relu/vec16/bf16|matmul/(register_tile/fp32|cublas/bf16))/' arm
  for arm in a1 b1 b2 a2; do
    "$binary" run --device cuda:0 --profile quick --filter "$rows" --ceilings "$work/quick" \
      --out "$work/aa_$arm" >/dev/null || return
  done
  "$python" -m ridgebench same "$work"/aa_{a1,b1,b2,a2}
}

counters() {
  command -v ncu >/dev/null || skip "no ncu"
  scripts/counters.sh "$work/quick" --binary "$binary" --filter '^(relu/vec16|dot/one_pass|matmul/(wgmma_tuned|cublas))/bf16/'
  local status=$?
  ((status == 2)) && exit 77  # not permitted, or a Python package is missing: the message says which
  return "$status"
}

independent() {
  "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || skip "no PyTorch with CUDA"
  "$python" -m ridgebench pytorch "$work/quick"
}

{
  date -u +%Y-%m-%dT%H:%M:%SZ
  git log -1 --format='commit %h' 2>/dev/null
  nvidia-smi 2>&1 | head -20
  nvidia-smi -q 2>/dev/null
} >"$work/machine.txt"

export -f skip have_gpu build techniques run_device_tests one_device_test sanitize run_profile run_sweep compare_with_itself counters independent
export work binary device_tests python budget
started=$SECONDS
stage build 240 bash -c build && {
  gpu_stage tests 150 'run_device_tests'
  gpu_stage quick 200 'run_profile quick --budget 150'
  gpu_stage ncu 60 'counters'
  gpu_stage torch 40 'independent'
  gpu_stage self 40 'compare_with_itself'
  gpu_stage memcheck 80 'sanitize memcheck'
  gpu_stage racecheck 80 'sanitize racecheck'
  gpu_stage steady 100 'run_sweep steady 90'
  gpu_stage cold 50 'run_sweep cold 40'
  gpu_stage standard $((budget + 60)) 'run_profile standard --budget "$budget"'
}
echo "whole check $((SECONDS - started)) s" | tee -a "$summary" >&2
for regime in steady cold; do
  [[ -f $work/sweep_$regime/records.jsonl ]] && grep -A1000 "^product" "$work/$regime.log"
done
[[ -f $work/quick/records.jsonl ]] && "$python" -m ridgebench summary "$work/quick" | tee "$work/table.txt"
cat "$summary"
tar -C "$out" -czf "$out/gpu_check.tar.gz" gpu_check && echo "$out/gpu_check.tar.gz"
! grep -q FAILED "$summary"
