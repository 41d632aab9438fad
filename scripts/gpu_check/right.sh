# shellcheck shell=bash disable=SC2034,SC2154  # variables of the files that source this one
# Stages of the command `right`: whether what the kernels compute is right.

# with_stage COMMAND...: runs a command that ends with the stage. `timeout` makes a group of processes of its own, which a
# signal to the stage does not reach; and a shell that waits for a command in the foreground does not end on a signal.
with_stage() {
  tie TERM
  trap 'exit 3' INT TERM
  "${tied[@]}" "$@" &
  wait $!
}

# one_device_test FILTER LOG COMMAND...: runs device tests under the command, in what is left of the stage, unless an
# earlier call of the stage did.
one_device_test() {
  local left status
  [[ ! -f $2.passed ]] || return 0
  left=$(seconds_left 3)
  if ((left <= 0)); then
    echo "not run, no time was left: $1"
    return 0
  fi
  OMP_NUM_THREADS=4 with_stage timeout --kill-after=2 "$left" "${@:3}" "$device_tests" --gtest_filter="$1" >"$2" 2>&1
  status=$?
  if ((status == 124 || status == 137)); then
    echo "not finished, no time was left: $1"
  elif ((status != 0)); then
    echo "FAILED ($status) $1: $(grep -m1 -A3 -E 'Failure|exception|rror' "$2" | tr '\n' ' ' | cut -c1-300)"
    return 1
  elif grep -q '^too little memory: ' "$2"; then
    echo "too little memory: $1: $(grep -c '^too little memory: ' "$2") formats"
  elif grep -q '^no format of this test' "$2"; then
    echo "no format: $1"
  else
    touch "$2.passed"
  fi
}

# each_technique FOLDER CASE REGEX PROCESSES COMMAND...: runs a case of the device tests. Each hand-written technique has a
# process of its own, so that one which breaks its context costs no other. Techniques that tune launch the kernels of their
# twins, and every run verifies the libraries' rows. A shell that gets a signal just before it waits would go on waiting:
# the system kills the shells once xargs has ended.
each_technique() {
  local status unfinished memory without
  mkdir -p "$work/$1"
  export -f one_device_test seconds_left with_stage tie
  tie KILL
  "$device_tests" --gtest_list_tests | sed -n "s|^  $2/\([a-z0-9_]*\).*|\1|p" | sort -u |
    grep -E "$3" | grep -vE 'tuned|cub' |
    xargs -P "$4" -I % "${tied[@]}" bash -c "one_device_test '*$2/%' $work/$1/%.log ${*:5}" >"$work/$1.txt"
  status=$?
  cat "$work/$1.txt"
  unfinished=$(grep -c '^not ' "$work/$1.txt")
  memory=$(grep -c '^too little memory' "$work/$1.txt")
  without=$(grep -c '^no format' "$work/$1.txt")
  ((unfinished + memory + without == 0)) ||
    echo "gpu_check: $unfinished techniques without time, $memory skipped for too little memory, $without without a format"
  ((status != 0 || unfinished == 0)) || status=$not_finished
  return "$status"
}

stage_smoke() {
  if [[ -n $rehearse ]]; then
    measure smoke_run --fill integers "${rehearsal[@]}" || return
    echo "gpu_check: the device tests need a GPU"
    return 0
  fi
  need_device_tests
  each_technique smoke AreRightOnSmallShapes . 8
}

stage_deep() {
  need_device_tests
  local status=0
  "$device_tests" --gtest_filter='Adapter.*:Memory.*' || status=$?
  each_technique deep AreRightOnMoreTilesThanMultiprocessors '^matmul' 8 || status=$?
  return "$status"
}

# A case takes up to 17 GB of a GPU, so that two of them fit into 80 GB at the same time.
stage_large() {
  need_device_tests
  each_technique large AreRightBeyond2To31Elements \
    '^(relu_vec16|dot_one_pass|matmul_wgmma_(persistent|pingpong|split_k).*|dram_copy_vec16)$' 2
}

