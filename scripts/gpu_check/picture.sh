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

# Sets `ceilings` to the option by which a run takes the roofs of the stage `quick`, or to nothing where that one has no row:
# the run then measures them itself, and needs no other stage.
ceilings_of_quick() {
  ceilings=()
  [[ ! -s $work/quick/records.jsonl ]] || ceilings=(--ceilings "$work/quick")
}

stage_lecture() {
  ceilings_of_quick
  if [[ -n $rehearse ]]; then
    measure lecture --profile lecture --op relu --format fp32 --shape 4k --budget 0.5 "${ceilings[@]}"
  else
    measure lecture --profile lecture "${ceilings[@]}"
  fi
}

# Small products, whose launches may overlap in a steady row.
stage_cold() {
  ceilings_of_quick
  if [[ -n $rehearse ]]; then
    measure cold --regime cold --op relu --technique naive --format fp32 --shape 4k --budget 0.5 \
      "${ceilings[@]}"
  else
    measure cold --regime cold --op matmul --format bf16,fp8_e4m3,fp32 --shape 1024 "${ceilings[@]}" \
      --technique wgmma_pingpong,wgmma_pingpong_fast_accum,wgmma_tuned_promoted,ffma_tma,cublas,cublas_tuned
  fi
}

# step_in NAME ARGUMENTS...: a step into the folder step/NAME, unless an earlier call measured it.
step_in() {
  local folder=$work/step/$1
  ! grep -q '"status":"ok"' "$folder/step.jsonl" 2>/dev/null || return 0
  rm -rf "$folder"
  "$binary" step "${@:2}" --device "$device" --out "$folder" || return
  "$binary" verify "$folder"
}

# Three steps: training that keeps everything, training with checkpoints, and one layer of a model that decodes.
stage_step() {
  mkdir -p "$work/step"
  local train=(--layers 8 --width 2048 --batch 4096 --format bf16 --master --seconds 1)
  local decode=(--model llama-3-8b --batch 64 --context 4096 --seconds 1)
  if [[ -n $rehearse ]]; then
    train=(--layers 2 --width 64 --batch 16 --format bf16 --master --seconds 0.1)
    decode=(--model tests/data/model_configs/llama.json --batch 2 --context 64 --format fp32 --seconds 0.1)
  fi
  step_in none train "${train[@]}" --checkpoint none || return
  step_in sqrt train "${train[@]}" --checkpoint sqrt || return
  step_in decode decode "${decode[@]}"
}

# Tables and figures need Python's packages, which the machine of the GPU may lack. They are drawn without rows that are wrong,
# for which the stage fails.
stage_drawn() {
  local status=0
  [[ -f $work/quick/records.jsonl ]] || skip "the stage quick left no rows"
  "$binary" verify "$work/quick" || status=$?
  scripts/python.sh -m ridgebench summary "$work/quick" || echo "gpu_check: no table"
  [[ -n $rehearse ]] || scripts/python.sh -m ridgebench plot "$work/quick" || echo "gpu_check: no figures"
  return "$status"
}
