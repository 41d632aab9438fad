# shellcheck shell=bash
# Which tools this checkout uses, and what kind of machine this is. Other scripts source it at the root of the checkout.
export PATH=$PWD/.venv/bin:$PATH  # CMake and Ninja of pip
drawing_packages=(numpy scipy matplotlib)
fuzzer_folder=$PWD/build/fuzzed/python
# Tools of each check of scripts/check.sh besides those of the tests.
declare -A check_tools=([format]=clang-format-19 [tidy]="clang-tidy-19 clang++-19" [memory]="clang++-19 llvm-symbolizer-19"
  [threads]="clang++-19 llvm-symbolizer-19" [valgrind]=valgrind [fuzz]=clang++-19)

# missing_for CHECK: prints the tools that a check of scripts/check.sh lacks, one a line.
missing_for() {
  local tool
  for tool in ${check_tools[$1]:-}; do command -v "$tool" >/dev/null || echo "$tool"; done
  [[ $1 != fuzz ]] || PYTHONPATH=$fuzzer_folder has_packages scripts/python.sh atheris || echo atheris
}

newest() { printf '%s\n' "$@" | sort -V | tail -n 1; }

has_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
  [[ -n $version && $(newest 3.22 "$version") == "$version" ]]
}

has_gcc() { [[ $("$1" -dumpfullversion 2>/dev/null) =~ ^([0-9]+)\. && ${BASH_REMATCH[1]} -ge 11 ]]; }

# Clang needs a package of its own for OpenMP, and a standard library of GCC 11.
has_clang() {
  [[ $("$1" --version 2>/dev/null) =~ clang\ version\ ([0-9]+) && ${BASH_REMATCH[1]} -ge 16 ]] &&
    "$1" -std=c++20 -fopenmp -E -x c++ - <<<$'#include <omp.h>\n#include <source_location>' >/dev/null 2>&1
}

# Prints the C++ compiler: CXX, else g++, else the newest of GCC 11 to 14, else clang 16 or newer. Fails without one.
cxx_compiler() {
  local name
  if [[ -n ${CXX:-} ]]; then
    echo "$CXX"
    return
  fi
  for name in g++ g++-{14..11}; do
    if has_gcc "$name"; then echo "$name" && return; fi
  done
  for name in clang++ clang++-{22..16}; do
    if has_clang "$name"; then echo "$name" && return; fi
  done
  return 1
}

# Prints the path of nvcc: CUDACXX, else of the PATH, CUDA_HOME, CUDA_PATH or the newest /usr/local/cuda*. Fails without one.
nvcc_compiler() {
  local folder
  command -v "${CUDACXX:-nvcc}" || command -v nvcc && return
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda "$(newest /usr/local/cuda-*)"; do
    if [[ -x $folder/bin/nvcc ]]; then echo "$folder/bin/nvcc" && return; fi
  done
  return 1
}

has_gpu() { nvidia-smi -L >/dev/null 2>&1 || compgen -G '/dev/nvidia[0-9]*' >/dev/null; }
has_scheduler() { command -v sbatch || command -v qsub || command -v bsub; } >/dev/null
in_job() { [[ -n ${SLURM_JOB_ID:-}${PBS_JOBID:-}${LSB_JOBID:-} ]]; }

# has_packages PYTHON PACKAGE...: whether PYTHON is 3.9 or newer and has the packages.
has_packages() {
  "$1" -c 'import sys
from importlib.util import find_spec
sys.exit(sys.version_info < (3, 9) or not all(map(find_spec, sys.argv[1:])))' "${@:2}" 2>/dev/null
}

# Sets `tied` to the words before a command with which the system sends it this signal if the script is killed. Without
# setpriv there are none: tie SIGNAL
tied=()
tie() {
  tied=()
  ! setpriv --pdeathsig "$1" true 2>/dev/null || tied=(setpriv --pdeathsig "$1")
}

# Runs a command as the child of this script. The script's trap passes signals on to it.
child=
as_child() {
  local status
  tie TERM
  "${tied[@]}" "$@" <&0 &
  child=$!
  wait "$child"
  status=$?
  child=
  return "$status"
}

# end_child PROGRAM: ends the child of as_child, which keeps what it has, and the script.
end_child() {
  local status=0
  trap '' INT TERM HUP
  if [[ -n $child ]]; then
    kill -TERM "$child" 2>/dev/null
    wait "$child"
    status=$?
  fi
  [[ $status -eq 3 ]] || echo "$1: interrupted" >&2  # a command of ridgebench has said so
  exit 3
}

can_draw() { has_packages scripts/python.sh "${drawing_packages[@]}"; }