never_measured=(
  sm_times tensor_sparse_peak wgmma_sparse_peak tensor_int8_peak wgmma_int8_peak wgmma_tile intensity copy_to_device
  copy_to_host copy_both_ways pointer_chase_shared
)
stage_ceilings() {
  if [[ -n $rehearse ]]; then
    measure ceilings --profile quick --filter '^(dram_copy|fma_peak)/' --budget 0.5
  else
    measure ceilings --profile standard --filter "^($(IFS='|' && echo "${never_measured[*]}"))/"
  fi
}

# A run that is killed after its first row keeps it, and --resume measures the others.
killed_and_resumed() {
  local folder=$work/resumed rows=('relu/naive/fp32/' 'relu/naive/bf16/' 'dot/naive/fp32/')
  [[ ! -e $folder ]] || rm -r "$folder"
  "$binary" run --device "$device" --out "$folder" --profile quick --filter "^($(IFS='|' && echo "${rows[*]}"))" &
  child=$!
  # A stage that is stopped here must not leave the run on the device: a process in the background may ignore SIGINT.
  trap 'kill -KILL "$child" 2>/dev/null' EXIT
  until [[ -s $folder/records.jsonl ]] || ! kill -0 "$child" 2>/dev/null; do sleep 0.01; done
  kill -KILL "$child" 2>/dev/null
  wait "$child" 2>/dev/null
  trap - EXIT
  "$binary" run --resume "$folder" || return
  local row
  for row in "${rows[@]}"; do
    [[ $(grep -c "\"id\":\"$row.*\"status\":\"ok\"" "$folder/records.jsonl") -ge 1 ]] ||
      { echo "FAILED: the resumed run has no row $row" && return 1; }
  done
}

stage_paths() {
  killed_and_resumed || return
  [[ -z $rehearse ]] || { echo "gpu_check: the concurrent run needs a GPU" && return 0; }
  [[ -f $work/concurrent/environment.json ]] ||
    "$binary" run --concurrent --profile quick --op relu --format fp32 --budget 6 --out "$work/concurrent"
}

# sanitize TOOL: hand-written kernels whose form is new; libraries would take the rest of the time. The tool does not follow
# copies of the tensor memory accelerator and wgmma (Compute Sanitizer's documentation, racecheck, "async proxy"), so a pass
# says nothing about these.
sanitize() {
  command -v compute-sanitizer >/dev/null || skip "no compute-sanitizer on the PATH"
  need_device_tests
  export RIDGEBENCH_UNGATED=1
  local products='matmul_block_scaled_wgmma_.*|matmul(_gelu)?_(ffma_tma|wgmma_(persistent|pingpong|split_k|tf32x3).*)'
  each_technique "$1" AreRightOnSmallShapes "^(relu_vec16|dot_one_pass|matvec_row_per_block|$products)$" \
    8 compute-sanitizer --tool "$1" --error-exitcode 9 --print-limit 5
}
stage_memcheck() { sanitize memcheck; }
stage_racecheck() { sanitize racecheck; }

# Own kernels in a process of their own: the honest one is `ok`, each of the others is not.
stage_isolation() {
  need_gpu
  [[ -f $own_kernels ]] || skip "no own kernels beside the program"
  local records=$work/isolation/records.jsonl status=0 name
  measure isolation --load "$own_kernels" --filter '^own_twice/' --budget 20
  local honest='"technique":"honest".*"status":"ok".*"isolated":true'
  grep -qE "$honest" "$records" || { echo "FAILED: the honest kernel is not isolated and ok" && status=1; }
  for name in returns_if_written remembers other_stream writes_input; do
    grep -E "\"technique\":\"$name\"" "$records" | grep -qE '"status":"(wrong|suspect|failed)".*"isolated":true' ||
      { echo "FAILED: the cheat $name is not refused in a process of its own" && status=1; }
  done
  return "$status"
}

stage_counters() {
  command -v ncu >/dev/null || skip "no ncu on the PATH"
  need_gpu
  local counted='^(matmul/(wgmma_pingpong|cublas_tuned)/bf16/m:8192/|cache_l2_read/|relu/vec16/bf16/)'
  measure counted --profile quick --filter "$counted" --budget 25 || return
  scripts/python.sh -m ridgebench counters "$work/counted" --binary "$binary" --filter "$counted"
  local status=$?
  ((status == 2)) && skip "$(tail -n 1 "$work/counters.log")"
  return "$status"
}
