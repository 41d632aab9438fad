#!/usr/bin/env bash
# Tries CUDA toolkits other than the installed one, from nothing, and prints a table.
#   scripts/try/cuda.sh [12.4 | headers-VERSION]...      default: 12.4 headers-12.0
# 12.4: nvcc of Debian 13's packages (1 GB) builds program and library, with warnings as errors, for RIDGEBENCH_ARCHITECTURES
# (90 without the variable; the kernels for 9.0a are always built). RIDGEBENCH_COMPILER is the host compiler, g++-12.
# headers-VERSION: PyPI's wheels of that CUDA have headers and ptxas, but no nvcc. g++ reads each .cpp that calls CUDA, with
# and without cuBLAS; clang++-19 reads each .cu, except those that need CUB; ptxas assembles what the installed nvcc makes
# of each .cu, under the version of PTX that this ptxas knows. RIDGEBENCH_FILES limits the .cu files.
# The folder RIDGEBENCH_TRY, by default build/try/cuda, keeps downloads and logs.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=${RIDGEBENCH_TRY:-$PWD/build/try/cuda}
compiler=${RIDGEBENCH_COMPILER:-g++-12}
files=${RIDGEBENCH_FILES:-$(ls kernels/*/*.cu kernels/*/hopper/*.cu kernels/*/sweep/*.cu kernels/*/tile/*.cu harness/device/cuda/*.cu)}
mkdir -p "$work"
# shellcheck source=scripts/try/cuda_toolkits.sh
source scripts/try/cuda_toolkits.sh
rows=()
trials=("$@")
[[ $# -gt 0 ]] || trials=(12.4 headers-12.0)

# row CASE NVCC HOST_COMPILER FUNCTION ARGUMENT...: its output goes to a file.
row() {
  local started=$SECONDS result=passed log="$work/${1// /_}.log"
  bash -euo pipefail -c "$(declare -f "$4"); work='$work' compiler='$compiler' files='$files'; \"\$@\"" row "${@:4}" >"$log" 2>&1 ||
    result="failed: $log"
  rows+=("| $1 | $2 | $3 | $((SECONDS - started)) | $result |")
}

build() {  # TOOLKIT
  cmake -S . -B "$1.build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" -DRIDGEBENCH_CUDA=ON \
    -DRIDGEBENCH_TESTS=OFF -DRIDGEBENCH_WERROR=ON -DRIDGEBENCH_NVCC="$1/bin/nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES="${RIDGEBENCH_ARCHITECTURES:-90}"
  ninja -C "$1.build" ridgebench ridgebench_c
  "$1.build/ridgebench" info
  "$1.build/ridgebench" list
  "$1.build/ridgebench" run --device cpu --op relu --shape n:65536 --out "$1.build/results"
}

read_cpp() {  # TOOLKIT OPTION...
  for file in harness/device/cuda/{device,driver,graph,identity}.cpp kernels/*/cublas*.cpp; do
    echo "$file"
    "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wno-psabi -Werror -fopenmp -I. -isystem "$1/include" "${@:2}" "$file"
  done
}

# clang has no __ldcg.
read_cu() {  # TOOLKIT
  echo 'template <class T> __device__ T __ldcg(const T* x) { return *x; }' >"$work/ldcg.h"
  for file in $files; do
    [[ $file != */cub.cu ]] || continue
    echo "$file"
    clang++-19 -x cuda --cuda-path="$1" --cuda-gpu-arch=sm_90a --cuda-device-only -fsyntax-only -std=c++20 \
      -include "$work/ldcg.h" -I. -isystem "$1/include" "$file"
  done
}

# mma.cuh leaves the product of fp8 out before CUDA 12.4, wgmma_sparse.cuh and mma_sparse.cuh theirs before 12.2 and 12.5.
assemble() {  # TOOLKIT PTX_VERSION
  for file in $files; do
    echo "$file"
    nvcc -ptx -arch=compute_90a -std=c++20 --expt-relaxed-constexpr --diag-suppress=445 -I. "$file" -o "$work/made.ptx"
    sed -E -e "s/^\.version .*/.version $2/" -e '/^\s*mma\.sync.*\.e[45]m[23]\./d' \
      -e '/mma_async\.sp\./d' -e '/mma\.sp::ordered/d' "$work/made.ptx" >"$work/older.ptx"
    "$1/bin/ptxas" -arch sm_90a "$work/older.ptx" -o "$work/made.cubin"
  done
}

for trial in "${trials[@]}"; do
  case $trial in
    12.4)
      toolkit_of_debian "$work/12.4"
      row 12.4 12.4.131 "$compiler" build "$work/12.4"
      ;;
    headers-*)
      version=${trial#headers-}
      toolkit_of_wheels "$work/$trial" "$version"
      row "$trial cpp" none "$compiler" read_cpp "$work/$trial"
      row "$trial cpp without cuBLAS" none "$compiler" read_cpp "$work/$trial" -DRIDGEBENCH_NO_CUBLAS
      row "$trial cu" none clang++-19 read_cu "$work/$trial"
      row "$trial ptxas" "$(nvcc --version | sed -nE 's/.*, V(.*)/\1/p')" none assemble "$work/$trial" "$(ptx_version "$work/$trial")"
      ;;
    *)
      echo "unknown trial '$trial'; allowed: 12.4, headers-12.0 and other versions of the wheels" >&2
      exit 2
      ;;
  esac
done
printf '%s\n' '| case | nvcc | host compiler | seconds | result |' '| --- | --- | --- | --- | --- |' "${rows[@]}"
