#!/usr/bin/env bash
# The stages of scripts/gpu_check.sh, which calls this with the name of one. A line `gpu_check: TEXT` of a stage's output
# stands in the table. Exit code 77: the stage lacks something, and the note says what.
#   work binary device_tests device rehearse stage_end   come from the caller
set -uo pipefail
: "${work:?}" "${binary:?}" "${device_tests:?}" "${device:?}" "${stage_end:?}"

skip() {
  echo "gpu_check: $*"
  exit 77
}

have_gpu() { nvidia-smi -L >/dev/null 2>&1; }
need_gpu() { [[ -z $rehearse ]] && have_gpu || skip "needs a GPU"; }
seconds_left() { echo $((stage_end - EPOCHSECONDS - ${1:-5})); }

# A folder that does not exist yet: NAME, or NAME_2 and so on after an earlier call.
new_folder() {
  local folder=$work/$1 i=2
  while [[ -e $folder ]]; do folder=$work/$1_$((i++)); done
  echo "$folder"
}

# measure NAME ARGUMENTS...: a run into the folder NAME, or the rest of one that an earlier call began.
measure() {
  local folder=$work/$1
  if [[ -f $folder/environment.json ]]; then
    "$binary" run --resume "$folder"
  else
    "$binary" run --device "$device" --out "$folder" "${@:2}"
  fi
}

# duel FOLDER ARGUMENTS...: undecided is an answer.
duel() {
  "$binary" --help | grep '^ *duel ' >/dev/null || skip "the program has no command duel"
  "$binary" duel --device "$device" --out "$1" "${@:2}"
  local status=$?
  return $((status == 3 ? 0 : status))
}

# A sample of rows that the simulated device measures within a second.
rehearsal=(--filter '^(relu|dot)/naive/(fp32|bf16)/' --budget 0.5)

stage_machine() {
  {
    date -u +%Y-%m-%dT%H:%M:%SZ
    git log -1 --format='commit %H' 2>/dev/null
    nvidia-smi 2>&1
    nvidia-smi -q 2>/dev/null
  } >"$work/machine.txt"
  "$binary" info --json >"$work/info.json" || return
  have_gpu || echo "gpu_check: nvidia-smi finds no GPU"
}

# one_device_test FILTER LOG COMMAND...: runs device tests under the command, in what is left of the stage.
one_device_test() {
  local left
  left=$(seconds_left 3)
  if ((left <= 0)); then
    echo "not run, no time was left: $1"
    return 0
  fi
  OMP_NUM_THREADS=4 timeout --kill-after=2 "$left" "${@:3}" "$device_tests" --gtest_filter="$1" >"$2" 2>&1 && return
  echo "FAILED ($?) $1: $(grep -m1 -A3 -E 'Failure|exception|rror' "$2" | tr '\n' ' ' | cut -c1-300)"
  return 1
}

# small_shapes NAME REGEX COMMAND...: each hand-written technique has a process of its own, so that one which breaks its
# context costs no other. The twins that tune launch the same kernels, and every run verifies the libraries' rows.
small_shapes() {
  local status missed
  mkdir -p "$work/$1"
  export -f one_device_test seconds_left
  "$device_tests" --gtest_list_tests | sed -n 's|^  AreRightOnSmallShapes/\([a-z0-9_]*\).*|\1|p' | sort -u |
    grep -E "$2" | grep -vE 'tuned|cub' |
    xargs -P 8 -I % bash -c "one_device_test '*SmallShapes/%' $work/$1/%.log ${*:3}" >"$work/$1.txt"
  status=$?
  cat "$work/$1.txt"
  missed=$(grep -c '^not run' "$work/$1.txt")
  ((missed == 0)) || echo "gpu_check: no time was left for $missed techniques"
  return "$status"
}

stage_smoke() {
  if [[ -n $rehearse ]]; then
    measure smoke --fill integers "${rehearsal[@]}" || return
    echo "gpu_check: the device tests need a GPU"
    return 0
  fi
  need_gpu
  [[ -x $device_tests ]] || skip "no device tests beside the program"
  local status=0
  "$device_tests" --gtest_filter='Adapter.*' || status=$?
  small_shapes smoke . || status=$?
  return "$status"
}

stage_long() {
  if [[ -n $rehearse ]]; then
    duel "$(new_folder long)" naive naive --op dot --format fp32 --shape n:4096 --seconds 0.5
  else
    duel "$(new_folder long)" --profile quick
  fi
}

stage_quick() {
  if [[ -n $rehearse ]]; then
    measure quick --profile quick "${rehearsal[@]}" || return
  else
    measure quick --profile quick --budget 100 || return
  fi
  "$binary" verify "$work/quick" || return
  # Tables and figures need Python's packages, which the machine of the GPU may lack.
  scripts/python.sh -m ridgebench summary "$work/quick" || echo "gpu_check: no table"
  [[ -n $rehearse ]] || scripts/plot.sh "$work/quick" || echo "gpu_check: no figures"
}

stage_counters() {
  command -v ncu >/dev/null || skip "no ncu on the PATH"
  need_gpu
  [[ -f $work/quick/records.jsonl ]] || skip "the stage quick left no rows to count"
  scripts/counters.sh "$work/quick" --binary "$binary" --filter '^(relu/vec16|dot/one_pass|matmul/(wgmma_pingpong|cublas))/bf16/'
  local status=$?
  ((status == 2)) && skip "$(tail -1 "$work/counters.log")"
  return "$status"
}

# sanitize TOOL: hand-written kernels only, libraries would take the rest of the time.
sanitize() {
  small_shapes "$1" '^(relu|gelu|dot|matvec|matmul|matmul_gelu)_(vec16|one_pass|row|ffma|wgmma_(persistent|pingpong|split_k)|mma)' \
    compute-sanitizer --tool "$1" --error-exitcode 9 --print-limit 5
}

stage_sanitizer() {
  command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer on the PATH"
  need_gpu
  [[ -x $device_tests ]] || skip "no device tests beside the program"
  export RIDGEBENCH_UNGATED=1
  local status=0
  stage_end=$((EPOCHSECONDS + $(seconds_left 0) / 2)) sanitize memcheck || status=1
  sanitize racecheck || status=1
  return "$status"
}

"stage_$1"
