# shellcheck shell=bash disable=SC2034,SC2154  # variables of the files that source this one
# Stages of the command `picture`: the runs that figures and tables are drawn from.

# Without a budget, a row has the time that 30 samples take.
stage_quick() {
  if [[ -n $rehearse ]]; then
    measure quick --profile quick "${rehearsal[@]}"
  else
    measure quick --profile quick --seed 1
  fi
}

stage_lecture() {
  if [[ -n $rehearse ]]; then
    measure lecture --profile lecture --op relu --format fp32 --shape 4k --budget 0.5
  else
    measure lecture --profile lecture --ceilings "$work/quick"
  fi
}

# Small products, whose launches may overlap in a steady row.
stage_cold() {
  if [[ -n $rehearse ]]; then
    measure cold --regime cold --op relu --technique naive --format fp32 --shape 4k --budget 0.5
  else
    measure cold --regime cold --op matmul --format bf16,fp8_e4m3,fp32 --shape 1024 --ceilings "$work/quick" \
      --technique wgmma_pingpong,wgmma_pingpong_fast_accum,wgmma_tuned_promoted,ffma_tma,cublas,cublas_tuned
  fi
}

# Tables and figures need Python's packages, which the machine of the GPU may lack.
stage_drawn() {
  [[ -f $work/quick/records.jsonl ]] || skip "the stage quick left no rows"
  "$binary" verify "$work/quick" || return
  scripts/python.sh -m ridgebench summary "$work/quick" || echo "gpu_check: no table"
  [[ -n $rehearse ]] || scripts/python.sh -m ridgebench plot "$work/quick" || echo "gpu_check: no figures"
}
