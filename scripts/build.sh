#!/usr/bin/env bash
# Configures and builds a preset: scripts/build.sh [--program | --target NAME] [preset] [cmake options]. CXX and CUDACXX name
# other compilers when the build folder is new. Make builds where Ninja is missing. --program builds the program only, unless
# the build folder has the library already: the two must be of the same sources. --target builds this target of CMake only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/tools.sh
target=all
case ${1:-} in
  --program) target=ridgebench && shift ;;
  --target)
    target=${2:-}
    if [[ -z $target || $target == -* ]]; then
      echo "build.sh: --target is '$target'; allowed: the name of a target" >&2
      exit 2
    fi
    shift 2
    ;;
esac
preset=${1:-release}
folder=build/$preset
if ! has_cmake; then
  echo "build.sh: CMake 3.22 or newer is missing; scripts/setup.sh installs it where apt or pip works" >&2
  exit 8
fi
options=()
uses_cuda() { [[ $preset == cuda || $preset == portable ]]; }
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)  # ccache stores nothing that reads them
  if uses_cuda; then options+=(-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache); fi
fi
# A build folder keeps its generator and its compilers.
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
if [[ -z $generator ]]; then
  generator="Unix Makefiles"
  if command -v ninja >/dev/null; then generator=Ninja; fi
  if CXX=$(cxx_compiler); then export CXX; else unset CXX; fi
  if uses_cuda && nvcc=$(nvcc_compiler); then options+=(-DRIDGEBENCH_NVCC="$nvcc"); fi
fi
started=$(mktemp)
trap 'rm -f "$started"' EXIT
cmake --preset "$preset" -G "$generator" "${options[@]}" "${@:2}" >&2
if [[ $target == ridgebench && -e $folder/libridgebench.so ]]; then target=all; fi
cmake --build "$folder" --target "$target" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" >&2
# scripts/run.sh builds again where a source is newer than the program; a build that had nothing to link is as new.
program=$folder/ridgebench
if [[ -e $program && $started -nt $program ]]; then touch -r "$started" "$program"; fi
# The product of the build, in one line.
fact() { sed -n "s/^const char\* const $1 = \"\(.*\)\";$/\1/p" "$folder/generated/harness/base/build_info.cpp"; }
if [[ -e $program && -e $folder/generated/harness/base/build_info.cpp ]]; then
  cuda=$(fact cuda)
  levels=$(sed -n 's/^RIDGEBENCH_HOST_LEVELS:[^=]*=//p' "$folder/CMakeCache.txt")
  echo "build.sh: $program $(fact version): host kernels for $levels instruction sets, ${cuda:-no CUDA}, by $(fact compiler)" >&2
fi
