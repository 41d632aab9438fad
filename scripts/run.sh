#!/usr/bin/env bash
# Sets up, builds, measures and draws. Takes the arguments of `ridgebench run`; the default is the quick profile of the
# default device. Without a GPU the host is measured first, and the CUDA half is built afterwards if nvcc is there.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

have_nvcc() {
  command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc || -x ${CUDA_PATH:-}/bin/nvcc ]]
}

preset=release
if have_nvcc && nvidia-smi -L >/dev/null 2>&1; then
  preset=cuda
fi
scripts/setup.sh && scripts/build.sh "$preset" -DRIDGEBENCH_TESTS=OFF || exit 8

started=$(mktemp)
"build/$preset/ridgebench" run "$@"
status=$?

# The run that was just made: --out DIR, --resume DIR, else the newest.
results=results/local/latest
arguments=("$@")
for ((i = 0; i < ${#arguments[@]}; i++)); do
  case ${arguments[i]} in
    --out | --resume) results=${arguments[i + 1]:-} ;;
    --out=* | --resume=*) results=${arguments[i]#*=} ;;
  esac
done
if [[ -s $results/records.jsonl && $results/records.jsonl -nt $started ]]; then
  if scripts/plot.sh "$results" >&2 && scripts/python.sh -m ridgebench report "$results" >&2; then
    echo "figures: $results/figures; all in one page: $results/report.html" >&2
  else
    status=$((status > 8 ? status : 8))
  fi
fi
rm -f "$started"
if [[ $preset == release ]] && have_nvcc; then
  echo "building the CUDA half, for machines with a GPU" >&2
  scripts/build.sh cuda -DRIDGEBENCH_TESTS=OFF || status=$((status > 8 ? status : 8))
fi
exit "$status"
