# shellcheck shell=bash disable=SC2034,SC2154  # variables of the files that source this one
# Stages of the command `ratios`: duels of hand-written kernels and libraries. A duel has a folder of its own. A later call
# repeats only those that were cut.

# duel NAME ARGUMENTS...: undecided is an answer.
duel() {
  local folder=$work/duels/$1 status
  [[ ! -f $folder/SHA256SUMS ]] || return 0
  [[ ! -e $folder ]] || mv "$folder" "$folder.cut.$EPOCHSECONDS"
  mkdir -p "$work/duels"
  if [[ -n $rehearse ]]; then
    set -- "$1" naive naive --op dot --format fp32 --shape n:4096 --seconds 0.2
  fi
  "$binary" duel --device "$device" --out "$folder" "${@:2}"
  status=$?
  return $((status == 3 ? 0 : status))
}

# The names of a duel's sides are written out, so that a test can look for them in the sources of the kernels.
products() {  # PREFIX ARGUMENTS...: in each format the best technique and its rival
  local status=0
  duel "$1_bf16" wgmma_pingpong cublas_tuned --op matmul --format bf16 "${@:2}" || status=$?
  duel "$1_fp16" wgmma_pingpong cublas_tuned --op matmul --format fp16 "${@:2}" || status=$?
  duel "$1_tf32" wgmma_pingpong cublas_tuned --op matmul --format tf32 "${@:2}" || status=$?
  duel "$1_fp8_fast" wgmma_pingpong_fast_accum cublas_tuned_fast_accum --op matmul --format fp8_e4m3 "${@:2}" || status=$?
  duel "$1_fp32" ffma_tma cublas_tuned --op matmul --format fp32 "${@:2}" || status=$?
  return "$status"
}

stage_long() {
  local status=0
  products long --shape 8192 --seconds 24 || status=$?
  duel long_fp8_promoted wgmma_tuned_promoted cublas_tuned --op matmul --format fp8_e4m3 --shape 8192 --seconds 24 || status=$?
  return "$status"
}

stage_gelu() {
  local status=0
  duel gelu_bf16 wgmma_pingpong cublas_tuned --op matmul_gelu --format bf16 --shape 8192 --seconds 22 || status=$?
  duel gelu_fp8 wgmma_tuned_promoted cublas_tuned --op matmul_gelu --format fp8_e4m3 --shape 8192 --seconds 22 || status=$?
  duel gelu_fp32 ffma_tma cublas_tuned --op matmul_gelu --format fp32 --shape 8192 --seconds 22 || status=$?
  return "$status"
}

# The short scale only, which is in cycles: a longer one does not fit into the command.
stage_scaled() {
  local status=0
  duel block_scaled wgmma_block_scaled cublas --op matmul_block_scaled --format fp8_e4m3 --shape 8192 --seconds 5 || status=$?
  return "$status"
}

# The tiles that no GPU has run, in cycles: each next to the one before it, in a shape for which the model chooses it.
stage_tiles() {
  local status=0 bf16=(--op matmul --format bf16 --seconds 3.5) long_k=m:4096/n:7168/k:16384
  duel tile_200 wgmma_pingpong@tile=128x200,cluster=2 wgmma_pingpong@tile=128x192,cluster=2 "${bf16[@]}" --shape 8192 || status=$?
  duel tile_112 wgmma_pingpong@tile=128x112,cluster=2 wgmma_pingpong@tile=128x128,cluster=2 "${bf16[@]}" --shape 4096 || status=$?
  duel tile_144 wgmma_pingpong@tile=128x144,cluster=2 wgmma_pingpong@tile=128x160,cluster=2 "${bf16[@]}" --shape 16384 || status=$?
  duel tile_176 wgmma_pingpong@tile=128x176,cluster=2 wgmma_pingpong@tile=128x160,cluster=2 "${bf16[@]}" --shape "$long_k" || status=$?
  duel tile_224 wgmma_persistent@tile=128x224,cluster=2 wgmma_persistent@tile=128x256,cluster=2 "${bf16[@]}" --shape 8192 || status=$?
  return "$status"
}

# Joules by tile and cluster, and by the threads of a block: 22 s are the least that have a long scale.
stage_energy() {
  local status=0 bf16=(--op matmul --format bf16 --shape 8192 --seconds 22)
  duel energy_tile wgmma_pingpong@tile=128x192,cluster=2 wgmma_persistent@tile=128x256,cluster=2 "${bf16[@]}" || status=$?
  duel energy_persistent wgmma_persistent@tile=256x192,cluster=2 wgmma_persistent@tile=128x256,cluster=2 "${bf16[@]}" || status=$?
  duel energy_pingpong wgmma_pingpong@tile=128x192,cluster=2 wgmma_pingpong@tile=128x192,cluster=4 "${bf16[@]}" || status=$?
  duel threads vec16@threads=256 vec16@threads=1024 --op relu --format fp32 --shape 536870912 --seconds 6 || status=$?
  return "$status"
}

stage_small() { products small --shape 4096 --no-early --seconds 5; }

stage_memory() {
  local status=0
  duel relu_fp32 vec16 cub --op relu --format fp32 --shape 536870912 --seconds 22 || status=$?
  duel relu_bf16 vec16 cub --op relu --format bf16 --shape 536870912 --seconds 22 || status=$?
  duel dot_fp32 one_pass cub --op dot --format fp32 --shape 536870912 --seconds 22 || status=$?
  duel dot_bf16 one_pass cub --op dot --format bf16 --shape 536870912 --seconds 22 || status=$?
  duel gelu_memory_bf16 vec16 cub --op gelu --format bf16 --shape 536870912 --seconds 22 || status=$?
  duel matvec_bf16 row_per_block cublas --op matvec --format bf16 --shape 32768 --seconds 22 || status=$?
  return "$status"
}

# A second process, whose ratio may differ from the first one's, and a technique against itself.
stage_again() {
  local status=0
  duel again_bf16 wgmma_pingpong cublas_tuned --op matmul --format bf16 --shape 8192 --seconds 22 || status=$?
  duel itself_bf16 wgmma_pingpong wgmma_pingpong --op matmul --format bf16 --shape 8192 --seconds 5 || status=$?
  return "$status"
}
