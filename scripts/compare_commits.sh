#!/usr/bin/env bash
# Compares two commits of this repository: builds each in its own worktree, then measures in turn the rows whose machine code differs.
#   scripts/compare_commits.sh BASE HEAD [options of ridgebench gate] [-- arguments of ridgebench run]
# Exit codes are those of ridgebench gate; a commit that does not build ends with 8.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/tools.sh
if [[ $# -lt 2 || $1 == -* || $2 == -* ]]; then
  echo "compare_commits.sh: give two commits: BASE HEAD [options of gate] [-- arguments of run]" >&2
  exit 2
fi

preset=release
if has_gpu && nvcc_compiler >/dev/null; then
  preset=cuda
fi

# Prints the binary of a commit. A worktree is kept: a commit does not change.
build() {
  local commit tree
  commit=$(git rev-parse --verify --quiet "$1^{commit}") || {
    echo "compare_commits.sh: '$1' is not a commit of this repository" >&2
    return 2
  }
  tree=$PWD/build/commits/$commit
  if [[ ! -e $tree/.git ]]; then
    git worktree prune
    git worktree add --quiet --detach "$tree" "$commit" >&2
  fi
  "$tree/scripts/build.sh" "$preset" -DRIDGEBENCH_TESTS=OFF >&2 || {
    echo "compare_commits.sh: $1 does not build" >&2
    return 8
  }
  echo "$tree/build/$preset/ridgebench"
}

scripts/setup.sh >&2
baseline=$(build "$1") || exit
candidate=$(build "$2") || exit
exec scripts/python.sh -m ridgebench gate --baseline "$baseline" run --candidate "$candidate" run --code --reader ridgebench "${@:3}"
