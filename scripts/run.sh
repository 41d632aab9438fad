#!/usr/bin/env bash
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
source scripts/tools.sh

usage() {
  cat <<'END'
Sets up, builds, measures and draws: scripts/run.sh [--build-only] [arguments of `ridgebench run`]

  --build-only   builds and measures nothing
  --help         prints this; `build/ridgebench run --help` prints the arguments of a run

The CUDA half is built where nvcc is, for a machine with a GPU, for --build-only and on a login node. A login node, which
is a machine with sbatch, qsub or bsub, without a GPU and outside a job, is not measured unless --device names a device.
A program that is newer than its sources is not built again. Drawing needs Python, measuring does not.
Exit codes are those of `ridgebench run`; 7 also where nothing was measured for want of a GPU, 8 where the build failed.
END
}

build_only=
device=
results=results/local/latest  # of the run that this call makes: --out DIR, --resume DIR, else the newest
arguments=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --build-only) build_only=yes && shift && continue ;;
    --help | -h) usage && exit ;;
    --device) device=${2:-} ;;
    --device=*) device=${1#*=} ;;
    --out | --resume) results=${2:-} ;;
    --out=* | --resume=*) results=${1#*=} ;;
  esac
  arguments+=("$1")
  shift
done

say() { echo "run.sh: $*" >&2; }

on_login_node() { has_scheduler && ! in_job && ! has_gpu; }

# A compute node may lack the nvcc of the login node that built the program.
has_cuda() { nvcc_compiler >/dev/null || [[ -x build/cuda/ridgebench ]]; }

preset=release
measures=yes
if [[ -n $build_only ]]; then
  measures=
  if [[ $device != cpu ]] && has_cuda; then preset=cuda; fi
elif [[ -n $device ]]; then
  if [[ $device != cpu ]] && has_cuda && { [[ $device != all ]] || has_gpu; }; then preset=cuda; fi
elif has_gpu; then
  preset=cuda
  if ! has_cuda; then
    say "this machine has an NVIDIA GPU, but no nvcc in PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda; allowed: load or install" \
      "CUDA, take a built program (docs/install.md), or measure the host: scripts/run.sh --device cpu"
    exit 7
  fi
elif on_login_node; then
  measures=
  if has_cuda; then preset=cuda; fi
fi
program=build/$preset/ridgebench

is_current() {
  [[ -x $program ]] && [[ -z $(find CMakeLists.txt CMakePresets.json cmake kernels harness roofline -type f \
    -not -path '*/__pycache__/*' -newer "$program" -print -quit) ]]
}

# A checkout may have come from a machine with another processor, or be mounted on several: the program refuses with 7.
serves_this_processor() {
  "$program" list --device cpu --op relu >/dev/null 2>&1
  [[ $? -ne 7 ]]
}

# The nodes of a cluster share a build. Elsewhere kernels for this processor are enough.
levels=native
if has_scheduler || in_job; then levels=all; fi

# A job sets up nothing that it can do without, because it may have no network.
if ! is_current || ! serves_this_processor; then
  scripts/setup.sh && scripts/build.sh --program "$preset" -DRIDGEBENCH_TESTS=OFF "-DRIDGEBENCH_HOST_LEVELS=$levels" || exit 8
elif ! in_job && ! can_draw; then
  scripts/setup.sh
fi
if [[ -n $build_only ]]; then
  say "built $program and measured nothing, as --build-only says; \`$program run\` measures"
  exit
elif [[ -z $measures ]]; then
  say "built $program, but did not measure this login node: it has a scheduler and no GPU; on the compute node type" \
    "\`$program run\`, or here \`scripts/run.sh --device cpu\`"
  exit 7
fi

started=$(mktemp)
trap 'rm -f "$started"' EXIT
trap 'end_child run.sh' INT TERM HUP
as_child "$program" run "${arguments[@]}"
status=$?
if [[ ! -s $results/records.jsonl || $started -nt $results/records.jsonl ]]; then
  exit "$status"
fi

# The commands of the last line work in the folder of the caller.
results=$(readlink -f "$results")
root=$PWD/
if [[ $OLDPWD -ef . ]]; then root=; fi
if [[ -z $root ]]; then results=${results#"$PWD"/}; fi
later="this draws later: $(printf '%q && %q -m ridgebench plot %q' "${root}scripts/setup.sh" "${root}scripts/python.sh" "$results")"
if ! can_draw; then
  say "measured, but not drawn without Python 3.9 or newer with ${drawing_packages[*]}; $later"
elif as_child scripts/python.sh -m ridgebench plot "$results" >&2 && as_child scripts/python.sh -m ridgebench report "$results" >&2; then
  say "figures: $results/figures; all in one page: $results/report.html"
else
  say "measured, but not drawn; $later"
  status=$((status > 8 ? status : 8))
fi
if [[ $preset == release && -z $device ]] && nvcc_compiler >/dev/null; then
  say "nvcc is here, but no GPU: \`scripts/run.sh --build-only\` builds the CUDA half, for a machine with one"
fi
exit "$status"
