# shellcheck shell=bash disable=SC2034,SC2154  # variables of the files that source this one
# The commands of scripts/gpu_check.sh and their stages, in the order of what they decide.
commands="right picture ratios node"
# command, stage, limit in seconds, what it decides
plan=(
  "right machine 5 whether program, driver and GPU fit together"
  "right smoke 40 whether every hand-written technique is right in small and ragged shapes: nothing else counts if not"
  "right deep 120 whether it is with several tiles a block and in every layout, and whether the device's memory is"
  "right large 60 whether indices hold beyond 2^31 elements"
  "right memcheck 65 whether a kernel reads or writes outside its memory"
  "right racecheck 65 whether threads of a block race"
  "right ceilings 85 whether the ceilings that no run has measured work"
  "right paths 20 whether a killed run resumes, and whether a run of all GPUs works"
  "right isolation 30 whether own kernels run in a process of their own, and cheats are refused"
  "right counters 70 what moved, by Nsight Compute: bytes of DRAM and L2, and busy pipes"
  "picture machine 5 whether program, driver and GPU fit together"
  "picture quick 340 the published picture: the quick profile, 30 samples a row or more"
  "picture lecture 125 the figures of the lecture"
  "picture cold 20 small products from cold caches, where launches cannot overlap"
  "picture step 60 the time and the memory of a training step with and without checkpoints, and of a decode step"
  "picture drawn 20 whether the results are sound, and the table"
  "ratios machine 5 whether program, driver and GPU fit together"
  "ratios long 162 the published ratios of 8192 cubed: cycles, and time with the power limit"
  "ratios gelu 75 the ratios of products with bias and GeLU"
  "ratios scaled 9 the ratio of fp8 products with block scales, in cycles"
  "ratios tiles 33 whether the tiles that no GPU has run need fewer cycles where the model says so"
  "ratios energy 80 joules by tile and cluster"
  "ratios small 40 the ratios of 4096 cubed without overlapping launches"
  "ratios memory 145 the ratios of operations that memory limits, with the power limit"
  "ratios again 30 how far a second process is from the first one, and a technique from itself"
  "node machine 5 whether program, driver and GPU fit together"
  "node worn 20 what doctor says of worn parts, links and power limits"
  "node bits 75 the bits of each row, and of each multiprocessor"
  "node soak 280 whether three minutes of load leave every bit right, and no counter of faults grows"
  "node bits_hot 75 whether the hot GPU computes the same bits as the cold one"
)

# print_plan COMMAND...
print_plan() {
  local wanted command name limit decides entry total
  for wanted in "$@"; do
    total=0
    printf '%-8s %-10s %7s  %s\n' command stage limit decides
    for entry in "${plan[@]}"; do
      read -r command name limit decides <<<"$entry"
      [[ $command == "$wanted" ]] || continue
      printf '%-8s %-10s %5d s  %s\n' "$command" "$name" "$limit" "$decides"
      total=$((total + limit))
    done
    printf '%-8s %-10s %5d s\n' "$wanted" total "$total"
  done
}

# stages_of COMMAND: their names.
stages_of() {
  local command name entry
  for entry in "${plan[@]}"; do
    read -r command name _ <<<"$entry"
    [[ $command != "$1" ]] || echo -n "$name "
  done
}
