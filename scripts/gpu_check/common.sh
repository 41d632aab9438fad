# shellcheck shell=bash disable=SC2034,SC2154  # variables of the files that source this one
# Shared by the stages of scripts/gpu_check.sh. A line `gpu_check: TEXT` of a stage's output appears in the table. Exit
# code 77: the stage lacks something, and the note says what. Exit code 75: nothing failed, but the time did not suffice for
# all, and the next call goes on.
not_finished=75
#   work binary device_tests own_kernels device rehearse stage_end   come from the caller
: "${work:?}" "${binary:?}" "${device_tests:?}" "${own_kernels:?}" "${device:?}" "${stage_end:?}"

skip() {
  echo "gpu_check: $*"
  exit 77
}

have_gpu() { nvidia-smi -L >/dev/null 2>&1; }
need_gpu() { if [[ -n $rehearse ]] || ! have_gpu; then skip "needs a GPU"; fi; }
need_device_tests() {
  need_gpu
  [[ -x $device_tests ]] || skip "no device tests beside the program"
}
seconds_left() { echo $((stage_end - EPOCHSECONDS - ${1:-5})); }

# measure NAME ARGUMENTS...: a run into the folder NAME, or the rest of one that an earlier call began.
measure() {
  local folder=$work/$1
  if [[ -f $folder/environment.json ]]; then
    "$binary" run --resume "$folder"
  else
    "$binary" run --device "$device" --out "$folder" "${@:2}"
  fi
}

# Rows that the simulated device measures within a second.
rehearsal=(--filter '^(relu|dot)/naive/(fp32|bf16)/' --budget 0.5)
